//! Goes on with what a server's end interrupted.

use comity_core::Ask;
use comity_core::runs::{RunAsk, RunId, RunState};
use schemars::JsonSchema;
use serde::Deserialize;

use super::RunChange;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Start agents again that ended with Comity's server
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResumeRuns {
    /// Only these, by name or number
    #[serde(default)]
    pub agents: Vec<String>,
}

impl Operation for ResumeRuns {
    type Output = RunChange;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RunChange>, Failure> {
        let world = app.engine().world();
        let runs: Vec<RunId> = match self.agents.is_empty() {
            true => {
                let interrupted = |run: &&comity_core::runs::AgentRun| run.state == RunState::Interrupted;
                world.runs.active().filter(interrupted).map(|run| run.id).collect()
            }
            false => self
                .agents
                .iter()
                .map(|name| world.runs.find(name).map(|run| run.id))
                .collect::<Result<_, _>>()?,
        };
        let asks = runs.iter().map(|run| Ask::Run(RunAsk::Resume { run: *run })).collect();
        Ok(Plan::change(asks, move |_, world, _| RunChange::due(&runs, world, "nothing was interrupted")))
    }
}
