//! Every order in which a leader and two workers can wait for locks, leases, answers and work, exhaustively.
//!
//! The real rules decide. Whether anybody waits for ever is found by doing: whoever does not wait gives back all that it
//! has, answers and finishes its work, until nobody waits any more, or nothing moves.

mod acts;
#[path = "../model_agents/mod.rs"]
mod model_agents;

use std::hash::{Hash, Hasher};

use comity_core::limits::LOCK_TTL;
use comity_core::permissions::RequestState;
use comity_core::pools::{PlaceState, PoolAsk, PoolKind};
use comity_core::projects::ProjectAsk;
use comity_core::tasks::{Brief, TaskAct, TaskAsk, TaskDraft, TaskRef};
use comity_core::world::Timeouts;
use comity_core::{Ask, AskResult, CaseRule, Principal, Refusal, Timestamp, World, run};
use stateright::{Checker, Model, Property};

use acts::{ask_of, force, project, unchecked};
use model_agents::{LEAD, agent, join};

const AGENTS: [u64; 3] = [1, 2, 3];
/// Whoever has the only task that can be done now.
const BUSY: u64 = 3;
const PATHS: [&[&str]; 3] = [&["a"], &["b"], &["a", "b"]];
const THREADS: usize = 2;

struct Waiting {
    /// How many leases there are.
    capacity: usize,
    /// What is waited for, beside one path.
    kinds: &'static [Kind],
    /// How many asks of one wait at once: agents make calls side by side.
    waits_max: usize,
    /// The planted fault: asks of this kind wait whatever the rules say.
    unchecked: Option<Kind>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Lock,
    Lease,
    Answer,
    Work,
    HandOver,
}

#[derive(Clone, PartialEq, Debug)]
enum Act {
    Locks(u64, usize),
    Unlocks(u64),
    Leases(u64),
    Frees(u64),
    Asks(u64),
    Answers,
    Seeks(u64),
    HandsOver(u64, usize, u64),
}

#[derive(Clone, Debug)]
struct Life {
    world: World,
    wrong: Option<String>,
    refused: bool,
}

/// How many of its asks wait, those for work included while there is some to come.
fn waits_of(world: &World, who: Principal) -> usize {
    let by_locks = world.locks.waits().filter(|wait| wait.who == who).count();
    let is_waiting = |state: &PlaceState| matches!(state, PlaceState::Waiting { .. });
    let lines = world.pools.iter().flat_map(|pool| pool.places());
    let by_pools = lines.filter(|place| place.who == who && is_waiting(&place.state)).count();
    let by_answers = world.permissions.requests().filter(|request| {
        Principal::Agent(request.asker) == who && matches!(request.state, RequestState::Waiting { .. })
    });
    let is_done = world.tasks.get(project(), "first").is_none_or(|task| task.state.owner().is_none());
    by_locks + by_pools + by_answers.count() + usize::from(seeks(world, who) && !is_done)
}

fn seeks(world: &World, who: Principal) -> bool {
    who.agent().is_some_and(|id| world.tasks.is_sought_by(id))
}

/// Who waits though everybody else has done all that it can.
fn waits_for_ever(world: &World) -> Option<Principal> {
    let mut world = world.clone();
    loop {
        let waiting = || AGENTS.into_iter().filter(|number| waits_of(&world, agent(*number)) > 0);
        let first = waiting().next()?;
        let free: Vec<u64> =
            AGENTS.into_iter().filter(|number| waiting().all(|one| one != *number)).collect();
        let head = world.head;
        for number in free {
            let mut acts = vec![Act::Unlocks(number), Act::Frees(number), Act::Frees(number)];
            if number == LEAD {
                acts.extend([Act::Answers, Act::Answers]);
            }
            if number == BUSY {
                acts.push(Act::Seeks(number));
            }
            for act in acts {
                if let Some((who, ask, _)) = ask_of(&world, &act) {
                    let _ = run(&mut world, who, &ask, None, Timestamp(0), 0);
                }
            }
        }
        if world.head == head {
            return Some(agent(first));
        }
    }
}

