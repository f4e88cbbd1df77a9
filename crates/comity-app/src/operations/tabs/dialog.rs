//! Answers a dialog of a page.

use comity_browser::Acted;
use comity_core::Refusal;
use comity_core::next_call::Argument;

use super::{TabActed, TabCommand, Use};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Answer the dialog that a page in a tab of yours is showing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerDialog {
    /// Number of the tab
    pub tab_id: u64,
    /// Accept the dialog
    #[serde(default)]
    pub accept: bool,
    /// Dismiss the dialog
    #[serde(default)]
    pub dismiss: bool,
    /// Text for the field of a prompt
    pub text: Option<String>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for AnswerDialog {
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        if self.accept == self.dismiss {
            let hint = format!(
                "such as: {}",
                next_call::<AnswerDialog>([("tabId", 7.into()), ("accept", Argument::Yes)])
            );
            return Err(Refusal::bad_input("a dialog is accepted, or dismissed", hint).into());
        }
        // A no changes nothing.
        let how = if self.accept { Use::Acts } else { Use::Steers };
        let done = if self.accept { "the dialog was accepted" } else { "the dialog was dismissed" };
        let acted = command.act(how, "answer a dialog of", done.into(), |tab, timeout| {
            let answered = match self.accept {
                true => tab.accept_dialog(self.text.as_deref(), timeout),
                false => tab.dismiss_dialog(timeout),
            };
            answered.map(|_| Acted { dialog: None })
        });
        Ok(Plan::Answer(acted?))
    }
}
