//! Faulty rules, planted on purpose: the same checker must find each of them.

use std::collections::BTreeSet;

use comity_core::mail::{LetterDraft, MailAsk, MailEvent};
use comity_core::{Ask, Asker, Event, Key, Outcome, Record, Refusal, Timestamp, World};
use comity_sim::{RealRules, Rules};
use stateright::{Checker, HasDiscoveries, Model};

use crate::Mailing;

/// Real rules whose world or records a fault changes.
#[derive(Clone, Copy)]
struct Faulty {
    heard: fn(&Ask) -> Option<Ask>,
    fault: fn(&mut World, &mut Vec<Record>),
}

impl Rules for Faulty {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        let heard = (self.heard)(ask);
        let mut outcome = RealRules.run(world, asker, heard.as_ref().unwrap_or(ask), key, now)?;
        (self.fault)(world, &mut outcome.records);
        Ok(outcome)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        let mut records = RealRules.expire(world, now);
        (self.fault)(world, &mut records);
        records
    }
}

const SOUND: Faulty = Faulty { heard: |_| None, fault: |_, _| {} };

/// Goes on until this property is found broken.
fn check(rules: Faulty, broken: &'static str) {
    let wanted = HasDiscoveries::AnyOf(BTreeSet::from([broken]));
    let checker = Mailing { rules }.checker().finish_when(wanted).spawn_bfs().join();
    assert!(
        checker.discovery(broken).is_some(),
        "nothing was found in {} states",
        checker.unique_state_count()
    );
}

fn is(records: &[Record], what: fn(&MailEvent) -> bool) -> bool {
    records.iter().any(|record| matches!(&record.event, Event::Mail(event) if what(event)))
}

/// Changes the lists of letters that wait, without a record of it.
fn change_waiting(world: &mut World, change: fn(&mut Vec<serde_json::Value>)) {
    let mut mail = serde_json::to_value(&world.mail).expect("mail as JSON");
    let boxes = mail["boxes"].as_array_mut().into_iter().flatten();
    let senders = boxes.filter_map(|one| one[1]["by_sender"].as_array_mut()).flatten();
    senders.filter_map(|sender| sender[1].as_array_mut()).for_each(change);
    world.mail = serde_json::from_value(mail).expect("mail from JSON");
}

#[test]
fn a_returned_letter_at_the_end_is_found() {
    let fault = |world: &mut World, records: &mut Vec<Record>| {
        if is(records, |event| matches!(event, MailEvent::Returned { .. })) {
            change_waiting(world, |letters| letters.rotate_left(1));
        }
    };
    check(Faulty { fault, ..SOUND }, "letters of one sender keep their order");
}

#[test]
fn a_letter_that_vanishes_is_found() {
    let fault = |world: &mut World, records: &mut Vec<Record>| {
        if is(records, |event| matches!(event, MailEvent::Acknowledged { .. })) {
            change_waiting(world, |letters| drop(letters.pop()));
        }
    };
    check(Faulty { fault, ..SOUND }, "no letter is in two places, and none in no place");
}

#[test]
fn a_repeat_that_is_stored_is_found() {
    let heard = |ask: &Ask| match ask {
        Ask::Mail(MailAsk::Send(draft)) => {
            Some(Ask::Mail(MailAsk::Send(Box::new(LetterDraft { client_id: None, ..(**draft).clone() }))))
        }
        _ => None,
    };
    check(Faulty { heard, ..SOUND }, "what is sent twice is stored once");
}

#[test]
fn an_offer_beside_an_open_one_is_found() {
    let fault = |_: &mut World, records: &mut Vec<Record>| {
        records.retain(|record| !matches!(record.event, Event::Mail(MailEvent::Returned { .. })));
    };
    check(Faulty { fault, ..SOUND }, "one offer at a time");
}
