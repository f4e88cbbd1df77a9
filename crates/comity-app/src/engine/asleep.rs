//! Jobs that sleep until the world is so that they can be answered: who waits for mail, an answer or work.
//!
//! They are looked at by the writer within the batch that changes the world, so that nothing falls between the look
//! and the sleep, and what woke somebody is written together with what it leads to.

use std::collections::BTreeMap;
use std::sync::Mutex;

use comity_core::{AgentId, Principal, Timestamp, World};

use super::{Job, lock};

/// What a job sleeps for.
pub struct When {
    /// Whether there is something for it.
    pub ready: Box<dyn Fn(&World) -> bool + Send>,
    /// When it is run in any case.
    pub until: Timestamp,
}

/// All jobs that sleep.
#[derive(Default)]
pub(super) struct Asleep(Mutex<Beds>);

#[derive(Default)]
struct Beds {
    next: u64,
    by_id: BTreeMap<u64, (Job, When)>,
}

impl Asleep {
    /// A number for a job that is about to sleep.
    pub(super) fn number(&self) -> u64 {
        let mut beds = lock(&self.0);
        beds.next += 1;
        beds.next
    }

    pub(super) fn lay_down(&self, id: u64, job: Job, when: When) {
        lock(&self.0).by_id.insert(id, (job, when));
    }

    /// Whether a call of this agent is among them.
    pub(super) fn has_call_of(&self, agent: AgentId) -> bool {
        lock(&self.0).by_id.values().any(|(job, _)| job.who.who == Principal::Agent(agent))
    }

    /// Takes a job out; it is never answered.
    pub(super) fn forget(&self, id: u64) {
        let forgotten = lock(&self.0).by_id.remove(&id);
        drop(forgotten);
    }

    /// When the next one is run in any case.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        lock(&self.0).by_id.values().map(|(_, when)| when.until).min()
    }

    /// The first one that can be answered now. It sleeps no more.
    pub(super) fn wake_one(&self, world: &World, now: Timestamp) -> Option<Job> {
        let mut beds = lock(&self.0);
        let is_up = |(job, when): &(Job, When)| {
            let has_ended = job.who.who.agent().is_some_and(|agent| world.agents.living(agent).is_err());
            let is_repeat = job.key.as_ref().is_some_and(|key| world.answers.get(job.who.who, key).is_some());
            when.until <= now || has_ended || is_repeat || (when.ready)(world)
        };
        let id = beds.by_id.iter().find(|(_, bed)| is_up(bed)).map(|(id, _)| *id)?;
        beds.by_id.remove(&id).map(|(job, _)| job)
    }
}
