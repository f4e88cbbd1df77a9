//! Guarded acts: a stale fence is refused.

use super::{Hold, Lock, LockMode, LockRefusal};
use crate::ids::{Fence, Principal, ProjectId};
use crate::limits::HOLDERS_SHOWN_MAX;
use crate::paths::PathPattern;
use crate::refusal::Refusal;
use crate::world::World;

/// Checks that `who` still holds every path with the fence it was given.
pub(crate) fn check_fences(
    world: &World,
    who: Principal,
    project: ProjectId,
    held: &[(PathPattern, Fence)],
    mode: LockMode,
) -> Result<(), Refusal> {
    for (pattern, fence) in held {
        let current = |lock: &Lock| {
            lock.holder == who
                && lock.hold == Hold::Held
                && lock.wanted.project == project
                && lock.wanted.mode >= mode
                && crate::paths::covers(&lock.wanted.pattern, pattern)
        };
        if world.locks.get(*fence).is_some_and(current) {
            continue;
        }
        let others = world.locks.overlapping(project, pattern);
        return Err(Refusal::Lock(LockRefusal::StaleFence {
            path: pattern.readable(),
            holders: others
                .iter()
                .filter(|lock| lock.holder != who)
                .take(HOLDERS_SHOWN_MAX)
                .map(|lock| lock.view(world, world.now))
                .collect(),
        }));
    }
    Ok(())
}
