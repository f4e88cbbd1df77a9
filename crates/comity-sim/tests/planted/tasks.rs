//! Faults in the rules of tasks.

use comity_core::tasks::{ReturnCause, TaskEvent, TaskState};
use comity_core::{Event, Principal, Record, Timestamp, World};
use comity_sim::{RealRules, Rules};

use crate::{Timed, check, faulty, unrecorded};

#[test]
fn a_task_that_two_have_claimed() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let claim =
            records.iter().find(|record| matches!(record.event, Event::Task(TaskEvent::Claimed { .. })));
        if let Some(mut second) = claim.cloned()
            && let Event::Task(TaskEvent::Claimed { by, .. }) = &mut second.event
        {
            *by = Principal::Human;
            records.push(second);
        }
    };
    check(faulty(fault), &["it was claimed twice"]);
}

#[test]
fn a_ready_task_that_is_missed() {
    // Nobody is given what became ready.
    let fault = |_: &World, records: &mut Vec<Record>| {
        let given = |record: &Record| {
            record.by == Principal::System && matches!(record.event, Event::Task(TaskEvent::Assigned { .. }))
        };
        let first = records.iter().position(given);
        records.truncate(first.unwrap_or(records.len()));
    };
    check(faulty(fault), &["somebody waits for work, and there is some"]);
}

#[test]
fn a_task_that_is_ready_too_early() {
    let skip = |world: &mut World, now: Timestamp| {
        let records = RealRules.expire(world, now);
        let first = world.tasks.iter().find(|task| matches!(task.state, TaskState::Open { .. }));
        if let Some(on) = first.map(|task| task.name()) {
            unrecorded(world, Event::Task(TaskEvent::Skipped { on }));
        }
        records
    };
    check(|| Timed { expire: skip }, &["is not that of its log", "has other notices"]);
}

#[test]
fn a_task_that_outlives_its_owner() {
    let cause = ReturnCause::OwnerEnded;
    let outlives = move |event: &Event| matches!(event, Event::Task(TaskEvent::Returned { cause: why, .. }) if *why == cause);
    let fault = move |_: &World, records: &mut Vec<Record>| records.retain(|record| !outlives(&record.event));
    check(faulty(fault), &["who has ended"]);
}
