//! What must be true of mail, handshakes, decisions and teams.

use std::collections::{BTreeMap, BTreeSet};

use crate::deadlines::Due;
use crate::decisions::Standing;
use crate::ids::Principal;
use crate::limits::{BOX_BYTES_MAX, BOX_LETTERS_MAX, CONTROLS_MAX, DECISIONS_MAX, OFFERS_MAX, TEAMS_MAX};
use crate::mail::{Mailbox, MessageId};
use crate::world::World;

/// Every letter is known as long as it is in a box, and in exactly as many boxes as it counts.
pub(super) fn mail(world: &World) -> Result<(), String> {
    let mut found: BTreeMap<MessageId, usize> = BTreeMap::new();
    for (who, mailbox) in world.mail.boxes() {
        let in_box = |problem: String| format!("in the box of {}: {problem}", world.name_of(who));
        has_a_reader(world, who).map_err(in_box)?;
        letters(world, who, mailbox, &mut found).map_err(in_box)?;
        order(world, mailbox).map_err(in_box)?;
        offers(world, mailbox).map_err(in_box)?;
    }
    for (id, held) in world.mail.letters() {
        let in_boxes = found.remove(&id).unwrap_or(0);
        if in_boxes != held.boxes || in_boxes == 0 {
            return Err(format!("the letter {id} is in {in_boxes} boxes, and counts {}", held.boxes));
        }
    }
    match found.first_key_value() {
        Some((id, _)) => Err(format!("the letter {id} is in a box, but nobody knows it")),
        None => Ok(()),
    }
}

/// Who was asked to end is alive, was asked once, and has a deadline.
pub(super) fn handshakes(world: &World) -> Result<(), String> {
    let mut asked = BTreeSet::new();
    for (request, shutdown) in &world.shutdowns.open {
        let agent = shutdown.agent;
        if world.agents.living(agent).is_err() {
            return Err(format!("{request} asks {agent} to end, who has ended"));
        }
        if !asked.insert(agent) {
            return Err(format!("{request} asks {agent} to end, who was asked already"));
        }
        if world.deadlines.of(Due::Shutdown(*request)) != Some(shutdown.until) {
            return Err(format!("{request} is not due when its time is up"));
        }
    }
    Ok(())
}

/// There are no more decisions and teams than there may be.
pub(super) fn bounds(world: &World) -> Result<(), String> {
    let decisions = world.decisions.iter().count();
    let pending = world.decisions.iter().filter(|decision| decision.standing == Standing::Pending).count();
    if decisions > DECISIONS_MAX {
        return Err(format!("{decisions} decisions are remembered, {pending} of them pending"));
    }
    match world.teams.len() > TEAMS_MAX {
        true => Err(format!("there are {} teams", world.teams.len())),
        false => Ok(()),
    }
}

fn has_a_reader(world: &World, who: Principal) -> Result<(), String> {
    let reads = match who {
        Principal::Human => true,
        Principal::Agent(agent) => world.agents.living(agent).is_ok(),
        Principal::System => false,
    };
    if reads { Ok(()) } else { Err("nobody reads it".into()) }
}

/// Each letter is in the box once and was sent to it; the box counts them right and is not too full.
fn letters(
    world: &World,
    who: Principal,
    mailbox: &Mailbox,
    found: &mut BTreeMap<MessageId, usize>,
) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    for id in mailbox.all_letters() {
        if !seen.insert(id) {
            return Err(format!("{id} is in it twice"));
        }
        *found.entry(id).or_insert(0) += 1;
        let Some(held) = world.mail.get(id) else { return Err(format!("{id} is in it, but is not known")) };
        if !held.letter.to.contains(&who) {
            return Err(format!("{id} was sent to others"));
        }
        bytes += held.letter.text.len();
    }
    if (mailbox.letters(), mailbox.bytes()) != (seen.len(), bytes) {
        let (letters, counted) = (mailbox.letters(), mailbox.bytes());
        return Err(format!("{} letters with {bytes} bytes count as {letters} with {counted}", seen.len()));
    }
    let controls = mailbox.controls().count();
    match seen.len() > BOX_LETTERS_MAX || bytes > BOX_BYTES_MAX || controls > CONTROLS_MAX {
        true => Err(format!("{} letters with {bytes} bytes, and {controls} control messages", seen.len())),
        false => Ok(()),
    }
}

/// What waits is in the order in which it was sent, behind what is being offered of the same sender.
fn order(world: &World, mailbox: &Mailbox) -> Result<(), String> {
    for (from, waiting) in mailbox.waiting() {
        let offered = mailbox.leases().flat_map(|(_, lease)| &lease.letters);
        let of_sender = offered.filter(|id| world.mail.get(**id).is_some_and(|held| held.from == from));
        let in_order: Vec<MessageId> = of_sender.chain(waiting).copied().collect();
        if waiting.is_empty() || !in_order.is_sorted_by(|a, b| a < b) {
            return Err(format!("letters of {} are out of order: {in_order:?}", world.name_of(from)));
        }
        if let Some(id) = waiting.iter().find(|id| mailbox.offers(**id) >= OFFERS_MAX) {
            return Err(format!("{id} was offered in vain too often, and still waits"));
        }
    }
    Ok(())
}

/// One offer of letters and one of control messages may be open, each until its deadline.
fn offers(world: &World, mailbox: &Mailbox) -> Result<(), String> {
    let with_letters = mailbox.leases().filter(|(_, lease)| !lease.letters.is_empty()).count();
    let with_controls = mailbox.leases().filter(|(_, lease)| !lease.controls.is_empty()).count();
    if with_letters > 1 || with_controls > 1 {
        return Err("more than one offer is open".into());
    }
    for (receipt, lease) in mailbox.leases() {
        if world.deadlines.of(Due::Offer(receipt)) != Some(lease.until) {
            return Err(format!("the offer {receipt} is not due when its time is up"));
        }
    }
    Ok(())
}
