//! Shows what Comity runs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use comity_core::activity::Activity;
use comity_core::display::visible;
use comity_core::runs::AgentRun;
use comity_core::table::table;
use comity_core::{AgentId, Millis};

use super::{RunActivity, RunView, Spawn};
use crate::application::Application;
use crate::catalog::next_call;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::project_scope::{ProjectScope, ScopeView};

/// List the programs that Comity runs, their state, and who started them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRuns {
    /// Include those that are over
    #[serde(default)]
    pub all: bool,
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
}

/// The programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunList {
    /// The oldest first.
    pub runs: Vec<RunView>,
    /// How many are over, listed or not.
    pub over: usize,
    #[serde(flatten)]
    pub scope: ScopeView,
}

impl Operation for ListRuns {
    type Output = RunList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<RunList>, Failure> {
        let scope = ProjectScope::of_agents(app, caller, self.all_projects);
        let (runner, now) = (app.runs().runner(), app.engine().now());
        let world = app.engine().world();
        let is_meant = |run: &&AgentRun| self.all || !run.is_over();
        let (runs, others): (Vec<&AgentRun>, Vec<&AgentRun>) =
            world.runs.iter().filter(is_meant).partition(|run| scope.shows(*run));
        let view = |run: &AgentRun| RunView {
            project: scope.name(&world, run),
            ..RunView::of(run, &world, now.since(run.since))
        };
        let mut runs: Vec<RunView> = runs.into_iter().map(view).collect();
        let over = world.runs.iter().filter(|run| run.is_over() && scope.shows(*run)).count();
        let scope = scope.view(others.len());
        drop(world);
        for run in &mut runs {
            let agent = run.agent.as_deref().filter(|_| !run.over);
            let activity = agent.and_then(|key| runner.as_ref()?.activity(key).ok());
            run.activity = activity.map(RunActivity::from);
        }
        Ok(Plan::Answer(RunList { runs, over, scope }))
    }
}

impl fmt::Display for RunList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.runs.is_empty() {
            let over = if self.over == 0 { String::new() } else { format!(" ({} over: --all)", self.over) };
            let spawn = next_call::<Spawn>([("role", "ROLE".into()), ("agent", "claude".into())]);
            let none = self.scope.list(None, "Comity runs no programs");
            write!(f, "{none}{over}; start one with: {spawn}")?;
            return self.scope.more::<ListRuns>().map_or(Ok(()), |more| write!(f, "\n{more}"));
        }
        let row = |run: &RunView| {
            vec![
                run.name.clone(),
                match &run.activity {
                    Some(activity) => format!("{}: {activity}", visible(&run.state)),
                    None => visible(&run.state).into_owned(),
                },
                Millis(run.age_ms).to_string(),
                visible(&run.program).into_owned(),
                run.backend.to_owned(),
                run.started_by.clone(),
                run.project.as_deref().map(visible).unwrap_or_default().into_owned(),
            ]
        };
        let rows: Vec<Vec<String>> = self.runs.iter().map(row).collect();
        let headers = ["NAME", "STATE", "AGE", "PROGRAM", "BACKEND", "STARTED BY", "PROJECT"];
        f.write_str(&self.scope.whole::<ListRuns>(Some(table(&headers, &rows)), ""))
    }
}
