//! Lists what waits for the caller.

use std::fmt;

use comity_core::inbox;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::InboxEntry;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Entries that are shown if nothing is said.
const SHOWN: usize = 20;

/// Shows what waits for you, what matters most first, and the command that answers each: requests, plans, work that was left, reviews, letters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInbox {
    /// Show at most this many (20)
    pub limit: Option<usize>,
}

/// What waits for the caller.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InboxList {
    /// What matters most first, and of a kind the oldest.
    pub entries: Vec<InboxEntry>,
    /// How many there are in all.
    pub count: usize,
}

impl Operation for ListInbox {
    type Output = InboxList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<InboxList>, Failure> {
        let (now, world) = (app.engine().now(), app.engine().world());
        let items = inbox::waiting_for(&world, caller.who);
        let shown = items.iter().take(self.limit.unwrap_or(SHOWN));
        let entries = shown.map(|item| InboxEntry::of(item, &world, caller.who, now)).collect();
        Ok(Plan::Answer(InboxList { entries, count: items.len() }))
    }
}

impl fmt::Display for InboxList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count == 0 {
            return f.write_str("nothing waits for you");
        }
        let lines: Vec<String> = self.entries.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))?;
        match self.count - self.entries.len() {
            0 => Ok(()),
            more => write!(f, "\n{more} more: comity inbox --limit {}", self.count),
        }
    }
}
