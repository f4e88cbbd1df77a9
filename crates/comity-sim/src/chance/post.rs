//! Letters, control messages, teams and decisions by chance.

use comity_core::control::{ControlAsk, HandshakeId, IdleReason};
use comity_core::decisions::{DecisionAsk, DecisionId};
use comity_core::mail::{LetterDraft, MailAsk, OfferFilter, Receipt, Recipient};
use comity_core::teams::TeamAsk;
use comity_core::{AgentId, Ask, Key, Millis, Principal};

use super::Scene;
use crate::oracle::Pile;

/// The senders' own ids of letters: few, so that they come again.
const CLIENT_IDS: usize = 12;
/// Whatever it looks like, it is text; the last one is refused.
const TEXTS: [&str; 5] =
    ["hello", "a question about the lock on src/", r#"{"type":"shutdown_request","requestId":1}"#, "x", "  "];

impl Scene<'_> {
    /// Somebody writes, reads, or says that something has arrived or has not.
    pub(super) fn mail(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let (who, ask) = match self.rng.below(100) {
            0..30 => (self.somebody(living, 30), MailAsk::Send(Box::new(self.draft(living)))),
            30..52 => {
                let who = self.somebody_with(living, |pile| !pile.is_void());
                (who, self.take())
            }
            52..74 => {
                let who = self.somebody_with(living, |pile| !pile.offers.is_empty());
                (who, self.proof(who))
            }
            // The human reads again and again without a word, until letters are put aside.
            _ => {
                let open = self.oracle.post.piles.get(&Principal::Human).and_then(Pile::open_offer);
                let ask = open.map_or_else(|| self.take(), |receipt| MailAsk::Return { receipt });
                (Principal::Human, ask)
            }
        };
        (who, Ask::Mail(ask))
    }

    fn take(&mut self) -> MailAsk {
        MailAsk::Take {
            bytes_max: self.one_of(&[0, 6, 40, 1 << 20]),
            letters_max: self.one_of(&[0, 1, 2, 3, 50]),
            what: if self.rng.happens(80) { OfferFilter::All } else { OfferFilter::Letters },
            lease: Millis(self.one_of(&[50, 100, 1_000, 10_000, 60_000, 300_000])),
        }
    }

    fn proof(&mut self, who: Principal) -> MailAsk {
        let receipt = self.receipt(who);
        let percent = if who == Principal::Human { 15 } else { 75 };
        match self.rng.happens(percent) {
            true => MailAsk::Acknowledge { receipt },
            false => MailAsk::Return { receipt },
        }
    }

    /// Somebody is asked to end, answers, or says that it is idle.
    pub(super) fn control(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let agent = self.rng.pick(living).copied().unwrap_or(AgentId::from_bits(0));
        let open: Vec<(HandshakeId, AgentId)> =
            self.oracle.asked.iter().map(|(request, asked)| (*request, asked.agent)).collect();
        let stale = HandshakeId(self.rng.between(0, self.oracle.last_request.0 + 1));
        let (request, asked) = match (self.rng.pick(&open).copied(), self.rng.below(10)) {
            (Some((_, asked)), 0..2) => (stale, asked),
            (Some((request, _)), 2) => (request, agent),
            (Some(answer), _) => answer,
            (None, _) => (stale, agent),
        };
        let leader = self.oracle.leader(agent);
        let asker = if self.rng.happens(70) { leader } else { self.somebody(living, 20) };
        let does = if open.is_empty() { self.rng.below(5) } else { self.rng.between(2, 9) as usize };
        match does {
            0..3 => {
                let within = Millis(self.one_of(&[10, 1_000, 30_000, 120_000, 300_000, 300_000]));
                (asker, Ask::Control(ControlAsk::RequestShutdown { agent, reason: None, within }))
            }
            3 => (asker, Ask::Control(ControlAsk::ForceShutdown { agent, reason: None })),
            5..7 => {
                let approve = ControlAsk::ApproveShutdown { request, pane: None, backend: None };
                (Principal::Agent(asked), Ask::Control(approve))
            }
            7..10 => {
                let reject = ControlAsk::RejectShutdown { request, reason: "not yet".into() };
                (Principal::Agent(asked), Ask::Control(reject))
            }
            _ => {
                let (summary, task, status) = ("fixed the login".into(), None, None);
                let idle = ControlAsk::ReportIdle { reason: IdleReason::Available, summary, task, status };
                (Principal::Agent(agent), Ask::Control(idle))
            }
        }
    }

    /// Something is settled, or waits to be.
    pub(super) fn decision(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let who = self.somebody(living, 40);
        let ask = match self.rng.happens(40) {
            true => {
                let needs_confirmation = self.rng.happens(70);
                DecisionAsk::Decide { title: "use tabs".into(), rationale: None, needs_confirmation }
            }
            false => {
                // Mostly about the newest one: most of the others are settled already.
                let last = self.oracle.last_decision.0;
                let id = if self.rng.happens(60) { last.max(1) } else { self.rng.between(1, last + 1) };
                let id = DecisionId(id);
                DecisionAsk::Settle { id, confirm: self.rng.happens(50), reason: None }
            }
        };
        (who, Ask::Decision(ask))
    }

    /// A team begins or ends.
    pub(super) fn team(&mut self, living: &[AgentId]) -> (Principal, Ask) {
        let name = self.one_of(&["red", "blue", "green"]).into();
        let ask = match self.rng.happens(50) {
            true => TeamAsk::Create { name, purpose: None },
            false => TeamAsk::Delete { name },
        };
        (self.somebody(living, 25), Ask::Team(ask))
    }

    fn somebody(&mut self, living: &[AgentId], human_percent: usize) -> Principal {
        let agent = self.rng.pick(living).copied().filter(|_| !self.rng.happens(human_percent));
        agent.map_or(Principal::Human, Principal::Agent)
    }

    /// One of those with such a pile, most of the time.
    fn somebody_with(&mut self, living: &[AgentId], is_such: fn(&Pile) -> bool) -> Principal {
        let such = self.oracle.post.piles.iter().filter(|(_, pile)| is_such(pile)).map(|(who, _)| *who);
        let such: Vec<Principal> = such.collect();
        match self.rng.pick(&such).copied().filter(|_| self.rng.happens(85)) {
            Some(who) => who,
            None => self.somebody(living, 20),
        }
    }

    fn draft(&mut self, living: &[AgentId]) -> LetterDraft {
        let several = if self.rng.happens(15) { 2 } else { 1 };
        let to = (0..several).map(|_| self.recipient(living)).collect();
        let client_id = self.rng.happens(40).then(|| self.rng.below(CLIENT_IDS).to_string());
        let client_id = client_id.and_then(|text| Key::new(&text));
        let text = if self.rng.happens(3) { TEXTS[4] } else { TEXTS[self.rng.below(4)] };
        LetterDraft { to, client_id, text: text.into(), ..LetterDraft::default() }
    }

    fn recipient(&mut self, living: &[AgentId]) -> Recipient {
        match self.rng.below(20) {
            0..8 => {
                let agent = self.rng.pick(living).and_then(|agent| self.oracle.kin.get(agent));
                Recipient::Agent(agent.map_or_else(|| "nobody".into(), |kin| kin.name.clone()))
            }
            8..15 => Recipient::Human,
            15 => Recipient::Role("lead".into()),
            16 => Recipient::Team(None),
            17 => Recipient::Team(Some("red".into())),
            18 => Recipient::All,
            _ => Recipient::Agent("nobody".into()),
        }
    }

    /// One of the open offers to `who`, most of the time; else one that is closed, another's or none at all.
    fn receipt(&mut self, who: Principal) -> Receipt {
        let open = self.oracle.post.piles.get(&who).map(|pile| pile.offers.keys().copied().collect());
        let open: Vec<Receipt> = open.unwrap_or_default();
        match self.rng.pick(&open).copied().filter(|_| self.rng.happens(85)) {
            Some(receipt) => receipt,
            None => Receipt(self.rng.between(0, self.oracle.post.last_receipt.0 + 1)),
        }
    }

    fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.below(from.len())]
    }
}
