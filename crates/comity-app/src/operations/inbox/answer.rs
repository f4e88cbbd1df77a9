//! Answers something in the inbox: by the operation that does it.

use std::fmt;

use comity_core::{Refusal, inbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::InboxEntry;
use crate::application::Application;
use crate::catalog::next_call;
use crate::operation::{Caller, Failure, Operation, Plan};
use crate::operations::inbox::ListInbox;

/// Answer something that is waiting for you, such as p12 allow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerInbox {
    /// What you answer, such as p12
    pub entry: String,
    /// One of its answers, such as allow or reject
    pub answer: String,
    /// The reason, for answers that take one
    pub reason: Option<String>,
}

/// What the operation that answers says.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Answered {
    #[serde(flatten)]
    pub said: Map<String, Value>,
}

impl Operation for AnswerInbox {
    type Output = Answered;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Answered>, Failure> {
        let entry = self.meant(app, caller)?;
        let Some(answer) = entry.answers.iter().find(|answer| answer.answer == self.answer) else {
            let words: Vec<&str> = entry.answers.iter().map(|answer| answer.answer).collect();
            let problem = format!("{} can't be answered with {:?}", entry.entry, self.answer);
            return Err(Refusal::bad_input(problem, format!("answer with: {}", words.join(", "))).into());
        };
        let mut input = answer.input.clone();
        match (self.reason, answer.reason) {
            (Some(_), "") => {
                return Err(Refusal::bad_input(
                    format!("{} takes no reason", answer.answer),
                    "leave the reason out",
                )
                .into());
            }
            (Some(reason), field) => input[field] = reason.into(),
            (None, _) => {}
        }
        Ok(Plan::Instead { operation: answer.operation, input })
    }
}

impl AnswerInbox {
    /// The entry that is meant: by its name, or by its number if no other has that.
    fn meant(&self, app: &Application, caller: &Caller) -> Result<InboxEntry, Refusal> {
        let place = app.projects().place(caller).ok();
        let (now, world) = (app.engine().now(), app.engine().world());
        let items = inbox::waiting_for(&world, caller.who);
        let entries =
            items.iter().map(|item| InboxEntry::of(item, &world, (caller.who, place.as_ref()), now));
        let is_number = !self.entry.is_empty() && self.entry.bytes().all(|byte| byte.is_ascii_digit());
        let is_meant = |entry: &InboxEntry| match is_number {
            true => {
                entry.kind != "orphan"
                    && entry.entry.trim_start_matches(|c: char| !c.is_ascii_digit()) == self.entry
            }
            false => entry.entry == self.entry,
        };
        let mut meant: Vec<InboxEntry> = entries.filter(is_meant).collect();
        match meant.len() {
            1 => Ok(meant.remove(0)),
            0 => Err(Refusal::NotFound {
                problem: format!("nothing called {:?} waits for you", self.entry),
                hint: format!("see what does with: {}", next_call::<ListInbox>([])),
            }),
            _ => {
                let names: Vec<&str> = meant.iter().map(|entry| &*entry.entry).collect();
                Err(Refusal::bad_input(
                    format!("several things have the number {}", self.entry),
                    format!("say which: {}", names.join(", ")),
                ))
            }
        }
    }
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Value::Object(self.said.clone()).to_string())
    }
}
