//! Ends a program.

use comity_core::Ask;
use comity_core::runs::RunAsk;
use schemars::JsonSchema;
use serde::Deserialize;

use super::RunChange;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Stop an agent that Comity started. Its program is asked to end; after 5s all that is left of it is killed.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopRun {
    /// Its name or number
    pub agent: String,
    /// Kill it at once
    #[serde(default)]
    pub force: bool,
}

impl Operation for StopRun {
    type Output = RunChange;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RunChange>, Failure> {
        let run = app.engine().world().runs.find(&self.agent)?.id;
        let asks = vec![Ask::Run(RunAsk::End { run, force: self.force, again: false })];
        Ok(Plan::change(asks, |events, world, _| RunChange::of(events, world, "it is over already")))
    }
}
