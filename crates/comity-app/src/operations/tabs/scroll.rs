//! Scrolls in a tab.

use comity_browser::{Acted, Scroll};
use comity_core::Refusal;

use super::{TabActed, TabCommand, Use, target};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Scroll a page in a tab of yours: by pixels, to an end, or until an element is in view.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScrollTab {
    /// Number of the tab
    pub tab_id: u64,
    /// Pixels down; up if negative
    pub by: Option<i32>,
    /// Pixels to the right
    pub right: Option<i32>,
    /// To the top or the bottom
    pub end: Option<End>,
    /// Until this element is in view; with by or end, the element to scroll: a reference, or a CSS selector
    pub selector: Option<String>,
    /// How long it may take, in ms (150000; 5000 to 300000)
    pub timeout: Option<u64>,
}

impl Operation for ScrollTab {
    type Output = TabActed;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TabActed>, Failure> {
        let command = TabCommand { app, caller, tab: self.tab_id, timeout: self.timeout };
        let element = self.selector.as_deref().map(target);
        let moves = self.by.is_some() || self.right.is_some();
        let (inside, scroll) = match (moves, self.end, element) {
            (true, None, inside) => {
                let (dx, dy) = (self.right.unwrap_or(0), self.by.unwrap_or(0));
                (inside, Scroll::By { dx, dy })
            }
            (false, Some(End::Top), inside) => (inside, Scroll::Top),
            (false, Some(End::Bottom), inside) => (inside, Scroll::Bottom),
            (false, None, Some(element)) => (None, Scroll::To(element)),
            (true, Some(_), _) | (false, None, None) => {
                let hint = {
                    let scroll = |how, value| next_call::<ScrollTab>([("tabId", 7.into()), (how, value)]);
                    let (by, end) = (scroll("by", 500.into()), scroll("end", "bottom".into()));
                    format!("such as: {by}, or: {end}, or: {}", scroll("selector", "e12".into()))
                };
                return Err(Refusal::bad_input("it isn't clear where to scroll", hint).into());
            }
        };
        let acted = command.act(Use::Steers, "scroll", "scrolled".into(), |tab, timeout| {
            tab.scroll(inside.as_ref(), &scroll, timeout).map(|_| Acted { dialog: None })
        });
        Ok(Plan::Answer(acted?))
    }
}

/// An end of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum End {
    Top,
    Bottom,
}
