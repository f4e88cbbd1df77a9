//! The lock table: locks and waits with their indexes, and how events change them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Hold, Lock, LockEvent, LockTold, LockWait, OngoingRescue, ReleaseCause};
use crate::deadlines::Due;
use crate::event::Record;
use crate::ids::{Fence, Principal, ProjectId, Ticket};
use crate::limits::{INSPECTION_MAX, LOCK_TTL, RESCUE_TTL};
use crate::paths::{PathPattern, PatternIndex};
use crate::time::Timestamp;
use crate::world::World;

/// All locks and waits.
#[derive(Clone, Debug, Default)]
pub struct Locks {
    pub(super) by_fence: BTreeMap<Fence, Lock>,
    pub(super) by_holder: BTreeMap<Principal, BTreeSet<Fence>>,
    lapsed: BTreeSet<Fence>,
    orphaned: BTreeSet<Fence>,
    pub(super) index: BTreeMap<ProjectId, PatternIndex>,
    pub(super) waits: BTreeMap<Ticket, LockWait>,
    by_waiter: BTreeMap<Principal, BTreeSet<Ticket>>,
    pub(super) wait_index: BTreeMap<ProjectId, PatternIndex>,
}

impl Locks {
    /// The lock with this fence.
    pub fn get(&self, fence: Fence) -> Option<&Lock> {
        self.by_fence.get(&fence)
    }

    /// Oldest fence first.
    pub fn iter(&self) -> impl Iterator<Item = &Lock> {
        self.by_fence.values()
    }

    pub fn len(&self) -> usize {
        self.by_fence.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_fence.is_empty()
    }

    pub fn holders(&self) -> usize {
        self.by_holder.len()
    }

    /// All locks of `holder`, including orphaned ones.
    pub fn of(&self, holder: Principal) -> impl Iterator<Item = &Lock> {
        self.by_holder.get(&holder).into_iter().flatten().filter_map(|fence| self.by_fence.get(fence))
    }

    /// The locks of `holder` that end with it: not lapsed ones, which are inspected first, nor orphaned ones, which
    /// are kept.
    pub fn live_of(&self, holder: Principal) -> impl Iterator<Item = &Lock> {
        self.of(holder).filter(|lock| lock.hold == Hold::Held)
    }

    /// By fence.
    pub fn overlapping(&self, project: ProjectId, pattern: &PathPattern) -> Vec<&Lock> {
        let fences = self.index.get(&project).map(|index| index.overlaps(pattern)).unwrap_or_default();
        fences.into_iter().filter_map(|fence| self.by_fence.get(&Fence(fence))).collect()
    }

    /// The lock of `holder` on exactly this pattern.
    pub fn own(&self, holder: Principal, project: ProjectId, pattern: &PathPattern) -> Option<&Lock> {
        let mut found = None;
        let _ = self.index.get(&project)?.visit_overlaps(pattern, |fence| {
            match self.by_fence.get(&Fence(fence)) {
                Some(lock) if lock.holder == holder && lock.wanted.pattern == *pattern => {
                    found = Some(lock);
                    std::ops::ControlFlow::Break(())
                }
                _ => std::ops::ControlFlow::Continue(()),
            }
        });
        found
    }

    /// The locks whose files are being inspected.
    pub fn lapsed(&self) -> impl Iterator<Item = &Lock> {
        self.lapsed.iter().filter_map(|fence| self.by_fence.get(fence))
    }

    pub fn orphaned(&self) -> impl Iterator<Item = &Lock> {
        self.orphaned.iter().filter_map(|fence| self.by_fence.get(fence))
    }

    /// First in line first.
    pub fn waits(&self) -> impl Iterator<Item = &LockWait> {
        self.waits.values()
    }

    /// The wait with this ticket.
    pub fn wait(&self, ticket: Ticket) -> Option<&LockWait> {
        self.waits.get(&ticket)
    }

