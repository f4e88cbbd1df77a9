//! The writer: decides a batch, appends it, answers.

use std::collections::HashMap;

use comity_core::agents::AgentAsk;
use comity_core::event::Event;
use comity_core::{Ask, Millis, Principal, Record, Refusal, Ticket, Timestamp, World, expire, run};

use super::unclaimed::Unclaimed;
use super::waited::{self, WaitEnd, Waited};
use super::{EngineState, Job, JobAnswer, ReplyTo, WaitPlace};
use crate::clock::ClockReading;
use crate::log::{Durability, Log, LogError};
use crate::planted_panic::panic_at;

/// How long after a failed write the timers are tried again, so as not to spin on a full disk.
const RETRY: Millis = Millis::seconds(1);

/// The writing copy of the world, the log, and those in the queue.
pub(super) struct Writer {
    world: World,
    log: Box<dyn Log>,
    in_line: HashMap<Ticket, QueuedReply>,
    unclaimed: Unclaimed,
    retry_at: Option<Timestamp>,
    /// What was decided on a thread that must not wait for the disk.
    unwritten: Option<Batch>,
}

/// Decided, and not in the log yet.
pub(super) struct Batch {
    reading: ClockReading,
    records: Vec<Record>,
    decided: Vec<Decided>,
    newly_in_line: Vec<(Waited, Box<dyn ReplyTo>)>,
}

/// Somebody in the queue, with what is needed to say why it got nothing.
struct QueuedReply {
    reply_to: Box<dyn ReplyTo>,
    wait: Waited,
}

/// An ask that was decided, to be answered after the commit.
struct Decided {
    reply_to: Box<dyn ReplyTo>,
    result: Result<Vec<Event>, Refusal>,
}

impl Writer {
    pub(super) fn new(world: World, log: Box<dyn Log>) -> Writer {
        let unclaimed = Unclaimed::of(&world);
        Writer { world, log, in_line: HashMap::new(), unclaimed, retry_at: None, unwritten: None }
    }

    pub(super) fn next_deadline(&self, shared: &EngineState) -> Option<Timestamp> {
        let others = self.unclaimed.deadline().into_iter().chain(shared.parked.deadline());
        let due = self.world.next_deadline().into_iter().chain(others).min()?;
        Some(self.retry_at.map_or(due, |retry| due.max(retry)))
    }

    pub(super) fn drop_sealed(&mut self, at_most: usize) -> usize {
        self.log.drop_sealed(at_most)
    }

    pub(super) fn close_log(&mut self) {
        self.log.close();
    }

    pub(super) fn has_unwritten(&self) -> bool {
        self.unwritten.is_some()
    }

    /// Keeps a batch until a thread comes that may wait for the disk; nothing is decided before it is written.
    pub(super) fn leave_unwritten(&mut self, batch: Batch) {
        self.unwritten = Some(batch);
    }

    pub(super) fn write_unwritten(&mut self, shared: &EngineState) {
        if let Some(batch) = self.unwritten.take() {
            self.write(batch, shared);
        }
    }

    /// Decides one batch: what is due, then every job in order.
    pub(super) fn decide(&mut self, jobs: Vec<Job>, shared: &EngineState) -> Batch {
        let reading = shared.clock.read();
        let mut records = self.signs_of_life(shared, reading);
        records.extend(expire(&mut self.world, reading.now, reading.wall_ms));
        for (who, ask) in self.unclaimed.overdue(&self.world, reading.now) {
            // Refused if it changed hands in the meantime: then there is nothing to end.
            if let Ok(outcome) = run(&mut self.world, who, &ask, None, reading.now, reading.wall_ms) {
                records.extend(outcome.records);
            }
        }
        let mut decided = Vec::with_capacity(jobs.len());
        let mut newly_in_line = Vec::new();
        let mut jobs = jobs.into_iter();
        while let Some(job) = jobs.next().or_else(|| shared.parked.wake_one(&self.world, reading.now)) {
            match self.decide_job(job, reading, &mut records) {
                Resolution::Answer(one) => decided.push(one),
                Resolution::Wait(wait, reply_to) => newly_in_line.push((wait, reply_to)),
            }
        }
        Batch { reading, records, decided, newly_in_line }
    }

    /// Appends a batch, and then answers and publishes it.
    pub(super) fn write(&mut self, batch: Batch, shared: &EngineState) {
        panic_at("batch");
        let durability = batch.durability();
        let Batch { reading, records, decided, newly_in_line } = batch;
        if !records.is_empty()
            && let Err(error) = self.log.append(&records, durability)
        {
            self.retry_at = Some(reading.now.plus(RETRY));
            return self.fail(&error, decided, newly_in_line, shared);
        }
        self.retry_at = None;
        for (wait, mut reply_to) in newly_in_line {
            let ticket = wait.ticket();
            self.unclaimed.claim(ticket);
            reply_to.parked(WaitPlace::InLine(ticket));
            // A repeat replaces the first asker: that connection is gone.
            self.in_line.insert(ticket, QueuedReply { reply_to, wait });
        }
        self.unclaimed.written(&records, reading.now);
        panic_at("publish");
        self.publish(&records, shared);
        self.answer(decided, &records, reading);
        panic_at("feed");
        shared.feed.append(records);
    }

