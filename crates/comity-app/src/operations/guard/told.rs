//! Reports what became of the mail that a hook had for its agent.

use std::fmt;

use comity_core::Ask;
use comity_core::mail::MailAsk;

use crate::engine::Failed;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Report that the mail in a hook's output was written out or, with --returned, that it was not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardTold {
    /// What came with the mail; nobody else has it
    pub proof: String,
    /// It was not written: offer it again at once
    #[serde(default)]
    pub returned: bool,
}

/// What became of the mail.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Delivered {
    /// arrived, returned (it is offered again) or closed (there is no such offer, or it took too long).
    pub state: &'static str,
}

impl Operation for GuardTold {
    type Output = Delivered;

    /// The proof says whose mail it was.
    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Delivered>, Failure> {
        let Some((who, receipt)) = app.mail_memory().take_hook_offer(&self.proof) else {
            return Ok(Plan::Answer(Delivered { state: "closed" }));
        };
        let (ask, state) = match self.returned {
            true => (MailAsk::Return { receipt }, "returned"),
            false => (MailAsk::Acknowledge { receipt }, "arrived"),
        };
        match app.engine().ask(who, Ask::Mail(ask)) {
            Ok(_) => Ok(Plan::Answer(Delivered { state })),
            Err(Failed::Refused(_)) => Ok(Plan::Answer(Delivered { state: "closed" })),
            Err(Failed::Fault(problem)) => Err(Failure::Fault(problem)),
        }
    }
}

impl fmt::Display for Delivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.state)
    }
}
