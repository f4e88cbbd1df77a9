//! What the model makes of records about mail.

use std::collections::{BTreeMap, BTreeSet};

use comity_core::control::ControlId;
use comity_core::limits::{BOX_LETTERS_MAX, LETTER_BYTES_MAX, MAIL_LEASE_MAX, MAIL_LEASE_MIN, OFFERS_MAX};
use comity_core::mail::{Letter, LetterId, MailEvent, Receipt};
use comity_core::permissions::RequestId;
use comity_core::{Key, Millis, Principal, Record, Timestamp};

use super::{Found, Oracle};

/// All mail as the model sees it.
#[derive(Debug, Default)]
pub(crate) struct Post {
    pub(crate) piles: BTreeMap<Principal, Pile>,
    /// What each sender has given an id of its own.
    pub(super) client_ids: BTreeSet<(Principal, Key)>,
    pub(super) last: LetterId,
    pub(crate) last_receipt: Receipt,
    pub(super) last_control: ControlId,
    /// The control messages that are about a request, for whoever is to answer it or for its asker.
    about: BTreeMap<ControlId, (RequestId, PermissionParty)>,
    /// Whose piles this step had records about.
    pub(super) touched: Vec<Principal>,
    /// Counts steps, so that the other piles are looked at in turn.
    pub(super) turn: usize,
}

/// What one receiver has not got.
#[derive(Debug, Default)]
pub(crate) struct Pile {
    /// In the order of sending.
    pub(super) letters: Vec<ModelLetter>,
    /// In the order of sending, each with how urgent it is.
    pub(super) controls: Vec<(ControlId, Urgency)>,
    pub(crate) offers: BTreeMap<Receipt, ModelOffer>,
}

/// A letter in one pile.
#[derive(Debug)]
pub(super) struct ModelLetter {
    pub(super) id: LetterId,
    pub(super) from: Principal,
    pub(super) bytes: usize,
    pub(super) offers: u32,
    pub(super) place: LetterStage,
}

/// Where in its pile a letter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LetterStage {
    Waits,
    Offered(Receipt),
    Aside,
}

/// An open offer.
#[derive(Debug)]
pub(crate) struct ModelOffer {
    pub(super) controls: Vec<ControlId>,
    pub(super) until: Timestamp,
}

/// Whom a message about a request is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PermissionParty {
    Answerer,
    Asker,
}

/// What goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Urgency {
    Shutdown,
    Answer,
    Other,
}

impl Oracle {
    pub(super) fn observe_mail(&mut self, record: &Record, event: &MailEvent) -> Found {
        let (by, now) = (record.by, record.now);
        match event {
            MailEvent::Sent { letter, client_id } => self.sent(by, letter, client_id.as_ref()),
            MailEvent::Offered { to, receipt, letters, controls, lease } => {
                if by != *to || *receipt <= self.post.last_receipt {
                    return Err(format!("offer {receipt} to {to} by {by}"));
                }
                if !(MAIL_LEASE_MIN..=MAIL_LEASE_MAX).contains(lease) || letters.len() + controls.len() == 0 {
                    return Err(format!("offer {receipt} of {lease} with nothing in it"));
                }
                self.post.last_receipt = *receipt;
                self.pile(*to)?.offered(*receipt, letters, controls, now, *lease)
            }
            MailEvent::Acknowledged { to, receipt } => {
                if by != *to {
                    return Err(format!("{by} acknowledged offer {receipt} of {to}"));
                }
                let pile = self.pile(*to)?;
                pile.acknowledged(*receipt, now)?;
                if pile.is_void() {
                    self.post.piles.remove(to);
                }
                Ok(())
            }
            MailEvent::Returned { to, receipt } => {
                let pile = self.pile(*to)?;
                let Some(offer) = pile.offers.remove(receipt) else {
                    return Err(format!("offer {receipt} was returned, but is not open"));
                };
                if by != *to && (by != Principal::System || now < offer.until) {
                    return Err(format!("offer {receipt} of {to} lapsed too early"));
                }
                let offered =
                    pile.letters.iter_mut().filter(|item| item.place == LetterStage::Offered(*receipt));
                offered.for_each(|item| item.place = LetterStage::Waits);
                Ok(())
            }
            MailEvent::PutAside { to, letters } => {
                let pile = self.pile(*to)?;
                for id in letters {
                    let item = pile.letters.iter_mut().find(|item| item.id == *id);
                    match item.filter(|item| item.place == LetterStage::Waits && item.offers >= OFFERS_MAX) {
                        Some(item) => item.place = LetterStage::Aside,
                        None => return Err(format!("{id} was put aside before it was offered often enough")),
                    }
                }
                Ok(())
            }
            MailEvent::Undelivered { to, letters } => self.undelivered(record.seq, *to, letters),
        }
    }

