//! Programs of the user's that make and remove worktrees.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use comity_git::worktree::{FailureKind, KeepCause, MadeWorktree, NewWorktree, Setup, Slug, WorktreeHook};

use super::states::write;
use super::yard::Yard;

fn program(yard: &Yard, name: &str, script: &str) -> WorktreeHook {
    yard.sandbox.write(name, &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(yard.path(name), fs::Permissions::from_mode(0o755)).expect("executable");
    WorktreeHook {
        argv: vec![yard.path(name).into(), "$HOME; echo".into()],
        patience: Duration::from_secs(60),
        confiner: None,
    }
}

fn create(yard: &Yard, hook: &WorktreeHook) -> Result<MadeWorktree, FailureKind> {
    let (slug, setup) = (Slug::parse("ann").expect("a slug"), Setup::default());
    let new = NewWorktree { slug: &slug, branch: None, base: "trunk", setup: &setup, reserved: None };
    yard.driver.create_by_hook(hook, &new).map_err(|failure| failure.kind())
}

#[test]
fn it_is_told_what_to_make_and_says_where() {
    let yard = Yard::new();
    let told = yard.path("told");
    let script = format!(
        "cat > '{0}'; echo \"$1 $COMITY_WORKTREE_EVENT $COMITY_WORKTREE_SLUG $COMITY_WORKTREE_BASE\" > '{0}.env'
         git worktree add -q -b mine '{1}' \"$COMITY_WORKTREE_BASE\" && echo '{1}'",
        told.display(),
        yard.path("anywhere").display(),
    );
    let made = create(&yard, &program(&yard, "create", &script)).expect("made");
    assert_eq!(made.path, yard.path("anywhere"));
    assert_eq!(made.branch.map(|branch| branch.to_string()).as_deref(), Some("mine"));
    let trunk = yard.sandbox.git("main", &["rev-parse", "trunk"]).trim_end().to_owned();
    let env = fs::read_to_string(yard.path("told.env")).expect("told");
    assert_eq!(env, format!("$HOME; echo create ann {trunk}\n"), "arguments are not read by a shell");
    let json: serde_json::Value = serde_json::from_slice(&fs::read(told).expect("told")).expect("JSON");
    let proposed = yard.path("trees/worktrees/ann");
    let expected = serde_json::json!({ "event": "create", "slug": "ann", "path": proposed, "base": trunk });
    assert_eq!(json, expected);
}

#[test]
fn what_it_says_is_not_believed_blindly() {
    let yard = Yard::new();
    let check = |script: &str| {
        assert_eq!(create(&yard, &program(&yard, "create", script)), Err(FailureKind::Hook), "{script}");
    };
    check("exit 3");
    check("true");
    check("echo relative/path");
    check("echo /no/such/directory");
    check("echo one; echo two");
    check(&format!("echo '{}'", yard.path("main").display()));
    check(&format!("echo '{}'", yard.path("").display()));
    check("echo /etc/passwd");
    let nothing = WorktreeHook { argv: vec![], patience: Duration::from_secs(60), confiner: None };
    assert_eq!(create(&yard, &nothing), Err(FailureKind::Hook));
    let missing = WorktreeHook {
        argv: vec!["/no/such/program".into()],
        patience: Duration::from_secs(60),
        confiner: None,
    };
    assert_eq!(create(&yard, &missing), Err(FailureKind::Hook));
    let slow = WorktreeHook { patience: Duration::from_millis(50), ..program(&yard, "create", "sleep 600") };
    assert_eq!(create(&yard, &slow), Err(FailureKind::Hook));
}

#[test]
fn it_removes_only_what_is_proven() {
    let yard = Yard::new();
    let path = yard.path("anywhere");
    let script = format!("git worktree add -q -b mine '{0}' trunk && echo '{0}'", path.display());
    create(&yard, &program(&yard, "create", &script)).expect("made");
    write(&yard, "anywhere", "work.txt", "work\n");
    assert_eq!(yard.whys("anywhere"), [KeepCause::Untracked]);
    fs::remove_file(path.join("work.txt")).expect("removed");
    let remove = program(&yard, "remove", "git worktree remove \"$COMITY_WORKTREE_PATH\"");
    let proof = yard.prove("anywhere").expect("clean");
    write(&yard, "anywhere", "late.txt", "work\n");
    assert_eq!(yard.driver.remove_by_hook(&remove, &proof).expect_err("changed")[0].why, KeepCause::Changed);
    fs::remove_file(path.join("late.txt")).expect("removed");
    let proof = yard.prove("anywhere").expect("clean");
    yard.driver.remove_by_hook(&remove, &proof).expect("removed");
    assert!(!path.exists());
    assert!(
        yard.sandbox.git("main", &["for-each-ref", "refs/comity/saved"]).contains("refs/comity/saved/ann-")
    );
}

#[test]
fn what_only_a_program_knows_is_never_proven() {
    let yard = Yard::new();
    yard.sandbox.make_dir("other");
    let script = format!("echo '{}'", yard.path("other").display());
    let made = create(&yard, &program(&yard, "create", &script)).expect("made");
    assert_eq!(made.branch, None);
    assert_eq!(yard.whys("other"), [KeepCause::NotOurs]);
}

#[test]
fn a_program_that_leaves_the_worktree_is_noticed() {
    let yard = Yard::new();
    let path = yard.path("anywhere");
    let script = format!("git worktree add -q -b mine '{0}' trunk && echo '{0}'", path.display());
    create(&yard, &program(&yard, "create", &script)).expect("made");
    let proof = yard.prove("anywhere").expect("clean");
    assert!(yard.driver.remove_by_hook(&program(&yard, "remove", "true"), &proof).is_err());
    // The trash is for what we have made ourselves.
    let proof = yard.prove("anywhere").expect("clean");
    assert!(yard.driver.remove(proof).is_err());
    assert!(path.join("src/a.rs").exists());
    assert_eq!(yard.driver.trashed(), Ok(vec![]));
}