impl Life {
    /// All that matters for what comes.
    fn key(&self) -> String {
        let world = &self.world;
        let mut locks: Vec<String> =
            world.locks.iter().map(|lock| format!("{}{}", lock.holder, lock.path())).collect();
        locks.sort();
        let waits: Vec<String> = world
            .locks
            .waits()
            .map(|wait| {
                let paths = wait.wants.iter().map(|wanted| wanted.pattern.readable());
                format!("{}{}", wait.who, paths.collect::<Vec<_>>().join("+"))
            })
            .collect();
        let pool = world.pools.get("build");
        let mut slots: Vec<Principal> =
            pool.iter().flat_map(|pool| pool.slots()).map(|slot| slot.owner).collect();
        slots.sort();
        let line: Vec<Principal> =
            pool.iter().flat_map(|pool| pool.places()).map(|place| place.who).collect();
        let requests = world.permissions.requests();
        let mut asked: Vec<String> =
            requests.map(|one| format!("{}{:?}", one.asker, one.state.word())).collect();
        asked.sort();
        let seekers: Vec<u64> = AGENTS.into_iter().filter(|one| seeks(world, agent(*one))).collect();
        let tasks: Vec<String> =
            world.tasks.iter().map(|task| format!("{:?}{:?}", task.status(), task.state.owner())).collect();
        format!(
            "{locks:?}{waits:?}{slots:?}{line:?}{asked:?}{seekers:?}{tasks:?}{:?}{}",
            self.wrong, self.refused
        )
    }
}

impl PartialEq for Life {
    fn eq(&self, other: &Life) -> bool {
        self.key() == other.key()
    }
}

impl Hash for Life {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key().hash(hasher);
    }
}

impl Model for Waiting {
    type State = Life;
    type Action = Act;

    fn init_states(&self) -> Vec<Life> {
        let mut world = World::new(Timeouts::default());
        for (number, name) in AGENTS.into_iter().zip(["lead", "ann", "bob"]) {
            join(&mut world, number, name, Principal::Human);
        }
        let mut ask = |who, ask: Ask| {
            run(&mut world, who, &ask, None, Timestamp(0), 0).expect("a beginning");
        };
        let (pool, kind) = ("build".into(), PoolKind::Lease);
        ask(Principal::System, Ask::Pool(PoolAsk::Configure { pool, kind, capacity: self.capacity }));
        let (case, common_dir) = (CaseRule::Exact, "/repo".into());
        ask(Principal::Human, Ask::Project(ProjectAsk::Add { project: project(), common_dir, case }));
        let task = |id: &str, role: Option<&str>, depends_on: &[&str]| TaskDraft {
            id: Some(id.into()),
            brief: Brief { title: id.into(), role: role.map(Into::into), ..Brief::default() },
            depends_on: depends_on.iter().map(|id| (*id).into()).collect(),
        };
        let tasks = vec![task("first", None, &[]), task("second", None, &["first"])];
        ask(Principal::Human, Ask::Task(TaskAsk::Declare { project: project(), tasks }));
        let on = TaskRef { project: project(), task: "first".into() };
        ask(
            agent(BUSY),
            Ask::Task(TaskAsk::Act { on, attempt: None, act: TaskAct::Start { ttl: LOCK_TTL } }),
        );
        vec![Life { world, wrong: None, refused: false }]
    }

    fn actions(&self, life: &Life, acts: &mut Vec<Act>) {
        if life.refused {
            return;
        }
        for who in AGENTS {
            acts.extend([Act::Unlocks(who), Act::Frees(who)]);
            let may_wait = waits_of(&life.world, agent(who)) < self.waits_max;
            if may_wait {
                acts.push(Act::Locks(who, 0));
            }
            for kind in self.kinds {
                match kind {
                    Kind::Lock if may_wait => acts.extend([1, 2].map(|paths| Act::Locks(who, paths))),
                    Kind::Lease if may_wait => acts.push(Act::Leases(who)),
                    Kind::Answer if may_wait && who != LEAD => acts.push(Act::Asks(who)),
                    Kind::Work if may_wait => acts.push(Act::Seeks(who)),
                    Kind::HandOver => {
                        let others = AGENTS.into_iter().filter(|to| *to != who);
                        acts.extend(others.flat_map(|to| [0, 1].map(|path| Act::HandsOver(who, path, to))));
                    }
                    Kind::Lock | Kind::Lease | Kind::Answer | Kind::Work => {}
                }
            }
        }
        acts.push(Act::Answers);
    }

