//! Types into a tab.

use clap::Args;
use comity_browser::Typing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Command, TabActed, Use, target};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};

/// Types text in a tab of yours, as a person would: into an element, or into what has the focus.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TypeIntoTab {
    /// The tab
    #[arg(value_name = "TAB")]
    pub tab_id: u64,
    /// The text
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// Into this element: a reference such as e12, or a CSS selector
    #[arg(long, value_name = "ELEMENT")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Replace what is there
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clear: bool,
    /// Press Enter at the end
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub submit: bool,
    /// How long it may take, in ms (150000; 5000 to 300000)
    #[arg(long, value_name = "MS")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

impl Operation for TypeIntoTab {
    const NAME: &'static str = "tab_type";
    const TOOL: &'static str = "firefox_type";
    const EFFECT: Effect = Effect::Acts;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::Browsing;
    const ROUTE: Route = Route { method: "POST", path: "/api/tabs/{tabId}/type" };
    const COMMAND: &'static [&'static str] = &["tab", "type"];
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = Command { app, caller, tab: self.tab_id, timeout: self.timeout };
        let element = self.selector.as_deref().map(target);
        let typing = Typing { clear: self.clear, submit: self.submit };
        let done = format!("typed {} characters", self.text.chars().count());
        let acted = command.act(Use::Acts, "type into", done, |tab, timeout| {
            tab.type_text(element.as_ref(), &self.text, typing, timeout)
        });
        Ok(Plan::Answer(acted?))
    }
}
