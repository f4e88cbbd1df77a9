//! What must be true when a step is over.

use comity_core::locks::Hold;
use comity_core::{Principal, Timestamp, World};

use super::{Found, Oracle};
use crate::news::News;

/// All tasks are compared once in so many steps, and whenever there is news of one.
const TASKS_EVERY: usize = 8;

impl Oracle {
    /// Compares the world with the model, and the model with what must be; of the model alone only what is new.
    pub(crate) fn settled(&self, world: &World, now: Timestamp, news: News) -> Found {
        self.agrees_on_locks(world)?;
        self.agrees_on_waits(world)?;
        self.agrees_on_agents(world)?;
        self.agrees_on_moves(world)?;
        self.agrees_on_outside(world)?;
        self.agrees_on_permissions(world, now)?;
        // A task that changed without a record is found by the look that comes in any case.
        if news.tasks || self.post.turn.is_multiple_of(TASKS_EVERY) {
            self.agrees_on_tasks(world)?;
        }
        self.agrees_on_pools(world, now)?;
        self.agrees_on_runs(world)?;
        self.agrees_on_mail(world)?;
        self.agrees_on_rule(world)?;
        if news.locks {
            self.no_overlap()?;
        }
        self.nothing_overdue(now)?;
        self.no_mail_overdue(now)?;
        if news.locks {
            self.queue_moves()?;
        }
        match self.leaving.iter().find(|agent| self.is_alive(Principal::Agent(**agent))) {
            Some(agent) => Err(format!("something of {agent} was let go as if it had ended")),
            None => Ok(()),
        }
    }

    fn agrees_on_locks(&self, world: &World) -> Found {
        let same = world.locks.len() == self.locks.len()
            && world.locks.iter().zip(&self.locks).all(|(lock, (fence, held))| {
                (lock.fence, lock.holder, lock.hold) == (*fence, held.holder, held.hold)
                    && lock.rescue.as_ref().map(|rescue| rescue.of) == held.rescue
                    && lock.left.is_empty() != held.knows_files
                    && lock.wanted.mode == held.want.mode
                    && lock.wanted.pattern == held.want.wanted.pattern
            });
        if same { Ok(()) } else { Err("the world's locks are not those of its log".into()) }
    }

    fn agrees_on_waits(&self, world: &World) -> Found {
        let world_waits = world.locks.waits().map(|wait| (wait.ticket, wait.who, wait.deadline));
        let model_waits = self.waits.iter().map(|(ticket, wait)| (*ticket, wait.who, wait.deadline));
        if world_waits.eq(model_waits) {
            return Ok(());
        }
        Err("a waiter was lost: the world's queue is not that of its log".into())
    }

    fn agrees_on_agents(&self, world: &World) -> Found {
        if world.agents.live().count() != self.agents.len() {
            return Err("the world's living agents are not those of its log".into());
        }
        for (id, being) in &self.agents {
            let Some(agent) = world.agents.get(*id).filter(|agent| agent.is_live()) else {
                return Err(format!("{id} is alive, but not in the world"));
            };
            let told = agent.notices.iter().map(|notice| notice.id);
            if !told.eq(being.notices.iter().copied()) {
                return Err(format!("{id} has other notices than it should have"));
            }
        }
        Ok(())
    }

    /// No two locks that exclude each other mean the same file; who ended holds nothing but orphaned work.
    fn no_overlap(&self) -> Found {
        for (fence, lock) in &self.locks {
            if lock.hold == Hold::Held && !self.is_alive(lock.holder) {
                return Err(format!("{fence:?} is held by {}, who has ended", lock.holder));
            }
            let later = self.locks.range(*fence..).skip(1);
            if let Some((other, _)) =
                later.into_iter().find(|(_, b)| b.holder != lock.holder && b.want.collides(&lock.want))
            {
                return Err(format!("{fence:?} and {other:?} overlap"));
            }
        }
        Ok(())
    }

    /// Time was let pass up to `now`, so nothing that had to end by then is left.
    fn nothing_overdue(&self, now: Timestamp) -> Found {
        for (agent, being) in &self.agents {
            if self.silence(Principal::Agent(*agent)) >= self.patience.agent_timeout {
                return Err(format!("{agent} was silent for {}, and is kept over restarts", being.silence));
            }
        }
        for (fence, lock) in &self.locks {
            let (heard, acted) = self.last_sign(lock.holder);
            let latest = lock.counted_from.max(heard).max(acted).plus(lock.want.wanted.ttl);
            if lock.hold == Hold::Held && now >= latest && !self.is_watched(lock.holder) {
                return Err(format!("{fence:?} is still held after its time"));
            }
            // One that was given at this very start has not lasted yet.
            let is_kept = lock.hold == Hold::Held && lock.counted_from < now;
            if is_kept && self.silence(lock.holder) >= lock.want.wanted.ttl {
                return Err(format!("{fence:?} is kept over restarts by {}, who is silent", lock.holder));
            }
            let looked_at = lock.lapsed.plus(comity_core::limits::INSPECTION_MAX);
            if lock.hold == Hold::Lapsed && now >= looked_at {
                return Err(format!("{fence:?} is still being looked at after its time"));
            }
        }
        match self.waits.iter().find(|(_, wait)| now >= wait.deadline) {
            Some((ticket, _)) => Err(format!("{ticket:?} still waits after its deadline")),
            None => Ok(()),
        }
    }
}
