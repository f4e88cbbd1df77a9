//! What a scoped commit takes, and what it leaves.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use comity_core::{CaseRule, PathPattern};
use comity_git::commit::{CommitOutcome, Dirty, LISTED_MAX, MissingReason, Patterns, SkipReason};

use crate::committing::{
    ask, ask_for, below, commit_below, dirty, enlarge, lines, nothing_below, paths_of, request, shown,
    skipped, staged,
};
use crate::sandbox::Sandbox;

fn tree() -> Sandbox {
    Sandbox::with(&["src/a.rs", "src/b.rs", "src/deep/c.rs", "docs/d.md", "docs/e.md"])
}

/// Makes changes in a clean repository, commits `src`, and compares; nothing else may be in the commit.
fn check(change: impl Fn(&Sandbox), expected: &[&str]) -> Sandbox {
    let sandbox = tree();
    change(&sandbox);
    let before = sandbox.git("main", &["rev-parse", "HEAD"]);
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!(shown(&committed.changes), expected);
    assert_eq!(committed.parent.as_deref(), Some(before.trim()));
    assert_eq!(committed.branch.as_deref(), Some("refs/heads/trunk"));
    assert_eq!(sandbox.git("main", &["rev-parse", "HEAD"]).trim(), committed.commit);
    let mut paths: Vec<String> = committed.changes.iter().map(|it| it.path.display().to_string()).collect();
    paths.sort();
    let mut in_commit = paths_of(&sandbox, "main", "HEAD");
    in_commit.sort();
    assert_eq!(in_commit, paths);
    sandbox.git("main", &["fsck", "--strict"]);
    sandbox
}

#[test]
fn each_kind_of_change_is_committed() {
    check(|it| it.write("main/src/a.rs", "second\n"), &["M src/a.rs"]);
    check(|it| it.write("main/src/new/x.rs", "new\n"), &["A src/new/x.rs"]);
    check(|it| fs::remove_file(it.path("main/src/a.rs")).expect("removed"), &["D src/a.rs"]);
    let run = |it: &Sandbox| {
        fs::set_permissions(it.path("main/src/a.rs"), fs::Permissions::from_mode(0o755)).expect("a mode");
    };
    check(run, &["X src/a.rs"]);
    check(|it| it.link("b.rs", "main/src/l.rs"), &["A src/l.rs"]);
    let relink = |it: &Sandbox| {
        fs::remove_file(it.path("main/src/a.rs")).expect("removed");
        it.link("b.rs", "main/src/a.rs");
    };
    check(relink, &["T src/a.rs"]);
    let renamed = |it: &Sandbox| {
        fs::rename(it.path("main/src/a.rs"), it.path("main/src/z.rs")).expect("renamed");
    };
    check(renamed, &["D src/a.rs", "A src/z.rs"]);
    check(|it| drop(it.git("main", &["mv", "src/a.rs", "src/z.rs"])), &["D src/a.rs", "A src/z.rs"]);
    let all_at_once = |it: &Sandbox| {
        renamed(it);
        it.write("main/src/b.rs", "second\n");
        fs::remove_dir_all(it.path("main/src/deep")).expect("removed");
        it.write("main/src/deep", "a file now\n");
        it.write("main/src/q.rs/inside", "x\n");
        it.write("main/docs/d.md", "not in it\n");
    };
    check(
        all_at_once,
        &["D src/a.rs", "M src/b.rs", "A src/deep", "D src/deep/c.rs", "A src/q.rs/inside", "A src/z.rs"],
    );
}

#[test]
fn a_file_becomes_a_directory_and_a_directory_a_link() {
    let to_dir = |it: &Sandbox| {
        fs::remove_file(it.path("main/src/a.rs")).expect("removed");
        it.write("main/src/a.rs/inner.rs", "x\n");
    };
    check(to_dir, &["D src/a.rs", "A src/a.rs/inner.rs"]);
    let to_link = |it: &Sandbox| {
        fs::rename(it.path("main/src/deep"), it.path("main/elsewhere")).expect("renamed");
        symlink("../elsewhere", it.path("main/src/deep")).expect("a symlink");
    };
    let sandbox = check(to_link, &["A src/deep", "D src/deep/c.rs"]);
    assert_eq!(staged(&sandbox, "main"), [""; 0]);
    // Only what is behind the link is covered: the file is gone there, though the path still leads to one.
    let sandbox = tree();
    to_link(&sandbox);
    let committed = commit_below(&sandbox, &["src/deep/c.rs"]);
    assert_eq!(shown(&committed.changes), ["D src/deep/c.rs"]);
    assert_eq!(dirty(&committed.report), ["elsewhere/c.rs", "src/deep"]);
}

