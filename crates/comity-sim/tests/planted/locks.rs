//! Faults about locks, the queue and agents.

use comity_core::agents::AgentEvent;
use comity_core::locks::{LockEvent, ReleaseCause, WaitEnding};
use comity_core::server::ServerEvent;
use comity_core::{Event, Fence, Millis, Record, Timestamp, World};
use comity_sim::{RealRules, Rules};

use crate::{Blind, Timed, check, faulty, unrecorded};

#[test]
fn a_fence_that_repeats() {
    let fault = |before: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Lock(LockEvent::Acquired { fence, .. }) = &mut record.event
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
                Event::Server(ServerEvent::Started { .. }) => floor = Fence(u64::MAX),
                Event::Lock(LockEvent::Acquired { fence, .. }) if floor > Fence(0) => *fence = Fence(1),
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
        lock.map(|lock| {
            Event::Lock(LockEvent::Released {
                fence: lock.fence,
                path: lock.path(),
                cause: ReleaseCause::GivenBack,
            })
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
        waits
            .map(|wait| {
                Event::Lock(LockEvent::WaitEnded { ticket: wait.ticket, ending: WaitEnding::Cancelled })
            })
            .collect()
    };
    // A repeat of whoever is not seen waiting is decided anew.
    check(|| Blind { unseen }, &["overtook", "waits for itself", "a repeat got another answer"]);
}

#[test]
fn a_waiter_that_is_never_served() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let served = records.iter().position(|record| {
            matches!(record.event, Event::Lock(LockEvent::Acquired { ticket: Some(_), .. }))
        });
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
            unrecorded(world, Event::Lock(LockEvent::WaitEnded { ticket, ending: WaitEnding::Cancelled }));
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
    // An exclusive one that lapses before its time looks like the end of its holder, who lives. All other times run out early
    // with it: also that of whoever waits for a tab.
    let found = ["too early", "was let go as if it had ended", "left tabs wrongly: TimedOut"];
    check(|| Timed { expire: hasty }, &found);
}

#[test]
fn a_lock_that_outlives_its_holder() {
    // Of who was ended by somebody: with time alone something else of it would be due, too.
    let outlives = |record: &Record| {
        let is_left = matches!(record.event, Event::Lock(LockEvent::Lapsed { .. }));
        is_left && record.by != comity_core::Principal::System
    };
    let fault = move |_: &World, records: &mut Vec<Record>| records.retain(|record| !outlives(record));
    check(faulty(fault), &["who has ended"]);
}

#[test]
fn half_done_work_that_is_handed_on() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Lock(LockEvent::Lapsed { fence, path }) = record.event.clone() {
                record.event =
                    Event::Lock(LockEvent::Released { fence, path, cause: ReleaseCause::HolderEnded });
            }
        }
    };
    check(faulty(fault), &["before its files were looked at"]);
}

#[test]
fn an_agent_that_ends_twice() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let end = records
            .iter()
            .find(|record| matches!(record.event, Event::Agent(AgentEvent::Ended { .. })))
            .cloned();
        records.extend(end);
    };
    check(faulty(fault), &["though it is not alive"]);
}

#[test]
fn a_lock_that_runs_out_and_is_nobodys() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let lapsed =
            records.iter_mut().filter(|record| matches!(record.event, Event::Lock(LockEvent::Lapsed { .. })));
        lapsed.for_each(|record| record.concerns.clear());
    };
    check(faulty(fault), &["and does not say so"]);
}

#[test]
fn work_that_is_put_aside_as_somebody_elses() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Lock(LockEvent::Released { cause: ReleaseCause::PutAside { of, .. }, .. }) =
                &mut record.event
            {
                *of = comity_core::Principal::Human;
            }
        }
    };
    check(faulty(fault), &["put work of"]);
}
