//! TA4: a ready task that nobody is free for gets somebody, within bounds.

use comity_core::limits::{RUN_STAFF_AGAIN_MIN, RUN_STAFF_HOLD, RUN_STAFF_PER_MINUTE};
use comity_core::projects::ProjectAsk;
use comity_core::runs::{RunAsk, RunBackend, RunExit, RunId, RunProgram, Staffing, next_staffing};
use comity_core::tasks::{Brief, TaskAct, TaskAsk, TaskDraft, TaskRef};
use comity_core::{AgentId, Ask, CaseRule, Millis, Principal};

use super::Crew;
use crate::people::present;
use crate::script::project;

const IDLE: Millis = Millis::minutes(5);

fn staffing() -> Staffing {
    Staffing { program: RunProgram::Client("claude".into()), backend: RunBackend::Process, idle_max: IDLE }
}

/// A project with so many tasks that are ready.
fn with_tasks(count: usize) -> Crew {
    let mut crew = Crew::new();
    let add = ProjectAsk::Add { project: project(), common_dir: "/r/.git".into(), case: CaseRule::Exact };
    crew.ask(Principal::System, Ask::Project(add)).expect("a project");
    let tasks = (0..count).map(|number| TaskDraft {
        id: Some(format!("t{number}").into()),
        brief: Brief { title: format!("Task {number}").into(), ..Brief::default() },
        depends_on: vec![],
    });
    crew.ask(present(), Ask::Task(TaskAsk::Declare { project: project(), tasks: tasks.collect() }))
        .expect("tasks");
    crew
}

impl Crew {
    /// Lets the rules start whom tasks need; gives the runs that are new.
    fn staffs(&mut self) -> Vec<RunId> {
        let last = self.world.runs.iter().map(|run| run.id).max().unwrap_or_default();
        self.system(RunAsk::Staff { staffing: staffing() }).expect("staffed");
        self.world.runs.iter().map(|run| run.id).filter(|run| *run > last).collect()
    }

    /// Staffs, and starts who is new.
    fn staffs_and_starts(&mut self) -> Vec<(RunId, AgentId)> {
        let runs = self.staffs();
        runs.into_iter().map(|run| (run, self.starts(run).expect("started"))).collect()
    }

    fn does(&mut self, agent: AgentId, task: &str, act: TaskAct) {
        let on = TaskRef { project: project(), task: task.into() };
        self.ask(Principal::Agent(agent), Ask::Task(TaskAsk::Act { on, attempt: None, act })).expect("done");
    }
}

#[test]
fn each_ready_task_gets_one_agent_and_no_more() {
    let mut crew = with_tasks(2);
    crew.world.agents.limit.configured = Some(10);
    let runs = crew.staffs();
    assert_eq!(runs.len(), 2);
    assert!(crew.staffs().is_empty(), "they are on their way");
    for (run, task) in runs.into_iter().zip(["t0", "t1"]) {
        let spec = &crew.run(run).spec;
        assert_eq!((spec.cwd.as_ref(), spec.role.as_deref()), ("/r", Some("developer")));
        assert_eq!(spec.task.as_ref().map(|on| &*on.task), Some(task));
        let agent = crew.starts(run).expect("started");
        let on = TaskRef { project: project(), task: task.into() };
        let owner = crew.world.tasks.find(&on).expect("a task").state.owner();
        assert_eq!(owner, Some(Principal::Agent(agent)));
    }
    assert!(crew.staffs().is_empty());
    crew.ask(present(), Ask::Run(RunAsk::Staff { staffing: staffing() })).expect_err("only Comity does that");
}

#[test]
fn the_limit_on_agents_and_the_bound_on_a_minute_hold() {
    let mut crew = with_tasks(RUN_STAFF_PER_MINUTE + 3);
    crew.world.agents.limit.configured = Some(2);
    assert_eq!(crew.staffs().len(), 2);
    crew.world.agents.limit.configured = Some(20);
    assert_eq!(crew.staffs().len(), RUN_STAFF_PER_MINUTE - 2);
    assert!(crew.staffs().is_empty());
    let next = next_staffing(&crew.world, &staffing()).expect("it goes on");
    assert_eq!(next.since(crew.now), Millis::minutes(1));
    crew.pass(Millis::minutes(1));
    assert_eq!(crew.staffs().len(), 3);
    assert_eq!(next_staffing(&crew.world, &staffing()), None, "everybody has somebody");
}

#[test]
fn a_role_whose_agents_end_at_once_is_tried_later_and_later() {
    let mut crew = with_tasks(1);
    let mut after = RUN_STAFF_AGAIN_MIN;
    for _ in 0..4 {
        let started = crew.staffs_and_starts();
        let [(run, agent)] = started[..] else { panic!("{started:?}") };
        crew.does(agent, "t0", TaskAct::GiveBack);
        crew.exits(run, agent, RunExit::Code(0));
        let next = next_staffing(&crew.world, &staffing()).expect("it is tried again");
        assert_eq!(next.since(crew.now), after);
        crew.pass(Millis(after.0 - 1));
        assert!(crew.staffs().is_empty(), "not sooner");
        crew.pass(Millis(1));
        after = Millis(after.0 * 2);
    }
    // One that lasts makes good for them.
    let started = crew.staffs_and_starts();
    let [(run, agent)] = started[..] else { panic!("{started:?}") };
    crew.pass(Millis::minutes(2));
    crew.does(agent, "t0", TaskAct::GiveBack);
    crew.exits(run, agent, RunExit::Code(0));
    assert_eq!(crew.staffs().len(), 1);
}

#[test]
fn one_that_you_stop_is_not_replaced_at_once() {
    let mut crew = with_tasks(1);
    let started = crew.staffs_and_starts();
    let [(run, agent)] = started[..] else { panic!("{started:?}") };
    crew.ask(present(), Ask::Run(RunAsk::End { run, force: false, again: false })).expect("stopped");
    crew.exits(run, agent, RunExit::Signal(15));
    assert!(crew.staffs().is_empty());
    let next = next_staffing(&crew.world, &staffing()).expect("a time");
    assert_eq!(next.since(crew.now), RUN_STAFF_HOLD);
    crew.pass(RUN_STAFF_HOLD);
    assert_eq!(crew.staffs().len(), 1);
}

#[test]
fn one_that_has_had_no_task_for_long_ends_and_others_stay() {
    let mut crew = with_tasks(2);
    let own = crew.wants(present(), super::spec("yours")).expect("wanted");
    crew.starts(own).expect("started");
    let started = crew.staffs_and_starts();
    let [(first, one), (second, _)] = started[..] else { panic!("{started:?}") };
    crew.does(one, "t0", TaskAct::Start { ttl: Millis::minutes(5) });
    crew.does(one, "t0", TaskAct::Done { evidence: "commit 1".into() });
    let next = next_staffing(&crew.world, &staffing()).expect("a time");
    assert_eq!(next.since(crew.now), IDLE);
    crew.pass(Millis(IDLE.0 - 1));
    crew.staffs();
    assert_eq!(crew.run(first).state.to_string(), "running");
    crew.pass(Millis(1));
    crew.staffs();
    let states = [first, second, own].map(|run| crew.run(run).state.to_string());
    assert_eq!(states, ["stopping", "running", "running"]);
    crew.exits(first, one, RunExit::Signal(15));
    assert!(crew.run(first).is_over());
}
