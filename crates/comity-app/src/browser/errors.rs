//! What the browser says no to, as every door shows it.

use comity_browser::BrowserError;
use comity_core::Refusal;

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
        BrowserError::Script { .. } => ("script", "mend the script"),
        BrowserError::Invalid { .. } => ("bad_input", "see: comity help tab"),
        BrowserError::Refused { .. } => ("browser", "see: comity help tab"),
    };
    Refusal::Browser { code, problem: error.to_string(), hint: hint.into() }.into()
}
