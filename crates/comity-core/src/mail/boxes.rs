//! The mailboxes.

mod apply;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Letter, LetterId, Receipt};
use crate::control::{Control, ControlId, MOST_URGENT};
use crate::ids::{Key, Principal};
use crate::limits::{CLIENT_IDS_MAX, CONTROLS_MAX};
use crate::teams::leader_of;
use crate::time::Timestamp;
use crate::world::World;

pub(super) use apply::apply;
pub(crate) use apply::{agent_ended, restore};

/// A letter that has not reached everybody.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredLetter {
    pub letter: Arc<Letter>,
    pub from: Principal,
    /// On the engine's clock.
    pub sent: Timestamp,
    pub wall_ms: i64,
    /// How many boxes it is in.
    pub(crate) boxes: usize,
}

/// How much a sender matters to the receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SenderRank {
    /// The human, or the receiver's leader.
    Above,
    Peer,
}

/// An offer that is not acknowledged yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenOffer {
    pub letters: Vec<LetterId>,
    pub controls: Vec<ControlId>,
    pub until: Timestamp,
}

/// The newest items that wait for somebody.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Newest {
    letter: Option<LetterId>,
    control: Option<ControlId>,
}

impl Newest {
    /// Whether anything in it came after the other.
    pub fn is_news_after(self, last: Newest) -> bool {
        self.letter > last.letter || self.control > last.control
    }

    /// The newer of each.
    pub fn or(self, other: Newest) -> Newest {
        Newest { letter: self.letter.max(other.letter), control: self.control.max(other.control) }
    }
}

/// A control message that waits.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitingControl {
    pub from: Principal,
    pub control: Control,
    pub since: Timestamp,
}

/// What waits for one receiver.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mailbox {
    #[serde(with = "crate::snapshot::pairs")]
    by_sender: BTreeMap<Principal, VecDeque<LetterId>>,
    #[serde(with = "crate::snapshot::pairs")]
    controls: BTreeMap<ControlId, WaitingControl>,
    #[serde(with = "crate::snapshot::pairs")]
    offers: BTreeMap<LetterId, u32>,
    #[serde(with = "crate::snapshot::pairs")]
    leases: BTreeMap<Receipt, OpenOffer>,
    put_aside: VecDeque<LetterId>,
    letters: usize,
    bytes: usize,
}

/// All undelivered mail.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mail {
    pub(crate) last: LetterId,
    pub(crate) last_receipt: Receipt,
    pub(crate) last_control: ControlId,
    #[serde(with = "crate::snapshot::pairs")]
    letters: BTreeMap<LetterId, StoredLetter>,
    #[serde(with = "crate::snapshot::pairs")]
    boxes: BTreeMap<Principal, Mailbox>,
    #[serde(with = "crate::snapshot::pairs")]
    client_ids: BTreeMap<(Principal, Key), LetterId>,
    client_order: VecDeque<(Principal, Key)>,
}

impl Mail {
    /// The letter, unless it has reached everybody.
    pub fn get(&self, id: LetterId) -> Option<&StoredLetter> {
        self.letters.get(&id)
    }

    /// The box of a receiver; `None` if nothing ever waited for it.
    pub fn of(&self, who: Principal) -> Option<&Mailbox> {
        self.boxes.get(&who)
    }

    pub fn letters(&self) -> impl Iterator<Item = (LetterId, &StoredLetter)> {
        self.letters.iter().map(|(id, held)| (*id, held))
    }

    pub fn boxes(&self) -> impl Iterator<Item = (Principal, &Mailbox)> {
        self.boxes.iter().map(|(who, mailbox)| (*who, mailbox))
    }

    /// The letter that this sender sent under this id of its own.
    pub fn sent_as(&self, who: Principal, client_id: &Key) -> Option<LetterId> {
        self.client_ids.get(&(who, client_id.clone())).copied()
    }

