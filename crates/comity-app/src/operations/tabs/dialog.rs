//! Answers a dialog of a page.

use comity_browser::Acted;
use comity_core::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{TabActed, TabCommand, Use};
use crate::application::Application;
use crate::operation::{Caller, Failure, Operation, Plan};

/// Answers the dialog that a page in a tab of yours shows.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerDialog {
    /// The tab
    pub tab_id: u64,
    /// Say yes
    #[serde(default)]
    pub accept: bool,
    /// Say no
    #[serde(default)]
    pub dismiss: bool,
    /// Into the field of a prompt
    pub text: Option<String>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for AnswerDialog {
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        if self.accept == self.dismiss {
            let hint = "such as: comity tab dialog 7 --accept";
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
