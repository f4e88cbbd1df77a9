//! Work that was left: adopted, handed over, put aside, by those who may and by those who may not.

use comity_core::locks::{Hold, LockAsk};
use comity_core::{AgentId, Ask, Fence, Principal};

use super::{Happening, Scene};

impl Scene<'_> {
    pub(super) fn orphan(&mut self, living: &[AgentId]) -> Happening {
        let (who, ask) = match self.rng.below(10) {
            0..5 => self.adopt(living),
            5..8 => self.put_aside(living),
            _ => self.hand_orphan_over(living),
        };
        self.asked(who, Ask::Lock(ask))
    }

    /// Somebody who may decide about it, most of the time.
    fn decider(&mut self, living: &[AgentId], holder: Principal) -> Principal {
        let mut all: Vec<Principal> = living.iter().copied().map(Principal::Agent).collect();
        all.push(Principal::Human);
        if self.rng.happens(75) {
            all.retain(|who| self.oracle.may_decide(*who, holder));
        }
        self.rng.pick(&all).copied().unwrap_or(Principal::Human)
    }

    /// An orphaned lock, or now and then another one.
    fn left(&mut self) -> Option<Fence> {
        let any = self.rng.happens(10);
        let left = self.oracle.locks.iter().filter(|(_, lock)| any || lock.hold == Hold::Orphaned);
        let left: Vec<Fence> = left.map(|(fence, _)| *fence).collect();
        self.rng.pick(&left).copied()
    }

    fn adopt(&mut self, living: &[AgentId]) -> (Principal, LockAsk) {
        let Some(lock) = self.left().map(|fence| &self.oracle.locks[&fence]) else {
            let spot = self.spot();
            let (project, patterns) = (spot.project, vec![spot.pattern]);
            return (Principal::Human, LockAsk::Adopt { project, patterns, reason: None, into: vec![] });
        };
        let who = self.decider(living, lock.holder);
        let (project, pattern) = (lock.want.wanted.project, lock.want.wanted.pattern.clone());
        let more = self.rng.happens(15).then(|| self.spot().pattern);
        let patterns = std::iter::once(pattern).chain(more).collect();
        let mut into = Vec::new();
        if self.rng.happens(50) {
            let company = self.oracle.locks.iter().filter(|(_, other)| other.holder == lock.holder);
            let company: Vec<Fence> = company.map(|(fence, _)| *fence).collect();
            for fence in company {
                if self.rng.happens(90) {
                    into.push((fence, format!("refs/comity/rescue/{}", fence.0).into()));
                }
            }
        }
        (who, LockAsk::Adopt { project, patterns, reason: None, into })
    }

    fn put_aside(&mut self, living: &[AgentId]) -> (Principal, LockAsk) {
        let any = self.rng.happens(5);
        let begun = self.oracle.locks.iter().filter(|(_, lock)| any || lock.rescue.is_some());
        let begun: Vec<Fence> = begun.map(|(fence, _)| *fence).collect();
        let Some(fence) = self.rng.pick(&begun).copied() else { return self.adopt(living) };
        let holder = self.oracle.locks[&fence].holder;
        let who = if self.rng.happens(85) { holder } else { self.decider(living, holder) };
        let also = begun.iter().copied().filter(|other| self.oracle.locks[other].holder == holder);
        // One that is named twice is free once.
        let also = self.rng.pick(&also.collect::<Vec<_>>()).copied().filter(|_| self.rng.happens(30));
        let kept = |fence: Fence| vec![format!("refs/comity/rescue/{}", fence.0).into()];
        let aside = std::iter::once(fence).chain(also).map(|fence| (fence, kept(fence))).collect();
        (who, LockAsk::PutAside { aside })
    }

    fn hand_orphan_over(&mut self, living: &[AgentId]) -> (Principal, LockAsk) {
        let Some(lock) = self.left().map(|fence| &self.oracle.locks[&fence]) else {
            return self.adopt(living);
        };
        let who = self.decider(living, lock.holder);
        let to = self.rng.pick(living).map_or(Principal::Human, |to| Principal::Agent(*to));
        let (project, patterns) = (lock.want.wanted.project, vec![lock.want.wanted.pattern.clone()]);
        (who, LockAsk::HandOver { project, patterns, to, reason: None })
    }
}
