//! The writer: decides a batch, appends it, answers.

use std::collections::HashMap;

use comity_core::event::Event;
use comity_core::{Ask, Millis, Principal, Record, Refusal, Ticket, Timestamp, World, expire, run};

use super::unclaimed::Unclaimed;
use super::waited::{self, WaitEnd, Waited};
use super::{Answer, Asker, Job, Shared, Waiting};
use crate::clock::Reading;
use crate::log::{Durability, Log, LogError};
use crate::planted::panic_at;

/// After a write that failed, what is due by time is tried again this much later: a full disk is no reason to spin.
const RETRY: Millis = Millis::seconds(1);

/// The writing copy of the world, the log, and who waits in the queue.
pub(super) struct Writer {
    world: World,
    log: Box<dyn Log>,
    parked: HashMap<Ticket, Parked>,
    unclaimed: Unclaimed,
    /// Set while writing fails.
    retry_at: Option<Timestamp>,
}

/// Who waits in the queue, with what is needed to say why in vain.
struct Parked {
    asker: Box<dyn Asker>,
    wait: Waited,
}

/// An ask that was decided, to be answered after the commit.
struct Decided {
    asker: Box<dyn Asker>,
    result: Result<Vec<Event>, Refusal>,
}

impl Writer {
    pub(super) fn new(world: World, log: Box<dyn Log>) -> Writer {
        let unclaimed = Unclaimed::of(&world);
        Writer { world, log, parked: HashMap::new(), unclaimed, retry_at: None }
    }

    pub(super) fn next_deadline(&self, shared: &Shared) -> Option<Timestamp> {
        let others = self.unclaimed.deadline().into_iter().chain(shared.asleep.deadline());
        let due = self.world.next_deadline().into_iter().chain(others).min()?;
        Some(self.retry_at.map_or(due, |retry| due.max(retry)))
    }

    pub(super) fn drop_sealed(&mut self, at_most: usize) -> usize {
        self.log.drop_sealed(at_most)
    }

    pub(super) fn close_log(&mut self) {
        self.log.close();
    }

    /// Runs one batch: what is due by time, then every job in order.
    pub(super) fn run(&mut self, jobs: Vec<Job>, shared: &Shared) {
        let reading = shared.clock.read();
        let mut records = self.signs_of_life(shared, reading);
        records.extend(expire(&mut self.world, reading.now, reading.wall_ms));
        for (who, ask) in self.unclaimed.overdue(&self.world, reading.now) {
            // Refused if it has changed hands in the meantime: then there is nothing to end.
            if let Ok(outcome) = run(&mut self.world, who, &ask, None, reading.now, reading.wall_ms) {
                records.extend(outcome.records);
            }
        }
        let mut decided = Vec::with_capacity(jobs.len());
        let mut newly_parked = Vec::new();
        for job in jobs {
            match self.decide(job, reading, &mut records) {
                Next::Answer(one) => decided.push(one),
                Next::Park(wait, asker) => newly_parked.push((wait, asker)),
            }
        }
        while let Some(job) = shared.asleep.wake_one(&self.world, reading.now) {
            match self.decide(job, reading, &mut records) {
                Next::Answer(one) => decided.push(one),
                Next::Park(wait, asker) => newly_parked.push((wait, asker)),
            }
        }
        panic_at("batch");
        if !records.is_empty()
            && let Err(error) = self.log.append(&records, durability(&records))
        {
            self.retry_at = Some(reading.now.plus(RETRY));
            return self.fail(&error, decided, newly_parked, shared);
        }
        self.retry_at = None;
        for (wait, mut asker) in newly_parked {
            let ticket = wait.ticket();
            self.unclaimed.claim(ticket);
            asker.parked(Waiting::InLine(ticket));
            // A repeat takes the place of who asked first: that connection is gone.
            self.parked.insert(ticket, Parked { asker, wait });
        }
        self.unclaimed.written(&records, reading.now);
        panic_at("publish");
        self.publish(&records, shared);
        self.answer(decided, &records, reading);
        panic_at("feed");
        shared.feed.append(records);
    }

