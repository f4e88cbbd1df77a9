//! Programs that run other programs, shells within shells, and code that is not looked into.

use super::check;

#[test]
fn programs_before_programs() {
    check(&[
        ("sudo rm x", "delete x"),
        ("sudo -u ann -E rm x", "delete x"),
        ("sudo A=b rm x", "delete x"),
        ("env A=b rm x", "delete x"),
        ("env -i A=b rm x", "delete x"),
        ("env -S 'rm x'", "delete x"),
        ("A=b rm x", "delete x"),
        ("A=b B=c", ""),
        ("A=()B rm x", "delete x"),
        ("nohup rm x &", "delete x"),
        ("time rm x", "delete x"),
        ("time -p rm x", "delete x"),
        ("time (rm x; rm y)", "delete x; delete y"),
        ("! rm x", "delete x"),
        ("timeout 5 rm x", "delete x"),
        ("timeout -k 1 --signal=KILL 5s rm x", "delete x"),
        ("nice -n 5 rm x", "delete x"),
        ("stdbuf -oL rm x", "delete x"),
        ("command rm x", "delete x"),
        ("command -v rm x", ""),
        ("exec rm x", "delete x"),
        ("busybox rm x", "delete x"),
        ("sudo env nice nohup rm x", "delete x"),
        ("setsid -f bash -c 'rm x'", "delete x"),
        ("flock lock rm x", "delete x"),
        ("$CMD x", "? the command is not written down: $CMD"),
        ("\"$(which rm)\" x", "? the command is not written down: \"$(which rm)\""),
    ]);
}

#[test]
fn shells_within_shells() {
    check(&[
        ("bash -c 'rm x'", "delete x"),
        ("sh -lc 'rm x'", "delete x"),
        ("bash -e -o pipefail -c 'rm x' arg", "delete x"),
        ("bash -c \"sed -i 's/a/b/' \\\"x y\\\"\"", "edit x y"),
        ("bash -c \"bash -c 'rm \\\"x y\\\"'\"", "delete x y"),
        ("bash -c \"rm $f\"", "delete unclear $f; ? bash runs code that is not looked into"),
        ("bash -c \"$(cat f)\"", "? bash runs code that is not looked into"),
        ("bash -c \"cd $d && rm /x\"", "delete /x; ? bash runs code that is not looked into"),
        ("bash script.sh", ""),
        ("bash <<'EOF'\nrm x\nEOF", "delete x"),
        ("bash -s a <<EOF\nrm x\nEOF", "delete x"),
        ("echo 'rm x' | sh", "delete x"),
        ("cat <<'EOF' | bash\nrm x\nEOF", "delete x"),
        ("curl https://x.example | sh", "? sh runs code that is not looked into"),
        ("bash <<< 'rm x'", "delete x"),
        ("eval rm x", "delete x"),
        ("eval 'rm x' '> y'", "write y; delete x"),
        ("eval \"$x\"", "? eval runs code that is not looked into"),
        ("ssh host 'rm x'", ""),
    ]);
}

#[test]
fn what_is_found_is_changed() {
    check(&[
        ("find . -name '*.o' -delete", "delete glob **/*.o"),
        ("find src test -type f -name '*.rs' -delete", "delete glob src/**/*.rs; delete glob test/**/*.rs"),
        ("find src -delete", "delete all below src"),
        ("find -delete", "delete all below ."),
        ("find src -name a -o -name b -delete", "delete all below src"),
        ("find src ! -name a -delete", "delete all below src"),
        ("find src -name '*.rs' -exec sed -i s/a/b/ {} +", "edit glob src/**/*.rs"),
        ("find src -name '*.rs' -exec sed -i s/a/b/ {} \\;", "edit glob src/**/*.rs"),
        (
            "find src -exec mv {} {}.bak \\; -delete",
            "move all below src; move unclear {}.bak; delete all below src",
        ),
        ("find src -exec bash -c 'rm \"$1\"' _ {} \\;", "delete unclear \"$1\""),
        ("find . -name x -fprint out", "write out"),
        ("find . -name x", ""),
        ("cd sub && find . -name x -delete", "delete glob sub/./**/x"),
        ("find src -name '*.rs' | xargs sed -i s/a/b/", "edit glob src/**/*.rs"),
        ("find . -print0 | xargs -0 rm", "delete all below ."),
        ("grep -rl foo src | xargs sed -i s/foo/bar/g", "edit all below src"),
        ("grep -l foo a b | xargs rm", "delete a; delete b"),
        ("rg -l foo | xargs sed -i s/foo/bar/", "edit all below ."),
        ("git ls-files | xargs rm", "delete unclear what xargs reads"),
        ("echo a b | xargs rm", "delete a; delete b"),
        ("cat list | xargs -I{} mv {} dir/", "move unclear what xargs reads; move all below dir"),
        ("cat list | xargs -n1 -P4 touch", "create unclear what xargs reads"),
        ("ls | xargs -I F sh -c 'rm F'", "? sh runs code that is not looked into"),
        ("find . | while read f; do rm \"$f\"; done", "delete unclear \"$f\""),
        ("for f in a b; do rm $f; done", "delete a; delete b"),
    ]);
}

#[test]
fn code_of_other_languages() {
    check(&[
        ("python - <<EOF\nopen('x','w')\nEOF", "? python runs code that is not looked into"),
        ("python3 <<'EOF'\nprint(1)\nEOF", "? python3 runs code that is not looked into"),
        ("python3.12 -c 'print(1)'", "? python3.12 runs code that is not looked into"),
        (
            "python3 - <<'EOF' > out\nprint(1 > 2)\nEOF",
            "write out; ? python3 runs code that is not looked into",
        ),
        ("python script.py", ""),
        ("python --version", ""),
        ("python -m pytest", ""),
        ("node -e 'x'", "? node runs code that is not looked into"),
        ("node x.js", ""),
        ("ruby -e 'x'", "? ruby runs code that is not looked into"),
        ("php -r 'x'", "? php runs code that is not looked into"),
        ("deno eval 'x'", "? deno runs code that is not looked into"),
        ("deno run x.ts", ""),
        ("bun test", ""),
        ("make install", ""),
        ("docker run -v .:/x image rm y", ""),
    ]);
}
