//! Gives somebody an agent's terminal.

use std::fmt;

use comity_core::Ask;
use comity_core::runs::{Reached, RunAsk, RunBackend};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reachable;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Attach your terminal to an agent that Comity started: see what it shows, and type into it. Ctrl-] detaches.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachRun {
    /// Its name or number
    pub agent: String,
}

/// Where its terminal is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunTerminal {
    pub name: String,
    /// The command that shows it, if it is in a pane of tmux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Whether it has none, for it speaks ACP: what it says can be read, and lines prompt it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub acp: bool,
}

impl Operation for AttachRun {
    type Output = RunTerminal;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<RunTerminal>, Failure> {
        let (run, key) = reachable(app, caller, &self.agent)?;
        let asks = vec![Ask::Run(RunAsk::Reach { run: run.id, how: Reached::Attached })];
        Ok(Plan::change_then(asks, move |app, _| {
            let runner = app.runs().runner().ok_or_else(|| Failure::fault("nothing is running"))?;
            let acp = run.spec.backend == RunBackend::Acp;
            Ok(RunTerminal { name: run.spec.name.to_string(), command: runner.attach_command(&key), acp })
        }))
    }
}

impl fmt::Display for RunTerminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.command {
            Some(command) => write!(f, "{} is in tmux: {}", self.name, command.join(" ")),
            None if self.acp => write!(f, "{} has no terminal: it speaks ACP", self.name),
            None => write!(f, "{} has a terminal of its own", self.name),
        }
    }
}
