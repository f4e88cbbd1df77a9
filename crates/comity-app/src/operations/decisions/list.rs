//! Shows the decisions.

use std::fmt;

use comity_core::Refusal;
use comity_core::decisions::{Decision, DecisionId, DecisionState};
use comity_core::table::table;

use super::{DecisionView, number, unknown};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::page_size::{self, PageSize};
use crate::project_scope::{ProjectScope, ScopeView};

/// The default number of decisions in one answer.
const LIMIT: usize = 50;
const LIMIT_MAX: usize = 1_000;
/// Bytes of one answer, unless a single decision has more.
const BYTES_MAX: usize = 1024 * 1024;

/// List decisions: what was decided, why, and what is waiting to be confirmed; the newest, or those before one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDecisions {
    /// Only this one, such as d3
    pub id: Option<String>,
    /// Only those waiting to be confirmed
    #[serde(default)]
    pub pending: bool,
    /// Only those before this one, such as d40: to look further back
    pub before: Option<String>,
    /// Show at most this many (50)
    pub limit: Option<usize>,
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
}

/// What was decided.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DecisionList {
    /// The oldest first.
    pub decisions: Vec<DecisionView>,
    /// Whether there are older ones: ask again, `before` the first one.
    pub more: bool,
    #[serde(flatten)]
    pub scope: ScopeView,
    /// Whether one was asked for: it is shown with all that there is of it.
    #[serde(skip)]
    is_one: bool,
}

impl Operation for ListDecisions {
    type Output = DecisionList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<DecisionList>, Failure> {
        let limit = self.limit.unwrap_or(LIMIT);
        if limit == 0 || limit > LIMIT_MAX {
            let problem = format!("a limit of {limit} is not possible");
            return Err(Refusal::bad_input(problem, format!("1 to {LIMIT_MAX}")).into());
        }
        let before = self.before.as_deref().map(number).transpose()?.unwrap_or(DecisionId(u64::MAX));
        let scope = ProjectScope::of_agents(app, caller, self.all_projects);
        let (world, now) = (app.engine().world(), app.engine().now());
        if let Some(id) = self.id.as_deref() {
            let wanted = number(id)?;
            let found = world.decisions.iter().find(|one| one.id == wanted).ok_or_else(|| unknown(id))?;
            let decisions = vec![DecisionView::of(found, &world, now)];
            let scope = scope.view(0);
            return Ok(Plan::Answer(DecisionList { decisions, more: false, scope, is_one: true }));
        }
        let is_meant = |one: &&Decision| !self.pending || one.standing == DecisionState::Pending;
        let elsewhere = world.decisions.iter().filter(is_meant).filter(|one| !scope.shows(one.by)).count();
        let shown = world.decisions.iter().rev().filter(|one| one.id < before).filter(is_meant);
        let view = |one: &Decision| DecisionView {
            project: scope.name(&world, one.by),
            ..DecisionView::of(one, &world, now)
        };
        let mut newest = shown.filter(|one| scope.shows(one.by)).map(view).peekable();
        let mut room = PageSize { records: limit, bytes: BYTES_MAX }.room();
        let mut decisions = Vec::new();
        while let Some(decision) = newest.next_if(|decision| room.takes(page_size::of(decision))) {
            decisions.push(decision);
        }
        decisions.reverse();
        let more = newest.peek().is_some();
        let scope = scope.view(elsewhere);
        Ok(Plan::Answer(DecisionList { decisions, more, scope, is_one: false }))
    }
}

impl fmt::Display for DecisionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_one {
            return self.decisions.iter().try_for_each(|one| write!(f, "{one}"));
        }
        let rows: Vec<Vec<String>> = self.decisions.iter().map(DecisionView::row).collect();
        let headers = ["ID", "STATE", "BY", "AGO", "PROJECT", "TITLE", "SETTLED BY"];
        let list = (!rows.is_empty()).then(|| table(&headers, &rows));
        let older = self.decisions.first().filter(|_| self.more).map(|first| {
            let older = next_call::<ListDecisions>([("before", first.id.as_str().into())]);
            format!("there are older ones: {older}")
        });
        let list = list.map(|list| [list].into_iter().chain(older).collect::<Vec<_>>().join("\n"));
        f.write_str(&self.scope.whole::<ListDecisions>(list, "nothing was decided"))
    }
}
