//! Every order in which a leader and two workers can wait for locks, leases, tabs, answers and work, hand over and plan,
//! exhaustively.
//!
//! The real rules decide. Whether anybody waits for ever is found by doing: whoever does not wait gives back all that it
//! has, answers and finishes its work, until nobody waits any more, or nothing moves.

mod acts;
mod for_ever;
#[path = "../model_agents/mod.rs"]
mod model_agents;

use std::hash::{Hash, Hasher};

use comity_core::limits::LOCK_TTL;
use comity_core::permissions::{PlanState, mode_of};
use comity_core::pools::{PoolAsk, PoolKind};
use comity_core::projects::ProjectAsk;
use comity_core::tasks::{Brief, TaskAct, TaskAsk, TaskDraft, TaskRef};
use comity_core::world::Timeouts;
use comity_core::{AgentId, Ask, AskResult, CaseRule, Principal, Refusal, Timestamp, World, run};
use stateright::{Checker, Model, Property};

use acts::{ask_of, force, project, unchecked};
use for_ever::{seeks, still_seek, waits_for_ever, waits_of};
use model_agents::{LEAD, agent, join};

const AGENTS: [u64; 3] = [1, 2, 3];
/// Whoever has the first task, which the other one needs.
const BUSY: u64 = 3;
const PATHS: [&[&str]; 3] = [&["a"], &["b"], &["a", "b"]];
const POOLS: [Kind; 2] = [Kind::Lease, Kind::Tab];
const THREADS: usize = 2;

struct Waiting {
    /// How many slots each pool has.
    capacity: usize,
    /// What is waited for.
    kinds: &'static [Kind],
    /// How many asks of one wait at once: agents make calls side by side.
    waits_max: usize,
    fault: Option<Fault>,
}

/// A fault that is planted in the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// Asks of this kind wait whatever the rules say.
    Unchecked(Kind),
    /// Whoever waits for work goes on waiting when somebody else closes a cycle.
    SeekersNotTold,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Two paths, and both at once; one path is in `Path`.
    Lock,
    Path,
    Lease,
    Tab,
    Answer,
    Work,
    Plan,
    HandOver,
}

impl Kind {
    fn pool(self) -> &'static str {
        if self == Kind::Tab { "tabs" } else { "build" }
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Act {
    Locks(u64, usize),
    Unlocks(u64),
    Takes(u64, Kind),
    Frees(u64, Kind),
    Gives(u64, Kind, u64),
    Asks(u64),
    Answers,
    /// Waits for work, or goes on with what it has.
    Seeks(u64),
    /// Is put in plan mode, or shows its plan.
    Plans(u64),
    Approves,
    HandsOver(u64, usize, u64),
}

#[derive(Clone, Debug)]
struct Life {
    world: World,
    wrong: Option<String>,
    refused: bool,
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
        let pools = world.pools.iter().map(|pool| {
            let mut slots: Vec<Principal> = pool.slots().map(|slot| slot.owner).collect();
            slots.sort();
            let line: Vec<Principal> = pool.places().map(|place| place.who).collect();
            (&*pool.name, slots, line)
        });
        let pools: Vec<_> = pools.collect();
        let requests = world.permissions.requests();
        let mut asked: Vec<String> =
            requests.map(|one| format!("{}{:?}", one.asker, one.state.word())).collect();
        asked.sort();
        let modes = AGENTS.map(|number| mode_of(world, AgentId::from_bits(number)));
        let shown = world.permissions.plans().filter(|plan| matches!(plan.state, PlanState::Waiting { .. }));
        let plans = (modes, shown.map(|plan| plan.asker).collect::<Vec<_>>());
        let seekers: Vec<u64> = AGENTS.into_iter().filter(|one| seeks(world, agent(*one))).collect();
        let tasks: Vec<String> =
            world.tasks.iter().map(|task| format!("{:?}{:?}", task.status(), task.state.owner())).collect();
        format!(
            "{locks:?}{waits:?}{pools:?}{asked:?}{plans:?}{seekers:?}{tasks:?}{:?}{}",
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
        for (pool, kind) in [(Kind::Lease, PoolKind::Lease), (Kind::Tab, PoolKind::Tabs)] {
            let (pool, capacity) = (pool.pool().into(), self.capacity);
            ask(Principal::System, Ask::Pool(PoolAsk::Configure { pool, kind, capacity }));
        }
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
            acts.push(Act::Unlocks(who));
            let may_wait = waits_of(&life.world, agent(who)) < self.waits_max;
            for kind in self.kinds {
                match kind {
                    Kind::Path if may_wait => acts.push(Act::Locks(who, 0)),
                    Kind::Lock if may_wait => acts.extend([0, 1, 2].map(|paths| Act::Locks(who, paths))),
                    Kind::Lease | Kind::Tab => {
                        acts.push(Act::Frees(who, *kind));
                        acts.extend(may_wait.then_some(Act::Takes(who, *kind)));
                    }
                    Kind::Answer if may_wait && who != LEAD => acts.push(Act::Asks(who)),
                    Kind::Work if may_wait => acts.push(Act::Seeks(who)),
                    Kind::HandOver => {
                        for to in AGENTS.into_iter().filter(|to| *to != who) {
                            acts.extend([0, 1].map(|path| Act::HandsOver(who, path, to)));
                            let pools = POOLS.into_iter().filter(|kind| self.kinds.contains(kind));
                            acts.extend(pools.map(|kind| Act::Gives(who, kind, to)));
                        }
                    }
                    Kind::Plan if who != LEAD => acts.push(Act::Plans(who)),
                    Kind::Path | Kind::Lock | Kind::Answer | Kind::Work | Kind::Plan => {}
                }
            }
        }
        acts.extend([Act::Answers, Act::Approves]);
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
                let is_real = waits_for_ever(&life.world, Some(Fault::SeekersNotTold)).is_some();
                let is_planted = kind.is_some_and(|kind| self.fault == Some(Fault::Unchecked(kind)));
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
                if self.fault == Some(Fault::SeekersNotTold) {
                    still_seek(&last.world, &mut life.world);
                }
            }
        }
        if let Some(who) = waits_for_ever(&life.world, self.fault) {
            life.wrong = Some(format!("{} waits for ever", life.world.name_of(who)));
        } else if self.fault.is_none()
            && let Err(wrong) = comity_core::invariants::check(&life.world)
        {
            life.wrong = Some(wrong);
        }
        Some(life)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let right = Property::always("right", |_, life: &Life| life.wrong.is_none());
        let refused = Property::sometimes("somebody is refused", |_, life: &Life| life.refused);
        if self.fault.is_some() { vec![right] } else { vec![right, refused] }
    }
}

