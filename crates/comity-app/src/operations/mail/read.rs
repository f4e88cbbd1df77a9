//! Reads one's mail.

use comity_core::limits::MAIL_LEASE;
use comity_core::mail::{MailAsk, OfferFilter, Receipt, has_something};
use comity_core::{Ask, Event, Timestamp, World};

use super::{ANSWER_BYTES_MAX, ANSWER_LETTERS_MAX, Inbox};
use crate::engine::When;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};
use crate::span::Span;

const LIMIT_MAX: usize = 1_000;

/// Read your mail, in order. Whatever isn't proven to have reached you is offered again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadMail {
    /// Wait this long for a letter, such as 30s
    pub wait: Option<Span>,
    /// Letters at most (50)
    pub limit: Option<usize>,
    /// How long you need to acknowledge, such as 10s (the default)
    pub lease: Option<Span>,
}

impl Operation for ReadMail {
    type Output = Inbox;

    fn receipt(inbox: &Inbox) -> Option<Receipt> {
        inbox.receipt()
    }

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Inbox>, Failure> {
        let who = caller.who;
        let ask = MailAsk::Take {
            bytes_max: ANSWER_BYTES_MAX,
            letters_max: self.limit.unwrap_or(ANSWER_LETTERS_MAX).clamp(1, LIMIT_MAX),
            what: OfferFilter::Letters,
            lease: self.lease.map_or(MAIL_LEASE, |span| span.0),
        };
        let ready = move |world: &World| has_something(world, who, OfferFilter::Letters);
        Ok(once(app, self.wait, ready, vec![Ask::Mail(ask)], move |events, world, _| Inbox {
            only_letters: true,
            ..Inbox::of(events, world, who)
        }))
    }
}

/// Runs the asks at once, or waits until there is something for them.
pub(super) fn once<Output: 'static>(
    app: &Application,
    wait: Option<Span>,
    ready: impl Fn(&World) -> bool + Send + 'static,
    asks: Vec<Ask>,
    finish: impl FnOnce(&[Event], &World, Timestamp) -> Output + Send + 'static,
) -> Plan<Output> {
    // Looking writes nothing.
    if wait.is_none() && !ready(&app.engine().world()) {
        return Plan::Answer(finish(&[], &app.engine().world(), app.engine().now()));
    }
    let when = wait.map(|wait| {
        let until = app.engine().now().plus(wait.0.min(comity_core::limits::WAIT_MAX));
        When { ready: Box::new(ready), until }
    });
    Plan::change(asks, finish).when(when)
}
