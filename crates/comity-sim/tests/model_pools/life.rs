//! One life of the model: the world, the list of who waits, and what must not be.

use std::hash::{Hash, Hasher};

use comity_core::pools::{PlaceEnding, PlaceState, Pool, PoolAsk, PoolEvent, SlotState};
use comity_core::{AgentId, Ask, Event, Principal, Record, Ticket, World, run};

use crate::{AGENTS, CAPACITY, agent, number, take};

/// The world, and who waits in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) world: World,
    pub(crate) tick: u8,
    pub(crate) given: u8,
    pub(crate) line: Vec<u64>,
    pub(crate) wrong: Option<&'static str>,
}

/// Slots with their owners, places with theirs, and who lives.
type Facts = (Vec<(u64, bool)>, Vec<(u64, u8, u64, u32)>, Vec<bool>);
/// What the model knows besides the world.
type Known<'a> = (u8, u8, &'a [u64], Option<&'static str>);

impl Life {
    fn known(&self) -> Known<'_> {
        (self.tick, self.given, &self.line, self.wrong)
    }

    pub(crate) fn pool(&self) -> &Pool {
        self.world.pools.get("tabs").expect("a pool")
    }

    pub(crate) fn lives(&self, number: u64) -> bool {
        self.world.agents.living(AgentId::from_bits(number)).is_ok()
    }

    fn waiting(&self) -> Vec<u64> {
        self.pool().in_line().map(|place| number(place.who)).collect()
    }

    /// What can matter for what comes: not the numbers of slots and places, but their order.
    fn facts(&self) -> Facts {
        let slots = self.pool().slots().map(|slot| (number(slot.owner), slot.state == SlotState::Open));
        let places = self.pool().places().map(|place| {
            let (kind, until) = match place.state {
                PlaceState::Waiting { deadline, .. } => (0, deadline.0),
                PlaceState::Requested => (1, 0),
                PlaceState::Reserved { until } => (2, until.0),
            };
            (number(place.who), kind, until, place.lapses)
        });
        (slots.collect(), places.collect(), (1..=AGENTS).map(|one| self.lives(one)).collect())
    }
}

impl PartialEq for Life {
    fn eq(&self, other: &Life) -> bool {
        self.known() == other.known() && self.facts() == other.facts()
    }
}

impl Hash for Life {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.known(), self.facts()).hash(hasher);
    }
}

impl Life {
    /// Follows the records with the list of who waits, and says what must not be.
    pub(crate) fn follow(&mut self, records: &[Record]) {
        let mut slow = None;
        for record in records {
            let Event::Pool(event) = &record.event else { continue };
            let overtook = slow.take();
            match event {
                PoolEvent::Queued { who, .. } if !self.line.contains(&number(*who)) => {
                    self.line.push(number(*who));
                }
                PoolEvent::Taken { owner, ticket, .. } => {
                    self.given += 1;
                    let is_turn = ticket.is_some() || self.waiting_before(None, overtook).is_empty();
                    let is_first = self.waiting_before(Some(number(*owner)), overtook).is_empty();
                    if !(record_is_promised(records, *ticket) || is_turn && is_first) {
                        self.wrong = Some("somebody was overtaken");
                    }
                    self.line.retain(|one| ticket.is_none() || agent(*one) != *owner);
                }
                PoolEvent::Reserved { who, .. } => {
                    if !self.waiting_before(Some(number(*who)), overtook).is_empty() {
                        self.wrong = Some("somebody was overtaken");
                    }
                    // It stands aside while it has a reservation.
                    self.line.retain(|one| agent(*one) != *who);
                }
                PoolEvent::ReservationLapsed { who, .. } => {
                    // Back to the head, but the next one goes before it.
                    let at = self.line.iter().take_while(|one| self.came_before(**one, *who)).count();
                    self.line.insert(at, number(*who));
                    slow = Some(number(*who));
                }
                PoolEvent::PlaceLeft { who, .. } => self.line.retain(|one| agent(*one) != *who),
                _ => {}
            }
        }
        if self.wrong.is_some() {
            return;
        }
        if comity_core::pools::check(&self.world).is_err() {
            self.wrong = Some("an invariant does not hold");
        } else if self.waiting() != self.line {
            self.wrong = Some("a waiter was lost");
        } else if !self.line.is_empty() && self.pool().used() < CAPACITY {
            self.wrong = Some("a slot is free, and somebody waits");
        }
    }

    /// Who stands before this one; all, if it does not stand in line.
    fn waiting_before(&self, who: Option<u64>, slow: Option<u64>) -> Vec<u64> {
        let before = self.line.iter().copied().take_while(|one| Some(*one) != who);
        match who.is_some_and(|who| !self.line.contains(&who)) {
            true => vec![],
            false => before.filter(|one| Some(*one) != slow).collect(),
        }
    }

    /// Whether `one` came to the queue before `who`, as their tickets say.
    fn came_before(&self, one: u64, who: Principal) -> bool {
        let ticket = |who: Principal| self.pool().place_of(who).map(|place| place.ticket);
        ticket(agent(one)) < ticket(who)
    }
}

/// Whether the slot was promised before: by a reservation that is used with it.
fn record_is_promised(records: &[Record], ticket: Option<Ticket>) -> bool {
    records.iter().any(|record| {
        matches!(&record.event, Event::Pool(PoolEvent::PlaceLeft { ticket: left, ending: PlaceEnding::Granted { .. }, .. })
            if Some(*left) == ticket)
    })
}

/// Frees everything that those who do not wait have, again and again: each who waits gets a slot or a reservation.
pub(crate) fn is_served_in_the_end(life: &Life) -> bool {
    if life.line.is_empty() {
        return true;
    }
    let mut world = life.world.clone();
    let mut left = life.line.clone();
    for _ in 0..=AGENTS as usize * CAPACITY {
        let pool = world.pools.get("tabs").expect("a pool");
        left.retain(|one| pool.in_line().any(|place| place.who == agent(*one)));
        if left.is_empty() {
            return true;
        }
        let Some((slot, owner)) = pool.slots().next().map(|slot| (slot.id, slot.owner)) else {
            // What is left is reserved, and used.
            let who = pool.places().find(|place| place.is_reserved()).map(|place| place.who);
            let Some(who) = who else { return false };
            let _ = run(&mut world, who, &Ask::Pool(take(None)), None, life.world.now, 0);
            continue;
        };
        let free = Ask::Pool(PoolAsk::Free { slot, reason: None });
        let _ = run(&mut world, owner, &free, None, life.world.now, 0);
    }
    false
}
