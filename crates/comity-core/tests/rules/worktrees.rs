//! Worktrees: one name is one worktree, and only its owner, who is above the owner, or the human may change it.

use comity_core::worktrees::{WorktreeAsk, WorktreeInfo, may_change};
use comity_core::{Ask, Principal};

use crate::script::{Stage, project};

fn add(stage: &mut Stage, name: &str, slug: &str) -> bool {
    let who = stage.who(name);
    let tree = Box::new(WorktreeInfo {
        slug: slug.into(),
        path: format!("/trees/{slug}").into(),
        branch: format!("comity/{slug}").into(),
        base: "0123456789".into(),
    });
    stage.ask(name, who, &Ask::Worktree(WorktreeAsk::Add { project: project(), tree }), None)
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
    assert!(stage.ask(
        "ann",
        ann,
        &Ask::Worktree(WorktreeAsk::Remove { project: project(), slug, rescue }),
        None
    ));
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

#[test]
fn one_that_is_released_goes_or_is_kept_and_its_owner_is_told() {
    let mut stage = Stage::default();
    stage.play("ann joins");
    assert!(add(&mut stage, "ann", "login"));
    let ann = stage.who("ann");
    let slug: Box<str> = "login".into();
    let release = Ask::Worktree(WorktreeAsk::Release { project: project(), slug: slug.clone() });
    let keep = Ask::Worktree(WorktreeAsk::Keep {
        project: project(),
        slug: slug.clone(),
        why: "files are in no commit: x".into(),
    });
    let released = |stage: &Stage| stage.world.worktrees.released().map(|it| it.released).collect::<Vec<_>>();
    let bob = stage.who("bob");
    assert!(!stage.ask("bob", bob, &release, None), "it is ann's");
    assert!(stage.ask("comity", Principal::System, &keep, None), "nobody has released it: nothing happens");
    assert_eq!(stage.world.worktrees.get(project(), "login").and_then(|it| it.kept.as_deref()), None);

    assert!(stage.ask("ann", ann, &release, None));
    assert_eq!(released(&stage), [Some(ann)]);
    let head = stage.world.head;
    assert!(stage.ask("ann", ann, &release, None));
    assert_eq!(stage.world.head, head, "once is enough");
    stage.play("restart");
    assert_eq!(released(&stage), [Some(ann)], "a restart does not forget it");

    assert!(stage.ask("comity", Principal::System, &keep, None));
    assert_eq!(released(&stage), []);
    let kept = stage.world.worktrees.get(project(), "login").and_then(|it| it.kept.clone());
    assert_eq!(kept.as_deref(), Some("files are in no commit: x"));
    let told = stage.world.agents.get(ann.agent().expect("an agent")).expect("ann").notices.clone();
    let told: Vec<String> = told.iter().map(|notice| notice.what.to_string()).collect();
    assert_eq!(told, ["the worktree login that you released is kept: files are in no commit: x"]);

    assert!(stage.ask("ann", ann, &release, None), "it can be released again");
    assert_eq!(stage.world.worktrees.get(project(), "login").and_then(|it| it.kept.clone()), None);
    let rescue = "refs/comity/saved/login".into();
    assert!(stage.ask(
        "comity",
        Principal::System,
        &Ask::Worktree(WorktreeAsk::Remove { project: project(), slug, rescue }),
        None
    ));
    assert_eq!(released(&stage), []);
}
