//! Answers a dialog of a page.

use clap::Args;
use comity_browser::Acted;
use comity_core::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, TabActed, Use};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};

/// Answers the dialog that a page in a tab of yours shows.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerDialog {
    /// The tab
    #[arg(value_name = "TAB")]
    pub tab_id: u64,
    /// Say yes
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept: bool,
    /// Say no
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dismiss: bool,
    /// Into the field of a prompt
    #[arg(long, value_name = "TEXT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

impl Operation for AnswerDialog {
    const NAME: &'static str = "tab_dialog";
    const TOOL: &'static str = "firefox_dialog";
    const EFFECT: Effect = Effect::Acts;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::Browsing;
    const ROUTE: Route = Route { method: "POST", path: "/api/tabs/{tabId}/dialog" };
    const COMMAND: &'static [&'static str] = &["tab", "dialog"];
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = Command { app, caller, tab: self.tab_id, timeout: self.timeout };
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
