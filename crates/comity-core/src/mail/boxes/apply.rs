//! How records change the boxes.

use std::sync::Arc;

use super::{Mail, Mailbox, OpenOffer, StoredLetter};
use crate::deadlines::Due;
use crate::event::Record;
use crate::ids::{AgentId, Key, Principal};
use crate::mail::MailTold;
use crate::mail::{Letter, LetterId, MailEvent, Receipt};
use crate::world::World;

/// Restores letters and control messages, with the deadlines of offers.
pub(crate) fn restore(world: &mut World, mail: Mail) {
    for (receipt, at) in mail.lapses() {
        world.deadlines.set(Due::Offer(receipt), Some(at));
    }
    world.mail = mail;
}

pub(in crate::mail) fn apply(world: &mut World, record: &Record, event: &MailEvent) {
    match event {
        MailEvent::Sent { letter, client_id } => sent(world, record, letter, client_id.as_ref()),
        MailEvent::Offered { to, receipt, letters, controls, lease } => {
            let until = world.now.plus(*lease);
            world.mail.last_receipt = *receipt;
            let senders: Vec<_> = letters.iter().map(|id| (*id, world.mail.letters.get(id))).collect();
            let senders: Vec<_> =
                senders.into_iter().filter_map(|(id, held)| Some((id, held?.from))).collect();
            let mailbox = world.mail.boxes.entry(*to).or_default();
            for (id, from) in senders {
                mailbox.take_out(from, id);
                *mailbox.offers.entry(id).or_insert(0) += 1;
            }
            let lease = OpenOffer { letters: letters.clone(), controls: controls.clone(), until };
            mailbox.leases.insert(*receipt, lease);
            world.deadlines.set(Due::Offer(*receipt), Some(until));
        }
        MailEvent::Acknowledged { to, receipt } => {
            let Some(lease) = close(world, *to, *receipt) else { return };
            done_with(world, *to, &lease.letters);
            let Some(mailbox) = world.mail.boxes.get_mut(to) else { return };
            lease.controls.iter().for_each(|id| drop(mailbox.controls.remove(id)));
            tidy(world, *to);
        }
        MailEvent::Returned { to, receipt } => {
            let Some(lease) = close(world, *to, *receipt) else { return };
            // Back to the front, last one first.
            for id in lease.letters.iter().rev() {
                let Some(from) = world.mail.letters.get(id).map(|held| held.from) else { continue };
                let Some(mailbox) = world.mail.boxes.get_mut(to) else { return };
                mailbox.by_sender.entry(from).or_default().push_front(*id);
            }
        }
        MailEvent::PutAside { to, letters } => {
            for id in letters {
                let Some(from) = world.mail.letters.get(id).map(|held| held.from) else { continue };
                let Some(mailbox) = world.mail.boxes.get_mut(to) else { return };
                mailbox.take_out(from, *id);
                mailbox.put_aside.push_back(*id);
            }
        }
        MailEvent::Undelivered { to, letters } => {
            for id in letters {
                let Some(held) = world.mail.letters.get(id) else { continue };
                let (from, subject) = (held.from, held.letter.subject.as_deref().map(str::to_owned));
                let told = MailTold::Undelivered { to: world.name_of(*to), id: id.to_string(), subject };
                world.tell(from, record.seq, told);
            }
            done_with(world, *to, letters);
            take_away(world, *to);
        }
    }
}

fn sent(world: &mut World, record: &Record, letter: &Arc<Letter>, client_id: Option<&Key>) {
    let (id, from, mail) = (letter.id, record.by, &mut world.mail);
    mail.last = mail.last.max(id);
    if let Some(client_id) = client_id {
        mail.remember(from, client_id.clone(), id);
    }
    for to in &letter.to {
        let mailbox = mail.boxes.entry(*to).or_default();
        mailbox.by_sender.entry(from).or_default().push_back(id);
        mailbox.letters += 1;
        mailbox.bytes += letter.text.len();
    }
    let (sent, wall_ms, boxes) = (world.now, record.wall_ms, letter.to.len());
    mail.letters.insert(id, StoredLetter { letter: Arc::clone(letter), from, sent, wall_ms, boxes });
}

fn close(world: &mut World, to: Principal, receipt: Receipt) -> Option<OpenOffer> {
    world.deadlines.set(Due::Offer(receipt), None);
    world.mail.boxes.get_mut(&to)?.leases.remove(&receipt)
}

fn done_with(world: &mut World, to: Principal, letters: &[LetterId]) {
    for id in letters {
        let bytes = world.mail.let_go(*id);
        if let Some(mailbox) = world.mail.boxes.get_mut(&to) {
            mailbox.forget(*id, bytes);
        }
    }
}

/// Drops the box of an ended agent; its letters' senders were told before.
pub(crate) fn agent_ended(world: &mut World, agent: AgentId) {
    take_away(world, Principal::Agent(agent));
}

fn take_away(world: &mut World, to: Principal) {
    if let Some(mailbox) = world.mail.boxes.remove(&to) {
        mailbox.leases.into_keys().for_each(|receipt| world.deadlines.set(Due::Offer(receipt), None));
    }
}

fn tidy(world: &mut World, to: Principal) {
    if world.mail.boxes.get(&to).is_some_and(Mailbox::is_void) {
        world.mail.boxes.remove(&to);
    }
}
