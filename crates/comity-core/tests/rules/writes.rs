//! Writes without a lock: how they read, and who is told.

use comity_core::writes::UnlockedWrite;
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
    assert!(stage.ask("the watcher", Principal::System, &Ask::SawUnlockedWrite(Box::new(write)), None));
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
    assert!(!stage.ask("bob", bob, &Ask::SawUnlockedWrite(Box::new(write)), None));
    assert!(stage.said.last().is_some_and(|said| said.starts_with("bob: refused (not_allowed)")));
}
