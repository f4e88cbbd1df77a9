//! What the model makes of the queue: who waits for whom, and who may go first.

use comity_core::locks::{Hold, LockEvent, WaitEnding};
use comity_core::{Event, Fence, Principal, Record, Ticket};

use super::{Found, Oracle, Queued, WantedFiles};
use crate::sim_paths::SimPaths;

/// One act by which somebody gets locks.
#[derive(Debug)]
pub(super) struct Grant {
    holder: Principal,
    /// For which place in the queue, once that is known.
    place: Option<Option<Ticket>>,
    /// Everybody who waited for the holder before.
    dependants: Vec<Principal>,
}

impl Grant {
    fn is_of(&self, holder: Principal, ticket: Option<Ticket>) -> bool {
        self.holder == holder && self.place.is_none_or(|place| place == ticket)
    }
}

impl Oracle {
    pub(super) fn observe_wait(&mut self, paths: &SimPaths, record: &Record) -> Found {
        match &record.event {
            Event::Lock(LockEvent::WaitStarted { ticket, who, wants, wait }) => {
                if *ticket <= self.ticket || *who != record.by {
                    return Err(format!("{ticket:?} after {:?}, for {who} by {}", self.ticket, record.by));
                }
                self.ticket = *ticket;
                let wants = wants.iter().map(|wanted| WantedFiles::of(paths, wanted)).collect();
                let (deadline, key) = (record.now.plus(*wait), record.key.clone());
                self.waits.insert(*ticket, Queued { who: *who, wants, deadline, key });
                Ok(())
            }
            Event::Lock(LockEvent::WaitEnded { ticket, ending }) => {
                let Some(wait) = self.waits.remove(ticket) else {
                    return Err(format!("{ticket:?} ended, but it did not wait"));
                };
                if let Some(key) = wait.key.clone() {
                    self.answers.entry((wait.who, key)).or_default().push(record.event.clone());
                }
                match ending {
                    WaitEnding::Granted { fences } => self.was_granted(&wait, fences),
                    WaitEnding::TimedOut if record.now < wait.deadline => {
                        Err(format!("{ticket:?} timed out too early"))
                    }
                    WaitEnding::TimedOut => Ok(()),
                    WaitEnding::Cancelled if record.by != wait.who && record.by != Principal::System => {
                        Err(format!("{} cancelled the wait of {}", record.by, wait.who))
                    }
                    WaitEnding::Cancelled => Ok(()),
                    WaitEnding::Orphaned if !self.waited_for_an_orphan(&wait) => {
                        Err(format!("{ticket:?} ended, but nothing that it waited for is orphaned"))
                    }
                    WaitEnding::Orphaned => Ok(()),
                    WaitEnding::AskerEnded => {
                        self.leaving.extend(wait.who.agent());
                        Ok(())
                    }
                }
            }
            _ => Ok(()),
        }
    }

    fn waited_for_an_orphan(&self, wait: &Queued) -> bool {
        let mut orphans = self.locks.values().filter(|lock| lock.hold == Hold::Orphaned);
        orphans.any(|lock| lock.holder != wait.who && wait.wants.iter().any(|want| want.collides(&lock.want)))
    }

    /// Everything that was waited for is held, with the fences that were told.
    fn was_granted(&self, wait: &Queued, fences: &[Fence]) -> Found {
        let matches = |(want, fence): (&WantedFiles, &Fence)| {
            self.locks.get(fence).is_some_and(|lock| {
                lock.holder == wait.who
                    && lock.want.wanted.project == want.wanted.project
                    && lock.want.wanted.pattern == want.wanted.pattern
                    && lock.want.mode >= want.mode
            })
        };
        if fences.len() == wait.wants.len() && wait.wants.iter().zip(fences).all(matches) {
            return Ok(());
        }
        Err(format!("{} was told {fences:?}, but holds otherwise", wait.who))
    }

