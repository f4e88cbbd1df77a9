//! Faulty rules, planted on purpose: the simulator must find each of them.

use comity_core::locks::{ReleaseCause, WaitEnding};
use comity_core::{Ask, Event, Fence, Key, Millis, Outcome, Principal, Record, Refusal, Timestamp, World};
use comity_sim::{Failure, RealRules, Rules, Simulation};

/// Steps within which each fault must be found.
const STEPS_MAX: u64 = 3_000;

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
        who: Principal,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        let before = world.clone();
        let mut outcome = RealRules.run(world, who, ask, key, now)?;
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
        who: Principal,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        if !matches!(ask, Ask::Lock { .. }) {
            return RealRules.run(world, who, ask, key, now);
        }
        let mut seen = world.clone();
        for event in (self.unseen)(world) {
            unrecorded(&mut seen, event);
        }
        let outcome = RealRules.run(&mut seen, who, ask, key, now)?;
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
        who: Principal,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        RealRules.run(world, who, ask, key, now)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        (self.expire)(world, now)
    }
}

/// Changes the world without a record of it.
fn unrecorded(world: &mut World, event: Event) {
    let (seq, now) = (world.head, world.now);
    world.apply(&Record { seq, now, wall_ms: 0, by: Principal::System, key: None, event });
}

/// Runs the rules from one seed after the other until something is found; it must be one of `problems`.
fn check<R: Rules>(rules: impl Fn() -> R, problems: &[&str]) {
    let failure = found(rules).expect("the planted fault is found");
    let known = problems.iter().any(|problem| failure.problem.contains(problem));
    assert!(known, "found something else: {failure}");
    assert!(failure.to_string().contains(&format!("SEED={}", failure.seed)), "{failure}");
}

fn found<R: Rules>(rules: impl Fn() -> R) -> Option<Failure> {
    (1..=3).find_map(|seed| Simulation::under(rules(), seed).run(STEPS_MAX / 3).err())
}

fn faulty<F: FnMut(&World, &mut Vec<Record>) + Clone>(fault: F) -> impl Fn() -> Faulty<F> {
    move || Faulty { fault: fault.clone() }
}

#[test]
fn no_fault_no_finding() {
    assert_eq!(found(faulty(|_, _| {})), None);
    assert_eq!(found(|| Blind { unseen: |_| vec![] }), None);
}

#[test]
fn a_fence_that_repeats() {
    let fault = |before: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::LockAcquired { fence, .. } = &mut record.event
                && fence.0 % 7 == 0
            {
                *fence = before.fence;
            }
        }
    };
    check(faulty(fault), &["is not larger than"]);
}

#[test]
fn a_fence_that_repeats_after_a_restart() {
    let mut floor = Fence(0);
    let fault = move |_: &World, records: &mut Vec<Record>| {
        for record in records {
            match &mut record.event {
                Event::ServerStarted { .. } => floor = Fence(u64::MAX),
                Event::LockAcquired { fence, .. } if floor > Fence(0) => *fence = Fence(1),
                _ => {}
            }
        }
    };
    check(faulty(fault), &["is not larger than"]);
}

#[test]
fn an_overlap_that_is_missed() {
    let unseen = |world: &World| {
        let lock = world.locks.iter().next();
        lock.map(|lock| Event::LockReleased {
            fence: lock.fence,
            path: lock.path(),
            cause: ReleaseCause::GivenBack,
        })
        .into_iter()
        .collect()
    };
    check(|| Blind { unseen }, &["overlap"]);
}

#[test]
fn a_waiter_that_is_overtaken() {
    let unseen = |world: &World| {
        let waits = world.locks.waits();
        waits.map(|wait| Event::WaitEnded { ticket: wait.ticket, ending: WaitEnding::Cancelled }).collect()
    };
    check(|| Blind { unseen }, &["overtook", "waits for itself"]);
}

#[test]
fn a_waiter_that_is_never_served() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let served = records
            .iter()
            .position(|record| matches!(record.event, Event::LockAcquired { ticket: Some(_), .. }));
        records.truncate(served.unwrap_or(records.len()));
    };
    check(faulty(fault), &["was forgotten in the queue", "left standing"]);
}

#[test]
fn a_waiter_that_is_lost() {
    let forget = |world: &mut World, now: Timestamp| {
        let records = RealRules.expire(world, now);
        let last = world.locks.waits().last().map(|wait| wait.ticket);
        if let Some(ticket) = last.filter(|ticket| ticket.0 % 5 == 0) {
            unrecorded(world, Event::WaitEnded { ticket, ending: WaitEnding::Cancelled });
        }
        records
    };
    check(|| Timed { expire: forget }, &["a waiter was lost"]);
}

#[test]
fn a_lock_that_runs_out_too_early() {
    let hasty = |world: &mut World, now: Timestamp| {
        let mut records = RealRules.expire(&mut world.clone(), now.plus(Millis(1)));
        for record in &mut records {
            record.now = now;
            world.apply(record);
        }
        records
    };
    check(|| Timed { expire: hasty }, &["too early"]);
}

#[test]
fn a_lock_that_outlives_its_holder() {
    let outlives =
        |event: &Event| matches!(event, Event::LockReleased { cause: ReleaseCause::HolderEnded, .. });
    let fault = move |_: &World, records: &mut Vec<Record>| records.retain(|record| !outlives(&record.event));
    check(faulty(fault), &["who has ended"]);
}

#[test]
fn an_agent_that_ends_twice() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let end = records.iter().find(|record| matches!(record.event, Event::AgentEnded { .. })).cloned();
        records.extend(end);
    };
    check(faulty(fault), &["though it is not alive"]);
}
