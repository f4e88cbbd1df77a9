//! Summarizes the state.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use comity_core::display::counted;
use comity_core::event::is_housekeeping;
use comity_core::locks::Hold;
use comity_core::table::table;

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Records that are counted by type.
const RECENT: u64 = 10_000;

/// Sum up agents, locks and waits now, and how often each thing happened lately.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summarize {}

/// Counts of everything.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    pub agents: usize,
    pub locks: usize,
    /// Locks over uncommitted work that somebody left.
    pub orphaned: usize,
    pub waits: usize,
    pub entries: u64,
    /// The newest entries by type.
    pub recent: BTreeMap<&'static str, u64>,
    /// The newest entries by who acted.
    pub by_actor: BTreeMap<String, u64>,
}

impl Operation for Summarize {
    type Output = Summary;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Summary>, Failure> {
        let head = app.engine().world().head;
        let records =
            app.reader()?.read(head.saturating_sub(RECENT), RECENT as usize).map_err(Failure::Fault)?;
        let world = app.engine().world();
        let (mut recent, mut by_actor) = (BTreeMap::new(), BTreeMap::new());
        for record in &records {
            *recent.entry(record.event.kind().action).or_default() += 1;
            *by_actor.entry(world.name_of(record.by)).or_default() += 1;
        }
        Ok(Plan::Answer(Summary {
            agents: world.agents.live().count(),
            locks: world.locks.len(),
            orphaned: world.locks.iter().filter(|lock| lock.hold == Hold::Orphaned).count(),
            waits: world.locks.waits().count(),
            entries: head,
            recent,
            by_actor,
        }))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { agents, locks, orphaned, waits, entries, .. } = self;
        let (agents, locks) = (counted(*agents, "agent"), counted(*locks, "lock"));
        write!(f, "{agents}, {locks} ({orphaned} orphaned), {waits} waiting, {entries} entries")?;
        if self.recent.is_empty() {
            return Ok(());
        }
        f.write_str("\n\n")?;
        f.write_str(&table(&["WHAT", "HOW OFTEN LATELY"], &self.rows()))
    }
}

impl Summary {
    /// One row for each feature: `lock`, `acquired 12, released 11`. Without housekeeping.
    fn rows(&self) -> Vec<Vec<String>> {
        let mut groups: BTreeMap<&str, Vec<(String, u64)>> = BTreeMap::new();
        for (action, count) in self.recent.iter().filter(|(action, _)| !is_housekeeping(action)) {
            let (group, rest) = action.split_once('_').unwrap_or((action, "happened"));
            groups.entry(group).or_default().push((rest.replace('_', " "), *count));
        }
        let row = |(group, mut counts): (&str, Vec<(String, u64)>)| {
            counts.sort_by_key(|(_, count)| Reverse(*count));
            let counts: Vec<String> = counts.iter().map(|(what, count)| format!("{what} {count}")).collect();
            vec![group.to_owned(), counts.join(", ")]
        };
        groups.into_iter().map(row).collect()
    }
}