    pub(crate) fn offered_to(&self, receipt: Receipt) -> Option<Principal> {
        self.boxes.iter().find(|(_, mailbox)| mailbox.leases.contains_key(&receipt)).map(|(who, _)| *who)
    }

    /// When open offers lapse, to restore a world.
    pub(crate) fn lapses(&self) -> Vec<(Receipt, Timestamp)> {
        let leases = self.boxes.values().flat_map(|mailbox| &mailbox.leases);
        leases.map(|(receipt, lease)| (*receipt, lease.until)).collect()
    }

    /// Puts a control message into a box. If there are too many, the oldest of the least urgent ones is dropped.
    pub(crate) fn queue(&mut self, to: Principal, from: Principal, control: Control, since: Timestamp) {
        self.last_control = ControlId(self.last_control.0 + 1);
        let mailbox = self.boxes.entry(to).or_default();
        mailbox.controls.insert(self.last_control, WaitingControl { from, control, since });
        if mailbox.controls.len() > CONTROLS_MAX {
            let least =
                mailbox.controls.iter().max_by_key(|(id, one)| (one.control.urgency(), Reverse(**id)));
            if let Some(id) = least.map(|(id, _)| *id) {
                mailbox.controls.remove(&id);
            }
        }
    }

    /// Takes back control messages that are no longer true, unless they are being offered.
    pub(crate) fn take_back(&mut self, to: Principal, is_void: impl Fn(&Control) -> bool) {
        let Some(mailbox) = self.boxes.get_mut(&to) else { return };
        let offered: BTreeSet<ControlId> =
            mailbox.leases.values().flat_map(|lease| lease.controls.iter().copied()).collect();
        mailbox.controls.retain(|id, waiting| offered.contains(id) || !is_void(&waiting.control));
        if mailbox.is_void() {
            self.boxes.remove(&to);
        }
    }

    fn remember(&mut self, who: Principal, client_id: Key, id: LetterId) {
        if self.client_order.len() >= CLIENT_IDS_MAX
            && let Some(oldest) = self.client_order.pop_front()
        {
            self.client_ids.remove(&oldest);
        }
        self.client_order.push_back((who, client_id.clone()));
        self.client_ids.insert((who, client_id), id);
    }

    /// The letter is in one box less.
    fn let_go(&mut self, id: LetterId) -> usize {
        let Some(held) = self.letters.get_mut(&id) else { return 0 };
        let bytes = held.letter.text.len();
        held.boxes = held.boxes.saturating_sub(1);
        if held.boxes == 0 {
            self.letters.remove(&id);
        }
        bytes
    }
}

impl Mailbox {
    pub fn letters(&self) -> usize {
        self.letters
    }

    /// How many of one sender wait.
    pub(super) fn letters_from(&self, who: Principal) -> usize {
        self.by_sender.get(&who).map_or(0, VecDeque::len)
    }

    /// How many bytes these have.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How often a letter was offered.
    pub fn offers(&self, id: LetterId) -> u32 {
        self.offers.get(&id).copied().unwrap_or(0)
    }

    /// The open offer with this receipt.
    pub fn lease(&self, receipt: Receipt) -> Option<&OpenOffer> {
        self.leases.get(&receipt)
    }

    pub fn leases(&self) -> impl Iterator<Item = (Receipt, &OpenOffer)> {
        self.leases.iter().map(|(receipt, lease)| (*receipt, lease))
    }

    pub fn controls(&self) -> impl Iterator<Item = (ControlId, &WaitingControl)> {
        self.controls.iter().map(|(id, waiting)| (*id, waiting))
    }

