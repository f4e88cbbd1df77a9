//! Offers what waits, in order; an offer that is not acknowledged is made again.
//!
//! In this order: a request to end, other control messages, letters of the leader and the human, other letters.
//! Letters of one sender to one receiver always keep their order: the sender's rank is looked up when letters are
//! offered, so all its letters have the same, and a box has one open offer of letters at a time.

use super::{LetterId, MailEvent, OfferFilter, Receipt};
use crate::event::Event;
use crate::ids::{AgentId, Principal};
use crate::limits::{CONTROLS_PER_OFFER_MAX, MAIL_LEASE_MAX, MAIL_LEASE_MIN, OFFERS_MAX};
use crate::refusal::Refusal;
use crate::time::Millis;
use crate::world::World;

/// Whether something could be offered now.
pub fn has_something(world: &World, who: Principal, what: OfferFilter) -> bool {
    world.mail.of(who).is_some_and(|mailbox| {
        mailbox.can_offer_letters()
            || (what == OfferFilter::All && mailbox.waiting_controls().next().is_some())
    })
}

pub(super) fn take(
    world: &World,
    who: Principal,
    (bytes_max, letters_max): (usize, usize),
    what: OfferFilter,
    lease: Millis,
) -> Result<Vec<Event>, Refusal> {
    if !(MAIL_LEASE_MIN..=MAIL_LEASE_MAX).contains(&lease) {
        let problem = format!("{lease} isn't a time for mail to arrive");
        return Err(Refusal::bad_input(problem, format!("use {MAIL_LEASE_MIN} to {MAIL_LEASE_MAX}")));
    }
    let Some(mailbox) = world.mail.of(who) else { return Ok(vec![]) };
    let controls = match what {
        OfferFilter::All => mailbox.waiting_controls().take(CONTROLS_PER_OFFER_MAX).collect(),
        OfferFilter::Letters => vec![],
    };
    let mut letters: Vec<LetterId> = vec![];
    if mailbox.can_offer_letters() {
        let mut room = bytes_max;
        for id in mailbox.in_order(world, who) {
            let bytes = world.mail.get(id).map_or(0, |held| held.letter.text.len());
            if letters.len() >= letters_max.max(1) || (bytes > room && !letters.is_empty()) {
                break;
            }
            room = room.saturating_sub(bytes);
            letters.push(id);
        }
    }
    if letters.is_empty() && controls.is_empty() {
        return Ok(vec![]);
    }
    let receipt = Receipt(world.mail.last_receipt.0 + 1);
    Ok(vec![Event::Mail(MailEvent::Offered { to: who, receipt, letters, controls, lease })])
}

pub(super) fn acknowledge(world: &World, who: Principal, receipt: Receipt) -> Result<Vec<Event>, Refusal> {
    must_be_open(world, who, receipt)?;
    Ok(vec![Event::Mail(MailEvent::Acknowledged { to: who, receipt })])
}

pub(super) fn give_back(world: &World, who: Principal, receipt: Receipt) -> Result<Vec<Event>, Refusal> {
    must_be_open(world, who, receipt)?;
    Ok(returned(world, who, receipt))
}

fn must_be_open(world: &World, who: Principal, receipt: Receipt) -> Result<(), Refusal> {
    let is_open = world.mail.of(who).is_some_and(|mailbox| mailbox.lease(receipt).is_some());
    match is_open {
        true => Ok(()),
        false => Err(Refusal::NotFound {
            problem: format!("the offer {receipt} is not open: it was acknowledged, or took too long"),
            hint: "read again; what did not arrive is offered again".into(),
        }),
    }
}

pub(crate) fn lapse(world: &World, receipt: Receipt) -> Vec<Event> {
    match world.mail.offered_to(receipt) {
        Some(to) => returned(world, to, receipt),
        None => vec![],
    }
}

/// Puts an offer back into the box; letters that were offered too often are put aside.
fn returned(world: &World, to: Principal, receipt: Receipt) -> Vec<Event> {
    let Some(mailbox) = world.mail.of(to) else { return vec![] };
    let Some(lease) = mailbox.lease(receipt) else { return vec![] };
    let in_vain = |id: &&LetterId| mailbox.offers(**id) >= OFFERS_MAX;
    let hopeless: Vec<LetterId> = lease.letters.iter().filter(in_vain).copied().collect();
    let mut events = vec![Event::Mail(MailEvent::Returned { to, receipt })];
    if !hopeless.is_empty() {
        events.push(Event::Mail(MailEvent::PutAside { to, letters: hopeless }));
    }
    events
}

/// What an ending agent has not received: the senders are told.
pub(crate) fn undelivered(world: &World, agent: AgentId) -> Option<Event> {
    let to = Principal::Agent(agent);
    let letters: Vec<LetterId> = world.mail.of(to)?.all_letters().collect();
    Some(Event::Mail(MailEvent::Undelivered { to, letters }))
}