#[test]
fn what_others_staged_or_changed_is_not_taken() {
    let sandbox = tree();
    sandbox.write("main/docs/d.md", "staged by somebody\n");
    sandbox.write("main/src/other.rs", "staged by somebody\n");
    sandbox.git("main", &["add", "docs/d.md", "src/other.rs"]);
    sandbox.git("main", &["rm", "-q", "--cached", "docs/e.md"]);
    sandbox.write("main/docs/d.md", "and changed again\n");
    sandbox.write("main/src/a.rs", "ours\n");
    let index = |path: &str| sandbox.git("main", &["ls-files", "--stage", "--", path]);
    let before = (index("docs"), index("src/other.rs"), staged(&sandbox, "main"));
    let committed = commit_below(&sandbox, &["src/a.rs"]);
    assert_eq!(shown(&committed.changes), ["M src/a.rs"]);
    assert_eq!((index("docs"), index("src/other.rs"), staged(&sandbox, "main")), before);
    assert_eq!(dirty(&committed.report), ["docs/d.md", "docs/e.md", "src/other.rs"]);
    assert_eq!(sandbox.git("main", &["show", "HEAD:docs/d.md"]), "first\n");
}

#[test]
fn the_working_tree_is_committed_and_not_what_was_staged_of_it() {
    let sandbox = tree();
    sandbox.write("main/src/a.rs", "staged\n");
    sandbox.write("main/src/b.rs", "staged\n");
    sandbox.write("main/src/n.rs", "staged\n");
    sandbox.git("main", &["add", "src"]);
    sandbox.write("main/src/a.rs", "in the tree\n");
    sandbox.write("main/src/b.rs", "first\n");
    fs::remove_file(sandbox.path("main/src/n.rs")).expect("removed");
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!(shown(&committed.changes), ["M src/a.rs"]);
    assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "in the tree\n");
    assert_eq!(staged(&sandbox, "main"), ["src/b.rs", "src/n.rs"]);
}

#[test]
fn a_removal_that_is_only_staged_stays_staged() {
    let sandbox = tree();
    sandbox.git("main", &["rm", "-q", "--cached", "src/a.rs", "src/b.rs"]);
    sandbox.write("main/src/b.rs", "second\n");
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!(shown(&committed.changes), ["M src/b.rs"]);
    assert_eq!(staged(&sandbox, "main"), ["src/a.rs"]);
}

#[test]
fn nothing_to_commit_is_an_answer() {
    let sandbox = tree();
    let before =
        (fs::read(sandbox.path("main/.git/index")).expect("an index"), sandbox.git("main", &["log"]));
    sandbox.write("main/docs/d.md", "second\n");
    let report = nothing_below(&sandbox, &["src"]);
    assert_eq!((skipped(&report), dirty(&report)), (vec![], vec!["docs/d.md".to_owned()]));
    nothing_below(&sandbox, &[]);
    nothing_below(&sandbox, &["no/such/place"]);
    let after = (fs::read(sandbox.path("main/.git/index")).expect("an index"), sandbox.git("main", &["log"]));
    assert!(before == after);
}

#[test]
fn new_files_that_somebody_only_intends_to_add() {
    let add = |it: &Sandbox| {
        it.write("main/src/n.rs", "new\n");
        it.write("main/docs/n.md", "new\n");
        it.git("main", &["add", "--intent-to-add", "src/n.rs", "docs/n.md"]);
    };
    let sandbox = check(add, &["A src/n.rs"]);
    let status = lines(&sandbox, "main", &["status", "--porcelain", "-z"]);
    assert_eq!(status, [" A docs/n.md"]);
}

