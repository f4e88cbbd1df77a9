//! Acting: clicking, typing, pressing keys. Trusted, as if a person did it, and in background tabs, too.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::read::unreadable;
use super::{ElementTarget, Tab};
use crate::connection::CallScope;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::keys::{self, Modifier};
use crate::notice::Dialog;
use crate::page::script;

/// Longer texts are inserted at once, like a paste, and not key by key.
const TYPED_MAX: usize = 200;
/// Characters of a text to type.
const TEXT_MAX: usize = 1_000_000;

/// The result of an act.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Acted {
    /// The dialog that the page showed because of it.
    pub dialog: Option<Dialog>,
}

/// How a text is typed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Typing {
    pub clear: bool,
    /// Presses Enter at the end.
    pub submit: bool,
}

/// How to click: once with the left button, unless it says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Click {
    pub button: Button,
    /// In quick succession: 2 is a double click.
    pub times: u8,
}

impl Default for Click {
    fn default() -> Click {
        Click { button: Button::Left, times: 1 }
    }
}

/// A button of the mouse.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Button {
    #[default]
    Left,
    Middle,
    Right,
}

#[derive(Deserialize)]
struct Point {
    x: i64,
    y: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Focused {
    is_set: bool,
    #[serde(default)]
    is_empty: bool,
}

impl Tab {
    /// Clicks an element, after scrolling to it if need be.
    pub fn click(&self, target: &ElementTarget, click: Click, timeout: Duration) -> Result<Acted> {
        let deadline = Deadline::after(timeout);
        let _acting = self.begin_to_act(&deadline)?;
        let (context, answer) = self.prepare("aim", Some(target), json!({}), &deadline)?;
        let Point { x, y } = serde_json::from_value(answer).map_err(unreadable)?;
        self.focus_is_in(&context);
        self.perform(&context, clicks_at(x, y, click), &deadline)
    }

    /// Clicks a point of the viewport.
    pub fn click_at(&self, x: u32, y: u32, click: Click, timeout: Duration) -> Result<Acted> {
        let deadline = Deadline::after(timeout);
        let _acting = self.begin_to_act(&deadline)?;
        self.focus_is_in(&self.state.id.0);
        self.perform(&self.state.id.0, clicks_at(i64::from(x), i64::from(y), click), &deadline)
    }

    /// Types a text into an element, or into the focused one. If it takes no text, chooses an option.
    pub fn type_text(
        &self,
        target: Option<&ElementTarget>,
        text: &str,
        typing: Typing,
        timeout: Duration,
    ) -> Result<Acted> {
        if text.chars().count() > TEXT_MAX {
            return Err(BrowserError::invalid(format!("the text has more than {TEXT_MAX} letters")));
        }
        let typed = keys::typed(text)?;
        let deadline = Deadline::after(timeout);
        let _acting = self.begin_to_act(&deadline)?;
        let (context, answer) = self.prepare("focus", target, json!({ "clear": typing.clear }), &deadline)?;
        let focused: Focused = serde_json::from_value(answer).map_err(unreadable)?;
        self.focus_is_in(&context);
        let is_cleared = typing.clear && text.is_empty() && !focused.is_empty;
        let mut pressed = if is_cleared { vec![keys::BACKSPACE] } else { Vec::new() };
        if focused.is_set {
            self.prepare("set", target, json!({ "text": text }), &deadline)?;
        } else if typed.len() > TYPED_MAX {
            self.prepare("insert", None, json!({ "text": text, "in": context }), &deadline)?;
        } else {
            pressed.extend(typed);
        }
        pressed.extend(typing.submit.then_some(keys::ENTER));
        if pressed.is_empty() {
            return Ok(Acted { dialog: None });
        }
        self.perform(&context, press(&[], &pressed), &deadline)
    }

