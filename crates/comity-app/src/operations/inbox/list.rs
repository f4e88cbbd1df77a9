//! Lists what waits for the caller.

use comity_core::next_call::Argument;
use std::fmt;

use comity_core::{Principal, inbox};

use super::InboxEntry;
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::locks::Adopt;

/// The default.
const SHOWN: usize = 20;

/// Show what is waiting for you, most important first, and the command that answers each: requests, plans, work left behind, reviews, letters.
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
    /// Whose they are: an agent's name, or human.
    pub whose: String,
}

impl Operation for ListInbox {
    type Output = InboxList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<InboxList>, Failure> {
        let place = app.projects().place(caller).ok();
        if let Some(place) = &place {
            app.waiting_merges(place.project(), place.repository().common_dir());
        }
        let (now, world) = (app.engine().now(), app.engine().world());
        let items = inbox::waiting_at(&world, &caller.asker());
        let limit = self.limit.unwrap_or(SHOWN);
        let mut entries = InboxEntry::first((&items, limit), &world, (caller.who, place.as_ref()), now);
        let merges = app.open_merges().of(caller.who, &world);
        let decisions = items.iter().take_while(|item| item.needs_decision()).count().min(entries.len());
        entries.splice(decisions..decisions, merges.iter().map(|merge| InboxEntry::of_merge(merge, &world)));
        entries.truncate(limit);
        let count = items.len() + merges.len();
        // A caller that only counts has seen no list.
        if self.limit != Some(0) {
            app.shown_lists().remember(caller, &entries);
        }
        let whose = match caller.who {
            Principal::Agent(_) => world.name_of(caller.who),
            Principal::Human | Principal::System | Principal::Nobody => caller.who.to_string(),
        };
        Ok(Plan::Answer(InboxList { entries, count, whose }))
    }
}

impl InboxList {
    /// An entry with its answers: what one agent left in several files has them once, and one that takes over all of it.
    fn lines_of(&self, at: usize) -> String {
        let (number, entry) = (at + 1, &self.entries[at]);
        let Some(whose) = entry.left_by() else { return format!("{number}  {entry}") };
        let is_same = |other: &&InboxEntry| other.left_by() == Some(whose);
        if at > 0 && is_same(&&self.entries[at - 1]) {
            return format!("{number}  {}", entry.line());
        }
        let same = self.entries[at..].iter().take_while(is_same);
        let paths = same.filter_map(|other| other.answers.first()?.input["paths"][0].as_str());
        let paths: Vec<String> = paths.map(str::to_owned).collect();
        match paths.len() {
            0 | 1 => format!("{number}  {entry}"),
            count => {
                let all = next_call::<Adopt>([("paths", Argument::List(paths))]);
                format!("{number}  {entry}\n    all {count}: {all}")
            }
        }
    }
}

impl fmt::Display for InboxList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.count == 0 {
            return f.write_str("nothing is waiting for you");
        }
        let lines: Vec<String> = (0..self.entries.len()).map(|at| self.lines_of(at)).collect();
        f.write_str(&lines.join("\n"))?;
        match self.count - self.entries.len() {
            0 => Ok(()),
            more => write!(
                f,
                "\n{more} more: {}",
                next_call::<ListInbox>([("limit", Argument::Number(self.count as u64))])
            ),
        }
    }
}
