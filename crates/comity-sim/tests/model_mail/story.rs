//! What the records said, and what they must not say.

use comity_core::mail::{LetterId, MailEvent, Receipt};
use comity_core::{Event, Principal, Record};

/// What the records said so far, and what was wrong with them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Story {
    pub(crate) sent: Vec<(Principal, LetterId, Box<str>)>,
    pub(crate) open: Vec<(Receipt, Vec<LetterId>)>,
    pub(crate) arrived: Vec<LetterId>,
    pub(crate) undelivered: Vec<LetterId>,
    pub(crate) offers: u64,
    pub(crate) wrong: Option<Wrong>,
}

/// What a record must not say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Wrong {
    StoredTwice,
    OfferedAfterArrival,
    OutOfOrder,
    TwoOffers,
    NotProven,
    RefusedProof,
}

impl Story {
    pub(crate) fn hears(&mut self, record: &Record) {
        let Event::Mail(event) = &record.event else { return };
        match event {
            MailEvent::Sent { letter, .. } => {
                if self.sent.iter().any(|(from, _, text)| (*from, text) == (record.by, &letter.text)) {
                    self.wrong = Some(Wrong::StoredTwice);
                }
                self.sent.push((record.by, letter.id, letter.text.clone()));
            }
            MailEvent::Offered { receipt, letters, .. } => self.offered(*receipt, letters),
            MailEvent::Acknowledged { to, receipt } => {
                let Some(at) = self.open.iter().position(|(open, _)| open == receipt) else {
                    self.wrong = Some(Wrong::NotProven);
                    return;
                };
                if record.by != *to {
                    self.wrong = Some(Wrong::NotProven);
                }
                self.arrived.extend(self.open.remove(at).1);
                self.arrived.sort_unstable();
            }
            MailEvent::Returned { receipt, .. } => self.open.retain(|(open, _)| open != receipt),
            MailEvent::PutAside { .. } => {}
            MailEvent::Undelivered { letters, .. } => {
                self.undelivered.extend(letters);
                self.open.clear();
            }
        }
    }

    fn offered(&mut self, receipt: Receipt, letters: &[LetterId]) {
        if !self.open.is_empty() {
            self.wrong = Some(Wrong::TwoOffers);
        }
        for (at, id) in letters.iter().enumerate() {
            if self.arrived.contains(id) {
                self.wrong = Some(Wrong::OfferedAfterArrival);
            }
            let Some(place) = self.sent.iter().position(|(_, sent, _)| sent == id) else { continue };
            let from = self.sent[place].0;
            let earlier = self.sent[..place].iter().filter(|(other, ..)| *other == from).map(|(_, id, _)| id);
            let went_before = |id: &LetterId| self.arrived.contains(id) || letters[..at].contains(id);
            if !earlier.into_iter().all(went_before) {
                self.wrong = Some(Wrong::OutOfOrder);
            }
        }
        self.offers = receipt.0;
        self.open.push((receipt, letters.to_vec()));
    }
}
