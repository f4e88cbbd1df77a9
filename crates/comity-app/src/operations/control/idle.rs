//! Reports that an agent waits for work.

use std::fmt;

use comity_core::control::{ControlAsk, ControlEvent, IdleReason};
use comity_core::redact::redact;
use comity_core::{Ask, Event, Refusal, World};

use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Tell your leader that you wait for work, and what you did.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportIdle {
    /// What you did, in 5 to 10 words
    pub summary: String,
    /// available (the default), interrupted or failed
    pub reason: Option<String>,
    /// The task you worked on
    pub task: Option<String>,
    /// How it went
    pub status: Option<String>,
}

/// Who was told.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Reported {
    /// Name of the leader, or the human.
    pub to: String,
}

impl Operation for ReportIdle {
    type Output = Reported;

    fn plan(self, _: &Application, _: &Caller) -> Result<Plan<Reported>, Failure> {
        let reason = match self.reason.as_deref() {
            None | Some("available") => IdleReason::Available,
            Some("interrupted") => IdleReason::Interrupted,
            Some("failed") => IdleReason::Failed,
            Some(other) => {
                let problem = format!("{other:?} isn't a reason to be idle");
                return Err(Refusal::bad_input(problem, "use available, interrupted or failed").into());
            }
        };
        let ask = ControlAsk::ReportIdle {
            reason,
            summary: redact(self.summary.trim()).into(),
            task: self.task.map(Into::into),
            status: self.status.map(Into::into),
        };
        let finish = |events: &[Event], world: &World, _| Reported {
            to: match events.last() {
                Some(Event::Control(ControlEvent::IdleReported { to, .. })) => world.name_of(*to),
                _ => String::new(),
            },
        };
        Ok(Plan::change(vec![Ask::Control(ask)], finish))
    }
}

impl fmt::Display for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} knows that you wait for work", self.to)
    }
}
