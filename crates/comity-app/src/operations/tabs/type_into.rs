//! Types into a tab.

use comity_browser::Typing;

use super::{TabActed, TabCommand, Use, target};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan};

/// Type text in a tab of yours, as a person would: into an element, or into whatever has the focus.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TypeIntoTab {
    /// Number of the tab
    pub tab_id: u64,
    /// The text to type
    pub text: String,
    /// Into this element: a reference such as e12, or a CSS selector
    pub selector: Option<String>,
    /// Replace what is there
    #[serde(default)]
    pub clear: bool,
    /// Press Enter at the end
    #[serde(default)]
    pub submit: bool,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for TypeIntoTab {
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        let element = self.selector.as_deref().map(target);
        let typing = Typing { clear: self.clear, submit: self.submit };
        let done = format!("typed {} characters", self.text.chars().count());
        let acted = command.act(Use::Acts, "type into", done, |tab, timeout| {
            tab.type_text(element.as_ref(), &self.text, typing, timeout)
        });
        Ok(Plan::Answer(acted?))
    }
}
