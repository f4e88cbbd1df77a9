//! When the watcher checks again what to watch.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use comity_core::locks::LockEvent;
use comity_core::{AgentId, Event, Principal, ProjectId, World};
use comity_watch::Watcher;

use crate::engine::{Engine, Feed};
use crate::page_size::PageSize;

const ALL: PageSize = PageSize { records: usize::MAX, bytes: usize::MAX };

/// Wakes the watcher when an agent comes or goes, or works in another place.
pub(super) fn wake_by(engine: &Engine, watcher: &Arc<Watcher>) {
    let (engine_seen, watcher) = (engine.clone(), watcher.clone());
    let places = Mutex::new(KnownPlaces { read_to: engine.feed().head(), ..KnownPlaces::default() });
    engine.feed().wake(Arc::new(move |_| {
        let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
        // Both are evaluated, so that what one finds is not news to the other.
        let (is_locked, is_changed) =
            (places.locks_elsewhere(engine_seen.feed()), places.have_changed(&engine_seen.world()));
        if is_locked || is_changed {
            watcher.wake();
        }
    }));
}

/// Where agents work, as far as the watcher knows. A lock that is taken and given up all the time is no news.
#[derive(Debug, Default)]
struct KnownPlaces {
    agents: usize,
    worktrees: usize,
    locked: BTreeSet<(AgentId, ProjectId)>,
    read_to: u64,
}

impl KnownPlaces {
    fn have_changed(&mut self, world: &World) -> bool {
        let now = (world.agents.changes(), world.worktrees.len());
        if now == (self.agents, self.worktrees) {
            return false;
        }
        (self.agents, self.worktrees) = now;
        self.locked.retain(|(agent, _)| world.agents.living(*agent).is_ok());
        true
    }

    /// Whether an agent got a lock where it had none before.
    fn locks_elsewhere(&mut self, feed: &Feed) -> bool {
        let Some(records) = feed.recent(self.read_to, ALL) else {
            self.read_to = feed.head();
            return true;
        };
        let mut is_new = false;
        for record in records {
            self.read_to = record.seq;
            is_new |= self.is_elsewhere(&record.event);
        }
        is_new
    }

    fn is_elsewhere(&mut self, event: &Event) -> bool {
        match event {
            Event::Lock(LockEvent::Acquired { holder: Principal::Agent(agent), wanted, .. }) => {
                self.locked.insert((*agent, wanted.project))
            }
            Event::Lock(LockEvent::HandedOver { .. }) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use comity_core::locks::{LockMode, ReleaseCause, Wanted};
    use comity_core::{CaseRule, Fence, Millis, PathPattern};

    use super::*;

    fn locked(agent: u64, project: u64) -> Event {
        let wanted = Wanted {
            project: ProjectId::from_bits(project),
            pattern: PathPattern::file("src/a.rs", CaseRule::Exact).expect("a path"),
            mode: LockMode::Exclusive,
            ttl: Millis(1_000),
            reason: None,
            with_children: false,
            worktree: None,
        };
        let holder = Principal::Agent(AgentId::from_bits(agent));
        Event::Lock(LockEvent::Acquired { fence: Fence(1), holder, wanted, ticket: None })
    }

    #[test]
    fn only_the_first_lock_of_an_agent_in_a_project_is_news() {
        let mut places = KnownPlaces::default();
        let cause = ReleaseCause::GivenBack;
        let unlocked = Event::Lock(LockEvent::Released { fence: Fence(1), path: "src/a.rs".into(), cause });
        let news = [
            (locked(1, 1), true),
            (unlocked, false),
            (locked(1, 1), false),
            (locked(2, 1), true),
            (locked(1, 2), true),
            (locked(1, 1), false),
        ];
        for (at, (event, is_news)) in news.iter().enumerate() {
            assert_eq!(places.is_elsewhere(event), *is_news, "{at}: {event:?}");
        }
    }
}