    /// Agents that wait for an answer, or are working, are alive, however long they have been silent.
    fn signs_of_life(&mut self, shared: &EngineState, reading: ClockReading) -> Vec<Record> {
        let mut records = Vec::new();
        for agent in self.world.falling_silent(reading.now) {
            let waits = |ticket: &Ticket| self.world.waiter(*ticket) == Some(Principal::Agent(agent));
            let is_at_work = || shared.is_at_work.get().is_some_and(|is_at_work| is_at_work(agent));
            if self.in_line.keys().any(waits) || shared.parked.has_call_of(agent) || is_at_work() {
                let seen = Ask::Agent(AgentAsk::Seen { agent });
                let outcome =
                    run(&mut self.world, Principal::System, &seen, None, reading.now, reading.wall_ms);
                records.extend(outcome.map(|outcome| outcome.records).unwrap_or_default());
            }
        }
        records
    }

    fn decide_job(&mut self, job: Job, reading: ClockReading, records: &mut Vec<Record>) -> Resolution {
        let Job { who, asks, key, reply_to } = job;
        let last = asks.len().saturating_sub(1);
        let mut events = Vec::new();
        for (at, ask) in asks.iter().enumerate() {
            let key = key.as_ref().filter(|_| at == last);
            match run(&mut self.world, who.clone(), ask, key, reading.now, reading.wall_ms) {
                Err(refusal) => return Resolution::Answer(Decided { reply_to, result: Err(refusal) }),
                Ok(outcome) => {
                    panic_at("rule");
                    records.extend(outcome.records);
                    if let Some(wait) = outcome.parked.and_then(|ticket| Waited::of(&self.world, ticket)) {
                        return Resolution::Wait(wait, reply_to);
                    }
                    events = outcome.answer;
                }
            }
        }
        match waited::refused(&events) {
            Some(refusal) => Resolution::Answer(Decided { reply_to, result: Err(refusal) }),
            None => Resolution::Answer(Decided { reply_to, result: Ok(events) }),
        }
    }

    /// Nothing was written: resets the writing copy to what was published, and tells everybody in the batch.
    fn fail(
        &mut self,
        error: &LogError,
        decided: Vec<Decided>,
        newly_in_line: Vec<(Waited, Box<dyn ReplyTo>)>,
        shared: &EngineState,
    ) {
        self.world = shared.published.view().clone();
        let decided = decided.into_iter().map(|one| one.reply_to);
        for reply_to in decided.chain(newly_in_line.into_iter().map(|(_, reply_to)| reply_to)) {
            reply_to.answer(JobAnswer::Fault(error.to_string()));
        }
        if matches!(error, LogError::Fenced | LogError::Cut(_)) {
            (shared.on_fence)();
        }
    }

    fn publish(&self, records: &[Record], shared: &EngineState) {
        if records.is_empty() {
            return;
        }
        shared.published.change(|world| records.iter().for_each(|record| world.apply(record)));
    }

    fn answer(&mut self, decided: Vec<Decided>, records: &[Record], reading: ClockReading) {
        let (world, now) = (&self.world, reading.now);
        for Decided { reply_to, result } in decided {
            if let Ok(events) = &result {
                self.unclaimed.answered(events);
            }
            reply_to.answer(match &result {
                Ok(events) => JobAnswer::Done { events, world, now },
                Err(refusal) => JobAnswer::Refused(refusal.clone()),
            });
        }
        for record in records {
            let Some((ticket, end)) = waited::ended(&record.event) else { continue };
            let Some(QueuedReply { reply_to, wait }) = self.in_line.remove(&ticket) else { continue };
            match end {
                WaitEnd::Granted(given) => {
                    let events = waited::granted(records, ticket, &given);
                    reply_to.answer(JobAnswer::Done { events: &events, world, now });
                }
                WaitEnd::TimedOut => reply_to.answer(JobAnswer::Refused(wait.in_vain(world, now))),
                WaitEnd::Orphaned => reply_to.answer(JobAnswer::Refused(wait.orphaned(world, now))),
                WaitEnd::GivenUp => reply_to.answer(JobAnswer::Refused(Refusal::WaitCancelled)),
            }
        }
    }
}

enum Resolution {
    Answer(Decided),
    Wait(Waited, Box<dyn ReplyTo>),
}

impl Batch {
    pub(super) fn waits_for_disk(&self) -> bool {
        self.durability() == Durability::Durable
    }

    fn durability(&self) -> Durability {
        match self.records.iter().any(|record| record.event.kind().durable) {
            true => Durability::Durable,
            false => Durability::Live,
        }
    }
}
