//! What an agent asks for and waits to be answered: tool calls, and files that it wants read or written for it.

use std::collections::{BTreeMap, VecDeque};

use serde_json::value::RawValue;

use super::schema::{PermissionOption, ToolCallChange};

/// How many asks may wait.
const ASKS_MAX: usize = 16;
/// What is kept for asks that wait, in all.
const ASKS_BYTES_MAX: usize = 32 * 1024 * 1024;
/// How many tool calls are known at a time.
const CALLS_MAX: usize = 32;
/// What is kept of the input of one, between its beginning and the question about it.
const INPUT_BYTES_MAX: usize = 256 * 1024;
/// How many files one tool call names.
const PATHS_MAX: usize = 256;

/// Something that an agent waits for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AcpAsk {
    /// Names it in the answer.
    pub ask: u64,
    pub wish: AcpWish,
}

/// What it wants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AcpWish {
    /// To make a tool call.
    Call(AcpToolCall),
    /// To be given what is in a file.
    Read { path: String },
    /// To have a file written.
    Write { path: String, content: String },
}

/// A tool call as its agent describes it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AcpToolCall {
    pub id: String,
    pub title: String,
    /// read, edit, delete, move, search, execute, think, fetch, …
    pub kind: String,
    /// The tool's own name, where its program tells it.
    pub tool: Option<String>,
    /// The tool's exact input as JSON, where its program tells it.
    pub input: Option<String>,
    /// The files that it would change.
    pub changes: Vec<AcpChange>,
    /// The files that it is about.
    pub locations: Vec<String>,
}

/// A file that a tool call would change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AcpChange {
    pub path: String,
    /// What would be in it then, as its program tells.
    pub text: Option<String>,
}

/// What is known of the tool calls of a turn.
#[derive(Default, Debug)]
pub(super) struct KnownCalls(VecDeque<AcpToolCall>);

impl KnownCalls {
    /// Takes over what is said of a call; gives all that is known of it, and whether it is new.
    pub(super) fn learn(&mut self, change: &ToolCallChange) -> (AcpToolCall, bool) {
        let at = self.0.iter().position(|call| call.id == change.tool_call_id);
        let mut call = at.and_then(|at| self.0.remove(at)).unwrap_or_default();
        call.id.clone_from(&change.tool_call_id);
        if let Some(title) = change.title.as_ref().filter(|title| !title.is_empty()) {
            call.title.clone_from(title);
        }
        if let Some(kind) = &change.kind {
            call.kind.clone_from(kind);
        }
        if let Some(tool) = tool_name(change) {
            call.tool = Some(tool);
        }
        if let Some(input) = &change.raw_input {
            call.input = Some(input.get().to_owned());
        }
        if let Some(content) = &change.content {
            let changed = content.iter().filter_map(|content| {
                Some(AcpChange { path: content.path.clone()?, text: content.new_text.clone() })
            });
            call.changes = changed.take(PATHS_MAX).collect();
        }
        if let Some(locations) = &change.locations {
            call.locations = locations.iter().map(|it| it.path.clone()).take(PATHS_MAX).collect();
        }
        if !matches!(change.status.as_deref(), Some("completed" | "failed")) {
            self.0.push_back(call.in_brief());
            while self.0.len() > CALLS_MAX {
                self.0.pop_front();
            }
        }
        (call, at.is_none())
    }
}

impl AcpToolCall {
    /// Without what is too long to be kept.
    fn in_brief(&self) -> Self {
        let texts: usize =
            self.changes.iter().filter_map(|change| change.text.as_ref()).map(String::len).sum();
        let change = |change: &AcpChange| AcpChange {
            path: change.path.clone(),
            text: change.text.clone().filter(|_| texts <= INPUT_BYTES_MAX),
        };
        Self {
            input: self.input.clone().filter(|input| input.len() <= INPUT_BYTES_MAX),
            changes: self.changes.iter().map(change).collect(),
            id: self.id.clone(),
            title: self.title.clone(),
            kind: self.kind.clone(),
            tool: self.tool.clone(),
            locations: self.locations.clone(),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let texts = self.changes.iter().filter_map(|change| change.text.as_ref());
        texts.chain(&self.input).map(String::len).sum()
    }
}

fn tool_name(change: &ToolCallChange) -> Option<String> {
    let meta: super::schema::ToolMetadata = serde_json::from_str(change.meta.as_ref()?.get()).ok()?;
    meta.claude_code?.tool_name
}

/// An ask that waits, with the agent's own name for it.
#[derive(Debug)]
pub(super) struct WaitingAsk {
    pub(super) id: Box<RawValue>,
    pub(super) what: AskedFor,
}

#[derive(Debug)]
pub(super) enum AskedFor {
    Call { title: String, options: Vec<PermissionOption> },
    Read { path: String, line: Option<u64>, limit: Option<u64> },
    Write { path: String, content: String },
}

/// All that wait.
#[derive(Default, Debug)]
pub(super) struct OpenAsks {
    waiting: BTreeMap<u64, (WaitingAsk, usize)>,
    last: u64,
}

impl OpenAsks {
    /// Keeps one until it is answered, unless too many wait.
    pub(super) fn add(&mut self, waiting: WaitingAsk, bytes: usize) -> Result<u64, WaitingAsk> {
        let kept: usize = self.waiting.values().map(|(_, bytes)| bytes).sum();
        if self.waiting.len() >= ASKS_MAX || kept + bytes > ASKS_BYTES_MAX {
            return Err(waiting);
        }
        self.last += 1;
        self.waiting.insert(self.last, (waiting, bytes));
        Ok(self.last)
    }

