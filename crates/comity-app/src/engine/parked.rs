//! Jobs that are parked until the world lets them be answered, for those who wait for mail, an answer or work.
//!
//! The writer checks them within the batch that changes the world, so that nothing is missed in between, and a change
//! is written together with what it leads to.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use comity_core::{AgentId, Principal, Timestamp, World};

use super::{Job, lock};

/// What a job waits for.
pub struct When {
    pub ready: Box<dyn Fn(&World) -> bool + Send>,
    /// When it is run in any case.
    pub until: Timestamp,
}

#[derive(Default)]
pub(super) struct ParkedJobs {
    last_number: AtomicU64,
    by_id: Mutex<BTreeMap<u64, (Job, When)>>,
}

impl ParkedJobs {
    /// A number for a job that is about to be parked.
    pub(super) fn number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn insert(&self, id: u64, job: Job, when: When) {
        lock(&self.by_id).insert(id, (job, when));
    }

    pub(super) fn has_call_of(&self, agent: AgentId) -> bool {
        lock(&self.by_id).values().any(|(job, _)| job.who.who == Principal::Agent(agent))
    }

    /// Drops a job; it is never answered.
    pub(super) fn forget(&self, id: u64) {
        let forgotten = lock(&self.by_id).remove(&id);
        drop(forgotten);
    }

    /// When the next one is run in any case.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        lock(&self.by_id).values().map(|(_, when)| when.until).min()
    }

    /// Takes out the first one that can be answered now.
    pub(super) fn wake_one(&self, world: &World, now: Timestamp) -> Option<Job> {
        let mut parked = lock(&self.by_id);
        let is_up = |(job, when): &(Job, When)| {
            let has_ended = job.who.who.agent().is_some_and(|agent| world.agents.living(agent).is_err());
            let is_repeat = job.key.as_ref().is_some_and(|key| world.answers.get(job.who.who, key).is_some());
            when.until <= now || has_ended || is_repeat || (when.ready)(world)
        };
        let id = parked.iter().find(|(_, one)| is_up(one)).map(|(id, _)| *id)?;
        parked.remove(&id).map(|(job, _)| job)
    }
}
