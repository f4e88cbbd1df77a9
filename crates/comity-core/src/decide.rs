//! The way into the rules: an ask becomes events, or a refusal.

use std::sync::Arc;

use crate::agents;
use crate::concerns;
use crate::event::{Event, Record};
use crate::features::{Ask, FOLLOW_UPS, FollowUp};
use crate::ids::{Key, Principal, Ticket};
use crate::people::{self, Asker, Origin};
use crate::queues;
use crate::refusal::Refusal;
use crate::server::ServerEvent;
use crate::time::Timestamp;
use crate::world::World;

/// What an accepted ask leads to.
#[derive(Clone, PartialEq, Debug)]
pub enum AskResult {
    Done(Vec<Event>),
    /// The ask waits in the queue, as this event says.
    Parked(Ticket, Event),
}

impl From<Vec<Event>> for AskResult {
    fn from(events: Vec<Event>) -> AskResult {
        AskResult::Done(events)
    }
}

/// What an ask led to; the world has been changed accordingly.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// The new records, including those of waiting asks that could be served. Empty for a repeat.
    pub records: Vec<Record>,
    pub answer: Vec<Event>,
    /// Its place in the queue, if the ask waits.
    pub parked: Option<Ticket>,
}

/// Decides one ask as of `world.now`. Pure: nothing changes.
pub fn decide(world: &World, asker: &Asker, ask: &Ask) -> Result<AskResult, Refusal> {
    people::check(world, asker, ask)?;
    if let Principal::Agent(agent) = asker.who {
        world.agents.living(agent)?;
    }
    ask.feature().decide(world, asker)
}

/// Decides one ask, folds the events into the world, and serves whoever can go on then.
///
/// Call [`expire`] for `now` before: the rules go by the expiries that were recorded.
pub fn run(
    world: &mut World,
    asker: impl Into<Asker>,
    ask: &Ask,
    key: Option<&Key>,
    now: Timestamp,
    wall_ms: i64,
) -> Result<Outcome, Refusal> {
    let asker = asker.into();
    let who = asker.who;
    people::check(world, &asker, ask)?;
    if let Some(earlier) = key.and_then(|key| world.answers.get(who, key)) {
        let answer = earlier.to_vec();
        let parked = queues::still_waiting(world, &answer);
        return Ok(Outcome { records: vec![], parked, answer });
    }
    if key.is_some_and(|key| world.answers.is_taken(who, key)) {
        return Err(Refusal::KeyReused);
    }
    // A refusal says how old things are at the time of the ask, but changes nothing.
    let last = world.now;
    world.now = last.max(now);
    let verdict = decide(world, &asker, ask);
    world.now = last;
    let (answer, parked) = match verdict? {
        // Remember this, too: a repeat may come when there is something to change, but it was not asked for then.
        AskResult::Done(events) if events.is_empty() && key.is_some() && !ask.feature().is_look() => {
            (vec![Event::Server(ServerEvent::NothingChanged {})], None)
        }
        AskResult::Done(events) => (events, None),
        AskResult::Parked(ticket, event) => (vec![event], Some(ticket)),
    };
    let mut records = Vec::with_capacity(answer.len());
    let from = asker.origin.as_ref();
    let maker = ask.feature().maker(world);
    let (by, kept) = maker.map_or((who, key.cloned()), |(maker, key)| (maker, key.cloned()));
    let decided = ask.feature().takes_presence(world);
    for event in &answer {
        push_from(world, &mut records, (by, from), kept.as_ref(), now, wall_ms, event.clone());
    }
    if let Some(again) = agents::works_again(world, who, ask) {
        push_from(world, &mut records, (who, from), None, now, wall_ms, again);
    }
    if let Some(new) = people::new_place(world, &asker, decided, &answer) {
        push_from(world, &mut records, (who, from), None, now, wall_ms, new);
    }
    settle(world, &mut records, now, wall_ms);
    // A wait that was served at once (only somebody's place was in its way, which is now void) is answered like any
    // other ask.
    Ok(Outcome { records, answer, parked })
}

/// Records what is due at `now`: expired locks and waits, agents that were silent for too long.
pub fn expire(world: &mut World, now: Timestamp, wall_ms: i64) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some(due) = world.deadlines.due(now) {
        let events = due.events(world);
        if events.is_empty() {
            // It led to nothing: drop it, or this would never end.
            world.deadlines.set(due, None);
        }
        for event in events {
            push(world, &mut records, Principal::System, None, now, wall_ms, event);
        }
        settle(world, &mut records, now, wall_ms);
    }
    records
}

/// Adds what follows from the records, and from that, until nothing more does.
fn settle(world: &mut World, records: &mut Vec<Record>, now: Timestamp, wall_ms: i64) {
    loop {
        let before = records.len();
        for FollowUp { follows, next } in FOLLOW_UPS {
            if !records.iter().any(|record| follows(&record.event)) {
                continue;
            }
            while let Some(events) = next(world) {
                for event in events {
                    push(world, records, Principal::System, None, now, wall_ms, event);
                }
            }
        }
        if records.len() == before {
            return;
        }
    }
}

fn push(
    world: &mut World,
    records: &mut Vec<Record>,
    by: Principal,
    key: Option<&Key>,
    now: Timestamp,
    wall_ms: i64,
    event: Event,
) {
    push_from(world, records, (by, None), key, now, wall_ms, event);
}

fn push_from(
    world: &mut World,
    records: &mut Vec<Record>,
    (by, from): (Principal, Option<&Arc<Origin>>),
    key: Option<&Key>,
    now: Timestamp,
    wall_ms: i64,
    event: Event,
) {
    let concerns = concerns::implied(&event, by, world);
    let (seq, now, key) = (world.head + 1, now.max(world.now), key.cloned());
    let record = Record { seq, now, wall_ms, by, from: from.cloned(), concerns, key, event };
    world.apply(&record);
    records.push(record);
}
