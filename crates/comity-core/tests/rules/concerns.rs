//! Whom an event concerns that does not stand in it: `comity log --agent` finds it for them.

use comity_core::permissions::{PermissionAsk, RuleEffect, RuleScope, ToolClass};
use comity_core::pools::{PoolAsk, PoolKind, SlotId, Take};
use comity_core::teams::TeamAsk;
use comity_core::{AgentId, Ask, Principal};

use crate::people::{Scene, id, present};

/// Of ann, bob and cat, those whom what this ask led to concerns.
fn concerned(scene: &mut Scene, who: Principal, ask: Ask) -> Vec<&'static str> {
    let before = scene.log.len();
    match who {
        Principal::Human => scene.ask(present(), ask),
        who => scene.ask(who, ask),
    }
    .expect("done");
    let named = [(1, "ann"), (2, "bob"), (3, "cat")];
    let concerns = |agent: AgentId| scene.log[before..].iter().any(|record| record.concerns_agent(agent));
    named.into_iter().filter(|(number, _)| concerns(id(*number))).map(|(_, name)| name).collect()
}

fn scene() -> Scene {
    let mut scene = Scene::new();
    for (number, name) in [(2, "bob"), (3, "cat")] {
        scene.join(present(), number, name, None).expect("joined");
    }
    scene
}

fn agent(number: u64) -> Principal {
    Principal::Agent(id(number))
}

#[test]
fn a_team_that_is_left_concerns_its_leader_and_a_rule_for_a_team_all_in_it() {
    let mut scene = scene();
    for (lead, name) in [(1, "red"), (2, "blue")] {
        let create = Ask::Team(TeamAsk::Create { name: name.into(), purpose: None });
        concerned(&mut scene, agent(lead), create);
    }
    let admit = |team: &str| Ask::Team(TeamAsk::Admit { agent: id(3), team: Some(team.into()) });
    assert_eq!(concerned(&mut scene, Principal::Human, admit("red")), ["ann", "cat"]);
    assert_eq!(concerned(&mut scene, Principal::Human, admit("blue")), ["ann", "bob", "cat"]);
    let rule = |team: &str| {
        Ask::Permission(PermissionAsk::AddRule {
            scope: RuleScope::Team(team.into()),
            effect: RuleEffect::Deny,
            tool: "Bash".into(),
            class: ToolClass::Shell,
            pattern: None,
        })
    };
    assert_eq!(concerned(&mut scene, Principal::Human, rule("blue")), ["cat"]);
    assert_eq!(concerned(&mut scene, Principal::Human, rule("red")), [""; 0]);
}

#[test]
fn who_enters_a_context_concerns_its_maker() {
    let mut scene = scene();
    let pool = || "tabs".into();
    let configure = PoolAsk::Configure { pool: pool(), kind: PoolKind::Tabs, capacity: 6 };
    concerned(&mut scene, Principal::System, Ask::Pool(configure));
    for (number, slot) in [(1, 1), (2, 2)] {
        let take = Take {
            pool: pool(),
            label: None,
            wait: None,
            evict_oldest: false,
            ttl: None,
            process: None,
            by_page: false,
        };
        concerned(&mut scene, agent(number), Ask::Pool(PoolAsk::Take(Box::new(take))));
        if slot == 1 {
            let enter = PoolAsk::EnterContext { slot: SlotId(1), context: "login".into() };
            assert_eq!(concerned(&mut scene, agent(1), Ask::Pool(enter)), ["ann"]);
        }
    }
    let admit = PoolAsk::Admit { pool: pool(), context: "login".into(), whom: agent(2) };
    assert_eq!(concerned(&mut scene, agent(1), Ask::Pool(admit)), ["ann", "bob"]);
    let enter = PoolAsk::EnterContext { slot: SlotId(2), context: "login".into() };
    assert_eq!(concerned(&mut scene, agent(2), Ask::Pool(enter)), ["ann", "bob"]);
}
