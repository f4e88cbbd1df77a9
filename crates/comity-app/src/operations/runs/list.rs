//! Shows what Comity runs.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use comity_core::Millis;
use comity_core::display::visible;
use comity_core::table::table;

use super::{RunActivity, RunView, Spawn};
use crate::application::Application;
use crate::catalog::next_call;
use crate::operation::{Caller, Failure, Operation, Plan};

/// List the programs that Comity runs, where each is in its life, and who started it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListRuns {
    /// Include those that are over
    #[serde(default)]
    pub all: bool,
}

/// The programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunList {
    /// The oldest first.
    pub runs: Vec<RunView>,
    /// How many are over, listed or not.
    pub over: usize,
}

impl Operation for ListRuns {
    type Output = RunList;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RunList>, Failure> {
        let (runner, now) = (app.runs().runner(), app.engine().now());
        let world = app.engine().world();
        let is_meant = |run: &&comity_core::runs::AgentRun| self.all || !run.is_over();
        let runs = world.runs.iter().filter(is_meant);
        let mut runs: Vec<RunView> = runs.map(|run| RunView::of(run, &world, now.since(run.since))).collect();
        let over = world.runs.iter().filter(|run| run.is_over()).count();
        drop(world);
        for run in &mut runs {
            let agent = run.agent.as_deref().filter(|_| !run.over);
            let activity = agent.and_then(|key| runner.as_ref()?.activity(key).ok());
            run.activity = activity.map(RunActivity::from);
        }
        Ok(Plan::Answer(RunList { runs, over }))
    }
}

impl fmt::Display for RunList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.runs.is_empty() {
            let over = if self.over == 0 { String::new() } else { format!(" ({} over: --all)", self.over) };
            let spawn = next_call::<Spawn>([("role", "ROLE".into()), ("agent", "claude".into())]);
            return write!(f, "Comity runs no programs{over}; start one with: {spawn}");
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
                if run.sandbox { format!("{}, sandbox", run.backend) } else { run.backend.to_owned() },
                run.started_by.clone(),
            ]
        };
        let rows: Vec<Vec<String>> = self.runs.iter().map(row).collect();
        f.write_str(&table(&["NAME", "STATE", "AGE", "PROGRAM", "BACKEND", "STARTED BY"], &rows))
    }
}
