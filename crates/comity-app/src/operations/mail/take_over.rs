//! Takes over mail that was left in files.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::spool;

/// Takes over the mail that was left in files, for the agents that are here. The server does so by itself when it starts.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeOverMail {}

/// What was taken over.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TakenOver {
    /// Letters.
    pub letters: usize,
    /// What could not be taken over yet, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

impl Operation for TakeOverMail {
    type Output = TakenOver;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<TakenOver>, Failure> {
        let spool::TakenOver { letters, problems } = spool::take_over(app);
        Ok(Plan::Answer(TakenOver { letters, problems }))
    }
}

impl fmt::Display for TakenOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} letters taken over from files", self.letters)?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}