    pub(super) fn pile(&mut self, who: Principal) -> Result<&mut Pile, String> {
        self.post.touched.push(who);
        self.post.piles.get_mut(&who).ok_or_else(|| format!("nothing waits for {who}"))
    }

    fn sent(&mut self, from: Principal, letter: &Letter, client_id: Option<&Key>) -> Found {
        let (id, bytes) = (letter.id, letter.text.len());
        if id.0 != self.post.last.0 + 1 {
            return Err(format!("letter {id} follows letter {}", self.post.last));
        }
        self.post.last = id;
        if letter.to.is_empty() || letter.text.trim().is_empty() || bytes > LETTER_BYTES_MAX {
            return Err(format!("letter {id} with {bytes} bytes to {:?}", letter.to));
        }
        if client_id.is_some_and(|key| !self.post.client_ids.insert((from, key.clone()))) {
            return Err(format!("letter {id} was stored once already, by the sender's own id"));
        }
        for to in &letter.to {
            if !self.is_alive(*to) {
                return Err(format!("letter {id} was sent to {to}, who has ended"));
            }
            self.post.touched.push(*to);
            let letters = &mut self.post.piles.entry(*to).or_default().letters;
            if letters.last().is_some_and(|last| last.id == id) || letters.len() >= BOX_LETTERS_MAX {
                return Err(format!("letter {id} does not go into the box of {to}"));
            }
            letters.push(ModelLetter { id, from, bytes, offers: 0, place: LetterStage::Waits });
        }
        Ok(())
    }

    /// All that somebody who ends has not got goes at once, and its senders are told.
    fn undelivered(&mut self, seq: u64, to: Principal, letters: &[LetterId]) -> Found {
        let Principal::Agent(agent) = to else { return Err(format!("{to} can't end")) };
        self.leaving.push(agent);
        let Some(pile) = self.post.piles.remove(&to) else { return Err(format!("nothing waits for {to}")) };
        if !pile.letters.iter().map(|item| item.id).eq(letters.iter().copied()) {
            return Err(format!("{to} ended without {letters:?}, but other letters were in its box"));
        }
        pile.letters.iter().for_each(|item| self.tell(item.from, seq));
        Ok(())
    }

    /// A control message for `to`; who has ended hears nothing.
    pub(super) fn hears(&mut self, to: Principal, urgency: Urgency) {
        if to == Principal::System || !self.is_alive(to) {
            return;
        }
        self.post.touched.push(to);
        self.post.last_control = ControlId(self.post.last_control.0 + 1);
        self.post.piles.entry(to).or_default().controls.push((self.post.last_control, urgency));
    }

    /// The same about a request.
    pub(super) fn hears_of(
        &mut self,
        to: Principal,
        urgency: Urgency,
        request: RequestId,
        whom: PermissionParty,
    ) {
        let before = self.post.last_control;
        self.hears(to, urgency);
        if self.post.last_control != before {
            self.post.about.insert(self.post.last_control, (request, whom));
        }
    }

