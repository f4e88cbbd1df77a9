//! Writes without a lock: how they read, and who is told.

use comity_core::commits::{CommitAsk, UnguardedCommit};
use comity_core::writes::{UnlockedWrite, WriteAsk};
use comity_core::{Ask, Principal};
use expect_test::{Expect, expect};

use crate::script::{Stage, project};

/// Reports a write to `src/a.rs`, and compares the line of the log and what the agents are told.
fn check(holder: Option<&str>, candidates: &[&str], others: usize, expect: Expect) {
    let mut stage = Stage::default();
    for name in ["ann", "bob", "cy"] {
        stage.play(&format!("{name} joins"));
    }
    stage.said.clear();
    let write = UnlockedWrite {
        project: project(),
        path: "src/a.rs".into(),
        tree: "/repo".into(),
        holder: holder.map(|name| stage.who(name)),
        candidates: candidates.iter().filter_map(|name| stage.who(name).agent()).collect(),
        others,
    };
    assert!(stage.ask(
        "the watcher",
        Principal::System,
        &Ask::Write(WriteAsk::SawUnlocked(Box::new(write))),
        None
    ));
    for name in ["ann", "bob", "cy"] {
        let id = stage.who(name).agent().expect("an agent");
        for notice in &stage.world.agents.get(id).expect("an agent").notices {
            stage.said.push(format!("{name} is told: {}", notice.what));
        }
    }
    expect.assert_eq(&stage.said.join("\n"));
}

#[test]
fn nobody_may_have_done_it() {
    check(None, &[], 0, expect!["src/a.rs was changed without a lock by a person or an unknown program"]);
}

#[test]
fn one_may_have_done_it() {
    check(
        None,
        &["bob"],
        1,
        expect![[r#"
            src/a.rs and another file were changed without a lock, probably by bob
            bob is told: src/a.rs (and another file) was changed without a lock, probably by you; lock what you change before you change it"#]],
    );
}

#[test]
fn several_may_have_done_it() {
    check(None, &["ann", "bob", "cy"], 0, expect!["src/a.rs was changed without a lock by ann, bob or cy"]);
}

#[test]
fn it_is_locked_by_another() {
    check(
        Some("ann"),
        &["bob"],
        0,
        expect![[r#"
            src/a.rs, locked by ann, was changed, probably by bob
            ann is told: src/a.rs, which you have locked, was changed, probably by bob; read it again before you write to it
            bob is told: src/a.rs, which ann has locked, was changed, probably by you; leave it to ann, and look at what you changed"#]],
    );
}

#[test]
fn only_the_watcher_tells() {
    let mut stage = Stage::default();
    let bob = stage.who("bob");
    let write = UnlockedWrite {
        project: project(),
        path: "src/a.rs".into(),
        tree: "/repo".into(),
        holder: None,
        candidates: vec![],
        others: 0,
    };
    assert!(!stage.ask("bob", bob, &Ask::Write(WriteAsk::SawUnlocked(Box::new(write))), None));
    assert!(stage.said.last().is_some_and(|said| said.starts_with("bob: refused (not_allowed)")));
}

#[test]
fn a_commit_past_the_guard() {
    let mut stage = Stage::default();
    for name in ["ann", "bob"] {
        stage.play(&format!("{name} joins"));
    }
    stage.said.clear();
    let commit = UnguardedCommit {
        project: project(),
        commit: "0123456789abcdef".into(),
        branch: Some("main".into()),
        paths: vec!["src/a.rs".into(), "src/b.rs".into()],
        others: 2,
        holder: stage.who("ann"),
        candidates: stage.who("bob").agent().into_iter().collect(),
    };
    let ask = Ask::Commit(CommitAsk::SawUnguarded(Box::new(commit)));
    let bob = stage.who("bob");
    assert!(!stage.ask("bob", bob, &ask, None), "only the watcher tells");
    stage.said.clear();
    assert!(stage.ask("the watcher", Principal::System, &ask, None));
    for name in ["ann", "bob"] {
        let id = stage.who(name).agent().expect("an agent");
        for notice in &stage.world.agents.get(id).expect("an agent").notices {
            stage.said.push(format!("{name} is told: {}", notice.what));
        }
    }
    expect![[r#"
        src/a.rs, src/b.rs and 2 other files, locked by ann, went past the guard into commit 0123456789 on main, probably by bob
        ann is told: src/a.rs, src/b.rs and 2 other files, which you have locked, went past the guard into commit 0123456789, probably by bob; look at it with: git show 0123456789
        bob is told: src/a.rs, src/b.rs and 2 other files, which ann has locked, went past the guard into commit 0123456789, probably by you; ask ann, or take it back with: git revert 0123456789"#]]
    .assert_eq(&stage.said.join("\n"));
}
