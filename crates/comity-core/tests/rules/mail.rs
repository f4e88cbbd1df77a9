//! Mail: once per id of the sender, in order, offered until it is proven to have arrived, never more than a box holds.

use comity_core::limits::{
    BOX_KEPT_PART, BOX_LETTERS_FROM_ONE_MAX, BOX_LETTERS_MAX, LETTER_BYTES_MAX, MAIL_LEASE, OFFERS_MAX,
};
use comity_core::mail::{
    LetterDraft, LetterId, MailAsk, MailEvent, OfferFilter, Receipt, Recipient, has_something,
};
use comity_core::snapshot::Snapshot;
use comity_core::world::Timeouts;
use comity_core::{Ask, Event, Key, Principal};

use crate::script::Stage;

fn draft(to: &str, text: &str) -> LetterDraft {
    let to = to.split(',').map(Recipient::parse).collect();
    LetterDraft { to, text: text.into(), ..LetterDraft::default() }
}

/// A stage with these on it.
fn with(names: &[&str]) -> Stage {
    let mut stage = Stage::default();
    for name in names {
        stage.who(name);
    }
    stage
}

fn send(stage: &mut Stage, from: &str, to: &str, text: &str) -> bool {
    let who = stage.who(from);
    stage.ask(from, who, &Ask::Mail(MailAsk::Send(Box::new(draft(to, text)))), None)
}

/// Takes what waits; gives the texts in order, control messages as their type, and the receipt.
fn take(stage: &mut Stage, name: &str) -> (Vec<String>, Option<Receipt>) {
    take_some(stage, name, 1_000)
}

fn take_some(stage: &mut Stage, name: &str, letters_max: usize) -> (Vec<String>, Option<Receipt>) {
    let who = stage.who(name);
    let before = stage.log.len();
    assert!(stage.ask(
        name,
        who,
        &Ask::Mail(MailAsk::Take {
            bytes_max: 1 << 20,
            letters_max,
            what: OfferFilter::All,
            lease: MAIL_LEASE
        }),
        None
    ));
    let Some(Event::Mail(MailEvent::Offered { receipt, letters, controls, .. })) =
        stage.log[before..].iter().map(|record| &record.event).next_back()
    else {
        return (vec![], None);
    };
    let mailbox = stage.world.mail.of(who).expect("a box");
    let typed = controls.iter().map(|id| {
        let control = &mailbox.control(*id).expect("a control message").control;
        serde_json::to_value(control).expect("json")["type"].as_str().expect("a type").to_owned()
    });
    let texts = letters.iter().map(|id| stage.world.mail.get(*id).expect("a letter").letter.text.to_string());
    (typed.chain(texts).collect(), Some(*receipt))
}

fn acknowledge(stage: &mut Stage, name: &str, receipt: Receipt) -> bool {
    let who = stage.who(name);
    stage.ask(name, who, &Ask::Mail(MailAsk::Acknowledge { receipt }), None)
}

fn last(stage: &Stage) -> &str {
    stage.said.last().map(String::as_str).unwrap_or_default()
}

#[test]
fn a_letter_is_offered_until_it_is_acknowledged() {
    let mut stage = Stage::default();
    stage.play("bob joins with process");
    assert!(send(&mut stage, "ann", "bob", "hello"));
    let (texts, receipt) = take(&mut stage, "bob");
    assert_eq!(texts, ["hello"]);
    assert_eq!(take(&mut stage, "bob").0, [""; 0], "one offer at a time");
    stage.play("11s pass");
    let (texts, again) = take(&mut stage, "bob");
    assert_eq!(texts, ["hello"], "nobody said that it arrived");
    assert!(!acknowledge(&mut stage, "bob", receipt.expect("a receipt")), "that offer took too long");
    assert!(acknowledge(&mut stage, "bob", again.expect("a receipt")));
    assert!(!acknowledge(&mut stage, "bob", again.expect("a receipt")), "once");
    stage.play("11s pass");
    let bob = stage.who("bob");
    assert!(!has_something(&stage.world, bob, OfferFilter::All));
    assert!(stage.world.mail.get(LetterId(1)).is_none(), "what arrived is only in the log");
}

