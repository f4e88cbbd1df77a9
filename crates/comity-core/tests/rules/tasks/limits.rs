//! The bounds of tasks and the limit on agents: each is reached once, and says so.

use comity_core::agents::{AgentAsk, Profile};
use comity_core::limits::{
    TASK_DEPENDENCIES_MAX, TASK_FILES_MAX, TASK_TEXT_BYTES_MAX, TASK_TITLE_BYTES_MAX, TASKS_ENDED_MAX,
    TASKS_OPEN_MAX, TASKS_PER_ASK_MAX,
};
use comity_core::tasks::{Brief, TaskAct, TaskAsk, TaskDraft, TaskRef};
use comity_core::{AgentId, Ask, CaseRule, PathPattern, Principal, Timestamp, World, run};
use expect_test::{Expect, expect};

use crate::script::{project, token};
use crate::tell;

fn ask(world: &mut World, who: Principal, ask: &Ask) -> String {
    match run(world, who, ask, None, Timestamp(0), 0) {
        Ok(_) => "agreed".into(),
        Err(no) => tell::refusal(&no),
    }
}

fn declare(tasks: Vec<TaskDraft>) -> Ask {
    Ask::Task(TaskAsk::Declare { project: project(), tasks })
}

fn draft(id: &str) -> TaskDraft {
    let brief = Brief { title: "it".into(), ..Brief::default() };
    TaskDraft { id: Some(id.into()), brief, depends_on: vec![] }
}

fn drafts(from: usize, count: usize) -> Vec<TaskDraft> {
    (from..from + count).map(|number| draft(&format!("n{number}"))).collect()
}

fn act(id: &str, act: TaskAct) -> Ask {
    Ask::Task(TaskAsk::Act { on: TaskRef { project: project(), task: id.into() }, attempt: None, act })
}

fn check(what: TaskDraft, expect: Expect) {
    let mut world = World::default();
    expect.assert_eq(&ask(&mut world, Principal::Human, &declare(vec![what])));
    assert_eq!(world.head, 0, "nothing was declared");
}

#[test]
fn sizes_of_one_task() {
    let with = |brief: Brief| TaskDraft { brief, ..draft("a") };
    check(
        with(Brief { title: " ".into(), ..Brief::default() }),
        expect!["refused (bad_input): a task needs a title; say in a few words what is to be done"],
    );
    let title = "x".repeat(TASK_TITLE_BYTES_MAX + 1).into();
    check(
        with(Brief { title, ..Brief::default() }),
        expect!["refused (bad_input): the title is longer than 200 bytes; shorten it"],
    );
    let description = "x".repeat(TASK_TEXT_BYTES_MAX + 1).into();
    check(
        with(Brief { title: "it".into(), description, ..Brief::default() }),
        expect!["refused (bad_input): the description is longer than 16384 bytes; shorten it"],
    );
    let path = |number: usize| PathPattern::parse(&format!("f{number}"), CaseRule::Exact).expect("a path");
    let files = (0..=TASK_FILES_MAX).map(path).collect();
    check(
        with(Brief { title: "it".into(), files, ..Brief::default() }),
        expect![
            "refused (limit_reached): a names 65 paths, of 64 at most; name directories or globs instead"
        ],
    );
    let depends_on = (0..=TASK_DEPENDENCIES_MAX).map(|number| format!("n{number}").into()).collect();
    check(
        TaskDraft { depends_on, ..draft("a") },
        expect![
            "refused (limit_reached): a depends on 101 tasks, of 100 at most; add a task in between that groups several"
        ],
    );
}

#[test]
fn tasks_of_one_ask_and_of_all() {
    let mut world = World::default();
    let mut human = |what: Ask| ask(&mut world, Principal::Human, &what);
    expect!["refused (bad_input): no task was named; give at least one"].assert_eq(&human(declare(vec![])));
    expect!["refused (limit_reached): 1001 tasks are more than the 1000 of one ask; declare them in parts, what comes first first"].assert_eq(&human(declare(drafts(0, TASKS_PER_ASK_MAX + 1))));
    for from in (0..TASKS_OPEN_MAX).step_by(TASKS_PER_ASK_MAX) {
        assert_eq!(human(declare(drafts(from, TASKS_PER_ASK_MAX))), "agreed");
    }
    expect!["refused (limit_reached): 10000 tasks are open, of 10000 at most; finish, skip or cancel some"]
        .assert_eq(&human(declare(vec![draft("more")])));
    assert_eq!(human(act("n0", TaskAct::Skip)), "agreed");
    assert_eq!(human(declare(vec![draft("more")])), "agreed");
}

