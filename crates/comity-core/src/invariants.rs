//! What must be true of every world, checked the slow and obvious way. For tests and the simulator.

use crate::world::World;
use crate::{control, decisions, locks, mail, permissions, pools, runs, tasks, teams};

/// The first violated invariant, if there is one.
pub fn check(world: &World) -> Result<(), String> {
    locks::check(world)?;
    permissions::check(world)?;
    tasks::check(world)?;
    pools::check(world)?;
    runs::check(world)?;
    check_mail(world)
}

/// The part about mail, handshakes, decisions and teams.
pub fn check_mail(world: &World) -> Result<(), String> {
    mail::check(world)?;
    control::check(world)?;
    decisions::check(world)?;
    teams::check(world)
}
