//! Taking a slot: at once, by a reservation, for one's own oldest, or through the queue.

use super::ask::{PoolAsk, Take};
use super::event::{FreeCause, PlaceEnding, PoolEvent};
use super::full::full;
use super::table::Pool;
use super::{PoolKind, QueuePlace, SlotId, TABS, contexts, free, queue, rights, waits};
use crate::agents::check_name;
use crate::checks::{check_reason, only_comity};
use crate::decide::AskResult;
use crate::event::Event;
use crate::ids::{Principal, Ticket};
use crate::limits::{
    LEASE_TTL, LEASE_TTL_MAX, LEASE_TTL_MIN, POOL_CAPACITY_MAX, POOLS_MAX, WAIT_MAX, WAITS_PER_HOLDER_MAX,
};
use crate::refusal::Refusal;
use crate::time::Millis;
use crate::world::World;

pub(super) fn decide(world: &World, who: Principal, ask: &PoolAsk) -> Result<AskResult, Refusal> {
    let done = match ask {
        PoolAsk::Take(wanted) => return take(world, who, wanted),
        PoolAsk::Configure { pool, kind, capacity } => configure(world, who, pool, *kind, *capacity)?,
        PoolAsk::MarkOpened { slot } => free::mark_opened(world, who, *slot)?,
        PoolAsk::Note { slot, at, reopened } => free::note(world, who, *slot, at, *reopened)?,
        PoolAsk::Free { slot, reason } => free::free(world, who, *slot, reason.as_deref())?,
        PoolAsk::Lose { slot, loss } => free::lose(world, who, *slot, loss)?,
        PoolAsk::Extend { slot, ttl } => extend(world, who, *slot, *ttl)?,
        PoolAsk::Request { pool } => queue::request(world, who, pool)?,
        PoolAsk::CancelRequest { pool } => queue::cancel_request(world, who, pool)?,
        PoolAsk::Grant { pool } => free::grant(world, who, pool)?,
        PoolAsk::HandOver { slot, to, reason } => {
            rights::hand_over(world, who, *slot, *to, reason.as_deref())?
        }
        PoolAsk::Share { slot, with } => rights::share(world, who, *slot, *with)?,
        PoolAsk::Unshare { slot, with } => rights::unshare(world, who, *slot, *with)?,
        PoolAsk::EnterContext { slot, context } => contexts::enter(world, who, *slot, context)?,
        PoolAsk::Admit { pool, context, whom } => contexts::admit(world, who, pool, context, *whom)?,
        PoolAsk::Reclaim { slot, idle } => free::reclaim(world, who, *slot, *idle)?,
    };
    Ok(AskResult::Done(done))
}

pub(super) fn find<'a>(world: &'a World, name: &str) -> Result<&'a Pool, Refusal> {
    let open = |pool: &&Pool| pool.capacity > 0;
    world.pools.get(name).filter(open).ok_or_else(|| {
        let same_kind = |pool: &&Pool| (pool.kind == PoolKind::Tabs) == (name == TABS);
        let names: Vec<&str> =
            world.pools.iter().filter(open).filter(same_kind).map(|pool| &*pool.name).collect();
        let hint = match names.is_empty() {
            true => {
                "there are no pools; add one to your settings, such as [pools.build] with capacity = 1, then: comity restart"
                    .into()
            }
            false => {
                let names = names.join(", ");
                format!("there are: {names} (new ones in your settings take effect after: comity restart)")
            }
        };
        Refusal::NotFound { problem: format!("there is no pool {name:?}"), hint }
    })
}

fn configure(
    world: &World,
    who: Principal,
    name: &str,
    kind: PoolKind,
    capacity: usize,
) -> Result<Vec<Event>, Refusal> {
    only_comity(who)?;
    check_name("a pool's name", name)?;
    let limit = |problem: String, hint: &str| Err(Refusal::LimitReached { problem, hint: hint.into() });
    if capacity > POOL_CAPACITY_MAX {
        return limit(format!("a pool has at most {POOL_CAPACITY_MAX} slots"), "give it fewer");
    }
    let known = world.pools.get(name);
    if known.is_none() && world.pools.iter().count() >= POOLS_MAX {
        return limit(format!("there are {POOLS_MAX} pools already"), "take one out of the configuration");
    }
    match known {
        Some(pool) if (pool.kind, pool.capacity) == (kind, capacity) => return Ok(vec![]),
        Some(pool) if pool.kind != kind && pool.used() > 0 => {
            let problem = format!("slots of {name} are held, and it can't become something else");
            return Err(Refusal::NotAllowed { problem, hint: "free them first".into() });
        }
        None if capacity == 0 => return Ok(vec![]),
        Some(_) | None => {}
    }
    // Nobody waits for what will never come.
    let mut events: Vec<Event> = match known {
        None => Vec::new(),
        Some(pool) if capacity == 0 => {
            pool.places().map(|place| queue::left(name, place, PlaceEnding::PoolClosed)).collect()
        }
        Some(pool) => waits::stuck_with(world, pool, capacity)
            .map(|place| queue::left(name, place, PlaceEnding::PoolShrunk))
            .collect(),
    };
    events.push(Event::Pool(PoolEvent::Configured { pool: name.into(), kind, capacity }));
    Ok(events)
}