    /// The tickets of one waiter.
    pub fn waits_of(&self, who: Principal) -> impl Iterator<Item = Ticket> + '_ {
        self.by_waiter.get(&who).into_iter().flatten().copied()
    }

    /// The waiting asks of one waiter, first in line first.
    pub fn waiting(&self, who: Principal) -> impl Iterator<Item = &LockWait> {
        self.waits_of(who).filter_map(|ticket| self.waits.get(&ticket))
    }

    /// First in line first.
    pub fn waits_overlapping(&self, project: ProjectId, pattern: &PathPattern) -> Vec<&LockWait> {
        if self.waits.is_empty() {
            return Vec::new();
        }
        let tickets = self.wait_index.get(&project).map(|index| index.overlaps(pattern)).unwrap_or_default();
        tickets.into_iter().filter_map(|ticket| self.waits.get(&Ticket(ticket))).collect()
    }

    fn insert(&mut self, lock: Lock) {
        self.index.entry(lock.wanted.project).or_default().insert(lock.fence.0, &lock.wanted.pattern);
        self.by_holder.entry(lock.holder).or_default().insert(lock.fence);
        match lock.hold {
            Hold::Held => {}
            Hold::Lapsed => drop(self.lapsed.insert(lock.fence)),
            Hold::Orphaned => drop(self.orphaned.insert(lock.fence)),
        }
        self.by_fence.insert(lock.fence, lock);
    }

    fn remove(&mut self, fence: Fence) -> Option<Lock> {
        let lock = self.by_fence.remove(&fence)?;
        self.lapsed.remove(&fence);
        self.orphaned.remove(&fence);
        if let Some(index) = self.index.get_mut(&lock.wanted.project) {
            index.remove(fence.0, &lock.wanted.pattern);
        }
        if let Some(held) = self.by_holder.get_mut(&lock.holder) {
            held.remove(&fence);
            if held.is_empty() {
                self.by_holder.remove(&lock.holder);
            }
        }
        Some(lock)
    }

    fn insert_wait(&mut self, wait: LockWait) {
        for wanted in &wait.wants {
            self.wait_index.entry(wanted.project).or_default().insert(wait.ticket.0, &wanted.pattern);
        }
        self.by_waiter.entry(wait.who).or_default().insert(wait.ticket);
        self.waits.insert(wait.ticket, wait);
    }

    fn remove_wait(&mut self, ticket: Ticket) -> Option<LockWait> {
        let wait = self.waits.remove(&ticket)?;
        if let Some(places) = self.by_waiter.get_mut(&wait.who) {
            places.remove(&ticket);
            if places.is_empty() {
                self.by_waiter.remove(&wait.who);
            }
        }
        for wanted in &wait.wants {
            if let Some(index) = self.wait_index.get_mut(&wanted.project) {
                index.remove(ticket.0, &wanted.pattern);
            }
        }
        Some(wait)
    }
}

/// When the lock expires, if it is in force. With a watched process it does not: the holder is known to live.
pub(super) fn expires_at(world: &World, lock: &Lock) -> Option<Timestamp> {
    let holder = lock.holder.agent().and_then(|id| world.agents.get(id));
    match holder {
        _ if lock.hold != Hold::Held => None,
        Some(agent) if agent.is_watched() => None,
        Some(agent) => Some(lock.renewed.max(agent.seen).plus(lock.wanted.ttl)),
        None => Some(lock.renewed.plus(lock.wanted.ttl)),
    }
}

/// Restores locks and waits, with their deadlines.
pub(crate) fn restore(world: &mut World, locks: Vec<Lock>, waits: Vec<LockWait>) {
    for lock in locks {
        let fence = lock.fence;
        world.locks.insert(lock);
        watch(world, fence);
    }
    for wait in waits {
        world.deadlines.set(Due::Wait(wait.ticket), Some(wait.deadline));
        world.locks.insert_wait(wait);
    }
}

/// Renews the deadlines of everything that `holder` has, after a sign of life.
pub(crate) fn watch_held_by(world: &mut World, holder: Principal) {
    let held: Vec<Fence> = world.locks.by_holder.get(&holder).into_iter().flatten().copied().collect();
    for fence in held {
        watch(world, fence);
    }
}

fn watch(world: &mut World, fence: Fence) {
    let Some(lock) = world.locks.get(fence) else { return };
    let deadline = match lock.hold {
        Hold::Held => expires_at(world, lock),
        Hold::Lapsed => Some(lock.renewed.plus(INSPECTION_MAX)),
        Hold::Orphaned => return,
    };
    world.deadlines.set(Due::Lock(fence), deadline);
}