#[test]
fn what_is_left_out_is_named_with_the_reason() {
    let sandbox = tree();
    sandbox.write("main/.git/info/exclude", "*.log\nbuild/\nkept.*\n");
    sandbox.write("main/src/x.log", "");
    sandbox.write("main/src/build/y", "");
    sandbox.write("main/src/kept.one", "");
    sandbox.git("main", &["add", "--force", "src/kept.one"]);
    sandbox.init("main/src/inner");
    sandbox.write("main/src/inner/z", "");
    sandbox.write("main/docs/d.md", "second\n");
    let pipe = sandbox.path("main/src/a.rs");
    fs::remove_file(&pipe).expect("removed");
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, rustix::fs::Mode::RWXU, 0).expect("a pipe");
    let patterns =
        [PathPattern::parse("src/", CaseRule::Exact), PathPattern::parse("d*/e.*", CaseRule::Exact)]
            .map(|pattern| pattern.expect("a pattern"));
    let scope = Patterns { patterns: &patterns, case: CaseRule::Exact };
    let expected: Vec<PathBuf> =
        ["src/kept.one", "src/b.rs", "src/x.log", "src/build/y", "src/never.rs", "docs/d.md", "src/a.rs"]
            .map(PathBuf::from)
            .into();
    let request = comity_git::commit::CommitRequest { expected: &expected, ..request(&scope) };
    let committed = ask_for(&sandbox, "main", &request);
    assert_eq!(shown(&committed.changes), ["A src/kept.one"]);
    assert_eq!(
        skipped(&committed.report),
        [
            "docs/d.md: OutsideScope",
            "src/a.rs: NotAFile",
            "src/build: Ignored",
            "src/inner: NestedRepository",
            "src/x.log: Ignored",
        ]
    );
    let missing = |path: &str| {
        let found = committed.report.missing.iter().find(|missing| missing.path.as_os_str() == path);
        found.map(|missing| missing.reason.clone())
    };
    let skipped = |reason| Some(MissingReason::Skipped(reason));
    assert_eq!(missing("src/kept.one"), None);
    assert_eq!(missing("src/b.rs"), Some(MissingReason::Unchanged));
    assert_eq!(missing("src/never.rs"), Some(MissingReason::NotThere));
    assert_eq!(missing("src/x.log"), skipped(SkipReason::Ignored));
    assert_eq!(missing("src/build/y"), skipped(SkipReason::Ignored));
    assert_eq!(missing("docs/d.md"), skipped(SkipReason::OutsideScope));
    assert_eq!(missing("src/a.rs"), skipped(SkipReason::NotAFile));
    // Somebody who names a file in an ignored directory hears of it.
    let report = nothing_below(&sandbox, &["src/build/y", "src/build/no"]);
    assert_eq!(self::skipped(&report), ["src/build/y: Ignored"]);
}

#[test]
fn what_the_index_hides_is_left_out_if_it_differs() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let sandbox = tree();
        sandbox.git("main", &["update-index", flag, "src/a.rs", "src/b.rs"]);
        sandbox.write("main/src/a.rs", "hidden\n");
        sandbox.write("main/src/deep/c.rs", "seen\n");
        let committed = commit_below(&sandbox, &["src"]);
        assert_eq!(shown(&committed.changes), ["M src/deep/c.rs"], "{flag}");
        assert_eq!(skipped(&committed.report), ["src/a.rs: Hidden"], "{flag}");
        let flags = sandbox.git("main", &["ls-files", "-v", "src/a.rs", "src/b.rs"]);
        assert!(!flags.contains('H'), "the flags stay: {flags}");
    }
}

#[test]
fn files_outside_of_a_sparse_checkout_are_not_deleted() {
    let sandbox = tree();
    sandbox.git("main", &["sparse-checkout", "set", "docs"]);
    assert!(!sandbox.path("main/src/a.rs").exists());
    sandbox.write("main/docs/d.md", "second\n");
    let committed = commit_below(&sandbox, &["src", "docs"]);
    assert_eq!(shown(&committed.changes), ["M docs/d.md"]);
    assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "first\n");
}