    fn next_state(&self, last: &Life, act: Act) -> Option<Life> {
        let (who, ask, kind) = ask_of(&last.world, &act)?;
        let mut life = last.clone();
        match comity_core::decide(&last.world, &who.into(), &ask) {
            Err(Refusal::Deadlock(cycle)) => {
                // Nobody is refused who would only have waited for a while.
                unchecked(&last.world, who, &ask)
                    .into_iter()
                    .for_each(|event| force(&mut life.world, who, event));
                let is_real = waits_for_ever(&life.world).is_some();
                let is_planted = kind.is_some() && kind == self.unchecked;
                let is_exact = self.capacity == 1 && kind.is_some();
                if !is_planted {
                    life.world = last.world.clone();
                }
                if !is_real && is_exact {
                    life.wrong = Some(format!("refused for nothing: {cycle}"));
                } else if !is_planted {
                    return Some(Life { refused: true, ..life });
                }
            }
            Err(_) => return None,
            Ok(AskResult::Done(events)) if events.is_empty() => return None,
            Ok(_) => {
                run(&mut life.world, who, &ask, None, Timestamp(0), 0).expect("decided");
            }
        }
        if let Some(who) = waits_for_ever(&life.world) {
            life.wrong = Some(format!("{} waits for ever", life.world.name_of(who)));
        } else if self.unchecked.is_none()
            && let Err(wrong) = comity_core::invariants::check(&life.world)
        {
            life.wrong = Some(wrong);
        }
        Some(life)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let right = Property::always("right", |_, life: &Life| life.wrong.is_none());
        let refused = Property::sometimes("somebody is refused", |_, life: &Life| life.refused);
        if self.unchecked.is_some() { vec![right] } else { vec![right, refused] }
    }
}

fn check(capacity: usize, waits_max: usize, kinds: &'static [Kind]) {
    let model = Waiting { capacity, kinds, waits_max, unchecked: None };
    let checker = model.checker().threads(THREADS).spawn_bfs().join();
    println!("{} states, depth {}", checker.unique_state_count(), checker.max_depth());
    if let Some(path) = checker.discovery("right") {
        let wrong = path.last_state().wrong.clone();
        panic!("{wrong:?}: {:?}", path.into_actions());
    }
    checker.assert_properties();
    assert!(checker.unique_state_count() > 500, "only {} states", checker.unique_state_count());
}

#[test]
fn locks_and_a_lease() {
    check(1, 1, &[Kind::Lock, Kind::Lease]);
}

#[test]
fn a_lock_and_two_leases() {
    check(2, 2, &[Kind::Lease]);
}

#[test]
fn locks_and_answers() {
    check(1, 1, &[Kind::Lock, Kind::Answer]);
}

#[test]
fn a_lock_a_lease_and_answers_side_by_side() {
    check(1, 2, &[Kind::Lease, Kind::Answer]);
}

#[test]
fn a_lock_and_work() {
    check(1, 2, &[Kind::Lease, Kind::Work]);
}

#[test]
fn locks_that_are_handed_over() {
    check(1, 1, &[Kind::Lock, Kind::HandOver]);
}

#[test]
fn a_planted_fault_is_found() {
    let faults: [(Kind, &[Kind]); 4] = [
        (Kind::Lock, &[Kind::Lease]),
        (Kind::Lease, &[Kind::Lease]),
        (Kind::Answer, &[Kind::Answer]),
        (Kind::HandOver, &[Kind::Lock, Kind::HandOver]),
    ];
    for (kind, kinds) in faults {
        let model = Waiting { capacity: 1, kinds, waits_max: 1, unchecked: Some(kind) };
        let checker = model.checker().spawn_bfs().join();
        let found = checker.discovery("right").unwrap_or_else(|| panic!("{kind:?} was not found"));
        let wrong = found.last_state().wrong.clone().unwrap_or_default();
        assert!(wrong.contains("waits for ever"), "{kind:?}: {wrong}");
    }
}
