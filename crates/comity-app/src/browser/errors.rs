//! What the browser says no to, as every door shows it.

use comity_browser::BrowserError;
use comity_core::Refusal;

use super::untrusted::{in_a_line, quote};
use crate::operation::Failure;

/// The browser's error as a refusal with its code and the next step.
pub(crate) fn failure(error: BrowserError) -> Failure {
    let (code, hint) = match &error {
        BrowserError::NoBrowser { .. } => ("no_browser", "install Firefox, or set browser.path"),
        BrowserError::NotStarted { .. } => ("no_browser", "look at the server's log, or ask: comity doctor"),
        BrowserError::Died => {
            ("browser_died", "try again: it is started anew, and your tabs are opened again")
        }
        BrowserError::Timeout { .. } => ("timeout", "give it more time with timeout, in ms, 300000 at most"),
        BrowserError::NoSuchTab { .. } => ("tab_closed", "see your tabs with: comity tab list"),
        BrowserError::StaleRef { .. } => ("stale_ref", "get a fresh one with: comity tab state TAB"),
        BrowserError::NotFound { .. } => ("no_element", "see what is there with: comity tab state TAB"),
        BrowserError::Blocked { .. } => {
            ("blocked", "the human sets what may be loaded: browser.allow, browser.deny, browser.schemes")
        }
        BrowserError::Dialog { .. } => ("dialog", "answer it with: comity tab dialog TAB --accept"),
        BrowserError::NotClickable { .. } => {
            ("not_clickable", "scroll, close what covers it, or wait for it")
        }
        BrowserError::NotLoaded { .. } => ("not_loaded", "check the address"),
        BrowserError::PageGone => ("page_gone", "try again"),
        BrowserError::Revoked => ("revoked", "see your tabs with: comity tab list"),
        BrowserError::Script { .. } => ("script", "mend the script"),
        BrowserError::Invalid { .. } => ("bad_input", "see: comity help tab"),
        BrowserError::Refused { .. } => ("browser", "see: comity help tab"),
    };
    Refusal::Browser { code, problem: told(&error), hint: hint.into() }.into()
}

/// What went wrong, with the words of pages marked as such.
pub(crate) fn told(error: &BrowserError) -> String {
    match error {
        BrowserError::Dialog { kind, message } => {
            format!("the page shows a dialog ({}: {}); answer it first", in_a_line(kind), quote(message))
        }
        BrowserError::Script { message } => format!("the script failed: {}", quote(message)),
        BrowserError::NotClickable { why } => format!("the element cannot be used: {}", quote(why)),
        BrowserError::NotLoaded { url, why } => {
            format!("{} could not be loaded: {}", quote(url), in_a_line(why))
        }
        BrowserError::Blocked { url, rule } => format!("{} is not allowed: {}", quote(url), in_a_line(rule)),
        BrowserError::Refused { command, code, message } => {
            format!("Firefox refused {command}: {code}: {}", quote(message))
        }
        BrowserError::NoBrowser { .. }
        | BrowserError::NotStarted { .. }
        | BrowserError::Died
        | BrowserError::Timeout { .. }
        | BrowserError::NoSuchTab { .. }
        | BrowserError::StaleRef { .. }
        | BrowserError::NotFound { .. }
        | BrowserError::PageGone
        | BrowserError::Revoked
        | BrowserError::Invalid { .. } => in_a_line(&error.to_string()),
    }
}