fn take(world: &World, who: Principal, wanted: &Take) -> Result<AskResult, Refusal> {
    let pool = find(world, &wanted.pool)?;
    let ttl = check_take(who, pool, wanted)?;
    let give = |ticket: Option<Ticket>| {
        Event::Pool(PoolEvent::Taken {
            pool: pool.name.clone(),
            slot: SlotId(world.pools.last.0 + 1),
            owner: who,
            label: wanted.label.clone(),
            ttl,
            process: wanted.process,
            ticket,
        })
    };
    let granted = |place: &QueuePlace| {
        queue::left(&pool.name, place, PlaceEnding::Granted { slot: SlotId(world.pools.last.0 + 1) })
    };
    let own = pool.place_of(who);
    if wanted.by_page {
        check_share_of_page(pool, who)?;
    }
    if let Some(place) = own.filter(|place| place.is_reserved()) {
        waits::check_given(world, pool, None, who)?;
        return Ok(AskResult::Done(vec![granted(place), give(Some(place.ticket))]));
    }
    if pool.free() > 0 {
        return Ok(AskResult::Done(vec![give(None)]));
    }
    // Beyond the capacity nothing is given in exchange.
    let evicted = pool.oldest_of(who).filter(|_| wanted.evict_oldest && pool.used() <= pool.capacity);
    if let Some(oldest) = evicted {
        let mut events = vec![free::freed(pool, oldest, FreeCause::Evicted)];
        let request = own.filter(|place| !place.is_blocking());
        events.extend(request.map(granted));
        events.push(give(request.map(|place| place.ticket)));
        return Ok(AskResult::Done(events));
    }
    let Some(wait) = wanted.wait else { return Err(full(world, pool, who, None)) };
    let ticket = place_to_wait_at(world, who, pool, wanted)?;
    waits::check_waiting(world, pool, who, ticket, wanted.process)?;
    let queued = PoolEvent::Queued {
        pool: pool.name.clone(),
        ticket,
        who,
        wait: Some(wait),
        label: wanted.label.clone(),
        ttl,
        process: wanted.process,
        asked: pool.over_share(who),
    };
    Ok(AskResult::Parked(ticket, Event::Pool(queued)))
}

/// A page may take only what its owner need not give back, and nothing that is reserved for the owner.
fn check_share_of_page(pool: &Pool, who: Principal) -> Result<(), Refusal> {
    let refused = |problem: &str| {
        let hint = "close one of your tabs, then let the page open it again".into();
        Err(Refusal::NotAllowed { problem: problem.into(), hint })
    };
    if pool.slots_of(who).count() >= pool.fair_share() {
        return refused("you have your share of tabs already");
    }
    match pool.place_of(who) {
        Some(_) => refused("you asked for a tab, and the next free one is for that"),
        None => Ok(()),
    }
}

/// Checks texts and times, and returns how long the slot will last.
fn check_take(who: Principal, pool: &Pool, wanted: &Take) -> Result<Option<Millis>, Refusal> {
    if who == Principal::System {
        return Err(Refusal::bad_input("Comity itself takes no slots", "ask as an agent or the human"));
    }
    check_reason(wanted.label.as_deref())?;
    if wanted.wait.is_some_and(|wait| wait > WAIT_MAX) {
        return Err(Refusal::bad_input("the wait is too long", format!("wait at most {WAIT_MAX}")));
    }
    wanted.ttl.map_or(Ok(()), check_ttl)?;
    Ok(match (pool.kind, wanted.process) {
        (PoolKind::Tabs, _) => None,
        // A slot that ends with a process needs no other end.
        (PoolKind::Lease, Some(_)) => wanted.ttl,
        (PoolKind::Lease, None) => Some(wanted.ttl.unwrap_or(LEASE_TTL)),
    })
}

fn check_ttl(ttl: Millis) -> Result<(), Refusal> {
    if (LEASE_TTL_MIN..=LEASE_TTL_MAX).contains(&ttl) {
        return Ok(());
    }
    Err(Refusal::bad_input(
        format!("a TTL of {ttl} is not possible"),
        format!("give one from {LEASE_TTL_MIN} to {LEASE_TTL_MAX}, such as 1h"),
    ))
}

/// Where the ask waits: at its owner's request, otherwise at the end.
fn place_to_wait_at(world: &World, who: Principal, pool: &Pool, wanted: &Take) -> Result<Ticket, Refusal> {
    let own: Vec<&QueuePlace> = pool.places().filter(|place| place.who == who).collect();
    let request = own.iter().find(|place| !place.is_blocking());
    let is_in_the_way = |place: &&&QueuePlace| {
        // A slot that the owner gets for itself is what its own command behind would wait for.
        let is_before = wanted.process.is_some() && place.process.is_none();
        let is_behind = request.is_some_and(|request| place.ticket > request.ticket);
        place.is_blocking() && (place.process == wanted.process || is_before || is_behind)
    };
    if own.iter().any(|place| is_in_the_way(&place)) {
        return Err(Refusal::LimitReached {
            problem: format!("you wait for {} already", pool.name),
            hint: "you already have a waiting request; let it finish, or cancel it".into(),
        });
    }
    if let Some(request) = request {
        return Ok(request.ticket);
    }
    if own.len() >= WAITS_PER_HOLDER_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("{WAITS_PER_HOLDER_MAX} of your commands wait for {} already", pool.name),
            hint: "wait for some of them first".into(),
        });
    }
    queue::check_length(pool)?;
    Ok(Ticket(world.ticket.0 + 1))
}

fn extend(world: &World, who: Principal, slot: SlotId, ttl: Millis) -> Result<Vec<Event>, Refusal> {
    check_ttl(ttl)?;
    let (pool, slot) = rights::check_owner(world, who, slot, "extend")?;
    if slot.ttl.is_none() {
        let problem = format!("{} has no time that could run out", pool.words(slot.id, None));
        return Err(Refusal::bad_input(problem, "it lasts until it is freed"));
    }
    Ok(vec![Event::Pool(PoolEvent::Extended { pool: pool.name.clone(), slot: slot.id, ttl })])
}
