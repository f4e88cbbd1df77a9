//! Teams: who makes and ends them, who leads whom, and what a role may do to others.

use comity_core::roles::{Right, may};
use comity_core::teams::{TeamAsk, leader_of, leads};
use comity_core::{AgentId, Ask, Principal};

use crate::script::Stage;

fn create(stage: &mut Stage, name: &str, team: &str) -> bool {
    let who = stage.who(name);
    stage.ask(name, who, &Ask::Team(TeamAsk::Create { name: team.into(), purpose: None }), None)
}

fn delete(stage: &mut Stage, name: &str, team: &str) -> bool {
    let who = stage.who(name);
    stage.ask(name, who, &Ask::Team(TeamAsk::Delete { name: team.into() }), None)
}

fn agent(stage: &mut Stage, name: &str) -> AgentId {
    stage.who(name).agent().expect("an agent")
}

#[test]
fn a_team_is_made_once_and_ended_by_its_leader_when_nobody_is_left() {
    let mut stage = Stage::default();
    assert!(create(&mut stage, "ann", "red"));
    assert!(!create(&mut stage, "bob", "red"), "the name is taken");
    assert!(!create(&mut stage, "bob", "no/slash"));
    stage.play("cat joins in red");
    assert!(!delete(&mut stage, "bob", "red"), "not its leader");
    assert!(!delete(&mut stage, "ann", "red"), "cat is still in it");
    stage.play("cat ends");
    assert!(delete(&mut stage, "ann", "red"));
    assert!(!delete(&mut stage, "ann", "red"), "it is gone");
}

#[test]
fn a_parent_leads_before_a_team_and_the_human_leads_the_rest() {
    let mut stage = Stage::default();
    assert!(create(&mut stage, "ann", "red"));
    stage.play("bob joins in red");
    stage.play("cat joins in red under bob");
    stage.play("dan joins");
    let (ann, bob) = (stage.who("ann"), stage.who("bob"));
    let (cat, dan) = (agent(&mut stage, "cat"), agent(&mut stage, "dan"));
    let bob_id = agent(&mut stage, "bob");
    assert_eq!(leader_of(&stage.world, bob_id), ann);
    assert_eq!(leader_of(&stage.world, cat), bob);
    assert_eq!(leader_of(&stage.world, dan), Principal::Human);
    assert!(leads(&stage.world, ann, cat), "a leader's leader");
    assert!(!leads(&stage.world, bob, dan));
    assert!(!leads(&stage.world, Principal::Agent(cat), bob_id), "not upwards");
    stage.play("ann ends");
    assert_eq!(leader_of(&stage.world, bob_id), Principal::Human, "the leader has ended");
}

#[test]
fn what_a_role_may_do_to_others_is_a_table_with_no_as_default() {
    let mut stage = Stage::default();
    let all = [
        Right::ManageTeams,
        Right::AssignTasks,
        Right::ReviewTasks,
        Right::AnswerPermissions,
        Right::SetModes,
        Right::StartAgents,
        Right::EndAgents,
    ];
    let table = [
        ("lead", 7),
        ("developer", 0),
        ("architect", 0),
        ("reviewer", 1),
        ("qa", 1),
        ("writer", 0),
        ("never-heard-of", 0),
    ];
    for (role, rights) in table {
        stage.play(&format!("a-{role} joins as {role}"));
        let who = stage.who(&format!("a-{role}"));
        let has = all.iter().filter(|right| may(&stage.world, who, **right).is_ok()).count();
        assert_eq!(has, rights, "{role}");
    }
    assert!(all.iter().all(|right| may(&stage.world, Principal::Human, *right).is_ok()));
}
