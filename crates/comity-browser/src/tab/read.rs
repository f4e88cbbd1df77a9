//! Reading: the text of a page, and one element.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::{ElementTarget, Tab};
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::page::reference;

/// Characters of a page's text, for any caller.
const CONTENT_MAX: usize = 2_000_000;
const ELEMENT_TEXT_MAX: usize = 2000;

/// The text of a page or of an element.
#[derive(Clone, PartialEq, Eq, Deserialize, Debug)]
pub struct ReadText {
    /// As a reader sees it.
    pub text: String,
    /// The length of the whole text, in UTF-16 units: more than the text's own if it was cut.
    pub length: usize,
    pub title: String,
    pub url: String,
}

/// An element as it was when asked for.
#[derive(Clone, PartialEq, Deserialize, Debug)]
pub struct Element {
    /// Its name for commands.
    #[serde(skip)]
    pub reference: String,
    /// Like `button`.
    pub tag: String,
    pub role: String,
    pub name: String,
    /// What is typed into it or chosen.
    pub value: String,
    /// `checked`, `disabled` and so on.
    pub state: String,
    pub attributes: BTreeMap<String, String>,
    /// Its text, on one line.
    pub text: String,
    /// In the viewport of its frame.
    #[serde(rename = "box")]
    pub area: ElementBox,
    /// Whether a person could see it, after scrolling to it.
    pub visible: bool,
    pub enabled: bool,
}

/// Where an element is.
#[derive(Clone, Copy, PartialEq, Deserialize, Debug)]
pub struct ElementBox {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NumberedElement {
    number: u64,
    first_new: u64,
    next: u64,
}

impl Tab {
    /// The text of the page or of one element, truncated to a number of characters.
    pub fn content(
        &self,
        target: Option<&ElementTarget>,
        most: usize,
        timeout: Duration,
    ) -> Result<ReadText> {
        let deadline = Deadline::after(timeout);
        let args = json!({ "most": most.min(CONTENT_MAX) });
        let (_, answer) = self.read("content", target, args, &deadline)?;
        serde_json::from_value(answer.value).map_err(unreadable)
    }

    /// One element: what it is, where it is, and whether it can be used.
    pub fn element(&self, target: &ElementTarget, timeout: Duration) -> Result<Element> {
        let deadline = Deadline::after(timeout);
        let _numbering = self.state.outlining.wait(&deadline)?;
        let args = json!({ "most": ELEMENT_TEXT_MAX, "firstRef": self.memory().next() });
        let (context, answer) = self.read("element", Some(target), args, &deadline)?;
        let numbered: NumberedElement = serde_json::from_value(answer.value.clone()).map_err(unreadable)?;
        self.memory().given(&context, numbered.first_new, numbered.next);
        let element: Element = serde_json::from_value(answer.value).map_err(unreadable)?;
        Ok(Element { reference: reference(numbered.number), ..element })
    }
}

pub(super) fn unreadable(error: serde_json::Error) -> BrowserError {
    BrowserError::invalid(format!("the page's answer can't be read: {error}"))
}
