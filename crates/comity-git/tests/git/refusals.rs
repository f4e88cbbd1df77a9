//! Paths that have no name in the project, and why.

use comity_git::Repository;

use crate::sandbox::{Sandbox, canonical};

#[test]
fn paths_that_are_refused() {
    let sandbox = Sandbox::with(&["src/a.rs"]);
    sandbox.init("other");
    sandbox.commit_files("other", &["lib.rs"]);
    sandbox.init("main/vendor/inner");
    sandbox.git("main", &["submodule", "--quiet", "add", "../other", "sub"]);
    sandbox.write("outside/x.rs", "");
    sandbox.link("../outside", "main/out");
    sandbox.link("../../outside/new.rs", "main/src/out.rs");
    sandbox.link("loop_b", "main/loop_a");
    sandbox.link("loop_a", "main/loop_b");
    sandbox.link(".git", "main/git");
    sandbox.link("..", "main/src/up");
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    let repository = sandbox.repository("main");
    let top = sandbox.path("").to_str().expect("a path").trim_end_matches('/').to_owned();
    let check = |text: &str, expected: &str| {
        let said = canonical(&repository, &sandbox.main(), &text.replace("TOP", &top)).replace(&top, "TOP");
        assert_eq!(said, expected, "{text}");
    };
    let outside =
        |text: &str| check(text, &format!("outside_repository: {text} is outside of the repository"));
    let nested = |text: &str, dir: &str| {
        check(text, &format!("bad_input: {text:?} is in another repository: {dir:?} has its own .git"));
    };
    let git = |text: &str| check(text, &format!("bad_input: {text:?} is in git's own directory"));
    let unreadable = |text: &str, why: &str| check(text, &format!("bad_pattern: can't read {text:?}: {why}"));

    sandbox.write("main/src/c\\d.rs", "");
    unreadable("src/c\\d.rs", "there is a file with a backslash in its name");
    check("src\\a.rs", "src/a.rs");
    outside("..");
    outside("../x");
    outside("src/../../x");
    outside("TOP/outside/x.rs");
    outside("TOP/main2/x.rs");
    outside("/");
    outside("/*.rs");
    outside("../*/src/a.rs");
    outside("{src,../outside}/x.rs");
    outside("TOP/other/lib.rs");
    outside("out/x.rs");
    outside("out");
    outside("out/*.rs");
    outside("src/out.rs");
    outside("out/../x.rs");
    nested("vendor/inner", "vendor/inner");
    nested("vendor/inner/new.rs", "vendor/inner");
    nested("vendor/inner/*.rs", "vendor/inner");
    nested("sub/lib.rs", "sub");
    git(".git");
    git(".git/config");
    git(".git/new/*");
    git("git/HEAD");
    git("src/.git/hooks/x");
    git("TOP/linked/.git");
    git("src/up/.git/index");
    unreadable("", "it is empty");
    unreadable("a\nb", "it has control characters");
    unreadable(&"x".repeat(1_025), "it is longer than 1,024 bytes");
    unreadable("loop_a", "it goes through more than 40 symlinks");
    unreadable("loop_a/x", "it goes through more than 40 symlinks");
    unreadable("src/{a", "its braces do not match");
    unreadable("{,src}", "one of its alternatives is empty");
    let long = format!("{}/{{{}}}", "d".repeat(200), ["a", "b", "c", "d", "e", "f"].join(","));
    unreadable(&long, "what it stands for is longer than 1,024 bytes");
    check("src/up/src/a.rs", "src/a.rs");
}

#[test]
fn git_directories_elsewhere_are_refused() {
    let sandbox = Sandbox::with(&["src/a.rs"]);
    sandbox.git("main", &["worktree", "add", "-q", "../linked"]);
    sandbox.make_dir("apart");
    sandbox.git("", &["init", "-q", "--separate-git-dir", "apart/g", "apart"]);
    let check = |repository: &str, file: &str| {
        let said = canonical(&sandbox.repository(repository), &sandbox.path(""), file);
        assert_eq!(said, format!("bad_input: {file:?} is in git's own directory"));
    };
    check("linked", "main/.git/config");
    check("linked", "main/.git/worktrees/linked/HEAD");
    check("apart", "apart/g/config");
    check("apart", "apart/.git");
}

#[test]
fn a_refusal_says_what_to_do() {
    let sandbox = Sandbox::with(&[]);
    sandbox.init("main/inner");
    let no = sandbox.repository("main").resolve(&sandbox.main(), "inner/x").expect_err("another repository");
    assert_eq!(no.hint(), "go into it and ask there");
}

#[test]
fn where_a_path_comes_from_has_to_be_told() {
    let sandbox = Sandbox::with(&[]);
    let repository: Repository = sandbox.repository("main");
    let no = repository.resolve("here".as_ref(), "x").expect_err("not absolute");
    assert_eq!(no.to_string(), "\"here\" isn't an absolute path");
}

#[test]
fn names_on_the_way_that_cannot_be_written() {
    let sandbox = Sandbox::with(&["back\\slash/x", "line\nend/x"]);
    let repository = sandbox.repository("main");
    let check = |dir: &str, problem: &str| {
        let no = repository.resolve(&sandbox.main().join(dir), "x").expect_err(dir);
        assert!(no.to_string().ends_with(problem), "{no}");
    };
    check("back\\slash", "a name on its way has a backslash");
    check("line\nend", "a name on its way has control characters");
}
