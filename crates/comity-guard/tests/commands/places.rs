//! Where relative paths begin: `cd`, subshells, branches and loops.

use comity_guard::programs::{CallDirs, effects, effects_of_arguments};
use comity_guard::{FileTarget, GitCommit, GitVersion, Read};

use super::check;

#[test]
fn following_cd() {
    check(&[
        ("cd sub && rm x", "delete sub/x"),
        ("cd sub; rm x", "delete sub/x"),
        ("cd sub\nrm x", "delete sub/x"),
        ("cd sub || exit 1; rm x", "delete sub/x"),
        ("cd a && cd b && rm x ../y", "delete a/b/x; delete a/b/../y"),
        ("cd a && cd .. && rm x", "delete x"),
        ("cd .. && rm x", "delete ../x"),
        ("cd /srv && rm x /etc/y", "delete /srv/x; delete /etc/y"),
        ("cd -P sub && rm x", "delete sub/x"),
        ("cd -- sub && rm x", "delete sub/x"),
        ("cd && rm x", "delete /srv/ann/x"),
        ("cd ~/p && rm x", "delete /srv/ann/p/x"),
        ("cd $d && rm x", "delete unclear x"),
        ("cd $d && rm /x", "delete /x"),
        ("cd - && rm x", "delete unclear x"),
        ("cd $d && cd /srv && rm x", "delete /srv/x"),
        ("pushd sub && rm x && popd && rm y", "delete sub/x; delete unclear y"),
        ("cd sub && rm *.o", "delete glob sub/*.o"),
        ("cd 'a*b' && rm *.o", "delete glob a[*]b/*.o"),
        ("cd sub > log", "write log"),
        ("(cd sub && rm x); rm y", "delete sub/x; delete y"),
        ("{ cd sub; rm x; }; rm y", "delete sub/x; delete sub/y"),
        ("cd sub | rm x; rm y", "delete x; delete y"),
        ("cd sub & rm x", "delete x"),
        (
            "$(cd sub; rm x); rm y",
            "delete sub/x; delete y; ? the command is not written down: $(cd sub; rm x)",
        ),
        ("if a; then cd sub; rm x; fi; rm y", "delete sub/x; delete unclear y"),
        ("if a; then (cd sub); fi; rm y", "delete y"),
        ("for d in a b; do cd $d; rm x; cd ..; done; rm y", "delete unclear x; delete unclear y"),
        ("for d in a b; do cd sub; rm x; done", "delete unclear x"),
        ("for d in a b; do (cd sub; rm x); rm y; done", "delete sub/x; delete y"),
        ("while a; do rm x; done", "delete x"),
        ("case $1 in a) cd sub;; b) rm x;; esac; rm y", "delete x; delete unclear y"),
        ("f() { cd sub; rm x; }; rm y", "delete sub/x; delete unclear y"),
        ("function f { rm x; }\nf", "delete x"),
        ("f () (cd sub; rm x); f; rm y", "delete sub/x; delete y"),
        ("a || cd sub; rm x", "delete unclear x"),
        ("cd a || cd b; rm x", "delete unclear x"),
        ("git -C sub rm x", "delete sub/x"),
        ("env -C sub rm x", "delete sub/x"),
        ("bash -c 'cd sub; rm x'; rm y", "delete sub/x; delete y"),
        ("eval 'cd sub'; rm x", "delete sub/x"),
    ]);
}

#[test]
fn a_call_may_start_elsewhere() {
    let place = CallDirs { directory: "sub".to_owned(), home: None };
    let found = effects("rm x; cd ..; rm y; rm ~/z", &place);
    let seen: Vec<String> = found.writes.iter().map(ToString::to_string).collect();
    assert_eq!(seen, ["delete sub/x", "delete y", "delete unclear ~/z"]);
}

#[test]
fn arguments_without_a_shell() {
    let check = |arguments: &[&str], expected: &str| {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let found = effects_of_arguments(&arguments, &CallDirs::default());
        let seen: Vec<String> = found.writes.iter().map(ToString::to_string).collect();
        assert_eq!(seen.join("; "), expected);
    };
    check(&["rm", "*.rs", "$x"], "delete *.rs; delete $x");
    check(&["bash", "-lc", "rm *.rs > log"], "write log; delete glob *.rs");
    check(&["echo", ">", "x"], "");
    check(&[], "");
}

#[test]
fn what_is_read() {
    let reads = |command: &str| effects(command, &CallDirs::default()).reads;
    let read = |path: &str, whole| Read::new(path, whole);
    assert_eq!(reads("cat a b | head -n 1"), [read("a", true), read("b", true)]);
    assert_eq!(reads("cd sub && head -n 3 a < b"), [read("sub/b", true), read("sub/a", false)]);
    assert_eq!(reads("cat *.rs - /dev/null"), [read("*.rs", true)]);
    for command in [
        "grep -n x a",
        "grep -e x -n a",
        "rg x a",
        "sed -n 1,5p a",
        "sed -ne 1,5p a",
        "head -n 3 a",
        "tail -n +3 a",
        "awk 'NR > 3' a",
        "awk -v n=3 '{ print }' n=4 a",
    ] {
        assert_eq!(reads(command), [read("a", false)], "{command}");
    }
    for command in
        ["rg x", "grep x -", "sed -i s/a/b/ a", "sed s/a/b/", "awk 1", "git show HEAD", "git log -p a"]
    {
        assert_eq!(reads(command), [], "{command}");
    }
    let version = |of: &str, name: &str, path: &str| Read {
        version: Some(GitVersion { of: of.to_owned(), name: name.to_owned() }),
        ..read(path, true)
    };
    assert_eq!(reads("cd sub && git show HEAD:a"), [version("sub", "HEAD:a", "a")]);
    assert_eq!(reads("git -C sub cat-file -p main:./a"), [version("sub", "main:./a", "./a")]);
}

#[test]
fn what_is_committed() {
    let commits = |command: &str| effects(command, &CallDirs::default()).commits;
    let commit = |of: &str, staged, tracked, paths: &[FileTarget]| GitCommit {
        of: of.to_owned(),
        staged,
        tracked,
        paths: paths.to_vec(),
    };
    let path = |path: &str| FileTarget::Path(path.to_owned());
    let tree = |of: &str| FileTarget::WorkTree(of.to_owned());
    let check = |command: &str, expected: GitCommit| assert_eq!(commits(command), [expected], "{command}");
    check("git commit -m x", commit(".", true, false, &[]));
    check("git -c core.hooksPath= commit -m x", commit(".", true, false, &[]));
    check("bash -c 'git commit -qam x'", commit(".", true, true, &[]));
    check("git commit -a", commit(".", true, true, &[]));
    check("git commit -m 'a b' a sub/b", commit(".", false, false, &[path("a"), path("sub/b")]));
    check("git commit -m x -i a", commit(".", true, false, &[path("a")]));
    check("cd sub && git add a && git commit -m x", commit("sub", true, false, &[path("sub/a")]));
    check("git add -A && git commit -m x", commit(".", true, false, &[tree(".")]));
    check("git add $x; git commit -m x", commit(".", true, false, &[tree(".")]));
    check("git add '*.rs'; git commit -m x", commit(".", true, false, &[tree(".")]));
    check("git commit -m x -- a", commit(".", false, false, &[path("a")]));
    for command in ["git commit --dry-run", "git status", "git add a", "echo git commit"] {
        assert_eq!(commits(command), [], "{command}");
    }
}
