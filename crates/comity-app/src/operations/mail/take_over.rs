//! Takes over mail that was left in files.

use std::fmt;

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::spool::{self, TakenOver};

/// Collect mail that was left in files, for the agents that are here. The server does this when it starts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeOverMail {}

impl Operation for TakeOverMail {
    type Output = TakenOver;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<TakenOver>, Failure> {
        Ok(Plan::Answer(spool::take_over(app)))
    }
}

impl fmt::Display for TakenOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} letters taken over from files", self.letters)?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}
