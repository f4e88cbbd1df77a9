//! What the browser says no to, as every door shows it.

use comity_browser::BrowserError;
use comity_core::Refusal;
use comity_core::display::visible;

use crate::operation::Failure;

/// Bytes of an address, or of a sentence with words of a page in it.
const LINE_BYTES_MAX: usize = 2_048;
/// Bytes of a title.
const TITLE_BYTES_MAX: usize = 512;

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
    // A page may have had a say in it: its words must not look like a line of somebody else.
    Refusal::Browser { code, problem: in_a_line(&error.to_string()), hint: hint.into() }.into()
}

/// Words of a page, or its address: one line, with an end.
pub(crate) fn in_a_line(text: &str) -> String {
    cut(&visible(text), LINE_BYTES_MAX)
}

/// The title of a page: one line, with an end.
pub(crate) fn title(text: &str) -> String {
    cut(&visible(text), TITLE_BYTES_MAX)
}

fn cut(text: &str, bytes_max: usize) -> String {
    match text.len() <= bytes_max {
        true => text.to_owned(),
        false => format!("{}…", &text[..text.floor_char_boundary(bytes_max)]),
    }
}
