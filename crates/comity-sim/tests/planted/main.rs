//! Faulty rules, planted on purpose: the simulator must find each of them.

mod concerns;
mod locks;
mod mail;
mod moves;
mod pools;
mod tasks;

use comity_core::locks::LockAsk;
use comity_core::{Ask, Asker, Event, Key, Outcome, Principal, Record, Refusal, Timestamp, World};
use comity_sim::{LIFE_STEPS, RealRules, Rules, SimFailure, Simulation};

/// Lives within which each fault must be found; most are found in the first.
const LIVES_MAX: u64 = 10;

/// Real rules whose records a fault changes before they are applied.
struct Faulty<F: FnMut(&World, &mut Vec<Record>)> {
    fault: F,
}

impl<F: FnMut(&World, &mut Vec<Record>)> Faulty<F> {
    /// Applies the records anew, changed by the fault and without gaps.
    fn spoil(&mut self, before: World, world: &mut World, records: &mut Vec<Record>) {
        (self.fault)(&before, records);
        for (record, seq) in records.iter_mut().zip(before.head + 1..) {
            record.seq = seq;
        }
        *world = before;
        records.iter().for_each(|record| world.apply(record));
    }
}

impl<F: FnMut(&World, &mut Vec<Record>)> Rules for Faulty<F> {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        let before = world.clone();
        let mut outcome = RealRules.run(world, asker, ask, key, now)?;
        self.spoil(before, world, &mut outcome.records);
        let told = outcome.records.iter().map(|record| record.event.clone());
        if !outcome.records.is_empty() {
            outcome.answer = told.take(outcome.answer.len()).collect();
        }
        Ok(outcome)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        let before = world.clone();
        let mut records = RealRules.expire(world, now);
        self.spoil(before, world, &mut records);
        records
    }
}

/// Real rules that do not see one lock, or the queue, when they decide about a lock.
struct Blind {
    unseen: fn(&World) -> Vec<Event>,
}

impl Rules for Blind {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        if !matches!(ask, Ask::Lock(LockAsk::Lock { .. })) {
            return RealRules.run(world, asker, ask, key, now);
        }
        let mut seen = world.clone();
        for event in (self.unseen)(world) {
            unrecorded(&mut seen, event);
        }
        let outcome = RealRules.run(&mut seen, asker, ask, key, now)?;
        outcome.records.iter().for_each(|record| world.apply(record));
        Ok(outcome)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        RealRules.expire(world, now)
    }
}

/// Real rules, but for what time does.
struct Timed {
    expire: fn(&mut World, Timestamp) -> Vec<Record>,
}

impl Rules for Timed {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        RealRules.run(world, asker, ask, key, now)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        (self.expire)(world, now)
    }
}

/// Changes the world without a record of it.
fn unrecorded(world: &mut World, event: Event) {
    let (seq, now) = (world.head, world.now);
    world.apply(&Record {
        seq,
        now,
        wall_ms: 0,
        by: Principal::System,
        from: None,
        concerns: vec![],
        key: None,
        event,
    });
}

/// Runs the rules from one seed after the other until something is found; it must be one of `problems`.
fn check<R: Rules>(rules: impl Fn() -> R, problems: &[&str]) {
    let failure = found(rules).expect("the planted fault is found");
    let known = problems.iter().any(|problem| failure.problem.contains(problem));
    assert!(known, "found something else: {failure}");
    assert!(failure.to_string().contains(&format!("SEED={}", failure.seed)), "{failure}");
}

fn found<R: Rules>(rules: impl Fn() -> R) -> Option<SimFailure> {
    (1..=LIVES_MAX).find_map(|seed| Simulation::under(rules(), seed).run(LIFE_STEPS).err())
}

fn faulty<F: FnMut(&World, &mut Vec<Record>) + Clone>(fault: F) -> impl Fn() -> Faulty<F> {
    move || Faulty { fault: fault.clone() }
}

#[test]
fn no_fault_no_finding() {
    assert_eq!(found(faulty(|_, _| {})), None);
    assert_eq!(found(|| Blind { unseen: |_| vec![] }), None);
}
