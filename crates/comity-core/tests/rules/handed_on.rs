//! What an agent hands on to those that it starts, and what goes on when its program is started again: nothing wider.

use comity_core::agents::{AgentAsk, Ending, Profile};
use comity_core::people::Asker;
use comity_core::permissions::{PermissionAsk, mode_of};
use comity_core::roles::Mode;
use comity_core::teams::TeamAsk;
use comity_core::{Ask, Principal, TokenHash};

use crate::people::{Scene, id, person, present};

#[test]
fn nobody_is_taken_into_a_team_that_it_did_not_ask_for() {
    let mut scene = Scene::new();
    let ann = Principal::Agent(id(1));
    scene.ask(ann, Ask::Team(TeamAsk::Create { name: "blue".into(), purpose: None })).expect("a team");
    scene.join(person(), 2, "bob", None).expect("joined");
    scene.join(person(), 3, "cat", Some("red")).expect("joined");
    scene.join(ann, 4, "dan", None).expect("joined");
    let admit = |agent| Ask::Team(TeamAsk::Admit { agent: id(agent), team: Some("blue".into()) });
    for other in [2, 3] {
        assert_eq!(scene.ask(ann, admit(other)).expect_err("refused").code(), "not_allowed");
    }
    scene.ask(ann, admit(4)).expect("ann leads dan");
    scene.ask(present(), admit(2)).expect("the human may");
}

#[test]
fn an_agent_gives_nobody_a_right_that_it_has_not() {
    let mut scene = Scene::new();
    let ann = Principal::Agent(id(1));
    scene.join_as(ann, 2, "kid", "lead");
    let kid = Principal::Agent(id(2));
    let create = Ask::Team(TeamAsk::Create { name: "red".into(), purpose: None });
    let refused = scene.ask(kid, create.clone()).expect_err("refused");
    assert_eq!(refused.to_string(), "kid was started by ann, which has no right to that");
    scene.join_as(present(), 3, "lea", "lead");
    scene.join_as(Principal::Agent(id(3)), 4, "leo", "lead");
    scene.ask(Principal::Agent(id(4)), create).expect("started by a lead");
}

#[test]
fn the_session_of_another_is_nobodys_to_claim() {
    let mut scene = Scene::new();
    let ann = Principal::Agent(id(1));
    scene.join_in(person(), 2, "bob", "s-bob").expect("its own");
    for asker in [ann.into(), person(), Asker::from(Principal::Nobody)] {
        let refused = scene.join_in(asker, 3, "kid", "s-bob").expect_err("refused");
        assert_eq!(refused.to_string(), "this is the session of bob");
    }
    let bob = Principal::Agent(id(2));
    scene.join_in(bob, 4, "beside", "s-bob").expect("bob's own child");
    scene
        .ask(
            present(),
            Ask::Agent(AgentAsk::End { agent: id(2), ending: Ending::Exited, cause: "bye".into() }),
        )
        .expect("ended");
    scene.join_in(ann, 5, "kid", "s-bob").expect_err("nor when it has ended");
    scene.join_in(ann, 5, "kid", "s-kid").expect("a new one");
    scene.join_in(present(), 6, "bob", "s-bob").expect("the human says so");
}

#[test]
fn a_program_that_is_started_again_keeps_its_mode_and_its_leader() {
    let mut scene = Scene::new();
    let attach = |agent: u64| {
        let profile = Profile { name: "bob".into(), session: Some("s-bob".into()), ..Profile::default() };
        Ask::Agent(AgentAsk::Attach {
            agent: id(agent),
            token: TokenHash([agent as u8; 32]),
            profile: Box::new(profile),
        })
    };
    scene.ask(person(), attach(2)).expect("joined");
    let plan = PermissionAsk::SetMode { agent: id(2), mode: Mode::Plan };
    scene.ask(present(), Ask::Permission(plan)).expect("set");
    scene
        .ask(
            present(),
            Ask::Agent(AgentAsk::End { agent: id(2), ending: Ending::Exited, cause: "bye".into() }),
        )
        .expect("ended");
    scene.ask(Principal::Nobody, attach(3)).expect("started again");
    assert_eq!(mode_of(&scene.world, id(3)), Mode::Plan);
}