#[test]
fn nobody_acknowledges_the_offer_of_another() {
    let mut stage = with(&["bob"]);
    assert!(send(&mut stage, "ann", "bob", "hello"));
    let receipt = take(&mut stage, "bob").1.expect("a receipt");
    assert!(!acknowledge(&mut stage, "ann", receipt));
    assert!(!acknowledge(&mut stage, "human", receipt));
    assert!(acknowledge(&mut stage, "bob", receipt));
}

#[test]
fn what_is_given_back_is_offered_again_at_once_and_in_order() {
    let mut stage = with(&["bob"]);
    for text in ["one", "two", "three"] {
        assert!(send(&mut stage, "ann", "bob", text));
    }
    let (texts, receipt) = take_some(&mut stage, "bob", 2);
    assert_eq!(texts, ["one", "two"]);
    let who = stage.who("bob");
    let receipt = receipt.expect("a receipt");
    assert!(stage.ask("bob", who, &Ask::Mail(MailAsk::Return { receipt }), None));
    assert_eq!(take(&mut stage, "bob").0, ["one", "two", "three"]);
}

#[test]
fn a_letter_offered_in_vain_too_often_is_put_aside_and_blocks_nobody() {
    let mut stage = Stage::default();
    assert!(send(&mut stage, "ann", "human", "poison"));
    for _ in 0..OFFERS_MAX {
        assert_eq!(take(&mut stage, "human").0, ["poison"]);
        stage.play("11s pass");
    }
    assert_eq!(take(&mut stage, "human").0, [""; 0]);
    let aside: Vec<LetterId> = stage.world.mail.of(Principal::Human).expect("a box").put_aside().collect();
    assert_eq!(aside, [LetterId(1)], "people can see it");
    assert!(send(&mut stage, "ann", "human", "fine"));
    assert_eq!(take(&mut stage, "human").0, ["fine"]);
}

#[test]
fn the_same_id_of_the_sender_is_stored_once_also_by_another_world() {
    let mut stage = with(&["bob"]);
    let keyed = |text: &str| {
        let client_id = Key::new("c1");
        Ask::Mail(MailAsk::Send(Box::new(LetterDraft { client_id, ..draft("bob", text) })))
    };
    let (ann, cat) = (stage.who("ann"), stage.who("cat"));
    assert!(stage.ask("ann", ann, &keyed("hello"), None));
    assert!(stage.ask("ann", ann, &keyed("hello"), None), "it isn't an error");
    stage.world = Snapshot::of(&stage.world).restore(Timeouts::default());
    assert!(stage.ask("ann", ann, &keyed("hello"), None));
    assert!(stage.ask("cat", cat, &keyed("mine"), None), "another sender's ids are its own");
    assert_eq!(take(&mut stage, "bob").0, ["hello", "mine"]);
}

#[test]
fn the_leader_and_the_human_come_before_peers_and_each_sender_keeps_its_order() {
    let mut stage = Stage::default();
    stage.play("lead joins as lead in red");
    stage.play("ann joins in red");
    stage.play("bob joins in red");
    for (from, text) in
        [("ann", "p1"), ("lead", "l1"), ("ann", "p2"), ("human", "h1"), ("lead", "l2"), ("ann", "p3")]
    {
        assert!(send(&mut stage, from, "bob", text));
    }
    assert_eq!(take(&mut stage, "bob").0, ["l1", "h1", "l2", "p1", "p2", "p3"]);
}

#[test]
fn a_sender_that_rises_takes_its_earlier_letters_along() {
    let mut stage = Stage::default();
    stage.play("bob joins in red");
    stage.play("ann joins in red");
    assert!(send(&mut stage, "cat", "bob", "c1"));
    assert!(send(&mut stage, "ann", "bob", "a1"));
    let ann = stage.who("ann");
    let create = comity_core::teams::TeamAsk::Create { name: "red".into(), purpose: None };
    assert!(stage.ask("ann", ann, &Ask::Team(create), None), "ann leads from now on");
    assert!(send(&mut stage, "ann", "bob", "a2"));
    assert_eq!(take(&mut stage, "bob").0, ["a1", "a2", "c1"]);
}

