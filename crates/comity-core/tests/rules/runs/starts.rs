//! Who may start and stop programs, and what they start as.

use comity_core::runs::{RunAsk, RunBackend, RunExit, RunProgram, RunSpec, RunState};
use comity_core::{Ask, Principal};

use super::{Crew, spec, token};
use crate::people::{person, present};

#[test]
fn the_limit_on_agents_counts_those_that_are_about_to_come() {
    let mut crew = Crew::new();
    crew.world.agents_configured = Some(2);
    let ann = crew.wants(present(), spec("ann")).expect("wanted");
    crew.wants(present(), spec("bob")).expect("wanted");
    let refusal = crew.wants(present(), spec("cat")).expect_err("there are two");
    assert!(refusal.to_string().contains("2 agents are here, of 2 at most"), "{refusal}");
    let agent = crew.starts(ann).expect("started");
    crew.wants(present(), spec("cat")).expect_err("one runs, and one is about to");
    crew.exits(ann, agent, RunExit::Code(0));
    crew.wants(present(), spec("cat")).expect("one has ended");
}

#[test]
fn who_may_start_and_stop_programs() {
    let mut crew = Crew::new();
    let [lead, dev, other] = [("lead", "lead"), ("dev", "developer"), ("other", "lead")]
        .map(|(name, role)| crew.joins(name, Some(role)));
    crew.wants(dev, spec("ann")).expect_err("a developer starts nobody");
    crew.wants(Principal::Nobody, spec("ann")).expect_err("nobody does");
    let run = crew.wants(lead, spec("ann")).expect("a leader does");
    crew.wants(person(), spec("bob")).expect("a person does");
    crew.wants(lead, spec("ann")).expect_err("there is an ann");
    crew.wants(present(), spec("dev")).expect_err("there is a dev");
    crew.wants(lead, RunSpec { role: Some("king".into()), ..spec("cat") })
        .expect_err("there is no such role");
    crew.wants(lead, RunSpec { team: Some("red".into()), ..spec("cat") }).expect_err("it is nobody's team");
    crew.wants(lead, RunSpec { program: RunProgram::Command(vec![]), ..spec("cat") })
        .expect_err("nothing to run");
    let listened = RunSpec { text_commands: true, ..spec("cat") };
    crew.wants(lead, RunSpec { backend: RunBackend::Tmux, ..listened.clone() })
        .expect_err("a pane is not read");
    crew.wants(lead, RunSpec { survives: true, ..listened }).expect_err("nor what was written before");
    let agent = crew.starts(run).expect("started");
    let end = |force| Ask::Run(RunAsk::End { run, force, again: false });
    crew.ask(dev, end(true)).expect_err("it is not dev's");
    crew.ask(other, end(true)).expect_err("nor the other leader's");
    crew.ask(person(), end(true)).expect_err("that takes a person who is present");
    crew.ask(dev, Ask::Run(RunAsk::Exited { run, agent, exit: RunExit::Code(0) }))
        .expect_err("only Comity knows");
    crew.ask(lead, end(false)).expect("it is the leader's");
    crew.ask(present(), end(true)).expect("and yours");
    assert_eq!(crew.run(run).state, RunState::Ending { agent, force: true, again: false });
    let head = crew.world.head;
    crew.ask(present(), end(false)).expect("nothing changes");
    assert_eq!(crew.world.head, head, "what is to end at once is not asked again");
}

#[test]
fn a_program_that_cannot_be_started_is_not_tried_again() {
    let mut crew = Crew::new();
    let run = crew.wants(present(), spec("ann")).expect("wanted");
    let agent = crew.next_agent();
    crew.system(RunAsk::Start { run, agent, token: token(crew.agents) }).expect("an agent");
    crew.exits(run, agent, RunExit::NotStarted("make: no such file".into()));
    let over = crew.run(run);
    assert_eq!(over.state.to_string(), "not started: make: no such file");
    assert_eq!(over.last, Some(agent));
    assert_eq!(crew.world.runs.find("ann").map(|run| run.id), Ok(run), "it can be asked for");
    assert_eq!(crew.world.runs.find("run1").map(|run| run.id), Ok(run));
    assert!(crew.world.runs.find("bob").is_err());
}

#[test]
fn one_that_plans_begins_to() {
    use comity_core::permissions::mode_of;
    use comity_core::roles::Mode;
    let mut crew = Crew::new();
    let run = crew.wants(present(), RunSpec { plan: true, ..spec("ann") }).expect("wanted");
    let agent = crew.starts(run).expect("started");
    assert_eq!(mode_of(&crew.world, agent), Mode::Plan);
}

#[test]
fn whoever_is_in_a_sandbox_starts_what_sees_no_more() {
    let mut crew = Crew::new();
    let project = Some(comity_core::ProjectId::from_bits(7));
    let of_project = |spec: RunSpec| RunSpec { project, ..spec };
    let boxed =
        RunSpec { role: Some("lead".into()), sandbox: true, worktree: true, ..of_project(spec("boss")) };
    let run = crew.wants(present(), boxed).expect("wanted");
    let boss = Principal::Agent(crew.starts(run).expect("started"));
    let elsewhere = RunSpec { cwd: "/elsewhere".into(), ..of_project(spec("kid")) };
    let kid = crew.wants(boss, elsewhere).expect("wanted");
    let spec_of = |crew: &Crew, run| {
        let spec = &crew.run(run).spec;
        (spec.sandbox, spec.worktree, spec.cwd.to_string())
    };
    assert_eq!(
        spec_of(&crew, kid),
        (true, true, "/r".into()),
        "in a sandbox, a worktree, and the same repository"
    );
    let other = Some(comity_core::ProjectId::from_bits(8));
    for project in [None, other] {
        crew.wants(boss, RunSpec { project, ..spec("away") }).expect_err("it works elsewhere");
    }
    // So do those that its workers start.
    let kid = Principal::Agent(crew.starts(kid).expect("started"));
    assert!(comity_core::runs::is_sandboxed(&crew.world, kid));
    let free = crew.wants(present(), spec("free")).expect("yours are as you want them");
    assert!(!crew.run(free).spec.sandbox);
}