#[test]
fn submodules_are_never_swept_in() {
    let sandbox = tree();
    sandbox.git("", &["clone", "-q", "main", "library"]);
    sandbox.git("main", &["submodule", "--quiet", "add", "../library", "src/sub"]);
    sandbox.write("main/src/a.rs", "ours\n");
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!(shown(&committed.changes), ["M src/a.rs"]);
    assert_eq!(skipped(&committed.report), ["src/sub: Submodule"]);
    assert_eq!(staged(&sandbox, "main"), [".gitmodules", "src/sub"]);
    sandbox.git("main", &["commit", "-q", "-m", "sub"]);
    sandbox.commit_files("main/src/sub", &["more"]);
    sandbox.write("main/src/a.rs", "ours again\n");
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!(shown(&committed.changes), ["M src/a.rs"]);
    assert_eq!(skipped(&committed.report), ["src/sub: Submodule"]);
    fs::remove_dir_all(sandbox.path("main/src/sub")).expect("removed");
    sandbox.write("main/src/sub", "a file in its place\n");
    let report = nothing_below(&sandbox, &["src"]);
    assert_eq!(skipped(&report), ["src/sub: Submodule"]);
}

#[test]
fn the_first_commit_of_a_branch() {
    let sandbox = Sandbox::empty();
    sandbox.init("main");
    sandbox.write("main/src/a.rs", "first\n");
    sandbox.write("main/docs/d.md", "staged by somebody\n");
    sandbox.git("main", &["add", "docs"]);
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!((shown(&committed.changes), committed.parent), (vec!["A src/a.rs".to_owned()], None));
    assert_eq!(committed.branch.as_deref(), Some("refs/heads/trunk"));
    assert_eq!(staged(&sandbox, "main"), ["docs/d.md"]);
    let log = sandbox.git("main", &["log", "-g", "--format=%gs"]);
    assert_eq!(log, "commit (initial): work of bob\n");
    // Without any index, too.
    sandbox.init("other");
    sandbox.write("other/a", "first\n");
    assert!(!sandbox.path("other/.git/index").exists());
    let committed = ask_for(&sandbox, "other", &request(&below(&["a"])));
    assert_eq!(shown(&committed.changes), ["A a"]);
    assert_eq!(lines(&sandbox, "other", &["status", "--porcelain", "-z"]), [""; 0]);
}

#[test]
fn no_branch_is_checked_out() {
    let sandbox = tree();
    sandbox.git("main", &["checkout", "-q", "--detach"]);
    sandbox.write("main/src/a.rs", "second\n");
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!(committed.branch, None);
    assert_eq!(sandbox.git("main", &["rev-parse", "HEAD"]).trim(), committed.commit);
    assert_eq!(sandbox.git("main", &["rev-parse", "trunk"]).trim(), committed.parent.expect("a parent"));
}

#[test]
fn a_linked_worktree_has_its_own_branch_and_index() {
    let sandbox = tree();
    sandbox.git("main", &["worktree", "add", "-q", "-b", "side", "../linked"]);
    sandbox.write("main/src/a.rs", "in main\n");
    sandbox.git("main", &["add", "src/a.rs"]);
    sandbox.write("linked/src/a.rs", "in linked\n");
    let committed = ask_for(&sandbox, "linked", &request(&below(&["src"])));
    assert_eq!(committed.branch.as_deref(), Some("refs/heads/side"));
    assert_eq!(sandbox.git("linked", &["rev-parse", "HEAD"]).trim(), committed.commit);
    assert_eq!(sandbox.git("main", &["rev-parse", "HEAD"]).trim(), committed.parent.expect("a parent"));
    assert_eq!((staged(&sandbox, "main"), staged(&sandbox, "linked")), (vec!["src/a.rs".to_owned()], vec![]));
    // Of a repository without a main worktree as well.
    sandbox.git("", &["clone", "-q", "--bare", "main", "bare.git"]);
    sandbox.git("bare.git", &["worktree", "add", "-q", "../of_bare"]);
    sandbox.write("of_bare/src/a.rs", "in a worktree of a bare repository\n");
    ask_for(&sandbox, "of_bare", &request(&below(&["src"])));
}

