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
    /// What all that are listed have used, where they tell.
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl Operation for ListRuns {
    type Output = RunList;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RunList>, Failure> {
        let now = app.engine().now();
        let world = app.engine().world();
        let is_meant = |run: &&AgentRun| self.all || !run.is_over();
        let runs = world.runs.iter().filter(is_meant);
        let doing = |run: &AgentRun| {
            let agent = world.agents.get(run.agent()?)?;
            Some((agent.id, Activity::of(&world, agent, now).word()))
        };
        let runs: Vec<(RunView, Option<(AgentId, &'static str)>)> =
            runs.map(|run| (RunView::of(run, &world, now.since(run.since)), doing(run))).collect();
        let over = world.runs.iter().filter(|run| run.is_over()).count();
        drop(world);
        let active = |(run, doing): (RunView, Option<(AgentId, &'static str)>)| {
            let activity = doing.and_then(|(agent, doing)| RunActivity::of(app, agent, doing));
            RunView { activity, ..run }
        };
        let runs: Vec<RunView> = runs.into_iter().map(active).collect();
        let used = |of: fn(&RunActivity) -> u64| {
            runs.iter().filter_map(|run| run.activity.as_ref()).map(of).fold(0, u64::saturating_add)
        };
        let (input_tokens, output_tokens) = (used(|it| it.input_tokens), used(|it| it.output_tokens));
        Ok(Plan::Answer(RunList { runs, over, input_tokens, output_tokens }))
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
                run.backend.to_owned(),
                run.started_by.clone(),
            ]
        };
        let rows: Vec<Vec<String>> = self.runs.iter().map(row).collect();
        f.write_str(&table(&["NAME", "STATE", "AGE", "PROGRAM", "BACKEND", "STARTED BY"], &rows))?;
        if self.input_tokens > 0 {
            write!(f, "\n{} tokens in, {} out", self.input_tokens, self.output_tokens)?;
        }
        Ok(())
    }
}
