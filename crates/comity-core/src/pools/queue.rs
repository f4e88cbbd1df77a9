//! The queue of a pool: who is served next, requests and their reservations, and who stops waiting.

use super::event::{PlaceEnding, PoolEvent};
use super::table::Pool;
use super::take::find;
use super::{PlaceState, QueuePlace, SlotId};
use crate::event::Event;
use crate::ids::{Principal, Ticket};
use crate::limits::POOL_PLACES_MAX;
use crate::refusal::Refusal;
use crate::world::World;

/// The events that give a free slot of any pool to the first in line, if anybody can go on.
pub(crate) fn next_service(world: &World) -> Option<Vec<Event>> {
    let waited_for = |pool: &&Pool| pool.free() > 0;
    world.pools.iter().filter(waited_for).find_map(|pool| serve_head(world, pool))
}

/// Gives the first in line a slot, if its ask waits, or a reservation, if it is a request.
fn serve_head(world: &World, pool: &Pool) -> Option<Vec<Event>> {
    let place = pool.in_line().next()?;
    let (name, ticket, who) = (pool.name.clone(), place.ticket, place.who);
    let PlaceState::Waiting { label, ttl, .. } = &place.state else {
        let lasts = world.patience.slot_reservation;
        return Some(vec![Event::Pool(PoolEvent::Reserved { pool: name, ticket, who, lasts })]);
    };
    let slot = SlotId(world.pools.last.0 + 1);
    let taken = PoolEvent::Taken {
        pool: name,
        slot,
        owner: who,
        label: label.clone(),
        ttl: *ttl,
        process: place.process,
        ticket: Some(ticket),
    };
    Some(vec![Event::Pool(taken), left(&pool.name, place, PlaceEnding::Granted { slot })])
}

pub(super) fn left(pool: &str, place: &QueuePlace, ending: PlaceEnding) -> Event {
    Event::Pool(PoolEvent::PlaceLeft { pool: pool.into(), ticket: place.ticket, who: place.who, ending })
}

/// Asks for space in a full pool. Whoever has asked already keeps its place.
pub(super) fn request(world: &World, who: Principal, name: &str) -> Result<Vec<Event>, Refusal> {
    let pool = find(world, name)?;
    if who == Principal::System {
        return Err(Refusal::bad_input("Comity itself takes no slots", "ask as an agent or the human"));
    }
    if pool.place_of(who).is_some() {
        return Ok(vec![]);
    }
    if pool.free() > 0 {
        return Err(Refusal::NotAllowed {
            problem: format!("{name} is not full ({}/{})", pool.used(), pool.capacity),
            hint: "nobody needs to give up anything: take a slot".into(),
        });
    }
    check_length(pool)?;
    let ticket = Ticket(world.ticket.0 + 1);
    Ok(vec![Event::Pool(PoolEvent::Queued {
        pool: name.into(),
        ticket,
        who,
        wait: None,
        label: None,
        ttl: None,
        process: None,
        asked: pool.over_share(who),
    })])
}

pub(super) fn check_length(pool: &Pool) -> Result<(), Refusal> {
    if pool.places.len() < POOL_PLACES_MAX {
        return Ok(());
    }
    Err(Refusal::LimitReached {
        problem: format!("{POOL_PLACES_MAX} wait for {} already", pool.name),
        hint: "try again later".into(),
    })
}

pub(super) fn cancel_request(world: &World, who: Principal, name: &str) -> Result<Vec<Event>, Refusal> {
    let pool = find(world, name)?;
    let request = pool.place_of(who).filter(|place| !place.is_blocking());
    Ok(request.map(|place| left(name, place, PlaceEnding::Cancelled)).into_iter().collect())
}

/// Gives up a waiting ask.
pub(crate) fn cancel_wait(world: &World, who: Principal, ticket: Ticket) -> Result<Vec<Event>, Refusal> {
    match world.pools.place(ticket) {
        None => Ok(vec![]),
        Some((pool, place)) if place.who == who || who == Principal::System => {
            Ok(vec![left(&pool.name, place, PlaceEnding::Cancelled)])
        }
        Some(_) => Err(Refusal::NotAllowed {
            problem: "this is somebody else's place in the queue".into(),
            hint: "only the agent that waits may give up its wait".into(),
        }),
    }
}

/// The ticket of a remembered ask that is still queued.
pub(crate) fn still_waiting(world: &World, answer: &[Event]) -> Option<Ticket> {
    answer.iter().find_map(|event| match event {
        Event::Pool(PoolEvent::Queued { ticket, wait: Some(_), .. }) => {
            world.pools.place(*ticket).filter(|(_, place)| place.is_blocking()).map(|_| *ticket)
        }
        _ => None,
    })
}

/// A wait or a reservation timed out. A lapsed reservation goes to the next in line at once.
pub(crate) fn time_out(world: &World, ticket: Ticket) -> Vec<Event> {
    let Some((pool, place)) = world.pools.place(ticket) else { return vec![] };
    match place.state {
        PlaceState::Requested => vec![],
        PlaceState::Waiting { .. } => vec![left(&pool.name, place, PlaceEnding::TimedOut)],
        PlaceState::Reserved { .. } if place.lapses > 0 => vec![left(&pool.name, place, PlaceEnding::Lapsed)],
        PlaceState::Reserved { .. } => {
            let lapsed = PoolEvent::ReservationLapsed { pool: pool.name.clone(), ticket, who: place.who };
            // The next one is served here, because the slow one stays first in line for later. Beyond the capacity
            // nothing is passed on.
            let next = (pool.used() <= pool.capacity).then(|| serve_head(world, pool)).flatten();
            std::iter::once(Event::Pool(lapsed)).chain(next.into_iter().flatten()).collect()
        }
    }
}
