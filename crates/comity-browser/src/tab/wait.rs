//! Waiting for a condition. Nothing is polled: the page, or Firefox, tells when it changes.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Tab;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::page::script;

/// The network counts as idle after this long without a request.
const IDLE: Duration = Duration::from_millis(500);
/// How much longer than the caller a page waits before it cleans up after itself.
const CLEAN_UP: Duration = Duration::from_secs(1);

/// What is waited for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// A matching element is visible.
    Selector(String),
    /// No matching element is visible any more.
    Gone(String),
    /// The page has this text, regardless of white space.
    Text(String),
    /// The address contains this, or matches it if it has stars.
    Url(String),
    /// The document can be read.
    Interactive,
    Load,
    /// Nothing has been loaded for half a second.
    NetworkIdle,
}

impl Condition {
    fn in_words(&self) -> String {
        match self {
            Condition::Selector(css) => format!("waiting for {css}"),
            Condition::Gone(css) => format!("waiting until {css} is gone"),
            Condition::Text(text) => format!("waiting for the text {text:?}"),
            Condition::Url(pattern) => format!("waiting for the address {pattern}"),
            Condition::Interactive => "waiting until the page can be read".into(),
            Condition::Load => "waiting until the page is loaded".into(),
            Condition::NetworkIdle => "waiting until nothing is loaded".into(),
        }
    }
}

impl Tab {
    /// Waits for a condition, over as many pages as it takes. Holds up nobody.
    pub fn wait_for(&self, condition: &Condition, timeout: Duration) -> Result<()> {
        let deadline = Deadline::after(timeout);
        self.refuse_dialog()?;
        let in_page = match condition {
            Condition::Url(pattern) => json!({ "kind": "url", "pattern": pattern }),
            Condition::NetworkIdle => return self.wait_for_idle(condition, &deadline),
            Condition::Selector(css) => json!({ "kind": "selector", "css": css }),
            Condition::Gone(css) => json!({ "kind": "gone", "css": css }),
            Condition::Text(text) => {
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                json!({ "kind": "text", "text": text })
            }
            Condition::Interactive => json!({ "kind": "load", "interactive": true }),
            Condition::Load => json!({ "kind": "load" }),
        };
        self.wait_in_page(in_page, condition, &deadline)
    }

    /// Lets the page wait; the next page, if it is replaced.
    fn wait_in_page(&self, in_page: Value, condition: &Condition, deadline: &Deadline) -> Result<()> {
        let missed = || deadline.missed(condition.in_words());
        let context = self.state.id.0.clone();
        while !deadline.left().is_zero() {
            let wait_ms = (deadline.left() + CLEAN_UP).as_millis().min(i32::MAX as u128) as u64;
            let args = json!({ "condition": in_page, "timeoutMs": wait_ms });
            let moves = self.state.live().moves;
            let about = self.about_document(&context);
            match script::call(&self.shared, &context, "wait", &args, &about, deadline) {
                Ok(answer) if answer.value == true => return Ok(()),
                Ok(_) | Err(BrowserError::Timeout { .. }) => return Err(missed()),
                Err(BrowserError::PageGone) => self.wait_for_move(moves, deadline),
                Err(other) => return Err(other),
            }
        }
        Err(missed())
    }

    fn wait_for_idle(&self, condition: &Condition, deadline: &Deadline) -> Result<()> {
        let asked = Instant::now();
        let mut live = self.state.live();
        loop {
            let quiet_since = live.network_moved.max(asked);
            let quiet_for = quiet_since.elapsed();
            if live.is_network_idle() && quiet_for >= IDLE {
                return Ok(());
            }
            if let Some(over) = self.is_over(live.is_closed, condition, deadline) {
                drop(live);
                return Err(over);
            }
            let until = if live.is_network_idle() { deadline.at_most(IDLE - quiet_for) } else { *deadline };
            live = self.state.wait(live, &until);
        }
    }

    fn is_over(&self, is_closed: bool, condition: &Condition, deadline: &Deadline) -> Option<BrowserError> {
        if is_closed {
            return Some(BrowserError::NoSuchTab { tab: self.state.id.to_string() });
        }
        deadline.left().is_zero().then(|| deadline.missed(condition.in_words()))
    }
}