    /// First come, first served: only who is itself waited for may go before an earlier place.
    pub(super) fn nobody_is_overtaken(
        &mut self,
        holder: Principal,
        ticket: Option<Ticket>,
        want: &WantedFiles,
    ) -> Found {
        let earlier = |(place, wait): &(&Ticket, &Queued)| {
            wait.who != holder
                && ticket.is_none_or(|ticket| **place < ticket)
                && wait.wants.iter().any(|other| other.collides(want))
        };
        let passed: Vec<(Ticket, Principal)> =
            self.waits.iter().filter(earlier).map(|(place, wait)| (*place, wait.who)).collect();
        // A grant of several locks is one act: who waited for whom is judged before its first lock.
        let known = self.overtaken.as_mut().filter(|grant| grant.is_of(holder, ticket));
        match known {
            Some(grant) => grant.place = Some(ticket),
            None => self.grant_begins(holder, Some(ticket)),
        }
        let Some(Grant { dependants, .. }) = &self.overtaken else { return Ok(()) };
        match passed.iter().find(|(_, who)| !dependants.contains(who)) {
            Some((place, who)) => {
                Err(format!("{holder} overtook {who} ({place:?}), who does not wait for it"))
            }
            None => Ok(()),
        }
    }

    /// Notes who waits for `holder` now, before it gets something.
    pub(super) fn grant_begins(&mut self, holder: Principal, place: Option<Option<Ticket>>) {
        let dependants = if self.waits.is_empty() { Vec::new() } else { self.dependants(holder) };
        self.overtaken = Some(Grant { holder, place, dependants });
    }

    /// Everybody who may wait for `top`, perhaps by way of others, whatever for.
    fn dependants(&self, top: Principal) -> Vec<Principal> {
        let mut found = vec![top];
        let mut next = 0;
        while let Some(blocker) = found.get(next).copied() {
            let by_locks = self.waits.iter().filter(|(ticket, wait)| {
                self.lock_blocks(wait, blocker) || self.place_blocks(**ticket, wait, blocker)
            });
            let by_locks: Vec<Principal> = by_locks.map(|(_, wait)| wait.who).collect();
            let others = self.waiters().into_iter();
            let by_others =
                others.filter(|who| self.other_needs(*who).iter().any(|(from, _)| from.contains(&blocker)));
            for who in by_locks.into_iter().chain(by_others) {
                if !found.contains(&who) {
                    found.push(who);
                }
            }
            next += 1;
        }
        found.remove(0);
        found
    }

    /// Whoever waits for a slot or an answer.
    fn waiters(&self) -> Vec<Principal> {
        let lines = self.shelves.by_name.values().flat_map(|shelf| shelf.line.values());
        let in_line = lines.filter(|stand| stand.is_blocking).map(|stand| stand.who);
        in_line.chain(self.permissions.awaited().map(|(asker, _)| asker)).collect()
    }

    /// What somebody who waits for slots and answers needs: from whom, and how many have to give it.
    fn other_needs(&self, who: Principal) -> Vec<(Vec<Principal>, usize)> {
        let mut needs: Vec<(Vec<Principal>, usize)> = Vec::new();
        for shelf in self.shelves.by_name.values() {
            let own = shelf.line.iter().filter(|(_, stand)| stand.is_blocking && stand.who == who);
            for (ticket, _) in own {
                let comes_back = shelf.slots.values().filter(|slot| slot.process.is_some()).count()
                    + shelf.line.values().filter(|stand| stand.is_reserved).count();
                let kept = shelf.slots.values().filter(|slot| slot.process.is_none());
                let owners: Vec<Principal> = kept.map(|slot| slot.owner).collect();
                let back = (shelf.used() + 1).saturating_sub(shelf.capacity + comes_back);
                if back > 0 && !owners.is_empty() {
                    needs.push((owners, back));
                }
                let before = shelf.line.range(..ticket).map(|(_, stand)| stand);
                // Whoever waits for a process gives its slot back with that, whatever else it waits for.
                let before =
                    before.filter(|stand| stand.is_blocking && stand.who != who && stand.process.is_none());
                needs.extend(before.map(|stand| (vec![stand.who], 1)));
            }
        }
        let answers = self.permissions.awaited().filter(|(asker, to)| *asker == who && to.agent().is_some());
        needs.extend(answers.map(|(_, to)| (vec![to], 1)));
        needs
    }