#[test]
fn hashes_and_refs_of_other_kinds() {
    for init in [&["--object-format=sha256"][..], &["--ref-format=reftable"]] {
        let sandbox = Sandbox::empty();
        sandbox.git("", &[&["init", "-q", "-b", "trunk", "main"], init].concat());
        sandbox.write("main/src/a.rs", "first\n");
        sandbox.write("main/src/b.rs", "first\n");
        assert_eq!(shown(&commit_below(&sandbox, &["src"]).changes), ["A src/a.rs", "A src/b.rs"]);
        sandbox.write("main/docs/d.md", "staged by somebody\n");
        sandbox.git("main", &["add", "docs"]);
        sandbox.write("main/src/a.rs", "second\n");
        fs::remove_file(sandbox.path("main/src/b.rs")).expect("removed");
        sandbox.write("main/src/b.rs/inner", "third\n");
        let committed = commit_below(&sandbox, &["src"]);
        assert_eq!(shown(&committed.changes), ["M src/a.rs", "D src/b.rs", "A src/b.rs/inner"]);
        assert_eq!(committed.branch.as_deref(), Some("refs/heads/trunk"));
        assert_eq!(staged(&sandbox, "main"), ["docs/d.md"]);
        sandbox.git("main", &["fsck", "--strict"]);
    }
}

#[test]
fn an_index_in_two_parts_or_with_caches() {
    for setting in ["core.splitIndex", "core.untrackedCache", "index.skipHash", "feature.manyFiles"] {
        let sandbox = tree();
        sandbox.git("main", &["config", setting, "true"]);
        sandbox.git("main", &["update-index", "--refresh"]);
        sandbox.write("main/docs/d.md", "staged by somebody\n");
        sandbox.git("main", &["add", "docs/d.md"]);
        for text in ["second\n", "third\n"] {
            sandbox.write("main/src/a.rs", text);
            sandbox.write("main/src/n.rs", text);
            commit_below(&sandbox, &["src"]);
            assert_eq!(staged(&sandbox, "main"), ["docs/d.md"], "{setting}");
        }
        sandbox.git("main", &["commit", "-q", "-m", "docs"]);
        assert_eq!(lines(&sandbox, "main", &["status", "--porcelain", "-z"]), [""; 0], "{setting}");
        assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "third\n", "{setting}");
    }
}

#[test]
fn what_cannot_be_committed_without_more_than_is_covered() {
    let sandbox = tree();
    fs::remove_dir_all(sandbox.path("main/src")).expect("removed");
    sandbox.write("main/src", "a file now\n");
    struct OnlyTheFile;
    impl comity_git::commit::CommitScope for OnlyTheFile {
        fn look(&self) -> comity_git::commit::SearchScope {
            comity_git::commit::SearchScope::Everywhere
        }
        fn covers(&self, path: &std::path::Path) -> bool {
            path.as_os_str() == "src"
        }
    }
    let before = sandbox.git("main", &["rev-parse", "HEAD"]);
    let not = ask(&sandbox, "main", &request(&OnlyTheFile)).expect_err("beyond the scope").to_string();
    assert_eq!(not, "the commit would also change src/a.rs, which may not be committed (3 in all)",);
    assert_eq!(sandbox.git("main", &["rev-parse", "HEAD"]), before);
    let whole = ask(&sandbox, "main", &request(&below(&["src"]))).expect("committed");
    assert!(matches!(whole, CommitOutcome::Committed(_)));
}

#[test]
fn in_a_large_repository_only_the_scope_is_looked_at() {
    let sandbox = tree();
    enlarge(&sandbox);
    sandbox.write("main/.git/info/exclude", "*.log\n");
    sandbox.write("main/docs/d.md", "staged by somebody\n");
    sandbox.git("main", &["add", "docs/d.md"]);
    sandbox.write("main/src/x.log", "");
    sandbox.write("main/src/a.rs", "ours\n");
    fs::remove_file(sandbox.path("main/src/b.rs")).expect("removed");
    sandbox.git("main", &["update-index", "--assume-unchanged", "src/deep/c.rs"]);
    sandbox.write("main/src/deep/c.rs", "hidden\n");
    let committed = commit_below(&sandbox, &["src"]);
    assert_eq!(shown(&committed.changes), ["M src/a.rs", "D src/b.rs"]);
    assert_eq!(skipped(&committed.report), ["src/deep/c.rs: Hidden", "src/x.log: Ignored"]);
    assert_eq!(staged(&sandbox, "main"), ["docs/d.md"]);
    // The files that are missing were not looked for, and are only counted.
    let Dirty::Known(dirty) = committed.report.dirty else { panic!("{:?}", committed.report.dirty) };
    assert_eq!((dirty.first.len(), dirty.count), (LISTED_MAX, 3_601));
    sandbox.git("main", &["fsck", "--strict"]);
}
