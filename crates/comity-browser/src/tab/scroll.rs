//! Scrolling.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::read::unreadable;
use super::{ElementTarget, Tab};
use crate::deadline::Deadline;
use crate::error::Result;
use crate::page::script;

/// Where to scroll.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scroll {
    /// By pixels, right and down.
    By {
        dx: i32,
        dy: i32,
    },
    Top,
    Bottom,
    /// Until this element is in view.
    To(ElementTarget),
}

/// How far something is scrolled.
#[derive(Clone, Copy, PartialEq, Deserialize, Debug)]
#[serde(rename_all = "camelCase")]
pub struct Scrolled {
    pub x: f64,
    pub y: f64,
    pub x_max: f64,
    pub y_max: f64,
}

impl Tab {
    /// Scrolls the page, or a scrollable element.
    pub fn scroll(
        &self,
        inside: Option<&ElementTarget>,
        scroll: &Scroll,
        timeout: Duration,
    ) -> Result<Scrolled> {
        let (target, args) = match scroll {
            Scroll::By { dx, dy } => (inside, json!({ "dx": dx, "dy": dy })),
            Scroll::Top => (inside, json!({ "dx": 0, "to": "top" })),
            Scroll::Bottom => (inside, json!({ "dx": 0, "to": "bottom" })),
            Scroll::To(target) => (Some(target), json!({ "intoView": true })),
        };
        let deadline = Deadline::after(timeout);
        let _acting = self.begin_to_act(&deadline)?;
        let (context, args) = self.aimed(target, args)?;
        let about = self.about_document(&context);
        let answer = script::call(&self.shared, &context, "scroll", &args, &about, &deadline)?;
        serde_json::from_value(answer.value).map_err(unreadable)
    }
}
