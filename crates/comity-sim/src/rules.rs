//! The rules under test. Tests put faulty ones in their place, to show that the simulator sees the fault.

use comity_core::{Ask, Asker, Key, Outcome, Record, Refusal, Timestamp, World};

/// Who decides and lets time pass.
pub trait Rules {
    /// Decides one ask and folds what follows into the world.
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal>;

    /// Gives what is due at `now`.
    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record>;
}

/// The rules as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealRules;

/// The wall clock means nothing to the rules, so it stands still.
const WALL_MS: i64 = 0;

impl Rules for RealRules {
    fn run(
        &mut self,
        world: &mut World,
        asker: &Asker,
        ask: &Ask,
        key: Option<&Key>,
        now: Timestamp,
    ) -> Result<Outcome, Refusal> {
        comity_core::run(world, asker.clone(), ask, key, now, WALL_MS)
    }

    fn expire(&mut self, world: &mut World, now: Timestamp) -> Vec<Record> {
        comity_core::expire(world, now, WALL_MS)
    }
}
