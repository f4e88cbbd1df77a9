//! However a program ends, it ends once.

use std::collections::BTreeMap;

use comity_core::agents::{AgentAsk, AgentEvent, Ending};
use comity_core::runs::{RunAsk, RunEvent, RunExit, RunState};
use comity_core::server::ServerAsk;
use comity_core::{AgentId, Ask, Event, Principal};
use expect_test::expect;

use super::{Crew, spec};
use crate::people::present;

/// What may end an agent that Comity started.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cause {
    Stopped,
    Forced,
    Ended,
    Goodbye,
    ProcessDied,
    LeaderEnded,
    Crashed,
    Completed,
}

const CAUSES: [Cause; 8] = [
    Cause::Stopped,
    Cause::Forced,
    Cause::Ended,
    Cause::Goodbye,
    Cause::ProcessDied,
    Cause::LeaderEnded,
    Cause::Crashed,
    Cause::Completed,
];

#[test]
fn however_many_causes_race_an_agent_ends_once_and_its_run_is_over_once() {
    for first in CAUSES {
        for second in CAUSES {
            for third in CAUSES {
                race(&[first, second, third]);
            }
        }
    }
}

fn race(causes: &[Cause]) {
    let mut crew = Crew::new();
    let lead = crew.joins("lead", Some("lead"));
    let run = crew.wants(lead, spec("ann")).expect("wanted");
    let agent = crew.starts(run).expect("started");
    let ann = Principal::Agent(agent);
    for cause in causes {
        // A refusal is an answer, too: it had ended.
        let end =
            |who: AgentId, ending| Ask::Agent(AgentAsk::End { agent: who, ending, cause: "so it is".into() });
        let _ = match cause {
            Cause::Stopped => crew.ask(lead, Ask::Run(RunAsk::End { run, force: false, again: false })),
            Cause::Forced => crew.ask(lead, Ask::Run(RunAsk::End { run, force: true, again: false })),
            Cause::Ended => crew.ask(present(), end(agent, Ending::Terminated)),
            Cause::Goodbye => crew.ask(ann, end(agent, Ending::Completed)),
            Cause::ProcessDied => crew.ask(Principal::System, end(agent, Ending::Failed)),
            Cause::LeaderEnded => crew.ask(present(), end(lead.agent().expect("an agent"), Ending::Exited)),
            Cause::Crashed => crew.system(RunAsk::Exited { run, agent, exit: RunExit::Signal(9) }),
            Cause::Completed => crew.system(RunAsk::Exited { run, agent, exit: RunExit::Code(0) }),
        };
    }
    // Whatever it was, in the end its program is gone; one that crashed may come back, and is stopped then.
    crew.exits(run, agent, RunExit::Signal(15));
    if !crew.run(run).is_over() {
        let _ = crew.ask(present(), Ask::Run(RunAsk::End { run, force: true, again: false }));
    }
    let mut ends: BTreeMap<AgentId, usize> = BTreeMap::new();
    let mut over = 0;
    for record in &crew.log {
        match &record.event {
            Event::Agent(AgentEvent::Ended { agent, .. }) => *ends.entry(*agent).or_default() += 1,
            Event::Run(RunEvent::Over { .. }) => over += 1,
            _ => {}
        }
    }
    assert_eq!(ends.get(&agent), Some(&1), "{causes:?}");
    assert!(ends.values().all(|count| *count == 1), "{causes:?}: {ends:?}");
    assert_eq!(over, 1, "{causes:?}");
}

#[test]
fn what_a_leader_has_started_ends_with_it() {
    let mut crew = Crew::new();
    let lead = crew.joins("lead", Some("lead"));
    let [running, due] = ["ann", "bob"].map(|name| crew.wants(lead, spec(name)).expect("wanted"));
    let ann = crew.starts(running).expect("started");
    assert_eq!(crew.world.agents.get(ann).expect("an agent").profile.parent, lead.agent());
    let since = crew.log.len();
    let lead = lead.agent().expect("an agent");
    let end = AgentAsk::End { agent: lead, ending: Ending::Terminated, cause: "you said so".into() };
    crew.ask(present(), Ask::Agent(end)).expect("ended");
    assert_eq!(
        crew.run(running).state,
        RunState::Ending { agent: ann, force: false, again: false },
        "its program is ended"
    );
    assert!(crew.run(due).is_over(), "it never starts");
    crew.exits(running, ann, RunExit::Code(0));
    crew.check(
        since,
        &expect![[r#"
            lead terminated: you said so
            ann terminated: lead ended
            comity had ann stopped
            bob: ended with the agent that started it
            the program of ann ended: exit code 0
            ann: stopped"#]],
    );
}

#[test]
fn a_restart_is_no_crash_and_a_server_that_ends_interrupts() {
    let mut crew = Crew::new();
    let [ann, bob, cat] =
        ["ann", "bob", "cat"].map(|name| crew.wants(present(), spec(name)).expect("wanted"));
    let first = crew.starts(ann).expect("started");
    crew.ask(present(), Ask::Run(RunAsk::End { run: ann, force: false, again: true })).expect("restarting");
    crew.exits(ann, first, RunExit::Signal(15));
    let second = crew.starts(ann).expect("at once");
    assert_eq!(crew.run(ann).crashes, 0);
    crew.exits(ann, first, RunExit::Signal(15));
    assert_eq!(crew.run(ann).agent(), Some(second), "an earlier end is not this one's");

    let of_bob = crew.starts(bob).expect("started");
    crew.ask(present(), Ask::Run(RunAsk::End { run: bob, force: false, again: false })).expect("stopping");
    let start = ServerAsk::Start {
        fence_floor: comity_core::Fence(0),
        version: "1".into(),
        boot: None,
        uptime: None,
    };
    crew.ask(Principal::System, Ask::Server(start)).expect("a server");
    let since = crew.log.len();
    for run in [ann, bob, cat] {
        crew.system(RunAsk::Interrupt { run }).expect("interrupted");
    }
    assert_eq!(crew.run(ann).state, RunState::Interrupted);
    assert!(crew.run(bob).is_over(), "it was to end");
    assert!(crew.world.agents.living(of_bob).is_err());
    crew.ask(present(), Ask::Run(RunAsk::Resume { run: ann })).expect("resumed");
    assert!(matches!(crew.run(ann).state, RunState::Due(_)));
    crew.starts(ann).expect("started");
    crew.check(
        since,
        &expect![[r#"
            ann terminated: it ended with its server
            ann ended with its server
            bob terminated: it ended with its server
            bob: stopped
            cat ended with its server
            you had ann started again
            ann joined
            ann is being started
            ann is process 1004
            ann runs as process 1004"#]],
    );
}
