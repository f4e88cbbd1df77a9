//! What waits for whom, in which order.

use comity_core::agents::Profile;
use comity_core::control::ControlAsk;
use comity_core::inbox::{self, InboxItem};
use comity_core::teams::TeamAsk;
use comity_core::{Ask, Millis, Principal, World};

use crate::people::{Scene, id, person, present};
use crate::permission_world::{ANN, HUMAN, LEAD, PermissionWorld, allow, shell, who};
use crate::script::Stage;

fn kinds(world: &World, who: Principal) -> Vec<&'static str> {
    let kind = |item: &InboxItem<'_>| match item {
        InboxItem::Shutdown(_) => "shutdown",
        InboxItem::Permission(_) => "permission",
        InboxItem::Plan(_) => "plan",
        InboxItem::NewPlaces { .. } => "new_places",
        InboxItem::Orphan(_) => "orphan",
        InboxItem::Death(_) => "death",
        InboxItem::GaveUp(_) => "gave up",
        InboxItem::Review(_) => "review",
        InboxItem::Failed(_) => "failed",
        InboxItem::LockWanted { .. } => "lock_wanted",
        InboxItem::Space { .. } => "space",
        InboxItem::Decision(_) => "decision",
        InboxItem::Wish(_) => "wish",
        InboxItem::Mail { .. } => "mail",
        InboxItem::Task(_) => "task",
        InboxItem::Ready(_) => "ready",
    };
    inbox::waiting_for(world, who).iter().map(kind).collect()
}

#[test]
fn a_request_waits_for_whoever_was_asked_until_it_is_answered() {
    let mut stage = PermissionWorld::new();
    let call = shell("make");
    let request = stage.request(ANN, &call).expect("asked");
    assert_eq!(kinds(&stage.world, who(LEAD)), ["permission"]);
    assert!(kinds(&stage.world, HUMAN).is_empty() && kinds(&stage.world, who(ANN)).is_empty());
    stage.answer(who(LEAD), request, &call, allow()).expect("answered");
    assert!(!kinds(&stage.world, who(LEAD)).contains(&"permission"));
}

#[test]
fn a_request_to_end_is_as_old_as_it_is() {
    let mut stage = Stage::default();
    ["lead joins as lead", "ann joins under lead"].iter().for_each(|line| stage.play(line));
    let (lead, ann) = (stage.who("lead"), stage.who("ann"));
    let ask = ControlAsk::RequestShutdown {
        agent: ann.agent().expect("an agent"),
        reason: None,
        within: Millis(3_600_000),
    };
    assert!(stage.ask("lead", lead, &Ask::Control(ask), None), "asked");
    stage.play("3m pass");
    let items = inbox::waiting_for(&stage.world, ann);
    let [shutdown] = &items[..] else { panic!("{items:?}") };
    assert_eq!(stage.now().since(shutdown.since()), Millis(180_000));
}

#[test]
fn work_that_was_left_waits_for_the_leader_and_else_for_the_human() {
    let mut stage = Stage::default();
    for line in [
        "lead joins as lead",
        "ann joins under lead",
        "bob joins",
        "ann locks a.rs",
        "bob locks b.rs",
        "ann crashes",
        "bob crashes",
        "dirty a.rs",
        "dirty b.rs",
    ] {
        stage.play(line);
    }
    let lead = stage.who("lead");
    assert_eq!(kinds(&stage.world, lead), ["orphan"]);
    assert_eq!(kinds(&stage.world, HUMAN), ["orphan"]);
    stage.play("lead crashes");
    assert_eq!(kinds(&stage.world, HUMAN), ["orphan", "orphan"], "whoever leads it now");
    stage.play("clean a.rs");
    assert_eq!(kinds(&stage.world, HUMAN), ["orphan"]);
}

#[test]
fn whoever_waits_for_a_lock_of_the_human_is_an_entry() {
    let mut stage = Stage::default();
    for line in ["ann joins", "bob joins", "human locks a.rs", "ann locks b.rs"] {
        stage.play(line);
    }
    assert!(kinds(&stage.world, HUMAN).is_empty());
    stage.play("bob locks a.rs waiting 60s");
    stage.play("bob locks b.rs waiting 60s");
    let ann = stage.who("ann");
    assert_eq!((kinds(&stage.world, HUMAN), kinds(&stage.world, ann)), (vec!["lock_wanted"], vec![]));
}

#[test]
fn a_wish_reaches_whoever_leads_the_team_whether_it_was_created_or_not() {
    for is_created in [false, true] {
        let mut scene = Scene::new();
        let (lead, helper) = (Principal::Agent(id(2)), id(3));
        let green = || Some("green".into());
        let leader =
            Profile { name: "lead".into(), role: Some("lead".into()), team: green(), ..Profile::default() };
        scene.join_with(present(), 2, leader).expect("joined");
        if is_created {
            scene
                .ask(lead, Ask::Team(TeamAsk::Create { name: "green".into(), purpose: None }))
                .expect("created");
        }
        let profile = Profile { name: "helper".into(), team: green(), ..Profile::default() };
        scene.join_with(person(), 3, profile).expect("joined");
        assert_eq!(
            (kinds(&scene.world, lead), kinds(&scene.world, HUMAN)),
            (vec!["wish"], vec![]),
            "{is_created}"
        );
        scene.ask(lead, Ask::Team(TeamAsk::Admit { agent: helper, team: None })).expect("let in");
    }
}
