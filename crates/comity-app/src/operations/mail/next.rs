//! What an agent should do now.

use clap::Args;
use comity_core::limits::MAIL_LEASE;
use comity_core::mail::{MailAsk, Receipt, What, has_something};
use comity_core::{Ask, World};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::read::once;
use super::{ANSWER_BYTES_MAX, ANSWER_LETTERS_MAX, Inbox};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Plan, Route};
use crate::span::Span;

/// What to do now: a request to end, answers, letters from your leader, from others. Call it when you are idle.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct Next {
    /// Wait this long for something, such as 30s
    #[arg(long, value_name = "SPAN")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Span>,
    /// Bytes of text at most
    #[arg(long, value_name = "N", hide = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub bytes: Option<usize>,
    /// How long you need to acknowledge, such as 10s (the default)
    #[arg(long, value_name = "SPAN", hide = true)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub lease: Option<Span>,
}

impl Operation for Next {
    const NAME: &'static str = "next";
    const EFFECT: Effect = Effect::Changes;
    const AUDIENCE: Audience = Audience::Agents;
    const ROUTE: Route = Route { method: "POST", path: "/api/next" };
    const COMMAND: &'static [&'static str] = &["next"];
    type Output = Inbox;

    fn receipt(inbox: &Inbox) -> Option<Receipt> {
        inbox.receipt()
    }

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Inbox>, Failure> {
        let who = caller.who;
        let ask = MailAsk::Take {
            bytes_max: self.bytes.unwrap_or(ANSWER_BYTES_MAX).min(ANSWER_BYTES_MAX),
            letters_max: ANSWER_LETTERS_MAX,
            what: What::All,
            lease: self.lease.map_or(MAIL_LEASE, |span| span.0),
        };
        let ready = move |world: &World| has_something(world, who, What::All);
        Ok(once(app, self.wait, ready, vec![Ask::Mail(ask)], move |events, world| {
            Inbox::of(events, world, who)
        }))
    }
}