    /// Everybody who waits for ever: for others who do.
    fn stuck(&self) -> Vec<Principal> {
        let mut stuck: Vec<Principal> =
            self.waits.values().map(|wait| wait.who).chain(self.waiters()).collect();
        stuck.sort();
        stuck.dedup();
        loop {
            let is_stuck = |who: &Principal| {
                let locks = self.waits.values().filter(|wait| wait.who == *who);
                let locks = locks.flat_map(|wait| self.lock_blockers(wait)).map(|holder| (vec![holder], 1));
                let mut needs = locks.chain(self.other_needs(*who));
                needs.any(|(from, count)| from.iter().filter(|one| !stuck.contains(one)).count() < count)
            };
            let left: Vec<Principal> = stuck.iter().copied().filter(is_stuck).collect();
            if left.len() == stuck.len() {
                return left;
            }
            stuck = left;
        }
    }

    fn lock_blocks(&self, wait: &Queued, blocker: Principal) -> bool {
        let held = self.locks.values().filter(|lock| lock.holder == blocker);
        held.into_iter().any(|lock| wait.wants.iter().any(|want| want.collides(&lock.want)))
    }

    fn place_blocks(&self, ticket: Ticket, wait: &Queued, blocker: Principal) -> bool {
        let before = self.waits.range(..ticket).filter(|(_, other)| other.who == blocker);
        before.into_iter().any(|(_, other)| {
            other.wants.iter().any(|theirs| wait.wants.iter().any(|want| want.collides(theirs)))
        })
    }

    /// The holders of locks that keep this place waiting.
    fn lock_blockers<'a>(&'a self, wait: &'a Queued) -> impl Iterator<Item = Principal> + 'a {
        let collides = |lock: &&super::ModelLock| {
            lock.holder != wait.who && wait.wants.iter().any(|want| want.collides(&lock.want))
        };
        self.locks.values().filter(collides).map(|lock| lock.holder)
    }

    /// Everybody whom `who` may wait for, perhaps by way of others.
    pub(super) fn waits_for(&self, who: Principal) -> Vec<Principal> {
        let mut found: Vec<Principal> = Vec::new();
        let mut open = vec![who];
        while let Some(next) = open.pop() {
            let locks = self.waits.values().filter(|wait| wait.who == next);
            let locks = locks.flat_map(|wait| self.lock_blockers(wait));
            for blocker in locks.chain(self.other_needs(next).into_iter().flat_map(|(from, _)| from)) {
                if !found.contains(&blocker) {
                    found.push(blocker);
                    open.push(blocker);
                }
            }
        }
        found
    }

    /// Nobody waits in a circle, and nobody was forgotten who could go on.
    pub(super) fn queue_moves(&self) -> Found {
        if let Some(who) = self.stuck().first() {
            return Err(format!("{who} waits for itself, by way of others"));
        }
        for (ticket, wait) in &self.waits {
            let reached = self.waits_for(wait.who);
            let another = |(place, other): &(&Ticket, &Queued)| {
                **place != *ticket
                    && other.who != wait.who
                    && (*place < ticket || reached.contains(&other.who))
            };
            let kept_by_place = self.waits.iter().filter(another).any(|(_, other)| {
                other.wants.iter().any(|theirs| wait.wants.iter().any(|want| want.collides(theirs)))
            });
            if !kept_by_place && self.lock_blockers(wait).next().is_none() {
                return Err(format!("{} was forgotten in the queue at {ticket:?}", wait.who));
            }
        }
        Ok(())
    }
}
