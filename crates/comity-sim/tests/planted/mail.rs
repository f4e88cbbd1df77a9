//! Faults about mail, handshakes, teams and decisions.

use comity_core::control::{ControlAsk, ControlEvent};
use comity_core::decisions::DecisionEvent;
use comity_core::limits::OFFERS_MAX;
use comity_core::mail::{LetterDraft, MailAsk, MailEvent, OfferFilter};
use comity_core::teams::TeamEvent;
use comity_core::{Ask, Asker, Event, Key, Outcome, Principal, Record, Refusal, Timestamp, World};
use comity_sim::{RealRules, Rules};
use serde_json::Value;

use crate::{Timed, check, faulty};

/// Real rules that hear another ask than was asked.
struct Misheard {
    heard: fn(&World, Principal, &Ask) -> Option<Ask>,
}

impl Rules for Misheard {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        let heard = (self.heard)(world, asker.who, ask);
        RealRules.run(world, asker, heard.as_ref().unwrap_or(ask), key, now)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        RealRules.expire(world, now)
    }
}

/// Real rules after which the boxes are not what the records made of them.
struct Untidy {
    after: fn(&MailEvent) -> bool,
    change: fn(&mut Value),
}

impl Untidy {
    fn spoil(&self, world: &mut World, records: &[Record]) {
        let is_it = |record: &Record| matches!(&record.event, Event::Mail(event) if (self.after)(event));
        if records.iter().any(is_it) {
            let mut mail = serde_json::to_value(&world.mail).expect("mail as JSON");
            (self.change)(&mut mail);
            world.mail = serde_json::from_value(mail).expect("mail from JSON");
        }
    }
}

impl Rules for Untidy {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        let outcome = RealRules.run(world, asker, ask, key, now)?;
        self.spoil(world, &outcome.records);
        Ok(outcome)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        let records = RealRules.expire(world, now);
        self.spoil(world, &records);
        records
    }
}

/// The lists of letters that wait, each of one sender in one box.
fn waiting(mail: &mut Value) -> impl Iterator<Item = &mut Vec<Value>> {
    let boxes = mail["boxes"].as_array_mut().into_iter().flatten();
    let senders = boxes.filter_map(|one| one[1]["by_sender"].as_array_mut()).flatten();
    senders.filter_map(|sender| sender[1].as_array_mut())
}

const OTHER_BOX: [&str; 3] = ["is not what was sent to it", "in the box of", "a letter is lost"];

#[test]
fn an_acknowledgement_that_takes_along_what_only_waited() {
    let change = |mail: &mut Value| {
        if let Some(letters) = waiting(mail).find(|letters| letters.len() > 1) {
            letters.pop();
        }
    };
    check(|| Untidy { after: |event| matches!(event, MailEvent::Acknowledged { .. }), change }, &OTHER_BOX);
}

#[test]
fn a_returned_letter_at_the_end() {
    let change = |mail: &mut Value| waiting(mail).for_each(|letters| letters.rotate_left(1));
    check(|| Untidy { after: |event| matches!(event, MailEvent::Returned { .. }), change }, &OTHER_BOX);
}

#[test]
fn a_lapse_that_forgets_a_letter() {
    let forget = |world: &mut World, now: Timestamp| {
        let records = RealRules.expire(world, now);
        let lapsed = |record: &Record| matches!(record.event, Event::Mail(MailEvent::Returned { .. }));
        if records.iter().any(lapsed) {
            let mut mail = serde_json::to_value(&world.mail).expect("mail as JSON");
            if let Some(letters) = waiting(&mut mail).find(|letters| letters.len() > 1) {
                letters.remove(0);
            }
            world.mail = serde_json::from_value(mail).expect("mail from JSON");
        }
        records
    };
    check(|| Timed { expire: forget }, &OTHER_BOX);
}

#[test]
fn an_offer_that_counts_as_arrived_when_it_lapses() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Mail(MailEvent::Returned { to, receipt }) = record.event
                && record.by == Principal::System
            {
                record.event = Event::Mail(MailEvent::Acknowledged { to, receipt });
            }
        }
    };
    check(faulty(fault), &["acknowledged offer"]);
}

#[test]
fn an_offer_that_lapses_too_early() {
    let hasty = |world: &mut World, now: Timestamp| {
        let early =
            world.mail.boxes().flat_map(|(who, mailbox)| mailbox.leases().map(move |lease| (who, lease)));
        let early = early.map(|(to, (receipt, lease))| (to, receipt, lease.until)).next();
        let mut records = RealRules.expire(world, now);
        if let Some((to, receipt, until)) = early.filter(|(.., until)| *until > now && until.0 < now.0 + 500)
        {
            let event = Event::Mail(MailEvent::Returned { to, receipt });
            let (seq, by) = (world.head + 1, Principal::System);
            let record = Record {
                seq,
                now: now.max(world.now),
                wall_ms: 0,
                by,
                from: None,
                concerns: vec![],
                key: None,
                event,
            };
            assert!(until > record.now);
            world.apply(&record);
            records.push(record);
        }
        records
    };
    check(|| Timed { expire: hasty }, &["lapsed too early"]);
}

