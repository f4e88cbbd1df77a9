//! Faults in what is said of branches that move.

use comity_core::branch_moves::MoveEvent;
use comity_core::commits::CommitEvent;
use comity_core::server::ServerEvent;
use comity_core::{Event, Principal, Record, World};

use crate::{check, faulty};

#[test]
fn a_commit_that_nobody_announced() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        records.retain(|record| !matches!(record.event, Event::Move(MoveEvent::Intended(_))));
        for record in records {
            if let Event::Move(MoveEvent::Undone { .. }) = record.event {
                record.event = Event::Server(ServerEvent::NothingChanged {});
            }
        }
    };
    check(faulty(fault), &["the answer is not what was recorded", "tells of a commit that nobody announced"]);
}

#[test]
fn a_commit_that_was_found_and_is_nobodys() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Commit(CommitEvent::Made { recovered: true, .. }) = record.event {
                record.by = Principal::System;
            }
        }
    };
    check(faulty(fault), &["tells of a commit that nobody announced"]);
}

#[test]
fn a_move_that_stays_open() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Move(MoveEvent::Undone { .. }) = record.event {
                record.event = Event::Server(ServerEvent::NothingChanged {});
            }
        }
    };
    check(faulty(fault), &["came of move"]);
}

#[test]
fn a_lock_that_a_commit_does_not_free() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        if matches!(
            records.first().map(|record| &record.event),
            Some(Event::Commit(CommitEvent::Made { .. }))
        ) {
            records.truncate(1);
        }
    };
    check(faulty(fault), &["came of move", "the answer is not what was recorded"]);
}
