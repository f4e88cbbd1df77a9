//! Asks an agent to end.

use comity_core::control::ControlAsk;
use comity_core::{Ask, Millis};

use super::{Handshake, planned};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::operations::locks::stored_reason;
use crate::span::Span;

/// How long an agent has to answer, unless asked otherwise.
const WITHIN: Millis = Millis::seconds(60);

/// Ask an agent you lead to end. It agrees or says why not; when time is up, it is ended anyway.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestShutdown {
    /// Name or id
    pub agent: String,
    /// Why it should end
    pub reason: Option<String>,
    /// How long it has to answer, such as 60s (the default)
    pub within: Option<Span>,
    /// End it now, without asking it
    #[serde(default)]
    pub force: bool,
}

impl Operation for RequestShutdown {
    type Output = Handshake;

    fn plan(self, app: &Application, _: &Caller) -> Result<Plan<Handshake>, Failure> {
        let agent = app.engine().world().agents.find(&self.agent)?.id;
        if self.force {
            let request = app.engine().world().shutdowns.of(agent).map(|(request, _)| request.to_string());
            let ask = ControlAsk::ForceShutdown { agent, reason: stored_reason(self.reason) };
            let ended = Handshake { request: request.unwrap_or_default(), state: "ended" };
            return Ok(Plan::change(vec![Ask::Control(ask)], |_, _, _| ended));
        }
        let within = self.within.map_or(WITHIN, |span| span.0);
        let ask = ControlAsk::RequestShutdown { agent, reason: stored_reason(self.reason), within };
        Ok(planned(ask))
    }
}