    /// The letters that wait and are not being offered, by sender, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = (Principal, &VecDeque<LetterId>)> {
        self.by_sender.iter().map(|(from, letters)| (*from, letters))
    }

    /// A control message that waits or is being offered.
    pub fn control(&self, id: ControlId) -> Option<&WaitingControl> {
        self.controls.get(&id)
    }

    /// Letters that were offered too often.
    pub fn put_aside(&self) -> impl Iterator<Item = LetterId> {
        self.put_aside.iter().copied()
    }

    /// The newest of what waits and is not being offered.
    pub fn newest(&self) -> Newest {
        let letter = self.by_sender.values().filter_map(|letters| letters.back().copied()).max();
        Newest { letter, control: self.waiting_controls().max() }
    }

    /// Senders of waiting letters, with how many.
    pub fn senders(&self) -> impl Iterator<Item = (Principal, usize)> {
        self.by_sender.iter().map(|(who, letters)| (*who, letters.len()))
    }

    pub(crate) fn all_letters(&self) -> impl Iterator<Item = LetterId> {
        let offered = self.leases.values().flat_map(|lease| lease.letters.iter().copied());
        let waiting = self.by_sender.values().flatten().copied();
        let mut all: Vec<LetterId> = waiting.chain(offered).chain(self.put_aside.iter().copied()).collect();
        all.sort_unstable();
        all.into_iter()
    }

    pub(crate) fn can_offer_letters(&self) -> bool {
        !self.by_sender.is_empty() && self.leases.values().all(|lease| lease.letters.is_empty())
    }

    /// Control messages that can be offered now, most important first.
    ///
    /// While some are being offered, the others wait; requests to end do not.
    pub(crate) fn waiting_controls(&self) -> impl Iterator<Item = ControlId> {
        let open: BTreeSet<ControlId> =
            self.leases.values().flat_map(|lease| lease.controls.iter().copied()).collect();
        let can_go = |id: &ControlId, waiting: &WaitingControl| {
            open.is_empty() || (waiting.control.urgency() == MOST_URGENT && !open.contains(id))
        };
        let ready = self.controls.iter().filter(|(id, waiting)| can_go(id, waiting));
        let mut order: Vec<_> = ready.map(|(id, waiting)| (waiting.control.urgency(), *id)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, id)| id)
    }

    /// Waiting letters in the order in which they are offered.
    pub(crate) fn in_order(&self, world: &World, who: Principal) -> impl Iterator<Item = LetterId> {
        let leader = who.agent().map(|agent| leader_of(world, agent));
        let mut heads: BTreeSet<(SenderRank, LetterId, Principal)> = self
            .by_sender
            .iter()
            .filter_map(|(from, letters)| Some((class(*from, leader), *letters.front()?, *from)))
            .collect();
        let mut next: BTreeMap<Principal, usize> = BTreeMap::new();
        std::iter::from_fn(move || {
            let (class, id, from) = heads.pop_first()?;
            let at = next.entry(from).or_insert(0);
            *at += 1;
            if let Some(following) = self.by_sender.get(&from).and_then(|letters| letters.get(*at)) {
                heads.insert((class, *following, from));
            }
            Some(id)
        })
    }

    fn take_out(&mut self, from: Principal, id: LetterId) {
        if let Some(letters) = self.by_sender.get_mut(&from) {
            // Offers go in order, so it is the first or close to it.
            if let Some(at) = letters.iter().position(|other| *other == id) {
                letters.remove(at);
            }
            if letters.is_empty() {
                self.by_sender.remove(&from);
            }
        }
    }

    fn forget(&mut self, id: LetterId, bytes: usize) {
        self.letters = self.letters.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        self.offers.remove(&id);
    }

    fn is_void(&self) -> bool {
        self.letters == 0 && self.controls.is_empty() && self.leases.is_empty()
    }
}

fn class(from: Principal, leader: Option<Principal>) -> SenderRank {
    // What came through a file is not proven; the system only carried it.
    match from {
        Principal::Human => SenderRank::Above,
        Principal::Agent(_) if leader == Some(from) => SenderRank::Above,
        Principal::Agent(_) | Principal::System | Principal::Nobody => SenderRank::Peer,
    }
}
