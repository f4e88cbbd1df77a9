//! A restart: the world is folded again from its log, and must be the one that was there before.

use comity_core::snapshot::Snapshot;
use comity_core::{Record, World};

use crate::simulation::PATIENCE;

/// A snapshot that was written down some time ago.
pub(crate) struct SavedSnapshot {
    text: String,
    head: u64,
}

impl SavedSnapshot {
    pub(crate) fn of(world: &World) -> Result<SavedSnapshot, String> {
        let text = serde_json::to_string(&Snapshot::of(world))
            .map_err(|fault| format!("the snapshot can't be written: {fault}"))?;
        Ok(SavedSnapshot { text, head: world.head })
    }

    fn restored(&self) -> Result<World, String> {
        let snapshot: Snapshot = serde_json::from_str(&self.text)
            .map_err(|fault| format!("the snapshot can't be read: {fault}"))?;
        Ok(snapshot.restore(PATIENCE))
    }
}

/// Folds the log from its beginning or from a snapshot; the result must equal `live` in facts and deadlines.
pub(crate) fn fold_again(
    live: &World,
    log: &[Record],
    aside: Option<&SavedSnapshot>,
    through_json: bool,
) -> Result<World, String> {
    let mut world = match aside {
        Some(aside) => aside.restored()?,
        None => World::new(PATIENCE),
    };
    let after = aside.map_or(0, |aside| aside.head);
    for record in log.iter().filter(|record| record.seq > after) {
        if through_json {
            world.apply(&copied(record)?);
        } else {
            world.apply(record);
        }
    }
    if Snapshot::of(&world) != Snapshot::of(live) {
        return Err("the world folded again is not the world that was".into());
    }
    if world.next_deadline() != live.next_deadline() {
        return Err(format!(
            "folded again, the next deadline is {:?}, but it was {:?}",
            world.next_deadline(),
            live.next_deadline()
        ));
    }
    Ok(world)
}

fn copied(record: &Record) -> Result<Record, String> {
    let text =
        serde_json::to_string(record).map_err(|fault| format!("a record can't be written: {fault}"))?;
    let copy: Record =
        serde_json::from_str(&text).map_err(|fault| format!("{text} can't be read: {fault}"))?;
    if copy == *record { Ok(copy) } else { Err(format!("{text} reads back as another record")) }
}