#[test]
fn a_repeat_that_is_stored_twice() {
    let heard = |world: &World, who: Principal, ask: &Ask| match ask {
        Ask::Mail(MailAsk::Send(draft)) => {
            world.mail.sent_as(who, draft.client_id.as_ref()?)?;
            let draft = LetterDraft { client_id: None, ..(**draft).clone() };
            Some(Ask::Mail(MailAsk::Send(Box::new(draft))))
        }
        _ => None,
    };
    check(|| Misheard { heard }, &["was stored again"]);
}

#[test]
fn a_letter_that_overtakes_another_of_its_sender() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Mail(MailEvent::Offered { letters, .. }) = &mut record.event {
                letters.reverse();
            }
        }
    };
    check(faulty(fault), &["of the same sender", "is next"]);
}

#[test]
fn a_letter_that_is_for_somebody_else() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Mail(MailEvent::Sent { letter, .. }) = &mut record.event {
                std::sync::Arc::make_mut(letter).to = vec![Principal::Human];
            }
        }
    };
    check(faulty(fault), &["went to others"]);
}

#[test]
fn letters_before_control_messages() {
    let heard = |_: &World, _: Principal, ask: &Ask| match *ask {
        Ask::Mail(MailAsk::Take { bytes_max, letters_max, lease, what: OfferFilter::All }) => {
            Some(Ask::Mail(MailAsk::Take { bytes_max, letters_max, lease, what: OfferFilter::Letters }))
        }
        _ => None,
    };
    check(|| Misheard { heard }, &["is next"]);
}

#[test]
fn a_letter_that_is_offered_for_ever() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        records.retain(|record| !matches!(record.event, Event::Mail(MailEvent::PutAside { .. })));
    };
    check(faulty(fault), &["offered too often"]);
}

#[test]
fn a_letter_that_is_given_up_too_soon() {
    let fault = |before: &World, records: &mut Vec<Record>| {
        let Some(record) =
            records.iter().find(|record| matches!(record.event, Event::Mail(MailEvent::Returned { .. })))
        else {
            return;
        };
        let Event::Mail(MailEvent::Returned { to, receipt }) = record.event else { return };
        let Some(mailbox) = before.mail.of(to) else { return };
        let letters = mailbox.lease(receipt).map(|lease| lease.letters.clone()).unwrap_or_default();
        let tried = letters.into_iter().filter(|id| (2..OFFERS_MAX).contains(&mailbox.offers(*id)));
        let event = Event::Mail(MailEvent::PutAside { to, letters: tried.collect() });
        records.push(Record { event, ..record.clone() });
    };
    check(faulty(fault), &["before it was offered often enough"]);
}

#[test]
fn senders_that_are_not_told() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        records.retain(|record| !matches!(record.event, Event::Mail(MailEvent::Undelivered { .. })));
    };
    check(faulty(fault), &["nobody was told"]);
}

#[test]
fn a_stale_answer_that_ends_somebody() {
    let heard = |world: &World, who: Principal, ask: &Ask| match ask {
        Ask::Control(ControlAsk::ApproveShutdown { pane, backend, .. }) => {
            let (request, _) = world.shutdowns.of(who.agent()?)?;
            let (pane, backend) = (pane.clone(), backend.clone());
            Some(Ask::Control(ControlAsk::ApproveShutdown { request, pane, backend }))
        }
        _ => None,
    };
    check(|| Misheard { heard }, &["another request"]);
}

#[test]
fn a_handshake_that_ends_twice() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let rejected = records.iter().find_map(|record| match &record.event {
            Event::Control(ControlEvent::ShutdownRejected { request, .. }) => {
                Some((*request, record.clone()))
            }
            _ => None,
        });
        if let Some((request, record)) = rejected {
            let event = Event::Control(ControlEvent::ShutdownOverdue { request });
            records.push(Record { event, by: Principal::System, ..record });
        }
    };
    check(faulty(fault), &["is not open"]);
}

#[test]
fn an_agent_that_need_not_answer() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let overdue =
            |record: &Record| matches!(record.event, Event::Control(ControlEvent::ShutdownOverdue { .. }));
        if let Some(at) = records.iter().position(overdue) {
            records.truncate(at + 1);
        }
    };
    check(faulty(fault), &["as if it had ended", "is still due"]);
}

#[test]
fn a_decision_that_its_maker_confirms() {
    let fault = |before: &World, records: &mut Vec<Record>| {
        for record in records {
            if let Event::Decision(DecisionEvent::Confirmed { id }) = record.event
                && let Some(decision) = before.decisions.get(id)
            {
                record.by = decision.by;
            }
        }
    };
    check(faulty(fault), &["settled", "though it is not alive"]);
}

#[test]
fn a_team_that_is_made_twice() {
    let fault = |_: &World, records: &mut Vec<Record>| {
        let made =
            records.iter().find(|record| matches!(record.event, Event::Team(TeamEvent::Created { .. })));
        records.extend(made.cloned());
    };
    check(faulty(fault), &["made the team"]);
}
