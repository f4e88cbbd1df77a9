//! Clicks in a tab.

use comity_browser::{Button, Click};
use comity_core::Refusal;

use super::{TabActed, TabCommand, Use, target};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Click an element in a tab of yours, as a person would.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClickTab {
    /// Number of the tab
    pub tab_id: u64,
    /// A reference such as e12, or a CSS selector
    pub selector: Option<String>,
    /// Instead of an element: pixels from the left
    pub x: Option<u32>,
    /// And pixels from the top
    pub y: Option<u32>,
    /// Click twice, as a double-click
    #[serde(default)]
    pub double: bool,
    /// Which button (left)
    pub button: Option<MouseButton>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for ClickTab {
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        let button = match self.button.unwrap_or(MouseButton::Left) {
            MouseButton::Left => Button::Left,
            MouseButton::Middle => Button::Middle,
            MouseButton::Right => Button::Right,
        };
        let click = Click { button, times: if self.double { 2 } else { 1 } };
        let clicked = if self.double { "double-clicked" } else { "clicked" };
        let acted = match (self.selector, self.x, self.y) {
            (Some(selector), None, None) => {
                let element = target(&selector);
                let done = format!("{clicked} {selector}");
                command.act(Use::Acts, "click", done, |tab, timeout| tab.click(&element, click, timeout))
            }
            (None, Some(x), Some(y)) => {
                let done = format!("{clicked} at {x}, {y}");
                command.act(Use::Acts, "click", done, |tab, timeout| tab.click_at(x, y, click, timeout))
            }
            _ => {
                let hint = format!(
                    "such as: {}, or: {}",
                    next_call::<ClickTab>([("tabId", 7.into()), ("selector", "e12".into())]),
                    next_call::<ClickTab>([("tabId", 7.into()), ("x", 10.into()), ("y", 20.into())])
                );
                Err(Refusal::bad_input("a click is on an element, or on a point", hint).into())
            }
        };
        Ok(Plan::Answer(acted?))
    }
}

/// The middle button opens links in tabs, the right one opens menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MouseButton {
    /// The one for most things.
    Left,
    /// The wheel.
    Middle,
    /// The one for menus.
    Right,
}
