//! Takes a program that was given up out of the inbox.

use comity_core::Ask;
use comity_core::runs::RunAsk;
use schemars::JsonSchema;
use serde::Deserialize;

use super::RunChange;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Take note of an agent that crashed too often, or could not be started: it leaves your inbox.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DismissRun {
    /// Its name or number
    pub agent: String,
}

impl Operation for DismissRun {
    type Output = RunChange;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<RunChange>, Failure> {
        let run = app.engine().world().runs.find(&self.agent)?.id;
        let asks = vec![Ask::Run(RunAsk::Note { run })];
        Ok(Plan::change(asks, |events, world, _| RunChange::of(events, world, "it isn't in your inbox")))
    }
}
