//! Worktrees: one name is one worktree, and only its owner, who is above the owner, or the human may change it.

use comity_core::worktrees::{Tree, may_change};
use comity_core::{Ask, Principal};

use crate::script::{Stage, project};

fn add(stage: &mut Stage, name: &str, slug: &str) -> bool {
    let who = stage.who(name);
    let tree = Box::new(Tree {
        slug: slug.into(),
        path: format!("/trees/{slug}").into(),
        branch: format!("comity/{slug}").into(),
        base: "0123456789".into(),
    });
    stage.ask(name, who, &Ask::AddWorktree { project: project(), tree }, None)
}

#[test]
fn a_name_is_given_once() {
    let mut stage = Stage::default();
    assert!(add(&mut stage, "ann", "login"));
    assert!(!add(&mut stage, "bob", "login"));
    let said = stage.said.last().map(String::as_str).unwrap_or_default();
    assert!(said.starts_with("bob: refused (bad_input): there is a worktree login already"), "{said}");
    let (slug, rescue) = ("login".into(), "refs/comity/saved/login".into());
    let ann = stage.who("ann");
    assert!(stage.ask("ann", ann, &Ask::RemoveWorktree { project: project(), slug, rescue }, None));
    assert!(add(&mut stage, "bob", "login"), "the name is free again");
}

#[test]
fn who_may_change_it() {
    let mut stage = Stage::default();
    stage.play("lead joins");
    stage.play("ann joins under lead");
    assert!(add(&mut stage, "ann", "login"));
    let worktree = stage.world.worktrees.get(project(), "login").expect("a worktree").clone();
    for (name, may) in [("ann", true), ("lead", true), ("bob", false), ("human", true)] {
        let who = stage.who(name);
        assert_eq!(may_change(&stage.world, who, &worktree).is_ok(), may, "{name}");
    }
    assert_eq!(worktree.owner.agent().map(Principal::Agent), Some(stage.who("ann")));
}
