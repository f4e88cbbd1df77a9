//! What the model makes of records about locks.

use comity_core::limits::{INSPECTION_MAX, LOCK_TTL, RESCUE_TTL};
use comity_core::locks::{Hold, LockEvent, LockMode, ReleaseCause, Wanted};
use comity_core::{Event, Fence, Principal, Record, Ticket, Timestamp};

use super::{ACT_GRAIN, Found, ModelLock, Oracle, WantedFiles};
use crate::sim_paths::SimPaths;

impl Oracle {
    pub(super) fn observe_lock(&mut self, paths: &SimPaths, record: &Record) -> Found {
        let (now, by, seq) = (record.now, record.by, record.seq);
        match &record.event {
            Event::Lock(LockEvent::Acquired { fence, holder, wanted, ticket }) => {
                self.acquired(paths, record, *fence, *holder, wanted, *ticket)
            }
            Event::Lock(LockEvent::Renewed { fence, ttl, .. }) => {
                let lock = self.lock(*fence)?;
                if by != lock.holder && by != Principal::System {
                    return Err(format!("{by} renewed {fence:?} of {}", lock.holder));
                }
                (lock.hold, lock.counted_from, lock.want.wanted.ttl) = (Hold::Held, now, *ttl);
                (lock.knows_files, lock.rescue) = (false, None);
                Ok(())
            }
            Event::Lock(LockEvent::Extended { fence, ttl, .. }) => {
                let lock = self.lock(*fence)?;
                let holder = lock.holder;
                (lock.hold, lock.counted_from, lock.want.wanted.ttl) = (Hold::Held, now, *ttl);
                lock.knows_files = false;
                if holder != by {
                    self.tell(holder, seq);
                }
                Ok(())
            }
            Event::Lock(LockEvent::Released { fence, cause, .. }) => {
                // An upgrade gives up the shared lock first; whoever waits for it still waits for its holder.
                if *cause == ReleaseCause::Upgraded {
                    let holder = self.lock(*fence)?.holder;
                    self.grant_begins(holder, None);
                }
                let lock = self.take(*fence)?;
                self.may_let_go(record, &lock, cause)?;
                match (cause, lock.holder) {
                    (ReleaseCause::HolderEnded, _)
                        if (lock.hold, lock.want.mode) == (Hold::Held, LockMode::Exclusive) =>
                    {
                        return Err(format!("{fence:?} was let go before its files were looked at"));
                    }
                    (ReleaseCause::HolderEnded, Principal::Agent(agent)) => self.leaving.push(agent),
                    (ReleaseCause::HolderEnded, holder) => return Err(format!("{holder} can't end")),
                    (ReleaseCause::TakenAway { .. }, holder) => self.tell(holder, seq),
                    (ReleaseCause::GivenBack | ReleaseCause::PutAside { .. } | ReleaseCause::Upgraded, _) => {
                    }
                }
                Ok(())
            }
            Event::Lock(LockEvent::Lapsed { fence, .. }) => {
                let ran_out = self.ran_out(*fence, now);
                let lock = self.lock(*fence)?;
                if (lock.hold, lock.want.mode) != (Hold::Held, LockMode::Exclusive) {
                    return Err(format!("{fence:?} lapsed though it was {:?}", lock.hold));
                }
                (lock.hold, lock.lapsed) = (Hold::Lapsed, now);
                // Before its time only because its holder ends.
                match (ran_out, lock.holder) {
                    (Err(_), Principal::Agent(agent)) => self.leaving.push(agent),
                    (ran_out, _) => ran_out?,
                }
                Ok(())
            }
            Event::Lock(LockEvent::Expired { fence, .. }) => {
                let lock = self.lock(*fence)?;
                match (lock.hold, lock.want.mode) {
                    (Hold::Lapsed | Hold::Orphaned, _) => {}
                    (Hold::Held, LockMode::Shared) => self.ran_out(*fence, now)?,
                    (hold, mode) => {
                        return Err(format!("{fence:?} ({mode:?}) expired though it was {hold:?}"));
                    }
                }
                let lock = self.take(*fence)?;
                self.tell(lock.holder, seq);
                Ok(())
            }
            Event::Lock(LockEvent::Orphaned { fence, files, .. }) => {
                let lock = self.lock(*fence)?;
                // Nobody could tell which files; now somebody can.
                let is_told_later = lock.hold == Hold::Orphaned && !lock.knows_files && !files.is_empty();
                // The files are looked at within ten seconds, or nobody could tell.
                let is_late = now > lock.lapsed.plus(INSPECTION_MAX) && by != Principal::System;
                if !is_told_later && (lock.hold != Hold::Lapsed || is_late) {
                    return Err(format!("{fence:?} was orphaned though it was {:?}", lock.hold));
                }
                (lock.hold, lock.knows_files) = (Hold::Orphaned, !files.is_empty());
                let holder = lock.holder;
                if let Principal::Agent(agent) = holder {
                    self.tell(self.leader(agent), seq);
                }
                if !is_told_later {
                    self.tell(holder, seq);
                }
                Ok(())
            }
            Event::Lock(LockEvent::HandedOver { fence, new_fence, to, into, .. }) => {
                let mut lock = self.take(*fence)?;
                self.may_hand_over(record, &lock, *to, into.is_some())?;
                let of = lock.rescue.unwrap_or(lock.holder);
                if into.is_some() {
                    lock.want.wanted.ttl = lock.want.wanted.ttl.max(RESCUE_TTL);
                } else if lock.hold == Hold::Orphaned {
                    lock.want.wanted.ttl = lock.want.wanted.ttl.max(LOCK_TTL);
                }
                if lock.holder != by {
                    self.tell(lock.holder, seq);
                }
                if *to != by {
                    self.tell(*to, seq);
                }
                self.insert(*new_fence, *to, lock.want, now)?;
                self.lock(*new_fence)?.rescue = into.as_ref().map(|_| of);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn lock(&mut self, fence: Fence) -> Result<&mut ModelLock, String> {
        self.locks.get_mut(&fence).ok_or_else(|| format!("there is no lock with {fence:?}"))
    }

    fn take(&mut self, fence: Fence) -> Result<ModelLock, String> {
        self.locks.remove(&fence).ok_or_else(|| format!("there is no lock with {fence:?} to take away"))
    }

    fn acquired(
        &mut self,
        paths: &SimPaths,
        record: &Record,
        fence: Fence,
        holder: Principal,
        wanted: &Wanted,
        ticket: Option<Ticket>,
    ) -> Found {
        let want = WantedFiles::of(paths, wanted);
        match ticket {
            None if record.by != holder => return Err(format!("{} locked for {holder}", record.by)),
            Some(ticket) if self.waits.get(&ticket).is_none_or(|wait| wait.who != holder) => {
                return Err(format!("{fence:?} was given to {ticket:?}, which does not wait"));
            }
            _ => {}
        }
        self.nobody_is_overtaken(holder, ticket, &want)?;
        if let Some(key) = ticket.and_then(|ticket| self.waits.get(&ticket)).and_then(|wait| wait.key.clone())
        {
            self.answers.entry((holder, key)).or_default().push(record.event.clone());
        }
        self.insert(fence, holder, want, record.now)
    }

    fn insert(&mut self, fence: Fence, holder: Principal, want: WantedFiles, now: Timestamp) -> Found {
        if fence <= self.fence {
            return Err(format!("{fence:?} is not larger than {:?}", self.fence));
        }
        if !self.is_alive(holder) {
            return Err(format!("{fence:?} was given to {holder}, who has ended"));
        }
        self.fence = fence;
        let (hold, counted_from, lapsed) = (Hold::Held, now, now);
        let (knows_files, rescue) = (false, None);
        self.locks.insert(fence, ModelLock { holder, want, hold, counted_from, lapsed, knows_files, rescue });
        Ok(())
    }

    /// Whether somebody lives as long as a process.
    pub(super) fn is_watched(&self, who: Principal) -> bool {
        who.agent().and_then(|agent| self.agents.get(&agent)).is_some_and(|being| being.has_process)
    }

    /// A TTL is a lower bound.
    fn ran_out(&self, fence: Fence, now: Timestamp) -> Found {
        let Some(lock) = self.locks.get(&fence) else { return Err(format!("{fence:?} is not held")) };
        if self.is_watched(lock.holder) {
            return Err(format!("{fence:?} ran out though the process of {} is watched", lock.holder));
        }
        let (heard, acted) = self.last_sign(lock.holder);
        let ttl = lock.want.wanted.ttl;
        if self.silence(lock.holder) >= ttl {
            return Ok(());
        }
        if now < lock.counted_from.max(heard).plus(ttl) || now.plus(ACT_GRAIN) < acted.plus(ttl) {
            return Err(format!("{fence:?} ran out too early"));
        }
        Ok(())
    }
}
