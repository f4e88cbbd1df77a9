//! What the model expects to be answered to an ask about mail and handshakes, before it is asked.

use std::collections::BTreeSet;

use comity_core::branch_moves::MoveAsk;
use comity_core::control::{ControlAsk, ControlEvent, ControlId};
use comity_core::limits::{CONTROLS_PER_OFFER_MAX, MAIL_LEASE_MAX, MAIL_LEASE_MIN};
use comity_core::mail::{LetterDraft, LetterId, MailAsk, MailEvent, OfferFilter, Receipt, Recipient};
use comity_core::server::ServerEvent;
use comity_core::teams::TeamAsk;
use comity_core::{AgentId, Ask, Event, Principal};

use super::post::{LetterStage, Pile, Urgency};
use super::{Found, Oracle};
use crate::sim_paths::SimPaths;

impl Oracle {
    /// Says what is wrong with the answer of `who` to `ask`, if the model knows better.
    pub(crate) fn answer_is_right(
        &self,
        paths: &SimPaths,
        who: Principal,
        ask: &Ask,
        answer: &[Event],
    ) -> Found {
        if let Ask::Lock(ask) = ask {
            return self.orphans_are_right(paths, who, ask, answer);
        }
        if let Ask::Control(ask) = ask {
            return handshake_is_right(ask, answer);
        }
        if let Ask::Move(MoveAsk::Settle { number, has_moved }) = ask {
            return self.move_is_right(*number, *has_moved, answer);
        }
        let Ask::Mail(ask) = ask else { return Ok(()) };
        let mut told =
            answer.iter().filter(|event| !matches!(event, Event::Server(ServerEvent::NothingChanged {})));
        let told = told.next();
        match (ask, told) {
            (MailAsk::Send(draft), None) if self.is_repeat(who, draft) => Ok(()),
            (MailAsk::Send(draft), Some(_)) if self.is_repeat(who, draft) => {
                Err("what is stored already by the sender's own id was stored again".into())
            }
            (MailAsk::Send(draft), Some(Event::Mail(MailEvent::Sent { letter, client_id }))) => {
                if *client_id != draft.client_id {
                    return Err(format!("{} was stored without its sender's own id", letter.id));
                }
                let to: BTreeSet<Principal> = letter.to.iter().copied().collect();
                match self.meant(who, &draft.to) == Some(to) && letter.text == draft.text {
                    true => Ok(()),
                    false => Err(format!("{} went to others than it was for", letter.id)),
                }
            }
            (MailAsk::Take { bytes_max, letters_max, what, .. }, told) => {
                let expected = self.next_offer(who, *bytes_max, *letters_max, *what);
                let offered = match told {
                    Some(Event::Mail(MailEvent::Offered { letters, controls, .. })) => {
                        (letters.clone(), controls.clone())
                    }
                    Some(_) | None => (vec![], vec![]),
                };
                match offered == expected {
                    true => Ok(()),
                    false => Err(format!("{offered:?} was offered to {who}, but {expected:?} is next")),
                }
            }
            (MailAsk::Acknowledge { .. }, Some(Event::Mail(MailEvent::Acknowledged { .. })))
            | (MailAsk::Return { .. }, Some(Event::Mail(MailEvent::Returned { .. }))) => Ok(()),
            (ask, told) => Err(format!("{ask:?} led to {told:?}")),
        }
    }

    /// Says why an ask should not have been refused, if the model knows better.
    pub(crate) fn refusal_is_right(&self, paths: &SimPaths, who: Principal, ask: &Ask) -> Found {
        if !self.is_alive(who) {
            return Ok(());
        }
        let wrongly = match ask {
            Ask::Lock(ask) => self.should_adopt(paths, who, ask),
            Ask::Move(MoveAsk::Settle { number, .. }) => self.may_settle(who, *number),
            Ask::Permission(ask) => self.should_answer(who, ask),
            Ask::Team(TeamAsk::Admit { agent, team: Some(_) }) => {
                who == Principal::Human && self.is_alive(Principal::Agent(*agent))
            }
            Ask::Mail(MailAsk::Send(draft)) => {
                self.is_repeat(who, draft)
                    || (!draft.text.trim().is_empty() && self.meant(who, &draft.to).is_some())
            }
            Ask::Mail(MailAsk::Take { lease, .. }) => (MAIL_LEASE_MIN..=MAIL_LEASE_MAX).contains(lease),
            Ask::Mail(MailAsk::Acknowledge { receipt } | MailAsk::Return { receipt }) => {
                self.is_open(who, *receipt)
            }
            Ask::Control(ControlAsk::ApproveShutdown { request, .. })
            | Ask::Control(ControlAsk::RejectShutdown { request, .. }) => {
                self.asked.get(request).is_some_and(|asked| who == Principal::Agent(asked.agent))
            }
            _ => false,
        };
        if wrongly { Err("an ask was refused that should have been agreed to".into()) } else { Ok(()) }
    }