pub(super) fn apply(world: &mut World, record: &Record, event: &LockEvent) {
    let now = world.now;
    match event {
        LockEvent::Acquired { fence, holder, wanted, ticket } => {
            world.fence = world.fence.max(*fence);
            if let Some(wait) = ticket.and_then(|ticket| world.locks.wait(ticket)).cloned()
                && let Some(key) = &wait.key
            {
                world.answers.remember(wait.who, key, &record.event);
            }
            let wanted = wanted.clone();
            let hold = Hold::Held;
            world.locks.insert(Lock {
                fence: *fence,
                holder: *holder,
                wanted,
                since: now,
                renewed: now,
                hold,
                left: vec![],
                rescue: None,
            });
            watch(world, *fence);
        }
        LockEvent::Renewed { fence, ttl, reason, .. } | LockEvent::Extended { fence, ttl, reason, .. } => {
            let extended = matches!(event, LockEvent::Extended { .. });
            let Some(lock) = world.locks.by_fence.get_mut(fence) else { return };
            (lock.renewed, lock.wanted.ttl, lock.hold) = (now, *ttl, Hold::Held);
            lock.left.clear();
            lock.rescue = lock.rescue.take().filter(|_| extended);
            world.locks.lapsed.remove(fence);
            world.locks.orphaned.remove(fence);
            if !extended && reason.is_some() {
                lock.wanted.reason.clone_from(reason);
            }
            let (holder, path) = (lock.holder, lock.wanted.pattern.readable());
            watch(world, *fence);
            if extended && holder != record.by {
                let by = world.name_of(record.by);
                world.tell(holder, record.seq, LockTold::Extended { path, by });
            }
        }
        LockEvent::Released { fence, cause, .. } => {
            let Some(lock) = drop_lock(world, *fence) else { return };
            if let ReleaseCause::TakenAway { reason } = cause {
                let (path, by) = (lock.wanted.pattern.readable(), world.name_of(record.by));
                let reason = reason.as_deref().map(str::to_owned);
                world.tell(lock.holder, record.seq, LockTold::Taken { path, by, reason });
            }
        }
        LockEvent::Lapsed { fence, .. } => {
            if let Some(lock) = world.locks.by_fence.get_mut(fence) {
                (lock.hold, lock.renewed) = (Hold::Lapsed, now);
                world.locks.lapsed.insert(*fence);
                watch(world, *fence);
            }
        }
        LockEvent::Expired { fence, .. } => {
            if let Some(lock) = drop_lock(world, *fence) {
                let path = lock.wanted.pattern.readable();
                world.tell(lock.holder, record.seq, LockTold::Expired { path });
            }
        }
        LockEvent::Orphaned { fence, files, .. } => {
            let Some(lock) = world.locks.by_fence.get_mut(fence) else { return };
            let is_news = lock.hold != Hold::Orphaned;
            if is_news {
                (lock.hold, lock.renewed) = (Hold::Orphaned, now);
            }
            lock.left.clone_from(files);
            world.locks.lapsed.remove(fence);
            world.locks.orphaned.insert(*fence);
            let (holder, path) = (lock.holder, lock.wanted.pattern.readable());
            world.deadlines.set(Due::Lock(*fence), None);
            let files: Vec<String> = files.iter().map(ToString::to_string).collect();
            if let Some(agent) = holder.agent() {
                let (leader, by) = (crate::teams::leader_of(world, agent), world.name_of(holder));
                world.tell(leader, record.seq, LockTold::WorkOrphaned { path: path.clone(), by, files });
            }
            if is_news {
                world.tell(holder, record.seq, LockTold::Orphaned { path });
            }
        }
        LockEvent::HandedOver { fence, new_fence, to, reason, into, .. } => {
            hand_over(world, record, *fence, (*new_fence, *to), reason.as_deref(), into.as_deref());
        }
        LockEvent::WaitStarted { ticket, who, wants, wait } => {
            world.ticket = world.ticket.max(*ticket);
            let (who, wants, deadline) = (*who, wants.clone(), now.plus(*wait));
            let key = record.key.clone();
            world.locks.insert_wait(LockWait { ticket: *ticket, who, wants, since: now, deadline, key });
            world.deadlines.set(Due::Wait(*ticket), Some(deadline));
        }
        LockEvent::WaitEnded { ticket, .. } => {
            world.deadlines.set(Due::Wait(*ticket), None);
            if let Some(LockWait { who, key: Some(key), .. }) = world.locks.remove_wait(*ticket) {
                world.answers.remember(who, &key, &record.event);
            }
        }
    }
}

fn drop_lock(world: &mut World, fence: Fence) -> Option<Lock> {
    world.deadlines.set(Due::Lock(fence), None);
    world.locks.remove(fence)
}

fn hand_over(
    world: &mut World,
    record: &Record,
    fence: Fence,
    (new_fence, to): (Fence, Principal),
    reason: Option<&str>,
    into: Option<&str>,
) {
    let Some(mut lock) = drop_lock(world, fence) else { return };
    world.fence = world.fence.max(new_fence);
    let (path, by) = (lock.wanted.pattern.readable(), world.name_of(record.by));
    let reason = reason.map(str::to_owned);
    if lock.holder != record.by {
        let (path, by, reason) = (path.clone(), by.clone(), reason.clone());
        world.tell(lock.holder, record.seq, LockTold::Taken { path, by, reason });
    }
    if to != record.by {
        world.tell(to, record.seq, LockTold::Given { path, by, reason });
    }
    let of = lock.rescue.take().map_or(lock.holder, |rescue| rescue.of);
    let rescue = into.map(|into| OngoingRescue { of, into: into.into() });
    if rescue.is_some() {
        lock.wanted.ttl = lock.wanted.ttl.max(RESCUE_TTL);
    } else if lock.hold == Hold::Orphaned {
        // The next holder should not get a TTL that was too short for the last one.
        lock.wanted.ttl = lock.wanted.ttl.max(LOCK_TTL);
    }
    let now = world.now;
    // What is put aside is the work since its author had the lock, in the author's worktree.
    let since = if rescue.is_some() { lock.since } else { now };
    lock.wanted.worktree = lock.wanted.worktree.filter(|_| rescue.is_some());
    world.locks.insert(Lock {
        fence: new_fence,
        holder: to,
        since,
        renewed: now,
        hold: Hold::Held,
        left: vec![],
        rescue,
        ..lock
    });
    watch(world, new_fence);
}
