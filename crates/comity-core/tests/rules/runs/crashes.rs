//! What comes of programs that crash.

use comity_core::runs::{RunAsk, RunExit, RunSpec, RunState};
use comity_core::tasks::{Brief, TaskAsk, TaskDraft, TaskRef};
use comity_core::{Ask, Millis, Principal};
use expect_test::expect;

use super::{Crew, spec};
use crate::people::present;
use crate::script::project;

#[test]
fn a_program_that_crashes_comes_back_three_times_with_its_task() {
    let mut crew = Crew::new();
    let draft = TaskDraft { id: Some("parser".into()), brief: Brief::default(), depends_on: vec![] };
    let draft = TaskDraft { brief: Brief { title: "Parser".into(), ..Brief::default() }, ..draft };
    let declare = TaskAsk::Declare { project: project(), tasks: vec![draft] };
    crew.ask(
        Principal::System,
        Ask::Project(comity_core::projects::ProjectAsk::Add {
            project: project(),
            common_dir: "/r/.git".into(),
            case: comity_core::CaseRule::Exact,
        }),
    )
    .expect("a project");
    crew.ask(present(), Ask::Task(declare)).expect("a task");
    let on = TaskRef { project: project(), task: "parser".into() };
    let since = crew.log.len();
    let wanted = RunSpec { task: Some(on.clone()), role: Some("developer".into()), ..spec("ann") };
    let run = crew.wants(present(), wanted).expect("wanted");
    for crash in 0..=3 {
        assert!(matches!(crew.run(run).state, RunState::Due(_)), "{:?}", crew.run(run));
        if crash > 0 {
            assert!(crew.starts(run).is_err(), "not before two seconds have passed");
            crew.pass(Millis::seconds(2));
        }
        let agent = crew.starts(run).expect("started");
        let owner = crew.world.tasks.find(&on).expect("a task").state.owner();
        assert_eq!(owner, Some(Principal::Agent(agent)), "the task comes along");
        assert_eq!(&*crew.world.agents.get(agent).expect("an agent").profile.name, "ann");
        crew.exits(run, agent, RunExit::Code(3));
    }
    assert!(crew.run(run).is_over());
    let streams: Vec<&str> = crew.log[since..].iter().map(|record| record.event.kind().stream).collect();
    let count = |stream: &str| streams.iter().filter(|other| **other == stream).count();
    assert_eq!((count("agent:auto_restarted"), count("agent:restart_limit")), (3, 1));
    assert_eq!(count("agent:crashed"), 4);
    let last = crew.log.len() - 6;
    crew.check(
        last,
        &expect![[r#"
            ann is process 1007
            ann runs as process 1007
            ann failed at parser: 4 agents ended over it
            ann failed: its program crashed: exit code 3
            the program of ann ended: exit code 3
            ann: crashed too often (exit code 3)"#]],
    );

    // You may try again, as often as before.
    crew.ask(present(), Ask::Run(RunAsk::Resume { run })).expect("resumed");
    assert_eq!(crew.run(run).crashes, 0);
    crew.starts(run).expect("started");
}

#[test]
fn the_conversation_of_a_program_stays_when_it_is_started_again() {
    let mut crew = Crew::new();
    let run = crew.wants(present(), spec("ann")).expect("wanted");
    let agent = crew.starts(run).expect("started");
    let know = |session: &str| RunAsk::KnowSession { agent, session: session.into() };
    crew.ask(present(), Ask::Run(know("s1"))).expect_err("its client tells it to Comity");
    crew.system(know("s1")).expect("known");
    let head = crew.world.head;
    crew.system(know("s1")).expect("nothing changes");
    assert_eq!(crew.world.head, head);
    crew.exits(run, agent, RunExit::Signal(9));
    crew.system(know("s2")).expect("it has ended");
    crew.pass(Millis::seconds(2));
    crew.starts(run).expect("started");
    assert_eq!(crew.run(run).session.as_deref(), Some("s1"));
}
