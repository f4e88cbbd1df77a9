//! The real rules under many seeds; `SEED=123 cargo test -p comity-sim seeds -- --nocapture` follows one of them.

use std::collections::BTreeMap;

use comity_sim::{LIFE_STEPS, Simulation};

/// Sized so that it takes some seconds in a debug build.
const SEEDS: u64 = 40;

/// What must have happened in one of the lives, or nothing was shown about it.
const KINDS: [&str; 32] = [
    "lock_acquired",
    "lock_orphaned",
    "lock_handed_over",
    "wait_ended",
    "message_sent",
    "group_message",
    "mail_offered",
    "mail_read",
    "mail_returned",
    "mail_put_aside",
    "mail_undelivered",
    "shutdown_requested",
    "shutdown_approved",
    "shutdown_rejected",
    "shutdown_overdue",
    "idle_reported",
    "decision_made",
    "decision_confirmed",
    "decision_rejected",
    "team_created",
    "team_deleted",
    "pool_configured",
    "slot_taken",
    "slot_opened",
    "slot_freed",
    "slot_extended",
    "slot_queued",
    "slot_reserved",
    "slot_reservation_lapsed",
    "slot_place_left",
    "slot_handed_over",
    "slot_shared",
];

#[test]
fn seeds() {
    if let Some(seed) = std::env::var("SEED").ok().and_then(|text| text.parse().ok()) {
        let mut simulation = Simulation::new(seed);
        simulation.follow = Some(|step| println!("{step}"));
        return simulation.run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
    }
    let mut happened: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..SEEDS {
        let mut simulation = Simulation::new(seed);
        simulation.run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
        let kinds = simulation.log().iter().map(|record| record.event.kind().action);
        kinds.for_each(|kind| *happened.entry(kind).or_insert(0) += 1);
    }
    println!("{happened:?}");
    let missing: Vec<&str> = KINDS.into_iter().filter(|kind| !happened.contains_key(kind)).collect();
    assert_eq!(missing, [""; 0], "chance never came to these");
}

/// A request to end is offered while an offer of other control messages is open.
#[test]
fn seed_65_a_request_to_end_beside_an_open_offer() {
    Simulation::narrow(65).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A request for a slot becomes a wait, before others who wait behind it.
#[test]
fn seed_166_a_request_that_becomes_a_wait() {
    Simulation::narrow(166).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A rule of a leader for its child goes once when both end.
#[test]
fn seed_221_a_rule_within_a_family_that_ends() {
    Simulation::narrow(221).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A task that names a file twice locks it once, and gives it back once.
#[test]
fn seed_423_a_task_that_names_a_file_twice() {
    Simulation::narrow(423).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A command that would wait behind its own agent, for what that gets, does not wait.
#[test]
fn seed_652_a_command_behind_its_own_agent() {
    Simulation::narrow(652).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A pool that was made smaller has to get several slots back before anybody is served.
#[test]
fn seed_736_a_pool_that_was_made_smaller() {
    Simulation::narrow(736).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A rule for a team is told to all of it in the order of their ids, in the world as in the log.
#[test]
fn seed_1322_a_rule_for_a_team() {
    Simulation::narrow(1322).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A command that waits for a slot already does not wait a second time in the place of its owner's request.
#[test]
fn seed_11042_a_request_beside_a_command_that_waits() {
    Simulation::narrow(11_042).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// The record of work that was put aside names whose work it was.
#[test]
fn seed_1_work_that_is_put_aside() {
    Simulation::narrow(1).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

/// A lock that is named twice when its work was put aside is not freed twice.
#[test]
fn seed_20001_a_lock_that_is_put_aside_twice() {
    Simulation::narrow(20_001).run(LIFE_STEPS).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_seed_is_one_story() {
    let told = |seed| {
        let mut simulation = Simulation::new(seed);
        simulation.run(300).unwrap_or_else(|failure| panic!("{failure}"));
        simulation.last_steps()
    };
    assert_eq!(told(7), told(7));
    assert_ne!(told(7), told(8));
}