    /// Whoever waits for an answer, or is at work, lives, however long it has been silent.
    fn signs_of_life(&mut self, shared: &Shared, reading: Reading) -> Vec<Record> {
        let mut records = Vec::new();
        for agent in self.world.falling_silent(reading.now) {
            let waits = |ticket: &Ticket| self.world.waiter(*ticket) == Some(Principal::Agent(agent));
            let is_at_work = || shared.is_at_work.get().is_some_and(|is_at_work| is_at_work(agent));
            if self.parked.keys().any(waits) || shared.asleep.has_call_of(agent) || is_at_work() {
                let seen = Ask::Seen { agent };
                let outcome =
                    run(&mut self.world, Principal::System, &seen, None, reading.now, reading.wall_ms);
                records.extend(outcome.map(|outcome| outcome.records).unwrap_or_default());
            }
        }
        records
    }

    fn decide(&mut self, job: Job, reading: Reading, records: &mut Vec<Record>) -> Next {
        let Job { who, asks, key, asker } = job;
        let last = asks.len().saturating_sub(1);
        let mut events = Vec::new();
        for (at, ask) in asks.iter().enumerate() {
            let key = key.as_ref().filter(|_| at == last);
            match run(&mut self.world, who.clone(), ask, key, reading.now, reading.wall_ms) {
                Err(refusal) => return Next::Answer(Decided { asker, result: Err(refusal) }),
                Ok(outcome) => {
                    panic_at("rule");
                    records.extend(outcome.records);
                    if let Some(wait) = outcome.parked.and_then(|ticket| Waited::of(&self.world, ticket)) {
                        return Next::Park(wait, asker);
                    }
                    events = outcome.answer;
                }
            }
        }
        match waited::refused(&events) {
            Some(refusal) => Next::Answer(Decided { asker, result: Err(refusal) }),
            None => Next::Answer(Decided { asker, result: Ok(events) }),
        }
    }

    /// Nothing was written: the writing copy is what was published, and everybody in the batch is told.
    fn fail(
        &mut self,
        error: &LogError,
        decided: Vec<Decided>,
        parked: Vec<(Waited, Box<dyn Asker>)>,
        shared: &Shared,
    ) {
        self.world = shared.published.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let askers =
            decided.into_iter().map(|one| one.asker).chain(parked.into_iter().map(|(_, asker)| asker));
        for asker in askers {
            asker.answer(Answer::Fault(error.to_string()));
        }
        if matches!(error, LogError::Fenced) {
            (shared.on_fence)();
        }
    }

    fn publish(&self, records: &[Record], shared: &Shared) {
        if records.is_empty() {
            return;
        }
        let mut published = shared.published.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        records.iter().for_each(|record| published.apply(record));
    }

    fn answer(&mut self, decided: Vec<Decided>, records: &[Record], reading: Reading) {
        let (world, now) = (&self.world, reading.now);
        for Decided { asker, result } in decided {
            if let Ok(events) = &result {
                self.unclaimed.answered(events);
            }
            asker.answer(match &result {
                Ok(events) => Answer::Done { events, world, now },
                Err(refusal) => Answer::Refused(refusal.clone()),
            });
        }
        for record in records {
            let Some((ticket, end)) = waited::ended(&record.event) else { continue };
            let Some(Parked { asker, wait }) = self.parked.remove(&ticket) else { continue };
            match end {
                WaitEnd::Granted(given) => {
                    let events = waited::granted(records, ticket, &given);
                    asker.answer(Answer::Done { events: &events, world, now });
                }
                WaitEnd::TimedOut => asker.answer(Answer::Refused(wait.in_vain(world, now))),
                WaitEnd::GivenUp => asker.answer(Answer::Refused(Refusal::WaitCancelled)),
            }
        }
    }
}

enum Next {
    Answer(Decided),
    Park(Waited, Box<dyn Asker>),
}

fn durability(records: &[Record]) -> Durability {
    match records.iter().any(|record| record.event.kind().durable) {
        true => Durability::Durable,
        false => Durability::Live,
    }
}