fn check(capacity: usize, waits_max: usize, kinds: &'static [Kind]) {
    let model = Waiting { capacity, kinds, waits_max, fault: None };
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
    check(2, 2, &[Kind::Path, Kind::Lease]);
}

#[test]
fn locks_and_answers() {
    check(1, 1, &[Kind::Lock, Kind::Answer]);
}

#[test]
fn a_lock_a_lease_and_answers_side_by_side() {
    check(1, 2, &[Kind::Path, Kind::Lease, Kind::Answer]);
}

#[test]
fn a_lock_and_work() {
    check(1, 2, &[Kind::Path, Kind::Lease, Kind::Work]);
}

#[test]
fn locks_that_are_handed_over() {
    check(1, 1, &[Kind::Lock, Kind::HandOver]);
}

#[test]
fn a_lock_a_tab_answers_and_work() {
    check(1, 1, &[Kind::Path, Kind::Tab, Kind::Answer, Kind::Work]);
}

#[test]
fn a_tab_a_lease_answers_and_work() {
    check(1, 1, &[Kind::Tab, Kind::Lease, Kind::Answer, Kind::Work]);
}

#[test]
fn tabs_and_answers_side_by_side() {
    check(2, 2, &[Kind::Tab, Kind::Answer]);
}

#[test]
fn tabs_that_are_handed_over() {
    check(1, 1, &[Kind::Path, Kind::Tab, Kind::Answer, Kind::HandOver]);
}

#[test]
fn plans_beside_tabs_and_answers() {
    check(1, 1, &[Kind::Tab, Kind::Answer, Kind::Plan]);
}

/// Minutes, in a release build: `cargo xtask sim --models`.
#[test]
fn everything_at_once() {
    if std::env::var_os("COMITY_WHOLE_GRAPH").is_none() {
        return comity_skip::skip("the whole graph at once", "takes minutes: cargo xtask sim --models");
    }
    check(1, 1, &[Kind::Lock, Kind::Tab, Kind::Lease, Kind::Answer, Kind::Work]);
    check(1, 1, &[Kind::Path, Kind::Tab, Kind::Answer, Kind::Work, Kind::Plan, Kind::HandOver]);
    check(1, 2, &[Kind::Path, Kind::Tab, Kind::Answer, Kind::Work]);
}

#[test]
fn a_planted_fault_is_found() {
    use Fault::{SeekersNotTold, Unchecked};
    let faults: [(Fault, &[Kind]); 11] = [
        (Unchecked(Kind::Path), &[Kind::Path, Kind::Lease]),
        (Unchecked(Kind::Path), &[Kind::Path, Kind::Tab]),
        (Unchecked(Kind::Path), &[Kind::Path, Kind::Answer]),
        (Unchecked(Kind::Lease), &[Kind::Path, Kind::Lease]),
        (Unchecked(Kind::Tab), &[Kind::Path, Kind::Tab]),
        (Unchecked(Kind::Answer), &[Kind::Path, Kind::Answer]),
        (Unchecked(Kind::Answer), &[Kind::Tab, Kind::Answer]),
        (Unchecked(Kind::HandOver), &[Kind::Lock, Kind::HandOver]),
        (Unchecked(Kind::HandOver), &[Kind::Path, Kind::Tab, Kind::HandOver]),
        (Unchecked(Kind::Work), &[Kind::Tab, Kind::Work]),
        (SeekersNotTold, &[Kind::Tab, Kind::Work]),
    ];
    for (fault, kinds) in faults {
        let model = Waiting { capacity: 1, kinds, waits_max: 1, fault: Some(fault) };
        let checker = model.checker().spawn_bfs().join();
        let found = checker.discovery("right").unwrap_or_else(|| panic!("{fault:?} was not found"));
        let wrong = found.last_state().wrong.clone().unwrap_or_default();
        assert!(wrong.contains("waits for ever"), "{fault:?}: {wrong}");
    }
}