#[test]
fn ended_tasks_are_forgotten_but_not_those_that_open_ones_need() {
    let mut world = World::default();
    let mut human = |what: Ask| assert_eq!(ask(&mut world, Principal::Human, &what), "agreed");
    let open = TaskDraft { depends_on: vec!["n0".into(), "n1".into()], ..draft("open") };
    human(declare([drafts(0, TASKS_PER_ASK_MAX - 1), vec![open]].concat()));
    human(declare(drafts(TASKS_PER_ASK_MAX, 10)));
    for number in 1..TASKS_PER_ASK_MAX - 1 {
        human(act(&format!("n{number}"), TaskAct::Skip));
    }
    for number in TASKS_PER_ASK_MAX..TASKS_PER_ASK_MAX + 10 {
        human(act(&format!("n{number}"), TaskAct::Skip));
    }
    let is_there = |id: &str| world.tasks.get(project(), id).is_some();
    assert_eq!(world.tasks.iter().count(), TASKS_ENDED_MAX + 2, "and two that are open");
    assert!(is_there("n1"), "something open depends on it");
    assert!(!is_there("n2") && is_there("n500"), "the oldest go first");
    comity_core::invariants::check(&world).expect("a right world");
}

#[test]
fn agents_beyond_the_limit_are_refused_unless_a_person_started_them() {
    let mut world = World::default();
    world.agents.limit.configured = Some(2);
    let profile = |name: &str| Box::new(Profile { name: name.into(), ..Profile::default() });
    let id = AgentId::from_bits;
    let join = |number, name: &str| {
        Ask::Agent(AgentAsk::Join { agent: id(number), token: token(number), profile: profile(name) })
    };
    let attach = |number, name: &str| {
        Ask::Agent(AgentAsk::Attach { agent: id(number), token: token(number), profile: profile(name) })
    };
    let (human, ann) = (Principal::Human, Principal::Agent(id(1)));
    assert_eq!(ask(&mut world, human, &join(1, "ann")), "agreed");
    assert_eq!(ask(&mut world, human, &join(2, "bob")), "agreed");
    expect![[r#"refused (limit_reached): 2 agents are here, of 2 at most; end one with: agent_bye(agent="NAME"), or let the human raise the limit with: agent_limit(max=3)"#]].assert_eq(&ask(&mut world, human, &join(3, "cat")));
    expect![[r#"refused (limit_reached): 2 agents are here, of 2 at most; end one with: agent_bye(agent="NAME"), or let the human raise the limit with: agent_limit(max=3)"#]].assert_eq(&ask(&mut world, ann, &join(3, "cat")));
    assert_eq!(ask(&mut world, human, &attach(3, "claude")), "agreed", "counted, not refused");
    assert_eq!(world.agents.live().count(), 3);
    expect!["refused (not_allowed): the limit on agents is the human's to set; ask the human, or work with those that are here"].assert_eq(&ask(&mut world, ann, &Ask::Agent(AgentAsk::Limit { max: 9 })));
    expect!["refused (bad_input): a limit of 0 agents is not possible; give one from 1 to 20"]
        .assert_eq(&ask(&mut world, human, &Ask::Agent(AgentAsk::Limit { max: 0 })));
    expect!["refused (bad_input): a limit of 21 agents is not possible; give one from 1 to 20"]
        .assert_eq(&ask(&mut world, human, &Ask::Agent(AgentAsk::Limit { max: 21 })));
    assert_eq!(ask(&mut world, human, &Ask::Agent(AgentAsk::Limit { max: 4 })), "agreed");
    assert_eq!(ask(&mut world, human, &join(4, "cat")), "agreed");
    expect![[r#"refused (limit_reached): 4 agents are here, of 4 at most; end one with: agent_bye(agent="NAME"), or let the human raise the limit with: agent_limit(max=5)"#]].assert_eq(&ask(&mut world, human, &join(5, "dan")));
}