    fn is_open(&self, who: Principal, receipt: Receipt) -> bool {
        self.post.piles.get(&who).is_some_and(|pile| pile.offers.contains_key(&receipt))
    }

    fn is_repeat(&self, who: Principal, draft: &LetterDraft) -> bool {
        draft.client_id.as_ref().is_some_and(|key| self.post.client_ids.contains(&(who, key.clone())))
    }

    /// Who is meant; none if one of the groups is empty or somebody is not there.
    fn meant(&self, who: Principal, to: &[Recipient]) -> Option<BTreeSet<Principal>> {
        let mut all = BTreeSet::new();
        for recipient in to {
            let group: BTreeSet<Principal> = match recipient {
                Recipient::Human => BTreeSet::from([Principal::Human]),
                Recipient::Agent(name) => {
                    let called = |agent: &&AgentId| self.kin.get(agent).is_some_and(|kin| kin.name == *name);
                    self.agents.keys().filter(called).map(|agent| Principal::Agent(*agent)).collect()
                }
                Recipient::Role(role) => self.others(who, |agent| self.has_role(agent, role)),
                Recipient::Team(Some(team)) => self.others(who, |agent| self.is_in(agent, team)),
                Recipient::Team(None) => {
                    let team = self.kin.get(&who.agent()?)?.team.as_deref()?;
                    self.others(who, |agent| self.is_in(agent, team))
                }
                Recipient::All => self.others(who, |_| true),
            };
            if group.is_empty() {
                return None;
            }
            all.extend(group);
        }
        (!all.is_empty()).then_some(all)
    }

    fn others(&self, who: Principal, is_meant: impl Fn(AgentId) -> bool) -> BTreeSet<Principal> {
        let found = self.agents.keys().copied().filter(|agent| is_meant(*agent)).map(Principal::Agent);
        found.filter(|one| *one != who).collect()
    }

    /// Shutdowns, other control messages, who is above, everybody else; each the oldest first.
    fn next_offer(
        &self,
        who: Principal,
        bytes_max: usize,
        letters_max: usize,
        what: OfferFilter,
    ) -> (Vec<LetterId>, Vec<ControlId>) {
        let Some(pile) = self.post.piles.get(&who) else { return (vec![], vec![]) };
        let open: BTreeSet<ControlId> =
            pile.offers.values().flat_map(|offer| offer.controls.iter().copied()).collect();
        let mut controls = pile.controls.clone();
        // While some are offered the others wait, but for a request to end.
        controls
            .retain(|(id, urgency)| open.is_empty() || (*urgency == Urgency::Shutdown && !open.contains(id)));
        if what == OfferFilter::Letters {
            controls.clear();
        }
        controls.sort_unstable_by_key(|(id, urgency)| (*urgency, *id));
        let controls = controls.into_iter().map(|(id, _)| id).take(CONTROLS_PER_OFFER_MAX).collect();
        (self.next_letters(who, pile, bytes_max, letters_max), controls)
    }

    fn next_letters(
        &self,
        who: Principal,
        pile: &Pile,
        bytes_max: usize,
        letters_max: usize,
    ) -> Vec<LetterId> {
        if pile.letters.iter().any(|item| matches!(item.place, LetterStage::Offered(_))) {
            return vec![];
        }
        let leader = who.agent().map(|agent| self.leader(agent));
        let is_peer = |from| from != Principal::Human && Some(from) != leader;
        let mut waiting: Vec<_> =
            pile.letters.iter().filter(|item| item.place == LetterStage::Waits).collect();
        waiting.sort_by_key(|item| (is_peer(item.from), item.id));
        let mut offer = vec![];
        let mut bytes = 0;
        for item in waiting {
            bytes += item.bytes;
            if offer.len() >= letters_max.max(1) || (bytes > bytes_max && !offer.is_empty()) {
                break;
            }
            offer.push(item.id);
        }
        offer
    }
}

/// An answer matches the request that it names, and no other.
fn handshake_is_right(ask: &ControlAsk, answer: &[Event]) -> Found {
    let named = match ask {
        ControlAsk::ApproveShutdown { request, .. } | ControlAsk::RejectShutdown { request, .. } => *request,
        ControlAsk::RequestShutdown { .. }
        | ControlAsk::ForceShutdown { .. }
        | ControlAsk::ReportIdle { .. } => return Ok(()),
    };
    match answer.first() {
        Some(Event::Control(
            ControlEvent::ShutdownApproved { request, .. } | ControlEvent::ShutdownRejected { request, .. },
        )) if *request == named => Ok(()),
        _ => Err(format!("an answer to {named} matched another request")),
    }
}
