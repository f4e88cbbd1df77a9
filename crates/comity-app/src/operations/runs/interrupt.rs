//! Ends what an agent is doing now.

use std::fmt;

use comity_core::Ask;
use comity_core::runs::{Reached, RunAsk, RunBackend, RunProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reachable;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Interrupt what an agent that Comity started is doing. Its program keeps running and waits for input.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InterruptRun {
    /// Its name or number
    pub agent: String,
}

/// Who was interrupted.
#[derive(Debug, Serialize, JsonSchema)]
pub struct InterruptedRun {
    pub name: String,
    /// How: Escape, as at its keyboard, SIGINT, or cancel over ACP.
    pub with: &'static str,
}

impl Operation for InterruptRun {
    type Output = InterruptedRun;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<InterruptedRun>, Failure> {
        let (run, key) = reachable(app, caller, &self.agent)?;
        let asks = vec![Ask::Run(RunAsk::Reach { run: run.id, how: Reached::Interrupted })];
        Ok(Plan::change_then(asks, move |app, _| {
            let runner = app.runs().runner().ok_or_else(|| Failure::fault("nothing is running"))?;
            // A client ends its turn by Escape; SIGINT would end some of them altogether.
            let (done, with) = match (run.spec.backend, run.spec.program) {
                (RunBackend::Acp, _) => (runner.cancel(&key).map(drop), "cancel"),
                (RunBackend::Process | RunBackend::Tmux | RunBackend::Iterm2, RunProgram::Client(_)) => {
                    (runner.escape(&key), "Escape")
                }
                (RunBackend::Process | RunBackend::Tmux | RunBackend::Iterm2, RunProgram::Command(_)) => {
                    (runner.interrupt(&key), "SIGINT")
                }
            };
            done.map_err(Failure::fault)?;
            Ok(InterruptedRun { name: run.spec.name.to_string(), with })
        }))
    }
}

impl fmt::Display for InterruptedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interrupted {} ({})", self.name, self.with)
    }
}
