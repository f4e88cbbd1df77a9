//! The browser's errors, as every door shows them.

use comity_browser::BrowserError;
use comity_core::Refusal;
use comity_core::next_call::Argument;

use super::untrusted::{in_a_line, quote};
use crate::catalog::next_call;
use crate::operation::Failure;
use crate::operations::tabs::{AnswerDialog, ListTabs, TabState};

pub(crate) fn failure(error: BrowserError) -> Failure {
    let (code, hint) = match &error {
        BrowserError::NoBrowser { .. } => ("no_browser", "install Firefox, or set browser.path".to_owned()),
        BrowserError::NotStarted { .. } => {
            ("no_browser", "look at the server's log, or ask: comity doctor".to_owned())
        }
        BrowserError::Died => {
            ("browser_died", "try again: it is restarted, and your tabs are opened again".to_owned())
        }
        BrowserError::Timeout { .. } => {
            ("timeout", "give it more time with timeout, in ms, 300000 at most".to_owned())
        }
        BrowserError::NoSuchTab { .. } => {
            ("tab_closed", format!("see your tabs with: {}", next_call::<ListTabs>([])))
        }
        BrowserError::StaleRef { .. } => (
            "stale_ref",
            format!("get a fresh one with: {}", next_call::<TabState>([("tabId", "TAB".into())])),
        ),
        BrowserError::NotFound { .. } => (
            "no_element",
            format!("see what is there with: {}", next_call::<TabState>([("tabId", "TAB".into())])),
        ),
        BrowserError::Blocked { .. } => (
            "blocked",
            "the human sets what may be loaded: browser.allow, browser.deny, browser.schemes".to_owned(),
        ),
        BrowserError::Dialog { .. } => (
            "dialog",
            format!(
                "answer it with: {}",
                next_call::<AnswerDialog>([("tabId", "TAB".into()), ("accept", Argument::Yes)])
            ),
        ),
        BrowserError::NotClickable { .. } => {
            ("not_clickable", "scroll, close what covers it, or wait for it".to_owned())
        }
        BrowserError::NotLoaded { .. } => ("not_loaded", "check the address".to_owned()),
        BrowserError::PageGone => ("page_gone", "try again".to_owned()),
        BrowserError::Revoked => ("revoked", format!("see your tabs with: {}", next_call::<ListTabs>([]))),
        BrowserError::Script { .. } => ("script", "fix the script".to_owned()),
        BrowserError::Invalid { .. } => ("bad_input", "look at what it takes".to_owned()),
        BrowserError::Refused { .. } => ("browser", "look at what it takes".to_owned()),
    };
    Refusal::Driver { code, problem: told(&error), hint }.into()
}

/// What went wrong, with the words of pages marked as such.
pub(crate) fn told(error: &BrowserError) -> String {
    match error {
        BrowserError::Dialog { kind, message } => {
            format!("the page shows a dialog ({}: {}); answer it first", in_a_line(kind), quote(message))
        }
        BrowserError::Script { message } => format!("the script failed: {}", quote(message)),
        BrowserError::NotClickable { why } => format!("the element can't be used: {}", quote(why)),
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
