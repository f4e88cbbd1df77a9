//! Starts a program anew.

use comity_core::Ask;
use comity_core::runs::RunAsk;
use schemars::JsonSchema;
use serde::Deserialize;

use super::RunChange;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Restart an agent that Comity started, whether it runs or is over.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestartRun {
    /// Its name or number
    pub agent: String,
    /// Kill it at once, instead of asking it to end
    #[serde(default)]
    pub force: bool,
}

impl Operation for RestartRun {
    type Output = RunChange;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RunChange>, Failure> {
        let run = app.engine().world().runs.find(&self.agent)?.id;
        let asks = vec![Ask::Run(RunAsk::End { run, force: self.force, again: true })];
        Ok(Plan::change(asks, |events, world, _| RunChange::of(events, world, "it is being started already")))
    }
}
