//! Mail through a hook: what waits for the agent becomes context of its next turn.

use comity_core::limits::MAIL_LEASE;
use comity_core::mail::{MailAsk, OfferFilter, has_something};
use comity_core::{Ask, Principal};

use crate::application::Application;
use crate::operations::mail::Inbox;

/// Bytes of letters that one hook delivers: all of it goes into the agent's context.
const CONTEXT_BYTES_MAX: usize = 8 * 1_024;
const CONTEXT_LETTERS_MAX: usize = 10;

/// Offers what waits, as text, with what the hook uses to prove that it was delivered.
pub(super) fn offer(app: &Application, who: Principal) -> Option<(String, String)> {
    if !has_something(&app.engine().world(), who, OfferFilter::All) {
        return None;
    }
    let events = app.engine().ask(who, Ask::Mail(ask())).ok()?;
    let inbox = Inbox::of(&events, &app.engine().world(), who);
    proven(app, who, inbox)
}

/// What was offered, as text, with what the hook uses to prove that it was delivered.
pub(super) fn proven(app: &Application, who: Principal, inbox: Inbox) -> Option<(String, String)> {
    let proof = app.mail_memory().put_hook_offer(who, inbox.receipt()?)?;
    Some((inbox.into_context(), proof))
}

/// The ask for as much as one hook delivers.
pub(super) fn ask() -> MailAsk {
    MailAsk::Take {
        bytes_max: CONTEXT_BYTES_MAX,
        letters_max: CONTEXT_LETTERS_MAX,
        what: OfferFilter::All,
        lease: MAIL_LEASE,
    }
}
