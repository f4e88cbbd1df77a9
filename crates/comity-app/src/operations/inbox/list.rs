//! Lists what waits for the caller.

use std::fmt;

use comity_core::Principal;
use comity_core::display::visible;
use comity_core::inbox::{self, InboxItem};
use comity_core::next_call::Argument;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InboxEntry, about};
use crate::application::Application;
use crate::catalog::next_call;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::project_scope::{ProjectScope, ScopeView};

/// The default.
const SHOWN: usize = 20;

/// Show what is waiting for you, most important first, and the command that answers each: requests, plans, work left behind, reviews, letters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInbox {
    /// Show at most this many (20)
    pub limit: Option<usize>,
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
}

/// What waits for the caller.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InboxList {
    /// What matters most first, and of a kind the oldest.
    pub entries: Vec<InboxEntry>,
    /// How many there are in all that are not elsewhere.
    pub count: usize,
    #[serde(flatten)]
    pub scope: ScopeView,
    /// Whose they are: an agent's name, or human.
    pub whose: String,
}

impl Operation for ListInbox {
    type Output = InboxList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<InboxList>, Failure> {
        let place = app.projects().place(caller).ok();
        // Nothing else tells an agent what waits for it.
        let is_agents = caller.who != Principal::Human;
        let scope = ProjectScope::of_agents(app, caller, self.all_projects || is_agents);
        if let Some(place) = &place {
            app.waiting_merges(place.project(), place.repository().common_dir());
        }
        let (now, world) = (app.engine().now(), app.engine().world());
        let items = inbox::waiting_at(&world, &caller.asker());
        let is_shown = |item: &InboxItem<'_>| scope.shows(about::belongs_to(item));
        let shown = items.iter().filter(|item| is_shown(item));
        let (shown, decisions) = shown
            .fold((0, 0), |(all, decisions), item| (all + 1, decisions + usize::from(item.needs_decision())));
        let limit = self.limit.unwrap_or(SHOWN);
        let mut entries =
            InboxEntry::first((&items, limit), is_shown, &world, (caller.who, place.as_ref()), now);
        if self.all_projects {
            let shown = items.iter().filter(|item| is_shown(item));
            for (entry, item) in entries.iter_mut().zip(shown).filter(|(entry, _)| entry.project.is_none()) {
                entry.project = scope.name(&world, about::belongs_to(item));
            }
        }
        let merges = app.open_merges().of(caller.who, &world).into_iter();
        let (merges, other_merges): (Vec<_>, Vec<_>) = merges.partition(|merge| scope.shows(merge.project));
        let decisions = decisions.min(entries.len());
        entries.splice(decisions..decisions, merges.iter().map(|merge| InboxEntry::of_merge(merge, &world)));
        entries.truncate(limit);
        let count = shown + merges.len();
        // Whoever only counts has seen no list.
        if self.limit != Some(0) {
            app.shown_lists().remember(caller, &entries);
        }
        let whose = match caller.who {
            Principal::Agent(_) => world.name_of(caller.who),
            Principal::Human | Principal::System | Principal::Nobody => caller.who.to_string(),
        };
        let scope = scope.view(items.len() - shown + other_merges.len());
        Ok(Plan::Answer(InboxList { entries, count, scope, whose }))
    }
}

impl fmt::Display for InboxList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |(at, entry): (usize, &InboxEntry)| format!("{}  {entry}", at + 1);
        let shown = self.entries.iter().enumerate().map(number);
        let left = self.count - self.entries.len();
        let all = || next_call::<ListInbox>([("limit", Argument::Number(self.count as u64))]);
        let left = (left > 0).then(|| format!("{left} more: {}", all()));
        let none = (self.count == 0).then(|| match (&self.scope.project, self.scope.elsewhere) {
            (Some(project), 1..) => format!("nothing is waiting for you in {}", visible(project)),
            _ => "nothing is waiting for you".to_owned(),
        });
        let lines = none.into_iter().chain(shown).chain(left).chain(self.scope.more::<ListInbox>());
        f.write_str(&lines.collect::<Vec<_>>().join("\n"))
    }
}