    /// Presses a key, like `Enter` or `Control+a`, with more modifiers if given, where the focus is.
    pub fn press_key(&self, key: &str, modifiers: &[Modifier], timeout: Duration) -> Result<Acted> {
        let (mut held, key) = keys::parse(key)?;
        held.extend(
            modifiers.iter().filter(|modifier| !held.contains(modifier)).copied().collect::<Vec<_>>(),
        );
        let deadline = Deadline::after(timeout);
        let _acting = self.begin_to_act(&deadline)?;
        let frame = self.state.live().focused_frame.clone();
        let frame = frame.filter(|frame| self.shared.tab_of(frame).is_some());
        let context = frame.as_ref().unwrap_or(&self.state.id.0);
        self.perform(context, press(&held, &[key]), &deadline)
    }

    /// Remembers where keys go from now on.
    fn focus_is_in(&self, context: &str) {
        let frame = (context != self.state.id.0).then(|| context.to_owned());
        self.state.change(|live| live.focused_frame = frame);
    }

    /// Runs a command of the library that belongs to an act: it changes the page, so it is not retried.
    fn prepare(
        &self,
        command: &str,
        target: Option<&ElementTarget>,
        args: Value,
        deadline: &Deadline,
    ) -> Result<(String, Value)> {
        self.check_permit()?;
        let (context, args) = match args["in"].as_str() {
            Some(context) => (context.to_owned(), args),
            None => self.aimed(target, args)?,
        };
        let about = self.about_document(&context);
        let answer = script::call(&self.shared, &context, command, &args, &about, deadline)?;
        Ok((context, answer.value))
    }

    fn perform(&self, context: &str, actions: Value, deadline: &Deadline) -> Result<Acted> {
        self.check_permit()?;
        let params = json!({ "context": context, "actions": actions });
        let about = CallScope { context: Some(context.to_owned()), until_crashed: true, ..self.about_page() };
        let done: Result<Value> = self.call("input.performActions", params, about, deadline);
        match done {
            // The page, or the tab, went away as a consequence, which many clicks are for.
            Ok(_)
            | Err(BrowserError::PageGone | BrowserError::NoSuchTab { .. } | BrowserError::Dialog { .. }) => {
                Ok(Acted { dialog: self.dialog() })
            }
            Err(BrowserError::Refused { code, .. }) if code == "no such frame" && !self.is_closed() => {
                Ok(Acted { dialog: None })
            }
            Err(BrowserError::Refused { code, message, .. }) if code == "move target out of bounds" => {
                Err(BrowserError::NotClickable { why: message })
            }
            Err(late @ BrowserError::Timeout { .. }) => {
                // Keys and buttons that are still down must not affect what is done next.
                self.shared.connection.tell("input.releaseActions", json!({ "context": context }));
                Err(late)
            }
            Err(other) => Err(other),
        }
    }
}

fn clicks_at(x: i64, y: i64, click: Click) -> Value {
    let button = match click.button {
        Button::Left => 0,
        Button::Middle => 1,
        Button::Right => 2,
    };
    let mut actions = vec![json!({ "type": "pointerMove", "x": x, "y": y, "origin": "viewport" })];
    for _ in 0..click.times {
        actions.push(json!({ "type": "pointerDown", "button": button }));
        actions.push(json!({ "type": "pointerUp", "button": button }));
    }
    json!([{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions }])
}

fn press(held: &[Modifier], pressed: &[char]) -> Value {
    let down = |key: char| json!({ "type": "keyDown", "value": key });
    let up = |key: char| json!({ "type": "keyUp", "value": key });
    let mut actions: Vec<Value> = held.iter().map(|modifier| down(modifier.code())).collect();
    actions.extend(pressed.iter().flat_map(|key| [down(*key), up(*key)]));
    actions.extend(held.iter().rev().map(|modifier| up(modifier.code())));
    json!([{ "type": "key", "id": "keyboard", "actions": actions }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_held_around_the_key() {
        let actions = press(&[Modifier::Control, Modifier::Shift], &['a']);
        let told: Vec<String> = actions[0]["actions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|action| {
                format!("{} {}", action["type"].as_str().unwrap(), action["value"].as_str().unwrap())
            })
            .collect();
        let (control, shift) = ('\u{E009}', '\u{E008}');
        let expected = [
            format!("keyDown {control}"),
            format!("keyDown {shift}"),
            "keyDown a".into(),
            "keyUp a".into(),
            format!("keyUp {shift}"),
            format!("keyUp {control}"),
        ];
        assert_eq!(told, expected);
    }
}