    /// What waits to be said of a request is not so any more; what is being offered stays.
    pub(super) fn is_void_for(&mut self, to: Principal, request: RequestId, whom: PermissionParty) {
        let Some(pile) = self.post.piles.get_mut(&to) else { return };
        let offered: Vec<ControlId> =
            pile.offers.values().flat_map(|offer| offer.controls.iter().copied()).collect();
        let about = &self.post.about;
        pile.controls.retain(|(id, _)| offered.contains(id) || about.get(id) != Some(&(request, whom)));
        self.post.touched.push(to);
        if pile.is_void() {
            self.post.piles.remove(&to);
        }
    }
}

impl Pile {
    fn offered(
        &mut self,
        receipt: Receipt,
        letters: &[LetterId],
        controls: &[ControlId],
        now: Timestamp,
        lease: Millis,
    ) -> Found {
        let is_offered = |item: &ModelLetter| matches!(item.place, LetterStage::Offered(_));
        if !letters.is_empty() && self.letters.iter().any(is_offered) {
            return Err(format!("offer {receipt} of letters, while another one is open"));
        }
        let open: Vec<ControlId> =
            self.offers.values().flat_map(|offer| offer.controls.iter().copied()).collect();
        // A request to end waits for no other offer; it is itself in one at a time.
        let may_go = |id: &ControlId| {
            let is_urgent =
                self.controls.iter().any(|(other, kind)| other == id && *kind == Urgency::Shutdown);
            open.is_empty() || (is_urgent && !open.contains(id))
        };
        if !controls.iter().all(may_go) {
            return Err(format!("offer {receipt} of control messages, while another one is open"));
        }
        for id in letters {
            let at = self.letters.iter().position(|item| item.id == *id && item.place == LetterStage::Waits);
            let Some(at) = at else { return Err(format!("{id} was offered, but does not wait")) };
            self.nothing_earlier(at, "was offered")?;
            let item = &mut self.letters[at];
            (item.place, item.offers) = (LetterStage::Offered(receipt), item.offers + 1);
        }
        if let Some(id) = controls.iter().find(|id| !self.controls.iter().any(|(known, _)| known == *id)) {
            return Err(format!("{id:?} was offered, but does not wait"));
        }
        self.offers.insert(receipt, ModelOffer { controls: controls.to_vec(), until: now.plus(lease) });
        Ok(())
    }

    fn acknowledged(&mut self, receipt: Receipt, now: Timestamp) -> Found {
        let Some(offer) = self.offers.remove(&receipt) else {
            return Err(format!("offer {receipt} was acknowledged, but is not open"));
        };
        if now >= offer.until {
            return Err(format!("offer {receipt} was acknowledged after its time"));
        }
        for at in 0..self.letters.len() {
            if self.letters[at].place == LetterStage::Offered(receipt) {
                self.nothing_earlier(at, "arrived")?;
            }
        }
        self.letters.retain(|item| item.place != LetterStage::Offered(receipt));
        self.controls.retain(|(id, _)| !offer.controls.contains(id));
        Ok(())
    }

    /// No earlier letter of the same sender still waits.
    fn nothing_earlier(&self, at: usize, what: &str) -> Found {
        let item = &self.letters[at];
        let waits = |other: &&ModelLetter| other.from == item.from && other.place == LetterStage::Waits;
        match self.letters[..at].iter().find(waits) {
            Some(earlier) => Err(format!("{} {what} before {} of the same sender", item.id, earlier.id)),
            None => Ok(()),
        }
    }

    /// The open offer of letters.
    pub(crate) fn open_offer(&self) -> Option<Receipt> {
        self.letters.iter().find_map(|item| match item.place {
            LetterStage::Offered(receipt) => Some(receipt),
            LetterStage::Waits | LetterStage::Aside => None,
        })
    }

    pub(crate) fn is_void(&self) -> bool {
        self.letters.is_empty() && self.controls.is_empty() && self.offers.is_empty()
    }
}
