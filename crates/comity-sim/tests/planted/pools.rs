//! Faults in the rules of pools.

use comity_core::pools::{PlaceEnding, PoolAsk, PoolEvent, SlotId};
use comity_core::{Ask, Asker, Event, Key, Outcome, Principal, Record, Refusal, Timestamp, World};
use comity_sim::{RealRules, Rules};

use crate::{check, faulty, unrecorded};

/// Real rules that do not see some places when they decide about a pool.
struct BlindToPlaces {
    unseen: fn(&World) -> Vec<Event>,
}

impl Rules for BlindToPlaces {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        if !matches!(ask, Ask::Pool(PoolAsk::Take(_))) {
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

fn left(world: &World, is_gone: fn(&comity_core::pools::QueuePlace) -> bool) -> Vec<Event> {
    let mut events = Vec::new();
    for pool in world.pools.iter() {
        for place in pool.places().filter(|place| is_gone(place)) {
            let (pool, ticket, who) = (pool.name.clone(), place.ticket, place.who);
            let ending = PlaceEnding::Cancelled;
            events.push(Event::Pool(PoolEvent::PlaceLeft { pool, ticket, who, ending }));
        }
    }
    events
}

#[test]
fn a_reservation_that_is_not_counted() {
    let unseen = |world: &World| left(world, |place| place.is_reserved());
    check(|| BlindToPlaces { unseen }, &["more of", "out of turn"]);
}

#[test]
fn a_dead_waiter_that_is_granted_a_slot() {
    // Who is ended by somebody keeps its place: with time alone something else of it would be due, too.
    let outlives = |record: &Record| {
        let ending = PlaceEnding::AskerEnded;
        let left =
            matches!(&record.event, Event::Pool(PoolEvent::PlaceLeft { ending: how, .. }) if *how == ending);
        left && record.by != comity_core::Principal::System
    };
    let fault = move |_: &World, records: &mut Vec<Record>| records.retain(|record| !outlives(record));
    // Others are served past its place, or it is served itself.
    check(faulty(fault), &["has ended", "who is not alive", "was overtaken"]);
}

#[test]
fn a_waiter_that_is_overtaken() {
    // The last one in line is served first.
    let fault = |before: &World, records: &mut Vec<Record>| {
        for record in records.iter_mut() {
            let Event::Pool(PoolEvent::Reserved { pool, ticket, who, .. }) = &mut record.event else {
                continue;
            };
            let line = before.pools.get(pool).into_iter().flat_map(|pool| pool.in_line());
            if let Some(last) = line.filter(|place| !place.is_blocking()).last() {
                (*ticket, *who) = (last.ticket, last.who);
            }
        }
    };
    check(faulty(fault), &["nobody is there for the reservation", "was overtaken"]);
}

#[test]
fn a_slot_that_becomes_free_and_serves_nobody() {
    for is_served in [
        |event: &Event| matches!(event, Event::Pool(PoolEvent::Reserved { .. })),
        |event: &Event| {
            matches!(
                event,
                Event::Pool(
                    PoolEvent::Taken { ticket: Some(_), .. }
                        | PoolEvent::PlaceLeft { ending: PlaceEnding::Granted { .. }, .. }
                )
            )
        },
    ] {
        let fault = move |_: &World, records: &mut Vec<Record>| {
            records.retain(|record| record.by != Principal::System || !is_served(&record.event));
        };
        check(faulty(fault), &["and a slot is free", "is still due"]);
    }
}

#[test]
fn a_slot_that_outlives_its_owner() {
    let outlives = |event: &Event| {
        let cause = comity_core::pools::FreeCause::OwnerEnded;
        matches!(event, Event::Pool(PoolEvent::Freed { cause: why, .. }) if *why == cause)
    };
    let fault = move |_: &World, records: &mut Vec<Record>| records.retain(|record| !outlives(&record.event));
    check(faulty(fault), &["has ended", "was overtaken or overbooked"]);
}

#[test]
fn a_number_that_is_given_again() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        for record in records.iter_mut() {
            if let Event::Pool(PoolEvent::Taken { slot, .. }) = &mut record.event {
                *slot = SlotId(slot.0.min(3));
            }
        }
    };
    check(faulty(fault), &["was given again"]);
}
