//! All that can happen to three letters, gone through without a gap: two senders, one receiver, every order of sending,
//! repeating, taking, acknowledging, returning, time passing and somebody ending.

mod faults;
mod story;

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use comity_core::agents::{AgentAsk, Ending, Process, Profile};
use comity_core::limits::MAIL_LEASE_MIN;
use comity_core::mail::{LetterDraft, LetterId, MailAsk, OfferFilter, Receipt, Recipient};
use comity_core::world::Timeouts;
use comity_core::{AgentId, Ask, Key, Millis, Principal, Timestamp, TokenHash, World, invariants};
use comity_sim::{RealRules, Rules};
use stateright::{Checker, Model, Property};

use story::{Story, Wrong};

/// Two senders and the receiver.
const ANN: u64 = 1;
const BOB: u64 = 2;
const CAT: u64 = 3;
const NAMES: [(u64, &str); 3] = [(ANN, "ann"), (BOB, "bob"), (CAT, "cat")];
/// Who sends what; the text is the sender's own id of it, too.
const LETTERS: [(u64, &str); 3] = [(ANN, "first"), (ANN, "second"), (BOB, "other")];
/// Offers made at most, and moments that pass at most.
const OFFERS: u64 = 3;
const MOMENTS: u64 = 3;

/// The rules, and the three who act on them.
struct Mailing<R> {
    rules: R,
}

/// Something that can happen.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Act {
    Send(usize),
    Take { letters_max: usize, moments: u64 },
    Acknowledge(Receipt),
    Return(Receipt),
    Pass,
    End(u64),
}

/// The world, and what its records said.
#[derive(Clone, Debug)]
struct State {
    world: World,
    moment: u64,
    story: Story,
    /// What makes this state another one than others. When a letter was sent and how many records there are does not;
    /// what was sent, and how many offers were made, is in the story.
    identity: Identity,
}

/// Who is alive, what waits by sender, how often each was offered, and which offers are open until when.
type Identity =
    (Vec<u64>, Vec<(Principal, Vec<LetterId>)>, Vec<u32>, Vec<(Receipt, Vec<LetterId>, Timestamp)>);

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        (&self.identity, &self.story, self.moment) == (&other.identity, &other.story, other.moment)
    }
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.identity, &self.story, self.moment).hash(state);
    }
}

fn agent(number: u64) -> AgentId {
    AgentId::from_bits(number)
}

fn is_alive(world: &World, number: u64) -> bool {
    world.agents.living(agent(number)).is_ok()
}

fn at(moment: u64) -> Timestamp {
    Timestamp(moment * MAIL_LEASE_MIN.0)
}

impl State {
    fn new(world: World, moment: u64, story: Story) -> State {
        let alive =
            NAMES.iter().map(|(number, _)| *number).filter(|number| is_alive(&world, *number)).collect();
        let mut identity: Identity = (alive, vec![], vec![], vec![]);
        if let Some(mailbox) = world.mail.of(Principal::Agent(agent(CAT))) {
            identity.1.extend(mailbox.waiting().map(|(from, ids)| (from, ids.iter().copied().collect())));
            identity.2.extend(story.sent.iter().map(|(_, id, _)| mailbox.offers(*id)));
            let open = mailbox.leases().map(|(receipt, lease)| (receipt, lease.letters.clone(), lease.until));
            identity.3.extend(open);
        }
        State { world, moment, story, identity }
    }

    /// Every letter that is in the receiver's box.
    fn in_box(&self) -> BTreeSet<LetterId> {
        let Some(mailbox) = self.world.mail.of(Principal::Agent(agent(CAT))) else { return BTreeSet::new() };
        let waiting = mailbox.waiting().flat_map(|(_, letters)| letters.iter().copied());
        let offered = mailbox.leases().flat_map(|(_, lease)| lease.letters.iter().copied());
        waiting.chain(offered).chain(mailbox.put_aside()).collect()
    }
}

impl<R: Rules + Clone> Mailing<R> {
    fn asked(&self, state: &State, who: u64, ask: &Ask) -> Option<State> {
        let (mut world, mut story) = (state.world.clone(), state.story.clone());
        let outcome = self.rules.clone().run(
            &mut world,
            &Principal::Agent(agent(who)).into(),
            ask,
            None,
            at(state.moment),
        );
        match outcome {
            Ok(outcome) => outcome.records.iter().for_each(|record| story.hears(record)),
            Err(_) => {
                let Ask::Mail(MailAsk::Acknowledge { receipt } | MailAsk::Return { receipt }) = ask else {
                    return None;
                };
                if !story.open.iter().any(|(open, _)| open == receipt) {
                    return None;
                }
                story.wrong = Some(Wrong::RefusedProof);
            }
        }
        Some(State::new(world, state.moment, story))
    }
}