#[test]
fn nobody_who_is_not_there_gets_a_box() {
    let mut stage = with(&["ann", "bob"]);
    assert!(!send(&mut stage, "ann", "bobb", "hello"));
    assert!(last(&stage).contains("unknown_agent") && last(&stage).contains("bobb"), "{}", last(&stage));
    assert!(!send(&mut stage, "ann", "bob,nobody", "hello"), "all or none");
    assert!(stage.world.mail.boxes().next().is_none());
    stage.play("bob ends");
    assert!(!send(&mut stage, "ann", "bob", "hello"));
    assert!(!send(&mut stage, "ann", "role:qa", "hello"));
    assert!(!send(&mut stage, "ann", "team", "hello"), "ann is in no team");
    assert!(!send(&mut stage, "ann", "all", "hello"), "nobody else is here");
    assert!(stage.world.mail.boxes().next().is_none(), "no phantom box");
}

#[test]
fn groups_get_one_letter_each_and_the_sender_none() {
    let mut stage = Stage::default();
    stage.play("ann joins in red as qa");
    stage.play("bob joins in red as qa");
    stage.play("cat joins in red");
    stage.play("dan joins");
    assert!(send(&mut stage, "ann", "team", "to the team"));
    assert!(send(&mut stage, "ann", "role:qa,bob", "to qa"));
    assert!(send(&mut stage, "ann", "all", "to all"));
    assert_eq!(take(&mut stage, "bob").0, ["to the team", "to qa", "to all"]);
    assert_eq!(take(&mut stage, "cat").0, ["to the team", "to all"]);
    assert_eq!(take(&mut stage, "dan").0, ["to all"]);
    assert_eq!(take(&mut stage, "ann").0, [""; 0]);
}

#[test]
fn a_full_box_and_a_large_letter_are_errors_to_the_sender() {
    let mut stage = with(&["bob", "cat"]);
    assert!(!send(&mut stage, "ann", "bob", &"x".repeat(LETTER_BYTES_MAX + 1)));
    assert!(!send(&mut stage, "ann", "bob", "  \n"), "an empty one too");
    assert!(send(&mut stage, "ann", "bob", &"x".repeat(LETTER_BYTES_MAX)));
    for _ in 1..BOX_LETTERS_FROM_ONE_MAX {
        stage.said.clear();
        assert!(send(&mut stage, "ann", "bob", "x"));
    }
    assert!(!send(&mut stage, "ann", "bob", "one more"));
    assert!(last(&stage).contains("limit_reached"), "{}", last(&stage));
    assert!(send(&mut stage, "ann", "human", "others are not concerned"));
    // Others of the same rank share the rest, and leave some room for who is above.
    let peers = BOX_LETTERS_MAX - BOX_LETTERS_MAX / BOX_KEPT_PART;
    for _ in BOX_LETTERS_FROM_ONE_MAX..peers {
        stage.said.clear();
        assert!(send(&mut stage, "cat", "bob", "x"));
    }
    assert!(!send(&mut stage, "cat", "bob", "one more"));
    for _ in peers..BOX_LETTERS_MAX {
        stage.said.clear();
        assert!(send(&mut stage, "human", "bob", "x"));
    }
    assert!(!send(&mut stage, "human", "bob", "one more"));
}

#[test]
fn whose_receiver_ends_is_told() {
    let mut stage = with(&["bob"]);
    assert!(send(&mut stage, "ann", "bob,human", "hello"));
    take(&mut stage, "bob");
    stage.play("bob crashes");
    stage.said.clear();
    stage.play("ann reads");
    assert_eq!(stage.said[0], "notice: bob ended before your letter m1 reached it");
    assert_eq!(take(&mut stage, "human").0, ["hello"], "the other one still gets it");
}

#[test]
fn a_thread_is_taken_from_the_letter_that_is_answered() {
    let mut stage = with(&["bob"]);
    assert!(send(&mut stage, "ann", "bob", "question"));
    let bob = stage.who("bob");
    let answer = |thread: &str| {
        let draft = LetterDraft { thread: Some(thread.into()), ..draft("ann", "answer") };
        Ask::Mail(MailAsk::Send(Box::new(draft)))
    };
    for (thread, becomes) in [("m1", "m1"), ("m2", "m1"), ("plans", "plans"), ("m99", "m99")] {
        assert!(stage.ask("bob", bob, &answer(thread), None));
        let Some(Event::Mail(MailEvent::Sent { letter, .. })) = stage.log.last().map(|record| &record.event)
        else {
            panic!("sent");
        };
        assert_eq!(&*letter.thread, becomes, "{thread}");
    }
    assert!(!stage.ask("bob", bob, &answer("a\nb"), None));
}
