//! What is known when a write is seen, and whether it is worth reporting.

use std::collections::BTreeSet;

use comity_core::locks::LockMode;
use comity_core::{AgentId, PathPattern, Principal, ProjectId, Timestamp, World};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Owned {
    Free,
    /// Somebody reads it, and nobody may write.
    Shared(Principal),
    /// Only this one may write it.
    Exclusive(Principal),
}

/// A write, as it was seen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Observation {
    pub(super) owned: Owned,
    pub(super) candidates: BTreeSet<AgentId>,
}

/// A write that has to be reported.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct WriteSuspects {
    pub(super) holder: Option<Principal>,
    pub(super) candidates: Vec<AgentId>,
}

impl Owned {
    /// Whose a file is right now.
    pub(super) fn at(world: &World, project: ProjectId, file: &PathPattern, now: Timestamp) -> Owned {
        let locks = world.locks.overlapping(project, file);
        let owned =
            locks.into_iter().filter(|lock| lock.is_live(world, now)).map(|lock| match lock.wanted.mode {
                LockMode::Exclusive => Owned::Exclusive(lock.holder),
                LockMode::Shared => Owned::Shared(lock.holder),
            });
        owned.max().unwrap_or(Owned::Free)
    }
}

impl Observation {
    /// Adds another observation from the same burst: if it was unlocked once, it was written without a lock.
    pub(super) fn and(&mut self, other: Observation) {
        self.owned = self.owned.min(other.owned);
        self.candidates.extend(other.candidates);
    }

    /// Whether this is worth reporting. `is_heard` says whose calls are all known.
    pub(super) fn suspects(&self, is_heard: impl Fn(AgentId) -> bool) -> Option<WriteSuspects> {
        let candidates: Vec<AgentId> = self.candidates.iter().copied().collect();
        match self.owned {
            Owned::Free => Some(WriteSuspects { holder: None, candidates }),
            Owned::Shared(holder) => Some(WriteSuspects { holder: Some(holder), candidates }),
            // It is the holder's own write, unless the holder is known to do nothing and one other is working.
            Owned::Exclusive(holder) => {
                let is_idle = holder.agent().is_some_and(is_heard);
                let by_other = matches!(candidates[..], [other] if Principal::Agent(other) != holder);
                (is_idle && by_other).then_some(WriteSuspects { holder: Some(holder), candidates })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: u64 = 1;
    const BOB: u64 = 2;

    fn agent(number: u64) -> AgentId {
        AgentId::from_bits(number)
    }

    fn who(number: u64) -> Principal {
        Principal::Agent(agent(number))
    }

    /// Whether a write by one of `candidates` is news, and whose lock it is in.
    fn check(owned: Owned, candidates: &[u64], heard: &[u64], expected: Option<Option<u64>>) {
        let candidates: BTreeSet<AgentId> = candidates.iter().map(|number| agent(*number)).collect();
        let observation = Observation { owned, candidates };
        let suspects = observation.suspects(|id| heard.iter().any(|number| agent(*number) == id));
        assert_eq!(
            suspects.map(|suspects| suspects.holder),
            expected.map(|of| of.map(who)),
            "{observation:?} {heard:?}"
        );
    }

    #[test]
    fn what_is_news() {
        let both = &[ANN, BOB];
        check(Owned::Free, &[], both, Some(None));
        check(Owned::Free, both, both, Some(None));
        check(Owned::Shared(who(ANN)), &[ANN], both, Some(Some(ANN)));
        let anns = Owned::Exclusive(who(ANN));
        check(anns, &[ANN], both, None);
        check(anns, &[], both, None);
        check(anns, both, both, None);
        check(anns, &[BOB], both, Some(Some(ANN)));
        check(anns, &[BOB, 3], both, None);
        // Nobody tells what ann does, so it may be ann.
        check(anns, &[BOB], &[BOB], None);
        check(Owned::Exclusive(Principal::Human), &[BOB], both, None);
    }

    #[test]
    fn what_was_unlocked_once_counts_as_unlocked() {
        let one = |owned, number| Observation { owned, candidates: BTreeSet::from([agent(number)]) };
        let mut observation = one(Owned::Exclusive(who(ANN)), BOB);
        observation.and(one(Owned::Free, ANN));
        observation.and(one(Owned::Exclusive(who(ANN)), BOB));
        assert_eq!(
            observation,
            Observation { owned: Owned::Free, candidates: BTreeSet::from([agent(ANN), agent(BOB)]) }
        );
    }
}