impl<R: Rules + Clone> Model for Mailing<R> {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        let mut world = World::new(Timeouts::default());
        for (number, name) in NAMES {
            let process = Some(Process { pid: 1, start: number });
            let profile = Box::new(Profile { name: name.into(), process, ..Profile::default() });
            let ask = Ask::Agent(AgentAsk::Join {
                agent: agent(number),
                token: TokenHash([number as u8; 32]),
                profile,
            });
            RealRules.run(&mut world, &Principal::Human.into(), &ask, None, at(0)).expect("joins");
        }
        vec![State::new(world, 0, Story::default())]
    }

    fn actions(&self, state: &State, acts: &mut Vec<Act>) {
        let alive = |number| is_alive(&state.world, number);
        acts.extend((0..LETTERS.len()).filter(|at| alive(LETTERS[*at].0)).map(Act::Send));
        let offers = state.story.offers;
        if alive(CAT) {
            if offers < OFFERS {
                let takes = [(1, 1), (2, 2), (50, 1)];
                acts.extend(takes.map(|(letters_max, moments)| Act::Take { letters_max, moments }));
            }
            acts.extend((1..=offers).flat_map(|n| [Act::Acknowledge(Receipt(n)), Act::Return(Receipt(n))]));
        }
        if state.moment < MOMENTS {
            acts.push(Act::Pass);
        }
        acts.extend([ANN, CAT].into_iter().filter(|number| alive(*number)).map(Act::End));
    }

    fn next_state(&self, state: &State, act: Act) -> Option<State> {
        match act {
            Act::Send(at) => {
                let (from, text) = LETTERS[at];
                let (to, client_id) = (vec![Recipient::Agent("cat".into())], Key::new(text));
                let draft = LetterDraft { to, text: text.into(), client_id, ..LetterDraft::default() };
                self.asked(state, from, &Ask::Mail(MailAsk::Send(Box::new(draft))))
            }
            Act::Take { letters_max, moments } => {
                let lease = Millis(MAIL_LEASE_MIN.0 * moments);
                let take = MailAsk::Take { bytes_max: 1_000, letters_max, what: OfferFilter::All, lease };
                self.asked(state, CAT, &Ask::Mail(take))
            }
            Act::Acknowledge(receipt) => self.asked(state, CAT, &Ask::Mail(MailAsk::Acknowledge { receipt })),
            Act::Return(receipt) => self.asked(state, CAT, &Ask::Mail(MailAsk::Return { receipt })),
            Act::Pass => {
                let (mut world, mut story) = (state.world.clone(), state.story.clone());
                let records = self.rules.clone().expire(&mut world, at(state.moment + 1));
                records.iter().for_each(|record| story.hears(record));
                Some(State::new(world, state.moment + 1, story))
            }
            Act::End(number) => {
                let (agent, cause) = (agent(number), "goodbye".into());
                self.asked(state, number, &Ask::Agent(AgentAsk::End { agent, ending: Ending::Exited, cause }))
            }
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing is offered after it arrived", |_, state: &State| {
                state.story.wrong != Some(Wrong::OfferedAfterArrival)
            }),
            Property::always("letters of one sender keep their order", |_, state: &State| {
                state.story.wrong != Some(Wrong::OutOfOrder)
            }),
            Property::always("one offer at a time", |_, state: &State| {
                state.story.wrong != Some(Wrong::TwoOffers)
            }),
            Property::always("what is sent twice is stored once", |_, state: &State| {
                state.story.wrong != Some(Wrong::StoredTwice)
            }),
            Property::always("only its receiver proves that a letter arrived", |_, state: &State| {
                !matches!(state.story.wrong, Some(Wrong::NotProven | Wrong::RefusedProof))
            }),
            Property::always("no letter is in two places, and none in no place", |_, state: &State| {
                let in_box = state.in_box();
                let Story { sent, arrived, undelivered, .. } = &state.story;
                sent.iter().all(|(_, id, _)| {
                    let places = [in_box.contains(id), arrived.contains(id), undelivered.contains(id)];
                    places.into_iter().filter(|place| *place).count() == 1
                })
            }),
            Property::always("an offer ends at its deadline", |_, state: &State| {
                let mailbox = state.world.mail.of(Principal::Agent(agent(CAT)));
                mailbox
                    .is_none_or(|mailbox| mailbox.leases().all(|(_, lease)| lease.until > at(state.moment)))
            }),
            Property::always("the world is right", |_, state: &State| {
                invariants::check(&state.world).is_ok()
            }),
            Property::sometimes("all three arrive", |_, state: &State| {
                state.story.arrived.len() == LETTERS.len()
            }),
            Property::sometimes("a letter arrives at its second offer", |_, state: &State| {
                state.story.arrived == [LetterId(1)] && state.story.offers == 2
            }),
            Property::sometimes("letters are given back to their senders", |_, state: &State| {
                state.story.undelivered.len() == LETTERS.len()
            }),
        ]
    }
}

#[test]
fn whatever_happens_each_letter_arrives_once_and_in_order() {
    let checker = Mailing { rules: RealRules }.checker().spawn_bfs().join();
    println!("{} states, {} steps between them", checker.unique_state_count(), checker.state_count());
    checker.assert_properties();
}
