//! Writes that no redirection shows: variables, links, outputs with a name, and code of other languages.

use super::check;

#[test]
fn variables_of_the_same_line() {
    check(&[
        ("f=src/a.rs; echo x > $f", "write src/a.rs"),
        ("f=src/a.rs; echo x > \"$f\"", "write src/a.rs"),
        ("f=src/a.rs && rm \"${f}\"", "delete src/a.rs"),
        ("d=src; rm $d/a.rs", "delete src/a.rs"),
        ("export f=a; rm $f", "delete a"),
        ("f=a; g=$f.txt; rm $g", "delete a.txt"),
        ("for f in a b; do sed -i s/x/y/ src/$f; done", "edit src/a; edit src/b"),
        ("f=a; f=$(pick); rm $f", "delete unclear $f"),
        ("f=a; read f; rm $f", "delete unclear $f"),
        ("f='a b'; rm $f", "delete unclear $f"),
        ("f='*'; rm $f", "delete unclear $f"),
        ("f=a rm $f", "delete unclear $f"),
        ("rm $f; f=a", "delete unclear $f"),
        ("c=rm; $c a", "delete a"),
    ]);
}

#[test]
fn links_that_are_written_through() {
    check(&[
        ("ln -s src/a.rs l; echo x > l", "create l or l/a.rs; write l; write src/a.rs"),
        ("ln src/a.rs l && sed -i s/x/y/ l", "create l or l/a.rs; edit l; edit src/a.rs"),
        ("ln -s src l; echo x > l/a.rs", "create l or l/src; write l/a.rs; write src"),
        ("ln -s src/a.rs l", "create l or l/a.rs"),
        ("ln -s src/a.rs l; cat l", "create l or l/a.rs"),
    ]);
}

#[test]
fn outputs_that_options_name() {
    check(&[
        ("gcc a.c -o out/a", "write out/a"),
        ("rustc -o a.out a.rs", "write a.out"),
        ("pandoc a.md --output=a.html", "write a.html"),
        ("openssl genrsa -out key.pem", "write key.pem"),
        ("unheard-of a.txt -o b.txt", "write b.txt"),
        ("unheard-of --output b.txt", "write b.txt"),
        ("unheard-of --in-place src/a.rs", "edit src/a.rs"),
        ("unheard-of -o json", ""),
        ("unheard-of -o key=a.b", ""),
        ("ssh -o User=ann host.example", ""),
        ("kubectl get pods -o wide.x", ""),
        ("tree -o out.txt", "write out.txt"),
        ("sort --outp=out a", "write out"),
        ("uniq a b", "write b"),
        ("uniq a", ""),
        ("xxd -r a b", "write b"),
        ("git diff --output=a.patch", "write a.patch"),
        ("git format-patch -o out HEAD~1", "write out"),
        ("/usr/bin/time -o log ls", "write log"),
        ("script -c 'rm a' log", "delete a; write log"),
        ("make src/gen.rs", "write src/gen.rs"),
        ("make test", ""),
        ("make -C sub gen.rs", "write sub/gen.rs"),
        ("sqlite3 a.db 'delete from t'", "edit a.db"),
        ("ffmpeg -i a.mp4 b.mp3", "write b.mp3"),
        ("cpio -id < a.cpio", "write all below ."),
    ]);
}

#[test]
fn code_that_names_what_it_writes() {
    let code = |name: &str| format!("? {name} runs code that is not looked into");
    let and = |writes: &str, name: &str| format!("{writes}; {}", code(name));
    check(&[
        ("python3 -c \"open('src/a.rs','w').write('x')\"", &and("edit src/a.rs", "python3")),
        (
            "python3 -c 'import os; os.rename(\"a.txt\", \"b.txt\")'",
            &and("edit a.txt; edit b.txt", "python3"),
        ),
        ("python3 -c \"print(open('src/a.rs').read())\"", &code("python3")),
        (
            "python3 - <<'E'\nfrom pathlib import Path\nPath('src/a.rs').write_text('x')\nE",
            &and("edit src/a.rs", "python3"),
        ),
        ("python3 -c \"import json; print(json.load(open('package.json'))['a'])\"", &code("python3")),
        ("node -e \"console.log(require('fs').openSync('a.txt'), '<b>')\"", &code("node")),
        ("node -e \"require('fs').writeFileSync('src/a.js', 'x')\"", &and("edit src/a.js", "node")),
        ("ruby -e 'File.write(\"a.rb\", \"x\")'", &and("edit a.rb", "ruby")),
        ("perl -e 'open(F, \">\", \"a.txt\"); print F 1'", &and("edit a.txt", "perl")),
        ("python3.12 -c \"open('a.txt','w')\"", &and("edit a.txt", "python3.12")),
        ("php -r 'file_put_contents(\"a.php\", \"\");'", &and("edit a.php", "php")),
    ]);
}
