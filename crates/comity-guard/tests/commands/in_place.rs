//! Programs that edit in place, and patches.

use super::check;

#[test]
fn sed_and_perl() {
    check(&[
        ("sed -i 's/a/b/' f", "edit f"),
        ("sed -i 's/a/b/' f g", "edit f; edit g"),
        ("sed -i.bak 's/a/b/' f", "edit f; create f.bak"),
        ("sed -i '' 's/a/b/' f", "edit f"),
        ("sed -i '' -e 's/a/b/' -e 's/c/d/' f", "edit f"),
        ("sed -i .bak 's/a/b/' f", "edit f; create f.bak"),
        ("sed -i -e 's/a/b/' f", "edit f"),
        ("sed -ni 's/a/b/p' f", "edit f"),
        ("sed -Ei 's/(a)/b/' f", "edit f"),
        ("sed --in-place=.orig -e s/a/b/ f", "edit f; create f.orig"),
        ("sed -i -f script f", "edit f"),
        ("sed -i s/a/b/ -- f", "edit f"),
        ("sed 's/a/b/' f", ""),
        ("sed -n '1,5p' f", ""),
        ("sed 's/-i/b/' f > g", "write g"),
        ("sed -i \"s/a/$x/\" f", "edit f"),
        ("sed -i s/a/b/ $f", "edit unclear $f"),
        ("sed -i s/a/b/ src/*.rs", "edit glob src/*.rs"),
        ("LC_ALL=C sed -i s/a/b/ f", "edit f"),
        ("gsed -i s/a/b/ f", "edit f"),
        ("perl -pi -e 's/a/b/' f g", "edit f; edit g"),
        ("perl -i.bak -pe 's/a/b/' f", "edit f"),
        ("perl -0777 -pi.save -e 's/a/b/' f", "edit f"),
        ("perl -ne 'print' f", "? perl runs code that is not looked into"),
        ("awk '$1 > 5' f", ""),
        ("gawk -i inplace '{print}' f", "edit f"),
        ("ed -s f", "edit f"),
        ("ex -s f", "edit f"),
        ("vim -c wq f", "edit f"),
        ("yq -i '.a = 1' f.yml", "edit f.yml"),
        ("dos2unix f", "edit f"),
    ]);
}

#[test]
fn formatters() {
    check(&[
        ("prettier --write a.ts", "edit a.ts"),
        ("prettier --check a.ts", ""),
        ("prettier --write 'src/**/*.ts'", "edit glob src/**/*.ts"),
        ("npx prettier -w a.ts", "edit a.ts"),
        ("npm exec -- prettier --write a.ts", "edit a.ts"),
        ("pnpm exec prettier --write .", "edit ."),
        ("rustfmt src/lib.rs", "edit src/lib.rs"),
        ("rustfmt --check src/lib.rs", ""),
        ("cargo fmt", "? cargo fmt changes files that it does not name"),
        ("cargo +nightly fmt --all", "? cargo fmt changes files that it does not name"),
        ("cargo fmt --check", ""),
        ("cargo clippy --fix", "? cargo clippy changes files that it does not name"),
        ("cargo build", ""),
        ("gofmt -l -w a.go", "edit a.go"),
        ("gofmt -l a.go", ""),
        ("black -l 100 a.py", "edit a.py"),
        ("black --check a.py", ""),
        ("black", "? black changes files that it does not name"),
        ("python -m black a.py", "edit a.py"),
        ("uv run ruff format a.py", "edit a.py"),
        ("ruff check --fix a.py", "edit a.py"),
        ("ruff check a.py", ""),
        ("eslint --fix src", "edit src"),
        ("eslint src", ""),
        ("shfmt -i 2 -w a.sh", "edit a.sh"),
        ("deno fmt a.ts", "edit a.ts"),
    ]);
}

#[test]
fn patches() {
    let diff = "--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n-a\n+b\n";
    check(&[
        (&format!("git apply <<'EOF'\n{diff}EOF"), "edit src/x.rs from the top of ."),
        (&format!("cd sub && git apply - <<'EOF'\n{diff}EOF"), "edit src/x.rs from the top of sub"),
        (&format!("git -C sub apply <<'EOF'\n{diff}EOF"), "edit src/x.rs from the top of sub"),
        (
            &format!("git apply -p0 --directory=d <<'EOF'\n{diff}EOF"),
            "edit d/a/src/x.rs from the top of .; edit d/b/src/x.rs from the top of .",
        ),
        (&format!("git apply --check <<'EOF'\n{diff}EOF"), ""),
        (&format!("patch -p1 <<'EOF'\n{diff}EOF"), "edit src/x.rs"),
        (&format!("patch <<'EOF'\n{diff}EOF"), "edit x.rs"),
        (&format!("patch -d sub -p1 <<'EOF'\n{diff}EOF"), "edit sub/src/x.rs"),
        (&format!("cat <<'EOF' | patch -p1\n{diff}EOF"), "edit src/x.rs"),
        (&format!("patch file.c <<'EOF'\n{diff}EOF"), "edit file.c"),
        (&format!("patch --dry-run -p1 <<'EOF'\n{diff}EOF"), ""),
        ("git apply x.patch", "? git apply applies a patch that stands in a file"),
        ("patch -p1 < x.patch", "? patch applies a patch that stands in a file"),
        ("git apply <<'EOF'\nnonsense\nEOF", "? the patch is malformed: line 1: it has no file in it"),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Delete File: b\n*** End Patch\nEOF",
            "edit a; delete b",
        ),
        (
            "cd sub && apply_patch <<EOF\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF",
            "create sub/a",
        ),
        (
            "bash -lc \"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\"",
            "create a",
        ),
        (
            "apply_patch '*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** End Patch'",
            "move a; move b",
        ),
        ("apply_patch <<EOF\n*** Begin Patch\n*** Add File: $x\n+y\n*** End Patch\nEOF", "create unclear $x"),
        (
            "apply_patch <<'EOF'\n*** Begin Patch\nEOF",
            "? the patch is malformed: line 1: it does not end with \"*** End Patch\"",
        ),
    ]);
}
