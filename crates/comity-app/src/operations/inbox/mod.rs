//! The inbox: what waits for the caller, of whatever feature, and how each is answered.

mod about;
mod answer;
mod entry;
mod list;
mod names;
mod shown;

use std::fmt;

use comity_core::Millis;
use comity_core::display::visible;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::catalog::{CatalogEntry, GET, Group, POST};
pub use answer::AnswerInbox;
pub use list::ListInbox;
pub(crate) use shown::ShownLists;

pub(crate) const GROUPS: &[Group] = &[("inbox", "What is waiting for you, and how to answer it")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<ListInbox>(  "inbox",        "inbox list",                             GET,  "/api/inbox").long().examples(&["inbox", "inbox p12 allow", "inbox 3 allow"]),
    CatalogEntry::of::<AnswerInbox>("inbox_answer", "inbox answer <entry> <answer> <reason>", POST, "/api/inbox/{entry}").changes().long().keeps_answer().for_agents().tool("answer"),
];

/// One thing that waits for the caller.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InboxEntry {
    /// Its name in the list, which stays the same while it waits.
    pub entry: String,
    /// Another name that is taken for it.
    #[serde(skip)]
    pub(crate) number: Option<String>,
    /// shutdown, permission, plan, places, merge, orphan, death, review, failed, lock_wanted, space, decision, wish, mail, task (yours) or ready (nobody's).
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it is, in a sentence.
    pub what: String,
    /// For how long it has been waiting.
    pub age_ms: u64,
    /// What does not go on before it is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<String>,
    /// The repository that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub answers: Vec<InboxAnswer>,
}

/// An answer that the entry takes, and the call that gives it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InboxAnswer {
    pub answer: &'static str,
    /// The call that gives it, in the words of the door.
    pub command: String,
    pub operation: &'static str,
    /// What that operation is given.
    pub input: Value,
    /// The field of that input for a reason; empty if it takes none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'static str,
    #[serde(skip)]
    pub(crate) needs_reason: bool,
}

/// `p12  2m  ann asks for Bash: cargo publish  (blocks ann)`, and below it the answers.
impl fmt::Display for InboxEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.entry, self.what)?;
        if let Some(project) = &self.project {
            write!(f, "  in {}", visible(project))?;
        }
        write!(f, "  ({}", Millis(self.age_ms).ago())?;
        if let Some(blocks) = &self.blocks {
            write!(f, ", blocks {}", visible(blocks))?;
        }
        f.write_str(")")?;
        self.answers.iter().try_for_each(|answer| write!(f, "\n    {}", answer.command))
    }
}
