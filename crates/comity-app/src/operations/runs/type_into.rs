//! Types into an agent's terminal, for whoever is attached to it.

use std::fmt;

use comity_core::runs::RunBackend;
use comity_runner::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reachable;
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Type into the terminal of an agent that Comity started, or say how large it is shown. One that speaks ACP is prompted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeIntoRun {
    /// Its name or number
    pub agent: String,
    /// What is typed
    pub text: Option<String>,
    /// How wide the terminal is
    pub columns: Option<u16>,
    /// How high it is
    pub rows: Option<u16>,
}

/// What was typed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TypedInto {
    pub bytes: usize,
}

impl Operation for TypeIntoRun {
    type Output = TypedInto;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TypedInto>, Failure> {
        let (run, key) = reachable(app, caller, &self.agent)?;
        caller.check_presence("type into an agent's terminal")?;
        let runner = app.runs().runner().ok_or_else(|| Failure::fault("nothing runs"))?;
        if run.spec.backend == RunBackend::Acp {
            let text = self.text.unwrap_or_default();
            if !text.trim().is_empty() {
                runner.prompt(&key, text.trim()).map_err(Failure::fault)?;
            }
            return Ok(Plan::Answer(TypedInto { bytes: text.len() }));
        }
        if let (Some(columns), Some(rows)) = (self.columns, self.rows) {
            runner.resize(&key, Size { columns, rows }).map_err(Failure::fault)?;
        }
        let text = self.text.unwrap_or_default();
        if !text.is_empty() {
            runner.write(&key, text.as_bytes()).map_err(Failure::fault)?;
        }
        Ok(Plan::Answer(TypedInto { bytes: text.len() }))
    }
}

impl fmt::Display for TypedInto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "typed {} bytes", self.bytes)
    }
}
