//! Answers an inbox entry, through the operation that does it.

use std::fmt;

use comity_core::{Refusal, inbox};
use serde_json::{Map, Value};

use super::InboxEntry;
use super::shown::shown;
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::inbox::ListInbox;

/// Prefixes of entries that have a number of their own.
const NUMBERED: [&str; 5] = ["p", "plan", "d", "s-", "task"];

/// Answer what is waiting for you, such as p12 allow.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerInbox {
    /// Such as p12, a task's id, or its line: 3
    pub entry: String,
    /// One of its answers, such as allow or reject
    pub answer: String,
    /// For answers that take one
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
            if words.is_empty() {
                return Err(Refusal::bad_input(problem, entry.what).into());
            }
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
            (None, "to") => {
                return Err(Refusal::bad_input("it isn't clear to whom", &answer.command).into());
            }
            (None, _) if answer.needs_reason => {
                let problem = format!("{} needs a reason", answer.answer);
                return Err(Refusal::bad_input(problem, format!("say it: {}", answer.command)).into());
            }
            (None, _) => {}
        }
        Ok(Plan::Instead { operation: answer.operation, input })
    }
}

impl AnswerInbox {
    /// The entry that is meant, by its name or a number.
    fn meant(&self, app: &Application, caller: &Caller) -> Result<InboxEntry, Refusal> {
        let place = app.projects().place(caller).ok();
        let (now, world) = (app.engine().now(), app.engine().world());
        let items = inbox::waiting_at(&world, &caller.asker());
        let entries =
            InboxEntry::first((&items, usize::MAX), |_| true, &world, (caller.who, place.as_ref()), now);
        let merges = app.open_merges().of(caller.who, &world);
        let entries: Vec<InboxEntry> = entries
            .into_iter()
            .chain(merges.iter().map(|merge| InboxEntry::of_merge(merge, &world)))
            .collect();
        let is_number = !self.entry.is_empty() && self.entry.bytes().all(|byte| byte.is_ascii_digit());
        let mut meant: Vec<InboxEntry> = match is_number {
            true => self.by_number(app, caller, entries)?,
            false => self.by_name(entries),
        };
        match meant.len() {
            1 => Ok(meant.remove(0)),
            0 => Err(Refusal::NotFound {
                problem: format!("nothing that is waiting for you is called {:?}", self.entry),
                hint: format!("see what is waiting with: {}", next_call::<ListInbox>([])),
            }),
            _ => Err(ambiguous(format!("several things are called {}", self.entry), &meant)),
        }
    }

    /// The entry with that name in the list, otherwise the task with that number or id.
    fn by_name(&self, entries: Vec<InboxEntry>) -> Vec<InboxEntry> {
        let name = self.entry.as_str();
        let (named, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.entry == name);
        let is_task = |entry: &InboxEntry| {
            entry.number.as_deref().is_some_and(|number| {
                number == name || entry.answers.iter().any(|answer| answer.input["id"] == name)
            })
        };
        if named.is_empty() { others.into_iter().filter(is_task).collect() } else { named }
    }

    /// A number is a line of the list that the caller saw last, unless it could also be a name without its letters:
    /// an answer must not go to another entry than was meant.
    fn by_number(
        &self,
        app: &Application,
        caller: &Caller,
        entries: Vec<InboxEntry>,
    ) -> Result<Vec<InboxEntry>, Refusal> {
        let number = self.entry.as_str();
        let line = number.parse().ok().and_then(|line| app.shown_lists().line(caller, line));
        let is_numbered = |entry: &InboxEntry| {
            let own = entry.number.as_deref().unwrap_or(&entry.entry);
            NUMBERED.contains(&own.trim_end_matches(|c: char| c.is_ascii_digit()))
                && own.trim_start_matches(|c: char| !c.is_ascii_digit()) == number
        };
        let Some(line) = line else { return Ok(entries.into_iter().filter(is_numbered).collect()) };
        if !entries.iter().any(|entry| shown(entry) == line) {
            return Err(Refusal::NotFound {
                problem: format!(
                    "{} was number {number} in the list you saw last, and is no longer waiting",
                    line.0
                ),
                hint: format!("see what is waiting with: {}", next_call::<ListInbox>([])),
            });
        }
        let mut meant: Vec<InboxEntry> =
            entries.into_iter().filter(|entry| shown(entry) == line || is_numbered(entry)).collect();
        let takes_it = |entry: &InboxEntry| entry.answers.iter().any(|answer| answer.answer == self.answer);
        let taking: Vec<usize> = (0..meant.len()).filter(|at| takes_it(&meant[*at])).collect();
        match (meant.len(), &taking[..]) {
            (0 | 1, _) => Ok(meant),
            // Nothing else could be answered so.
            (_, [only]) if shown(&meant[*only]) == line => Ok(vec![meant.swap_remove(*only)]),
            _ => Err(ambiguous(
                format!(
                    "{} is number {number} in the list you saw last, but others are called that, too",
                    line.0
                ),
                &meant,
            )),
        }
    }
}

fn ambiguous(problem: String, meant: &[InboxEntry]) -> Refusal {
    let names: Vec<&str> = meant.iter().map(|entry| &*entry.entry).collect();
    Refusal::bad_input(problem, format!("say which: {}", names.join(", ")))
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Value::Object(self.said.clone()).to_string())
    }
}
