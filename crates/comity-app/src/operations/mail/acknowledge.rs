//! Acknowledges mail that has arrived.

use std::fmt;

use comity_core::Ask;
use comity_core::mail::{MailAsk, Mailbox, Receipt};

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Report that an offer of mail reached you or, with --returned, that it did not.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AcknowledgeMail {
    /// The receipt of the offer
    pub receipt: u64,
    /// It did not arrive: offer it again at once
    #[serde(default)]
    pub returned: bool,
}

/// What became of the offer.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Acknowledged {
    pub receipt: u64,
    /// arrived, returned (it is offered again) or closed (it had arrived, or took too long).
    pub state: &'static str,
}

impl Operation for AcknowledgeMail {
    type Output = Acknowledged;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Acknowledged>, Failure> {
        let receipt = Receipt(self.receipt);
        let is_open = |mailbox: &Mailbox| mailbox.lease(receipt).is_some();
        if !app.engine().world().mail.of(caller.who).is_some_and(is_open) {
            return Ok(Plan::Answer(Acknowledged { receipt: self.receipt, state: "closed" }));
        }
        let (ask, state) = match self.returned {
            true => (MailAsk::Return { receipt }, "returned"),
            false => (MailAsk::Acknowledge { receipt }, "arrived"),
        };
        let output = Acknowledged { receipt: self.receipt, state };
        Ok(Plan::change(vec![Ask::Mail(ask)], move |_, _, _| output))
    }
}

impl fmt::Display for Acknowledged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "offer {}: {}", self.receipt, self.state)
    }
}