    pub(super) fn get(&self, ask: u64) -> Option<&WaitingAsk> {
        self.waiting.get(&ask).map(|(waiting, _)| waiting)
    }

    pub(super) fn take(&mut self, ask: u64) -> Option<WaitingAsk> {
        self.waiting.remove(&ask).map(|(waiting, _)| waiting)
    }

    /// The number of what the agent calls so.
    pub(super) fn find(&self, id: &RawValue) -> Option<u64> {
        let mut waiting = self.waiting.iter();
        waiting.find(|(_, (waiting, _))| waiting.id.get() == id.get()).map(|(ask, _)| *ask)
    }

    pub(super) fn numbers(&self) -> Vec<u64> {
        self.waiting.keys().copied().collect()
    }

    pub(super) fn has_calls(&self) -> bool {
        self.waiting.values().any(|(waiting, _)| matches!(waiting.what, AskedFor::Call { .. }))
    }
}

/// The option that means this, and nothing beyond this one call.
pub(super) fn chosen(options: &[PermissionOption], allowed: bool) -> Option<&str> {
    let kinds: &[&str] = if allowed { &["allow_once"] } else { &["reject_once", "reject_always"] };
    let of_kind = |kind: &&str| options.iter().find(|option| option.kind.as_deref() == Some(*kind));
    kinds.iter().find_map(of_kind).map(|option| &*option.option_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: &str) -> ToolCallChange {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn what_was_said_of_a_call_before_is_still_known() {
        let mut calls = KnownCalls::default();
        let begun = r#"{"toolCallId":"1","title":"Write a","kind":"edit","rawInput":{"b":1,"a":2},
            "locations":[{"path":"/r/a","line":3}],"_meta":{"claudeCode":{"toolName":"Write"}}}"#;
        assert!(calls.learn(&change(begun)).1);
        let asked = r#"{"toolCallId":"1","content":[{"type":"diff","path":"/r/a","newText":""}],"_meta":7}"#;
        let (call, is_new) = calls.learn(&change(asked));
        let expected = AcpToolCall {
            id: "1".into(),
            title: "Write a".into(),
            kind: "edit".into(),
            tool: Some("Write".into()),
            // The exact text, in the agent's order.
            input: Some(r#"{"b":1,"a":2}"#.into()),
            changes: vec![AcpChange { path: "/r/a".into(), text: Some(String::new()) }],
            locations: vec!["/r/a".into()],
        };
        assert_eq!((call, is_new), (expected, false));
        calls.learn(&change(r#"{"toolCallId":"1","status":"completed"}"#));
        assert!(calls.learn(&change(r#"{"toolCallId":"1"}"#)).1);
    }

    #[test]
    fn calls_that_never_end_are_forgotten() {
        let mut calls = KnownCalls::default();
        for id in 0..2 * CALLS_MAX {
            calls.learn(&change(&format!(
                r#"{{"toolCallId":"{id}","rawInput":"{0}",
                "content":[{{"type":"diff","path":"a","newText":"{0}"}}]}}"#,
                "x".repeat(300_000)
            )));
        }
        assert_eq!(calls.0.len(), CALLS_MAX);
        assert!(calls.0.iter().all(|call| call.bytes() == 0));
    }

    #[test]
    fn only_so_many_wait() {
        let waiting = || {
            let what = AskedFor::Read { path: "a".into(), line: None, limit: None };
            WaitingAsk { id: RawValue::NULL.to_owned(), what }
        };
        let mut asks = OpenAsks::default();
        assert!(asks.add(waiting(), ASKS_BYTES_MAX + 1).is_err());
        for _ in 0..ASKS_MAX {
            asks.add(waiting(), 1).unwrap();
        }
        assert!(asks.add(waiting(), 1).is_err());
        assert!(asks.take(1).is_some());
        assert_eq!(asks.add(waiting(), 1).unwrap(), ASKS_MAX as u64 + 1);
    }

    #[test]
    fn nothing_beyond_this_call_is_allowed() {
        let options = |text: &str| serde_json::from_str::<Vec<PermissionOption>>(text).unwrap();
        let usual = options(
            r#"[{"optionId":"always","name":"Always","kind":"allow_always"},{"optionId":"yes","name":"Yes","kind":"allow_once"},
            {"optionId":"never","name":"Never","kind":"reject_always"},{"optionId":"no","name":"No","kind":"reject_once"}]"#,
        );
        assert_eq!(chosen(&usual, true), Some("yes"));
        assert_eq!(chosen(&usual, false), Some("no"));
        let wide = options(
            r#"[{"optionId":"always","kind":"allow_always"},{"optionId":"x"},{"optionId":"never","kind":"reject_always"}]"#,
        );
        assert_eq!(chosen(&wide, true), None);
        assert_eq!(chosen(&wide, false), Some("never"));
        assert_eq!(chosen(&[], false), None);
    }
}
