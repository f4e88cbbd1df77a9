//! Dialogs that a page shows.

use std::time::Duration;

use serde_json::{Value, json};

use super::Tab;
use crate::connection::CallScope;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::notice::Dialog;

/// How long to wait for the event that a dialog is closed, after Firefox has agreed to close it.
const CLOSED: Duration = Duration::from_secs(2);

impl Tab {
    pub fn dialog(&self) -> Option<Dialog> {
        self.state.live().dialog.clone()
    }

    /// With a text for a prompt.
    pub fn accept_dialog(&self, text: Option<&str>, timeout: Duration) -> Result<Dialog> {
        self.answer(json!({ "context": self.state.id.0, "accept": true, "userText": text }), timeout)
    }

    /// Dismisses the dialog.
    pub fn dismiss_dialog(&self, timeout: Duration) -> Result<Dialog> {
        self.answer(json!({ "context": self.state.id.0, "accept": false }), timeout)
    }

    fn answer(&self, mut params: Value, timeout: Duration) -> Result<Dialog> {
        let deadline = Deadline::after(timeout);
        let (dialog, moves) = {
            let live = self.state.live();
            let dialog = live.dialog.clone();
            (dialog.ok_or_else(|| BrowserError::invalid("the page shows no dialog"))?, live.dialog_moves)
        };
        if let Some(fields) = params.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        let about = CallScope { context: Some(self.state.id.0.clone()), ..CallScope::default() };
        let _done: Value = self.call("browsingContext.handleUserPrompt", params, about, &deadline)?;
        // The next command must not find this dialog still open.
        let closed = deadline.at_most(CLOSED);
        let mut live = self.state.live();
        while live.dialog_moves == moves && !live.is_closed && !closed.left().is_zero() {
            live = self.state.wait(live, &closed);
        }
        Ok(dialog)
    }
}
