//! Hooks of the repository, for those who want them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use comity_git::commit::{CommitOutcome, CommitRequest, Hooks, NotCommitted};

use crate::committing::{ask, ask_for, below, is_merging, merging, paths_of, request, shown, staged};
use crate::sandbox::Sandbox;

fn write_hook(sandbox: &Sandbox, name: &str, script: &str) {
    let hook = format!("main/.git/hooks/{name}");
    sandbox.write(&hook, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(sandbox.path(&hook), fs::Permissions::from_mode(0o755)).expect("executable");
}

fn with_hook(name: &str, script: &str) -> Sandbox {
    let sandbox = Sandbox::with(&["src/a.rs", "docs/d.md"]);
    write_hook(&sandbox, name, script);
    sandbox.write("main/docs/d.md", "staged by somebody\n");
    sandbox.git("main", &["add", "docs/d.md"]);
    sandbox.write("main/src/a.rs", "ours\n");
    sandbox
}

fn ask_with_hooks(sandbox: &Sandbox) -> Result<CommitOutcome, NotCommitted> {
    let scope = below(&["src"]);
    ask(sandbox, "main", &CommitRequest { hooks: Hooks::Run(None), ..request(&scope) })
}

#[test]
fn a_hook_sees_what_is_committed_and_nothing_else() {
    let sandbox = with_hook("pre-commit", "git diff --cached --name-only > seen; pwd >> seen");
    let scope = below(&["src"]);
    let committed = ask_for(&sandbox, "main", &CommitRequest { hooks: Hooks::Run(None), ..request(&scope) });
    assert_eq!(shown(&committed.changes), ["M src/a.rs"]);
    let seen = fs::read_to_string(sandbox.path("main/seen")).expect("the hook ran");
    assert_eq!(seen, format!("src/a.rs\n{}\n", sandbox.main().display()));
    assert_eq!(staged(&sandbox, "main"), ["docs/d.md"]);
}

#[test]
fn hooks_run_only_if_asked_for() {
    for hook in ["pre-commit", "commit-msg"] {
        let sandbox = with_hook(hook, "exit 1");
        let scope = below(&["src"]);
        ask_for(&sandbox, "main", &request(&scope));
    }
}

#[test]
fn a_hook_may_refuse() {
    for hook in ["pre-commit", "commit-msg"] {
        let sandbox = with_hook(hook, "echo 'no, thanks'; exit 1");
        let before =
            (sandbox.git("main", &["rev-parse", "HEAD"]), fs::read(sandbox.path("main/.git/index")).ok());
        let not = ask_with_hooks(&sandbox).expect_err("refused").to_string();
        assert_eq!(not, format!("the hook {hook} of the repository refused: no, thanks"));
        let after =
            (sandbox.git("main", &["rev-parse", "HEAD"]), fs::read(sandbox.path("main/.git/index")).ok());
        assert!(before == after);
    }
}

#[test]
fn a_hook_may_change_contents_and_the_message() {
    let sandbox = with_hook("pre-commit", "echo formatted > src/a.rs; git add src/a.rs");
    assert!(ask_with_hooks(&sandbox).is_ok());
    assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "formatted\n");
    assert_eq!(staged(&sandbox, "main"), ["docs/d.md"]);
    let sandbox = with_hook("commit-msg", "echo 'Reviewed-by: a hook' >> \"$1\"");
    assert!(ask_with_hooks(&sandbox).is_ok());
    assert_eq!(sandbox.git("main", &["log", "-1", "--format=%B"]), "work of bob\nReviewed-by: a hook\n\n");
    let sandbox = with_hook("commit-msg", ": > \"$1\"");
    let not = ask_with_hooks(&sandbox).expect_err("no message").to_string();
    assert_eq!(not, "the hook commit-msg left no message that can be committed");
}

#[test]
fn a_hook_cannot_add_what_is_not_covered() {
    let sandbox = with_hook("pre-commit", "git add docs");
    let before = sandbox.git("main", &["rev-parse", "HEAD"]);
    let not = ask_with_hooks(&sandbox).expect_err("beyond the scope");
    assert!(matches!(&not, NotCommitted::BeyondScope { paths } if paths.count == 1), "{not:?}");
    assert_eq!(sandbox.git("main", &["rev-parse", "HEAD"]), before);
}

#[test]
fn a_hook_cannot_turn_a_file_into_a_submodule() {
    let sandbox =
        with_hook("pre-commit", "git update-index --cacheinfo 160000,$(git rev-parse HEAD),src/a.rs");
    let not = ask_with_hooks(&sandbox).expect_err("beyond the scope");
    assert!(matches!(&not, NotCommitted::BeyondScope { paths } if paths.count == 1), "{not:?}");
}

#[test]
fn a_hook_without_anything_to_commit_does_not_run() {
    let sandbox = with_hook("pre-commit", "touch ran");
    fs::write(sandbox.path("main/src/a.rs"), "first\n").expect("as before");
    assert!(matches!(ask_with_hooks(&sandbox), Ok(CommitOutcome::Nothing(_))));
    assert!(!sandbox.path("main/ran").exists());
    assert_eq!(paths_of(&sandbox, "main", "HEAD").len(), 2);
}

#[test]
fn hooks_run_for_a_merge_that_is_finished() {
    let sandbox = merging();
    write_hook(&sandbox, "pre-commit", "echo formatted > src/a.rs; git add src/a.rs");
    write_hook(&sandbox, "commit-msg", "echo 'Reviewed-by: a hook' >> \"$1\"");
    assert!(matches!(ask_with_hooks(&sandbox), Ok(CommitOutcome::Committed(_))));
    assert_eq!(sandbox.git("main", &["show", "HEAD:src/a.rs"]), "formatted\n");
    assert_eq!(sandbox.git("main", &["show", "HEAD:docs/new.md"]), "theirs\n");
    let shown = sandbox.git("main", &["log", "-1", "--format=%P%n%B"]);
    let (parents, message) = shown.split_once('\n').expect("lines");
    assert_eq!((parents.split(' ').count(), message.trim_end()), (2, "work of bob\nReviewed-by: a hook"));
    assert_eq!(sandbox.git("main", &["status", "--porcelain"]), "");

    let sandbox = merging();
    write_hook(&sandbox, "pre-commit", "touch ran");
    let scope = below(&["src"]);
    ask_for(&sandbox, "main", &request(&scope));
    assert!(!sandbox.path("main/ran").exists(), "only if asked for");
}

#[test]
fn a_hook_may_refuse_a_merge_and_add_nothing_to_it() {
    let refusing = [("pre-commit", "echo 'no, thanks'; exit 1"), ("commit-msg", "echo 'no, thanks'; exit 1")];
    for (name, script) in refusing {
        let sandbox = merging();
        write_hook(&sandbox, name, script);
        let not = ask_with_hooks(&sandbox).expect_err("refused").to_string();
        assert_eq!(not, format!("the hook {name} of the repository refused: no, thanks"));
        assert!(is_merging(&sandbox), "{name}");
    }
    for script in [
        "echo more > docs/d.md; git add docs",
        "git update-index --cacheinfo 160000,$(git rev-parse HEAD),src/a.rs",
    ] {
        let sandbox = merging();
        write_hook(&sandbox, "pre-commit", script);
        let not = ask_with_hooks(&sandbox).expect_err("beyond the scope");
        assert!(matches!(&not, NotCommitted::BeyondScope { paths } if paths.count == 1), "{script}: {not:?}");
        assert!(is_merging(&sandbox), "{script}");
    }
}
