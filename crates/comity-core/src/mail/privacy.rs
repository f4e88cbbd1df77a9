//! Who may read a letter. Every door and every reader of the log asks here.

use crate::ids::Principal;
use crate::teams::leads;
use crate::world::World;

/// Whether `who` may read what `from` wrote to these: sender and receivers, anybody who leads one of them, and the
/// human.
pub fn may_read(world: &World, who: Principal, from: Principal, to: &[Principal]) -> bool {
    if who.agent().is_none() {
        return who == Principal::Human || who == Principal::System;
    }
    let is_led = |member: Principal| member.agent().is_some_and(|agent| leads(world, who, agent));
    [from].iter().chain(to).any(|member| *member == who || is_led(*member))
}
