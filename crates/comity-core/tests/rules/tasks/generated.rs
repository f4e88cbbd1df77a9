//! Generated graphs and acts: ready and blocked are what a naive walk over the graph says, after every change.

use comity_core::tasks::{Brief, TaskAct, TaskAsk, TaskDraft, TaskRef, TaskStatus, graph};
use comity_core::{Ask, Millis, Principal, Timestamp, World, invariants, run};
use proptest::prelude::*;

use crate::script::project;

const TASKS: usize = 8;

/// Edges by number; those that close a cycle make the declaration refused, as they should.
fn edges() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..TASKS, 0..TASKS), 0..14)
}

fn acts() -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..TASKS, 0..9usize), 1..40)
}

fn name(number: usize) -> Box<str> {
    format!("n{number}").into()
}

fn declare(edges: &[(usize, usize)], shuffle: usize) -> Ask {
    let draft = |number: usize| TaskDraft {
        id: Some(name(number)),
        brief: Brief { title: "it".into(), ..Brief::default() },
        depends_on: edges.iter().filter(|(from, _)| *from == number).map(|(_, to)| name(*to)).collect(),
    };
    let mut tasks: Vec<TaskDraft> = (0..TASKS).map(draft).collect();
    tasks.rotate_left(shuffle % TASKS);
    Ask::Task(TaskAsk::Declare { project: project(), tasks })
}

/// Whether following the edges ever comes back: by trying all, as often as there are tasks.
fn has_cycle(edges: &[(usize, usize)]) -> bool {
    let mut reach = [[false; TASKS]; TASKS];
    edges.iter().for_each(|(from, to)| reach[*from][*to] = true);
    for _ in 0..TASKS {
        for a in 0..TASKS {
            for b in 0..TASKS {
                reach[a][b] |= (0..TASKS).any(|c| reach[a][c] && reach[c][b]);
            }
        }
    }
    (0..TASKS).any(|at| reach[at][at])
}

fn act(choice: usize) -> TaskAct {
    match choice {
        0 | 1 => TaskAct::Start { ttl: Millis::minutes(5) },
        2 | 3 => TaskAct::Done { evidence: "shown".into() },
        4 => TaskAct::Fail { reason: "no".into() },
        5 => TaskAct::Skip,
        6 => TaskAct::Cancel,
        7 => TaskAct::Reopen,
        _ => TaskAct::Pause,
    }
}

proptest! {
    #[test]
    fn standings_follow_the_graph(edges in edges(), shuffle in 0..TASKS, acts in acts()) {
        let mut world = World::default();
        let declared = run(&mut world, Principal::Human, &declare(&edges, shuffle), None, Timestamp(0), 0);
        prop_assert_eq!(declared.is_err(), has_cycle(&edges));
        if declared.is_err() {
            return Ok(());
        }
        for (number, choice) in acts {
            let on = TaskRef { project: project(), task: name(number) };
            let before = world.tasks.find(&on).expect("a task").clone();
            let ask = Ask::Task(TaskAsk::Act { on: on.clone(), attempt: None, act: act(choice) });
            let ended = matches!(before.status(), TaskStatus::Done | TaskStatus::Skipped | TaskStatus::Cancelled);
            let agreed = run(&mut world, Principal::Human, &ask, None, Timestamp(0), 0).is_ok();
            prop_assert!(!(agreed && ended) || choice == 7, "only reopening changes what has ended");
            let after = world.tasks.find(&on).expect("a task");
            prop_assert!(after.attempt >= before.attempt);
            let tasks = world.tasks.iter().map(|task| (task.number, task.clone())).collect();
            for (number, standing) in graph::naive_standings(&tasks) {
                let status = tasks[&number].status();
                let is_open = matches!(status, TaskStatus::Pending | TaskStatus::Ready | TaskStatus::Blocked);
                let word = format!("{standing:?}").to_lowercase();
                prop_assert!(!is_open || status.word() == word);
            }
            invariants::check(&world).expect("a right world");
        }
    }
}
