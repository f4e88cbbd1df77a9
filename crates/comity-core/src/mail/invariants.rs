//! What must be true of mail.

use std::collections::BTreeSet;

use super::{LetterId, Mailbox};
use crate::control::{ControlId, MOST_URGENT};
use crate::deadlines::Due;
use crate::ids::Principal;
use crate::limits::{BOX_BYTES_MAX, BOX_LETTERS_MAX, CONTROLS_MAX, OFFERS_MAX};
use crate::world::World;

/// Every letter is known while it is in a box, and is in as many boxes as it counts.
pub(crate) fn check(world: &World) -> Result<(), String> {
    let mut found = Vec::new();
    for (who, mailbox) in world.mail.boxes() {
        let letters: Vec<LetterId> = mailbox.all_letters().collect();
        let in_box = |problem: String| format!("in the box of {}: {problem}", world.name_of(who));
        has_a_reader(world, who).map_err(in_box)?;
        counts(world, who, mailbox, &letters).map_err(in_box)?;
        order(world, mailbox).map_err(in_box)?;
        offers(world, mailbox).map_err(in_box)?;
        found.extend(letters);
    }
    found.sort_unstable();
    let expected = world.mail.letters().flat_map(|(id, held)| std::iter::repeat_n(id, held.boxes));
    if expected.eq(found.iter().copied()) && world.mail.letters().all(|(_, held)| held.boxes > 0) {
        return Ok(());
    }
    let known: Vec<(LetterId, usize)> = world.mail.letters().map(|(id, held)| (id, held.boxes)).collect();
    Err(format!("a letter is lost, or in a box too many: known are {known:?}, in boxes are {found:?}"))
}

fn has_a_reader(world: &World, who: Principal) -> Result<(), String> {
    let reads = match who {
        Principal::Human => true,
        Principal::Agent(agent) => world.agents.living(agent).is_ok(),
        Principal::System | Principal::Nobody => false,
    };
    if reads { Ok(()) } else { Err("nobody reads it".into()) }
}

/// Each letter is in the box once and was sent to it; the box's counts are right and within bounds.
fn counts(world: &World, who: Principal, mailbox: &Mailbox, letters: &[LetterId]) -> Result<(), String> {
    if !letters.is_sorted_by(|a, b| a < b) {
        return Err(format!("a letter is in it twice: {letters:?}"));
    }
    let mut bytes = 0;
    for id in letters {
        let Some(held) = world.mail.get(*id) else { return Err(format!("{id} is in it, but is not known")) };
        if !held.letter.to.contains(&who) {
            return Err(format!("{id} was sent to others"));
        }
        bytes += held.letter.text.len();
    }
    let (has, controls) = (letters.len(), mailbox.controls().count());
    if (mailbox.letters(), mailbox.bytes()) != (has, bytes) {
        let (letters, counted) = (mailbox.letters(), mailbox.bytes());
        return Err(format!("{has} letters with {bytes} bytes count as {letters} with {counted}"));
    }
    match has > BOX_LETTERS_MAX || bytes > BOX_BYTES_MAX || controls > CONTROLS_MAX {
        true => Err(format!("{has} letters with {bytes} bytes, and {controls} control messages")),
        false => Ok(()),
    }
}

/// What waits is in the order in which it was sent, after what is being offered of the same sender.
fn order(world: &World, mailbox: &Mailbox) -> Result<(), String> {
    let offered = mailbox.leases().flat_map(|(_, lease)| lease.letters.iter().copied());
    let offered: Vec<_> = offered.filter_map(|id| Some((world.mail.get(id)?.from, id))).collect();
    for (from, waiting) in mailbox.waiting() {
        let of_sender = offered.iter().filter(|(sender, _)| *sender == from).map(|(_, id)| id);
        if waiting.is_empty() || !of_sender.chain(waiting).is_sorted_by(|a, b| a < b) {
            return Err(format!("letters of {} are out of order: {waiting:?}", world.name_of(from)));
        }
        if let Some(id) = waiting.iter().find(|id| mailbox.offers(**id) >= OFFERS_MAX) {
            return Err(format!("{id} was offered too often, and still waits"));
        }
    }
    Ok(())
}

/// One offer of letters and one of control messages may be open, each until its deadline; requests to end wait for
/// neither.
fn offers(world: &World, mailbox: &Mailbox) -> Result<(), String> {
    let with_letters = mailbox.leases().filter(|(_, lease)| !lease.letters.is_empty()).count();
    let can_wait =
        |id: &ControlId| mailbox.control(*id).is_some_and(|one| one.control.urgency() > MOST_URGENT);
    let with_controls = mailbox.leases().filter(|(_, lease)| lease.controls.iter().any(can_wait)).count();
    if with_letters > 1 || with_controls > 1 {
        return Err("more than one offer is open".into());
    }
    let mut offered = BTreeSet::new();
    if let Some(twice) =
        mailbox.leases().flat_map(|(_, lease)| &lease.controls).find(|id| !offered.insert(**id))
    {
        return Err(format!("{twice:?} is in two open offers"));
    }
    for (receipt, lease) in mailbox.leases() {
        if world.deadlines.of(Due::Offer(receipt)) != Some(lease.until) {
            return Err(format!("the offer {receipt} is not due when its time is up"));
        }
    }
    Ok(())
}
