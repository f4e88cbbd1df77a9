//! Who may start and stop programs, and what they start as.

use comity_core::limits::RUN_RESTART_AFTER;
use comity_core::runs::{RunAsk, RunBackend, RunBeside, RunExit, RunProgram, RunSpec, RunState};
use comity_core::{Ask, Principal};
use expect_test::expect;

use super::{Crew, spec, token};
use crate::people::{id, person, present};

#[test]
fn the_limit_on_agents_counts_those_that_are_about_to_come() {
    let mut crew = Crew::new();
    crew.world.agents.limit.configured = Some(2);
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
    crew.wants(person(), spec("bob")).expect_err("that takes a person who is present");
    crew.wants(present(), spec("bob")).expect("who does");
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
fn an_agent_starts_no_command_that_a_person_has_not_started() {
    let mut crew = Crew::new();
    let lead = crew.joins("lead", Some("lead"));
    let command = |name, words: &[&str]| {
        let words = words.iter().map(|word| (*word).into()).collect();
        RunSpec { program: RunProgram::Command(words), ..spec(name) }
    };
    crew.wants(lead, command("ann", &["make", "all"])).expect_err("nobody has started it");
    let own = crew.wants(present(), command("bob", &["make", "all"])).expect("a person does");
    let agent = crew.starts(own).expect("started");
    crew.wants(lead, command("ann", &["make", "all"])).expect("a person has started it");
    crew.wants(lead, command("cat", &["make", "clean"])).expect_err("another command");
    crew.wants(lead, command("cat", &["make all"])).expect_err("the same letters, another program");
    crew.exits(own, agent, RunExit::Code(0));
    crew.wants(lead, command("cat", &["make", "all"])).expect("a person had started it");
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

/// How it runs after each time that there was no pane, and from what it began.
#[test]
fn a_program_without_a_pane_runs_in_another_way_and_stays_so() {
    let tmux = RunBeside::Tmux { server: "/s".into(), pane: "%1".into() };
    let iterm2 = RunBeside::Iterm2 { session: "A".into() };
    let cases = [
        (RunBackend::Tmux, Some(tmux), &[RunBackend::Tmux, RunBackend::Process][..]),
        (RunBackend::Tmux, None, &[RunBackend::Process]),
        (RunBackend::Iterm2, Some(iterm2), &[RunBackend::Process]),
        (RunBackend::Process, None, &[]),
        (RunBackend::Acp, None, &[]),
    ];
    for (backend, beside, then) in cases {
        let mut crew = Crew::new();
        let run = crew.wants(present(), RunSpec { backend, beside, ..spec("ann") }).expect("wanted");
        let mut agent = crew.starts(run).expect("started");
        for to in then {
            let falls = |agent| RunAsk::FallBack { run, agent, why: "no room".into() };
            assert_eq!(crew.system(falls(id(99))), Ok(vec![]), "told of another agent");
            crew.system(falls(agent)).expect("told");
            assert_eq!((crew.run(run).spec.backend, &crew.run(run).spec.beside), (*to, &None));
            // It stays so when it is started again.
            crew.exits(run, agent, RunExit::Code(1));
            crew.pass(RUN_RESTART_AFTER);
            agent = crew.starts(run).expect("started again");
            assert_eq!(crew.run(run).spec.backend, *to);
        }
        let last = crew.log.len();
        crew.system(RunAsk::FallBack { run, agent, why: "no room".into() }).expect("told");
        assert_eq!(crew.log.len(), last, "{backend:?} has nothing to fall back to any more");
        crew.check(last, &expect![""]);
    }
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
