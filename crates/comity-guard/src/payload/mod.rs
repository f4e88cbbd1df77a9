//! What an agent program tells its hook: which call it is about to make, or has made.

mod arguments;
mod fields;
mod options;
mod recognise;
mod shell;
mod tools;
mod verbs;
mod words;
mod writers;

use std::fmt;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::effects::Effects;
use crate::limits::PAYLOAD_BYTES_MAX;
use fields::Fields;
pub use shell::{ShellCall, shell_call, starts_the_programs_shell};
pub use tools::{ToolKind, tool};

/// The moment of a hook.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HookEvent {
    /// It can still be prevented.
    BeforeTool,
    AfterTool,
    SessionStart,
    SessionEnd,
    UserPrompt,
    /// The agent is done, for now.
    Stop,
    SubagentStop,
    /// Anything else, which is let pass.
    Other,
}

/// One call of a hook, parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookCall {
    pub dialect: Dialect,
    pub event: HookEvent,
    /// The program's own name for the event, which some answers have to repeat.
    pub event_name: String,
    pub session: Option<String>,
    pub agent_within: Option<String>,
    pub agent_kind: Option<String>,
    /// The program's own id of the tool call.
    pub call_id: Option<String>,
    pub cwd: Option<String>,
    pub tool: Option<String>,
    /// The file in which the program writes down its session.
    pub transcript: Option<String>,
    /// Whether what is said to it reaches the model, where the program tells.
    pub shows: bool,
    pub effects: Effects,
}

/// A payload that cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadPayload(pub String);

impl fmt::Display for BadPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "what the agent program sent can't be understood: {}", self.0)
    }
}

impl std::error::Error for BadPayload {}

impl HookCall {
    /// Parses a payload. Without a dialect the program is recognized by fields that only it has.
    pub fn parse(dialect: Option<Dialect>, payload: &[u8]) -> Result<HookCall, BadPayload> {
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(BadPayload(format!("it has more than {PAYLOAD_BYTES_MAX} bytes")));
        }
        let value: Value = serde_json::from_slice(payload).map_err(|error| BadPayload(error.to_string()))?;
        let Value::Object(object) = &value else { return Err(BadPayload("it isn't an object".into())) };
        let fields = Fields(object);
        let dialect = match dialect {
            Some(dialect) => dialect,
            None => recognise::dialect(&fields)
                .ok_or_else(|| BadPayload("nothing in it tells which program it is from".into()))?,
        };
        let (event, event_name) = recognise::event(dialect, &fields)?;
        let tool = fields.text(&["tool_name", "toolName", "tool"]).map(str::to_owned);
        let cwd = fields.text(&["cwd", "working_directory", "workingDirectory"]).map(str::to_owned);
        let effects = match event {
            HookEvent::BeforeTool | HookEvent::AfterTool => {
                tools::effects(dialect, &event_name, tool.as_deref(), &fields)
            }
            HookEvent::SessionStart
            | HookEvent::SessionEnd
            | HookEvent::UserPrompt
            | HookEvent::Stop
            | HookEvent::SubagentStop
            | HookEvent::Other => Effects::default(),
        };
        let session = fields.text(&["session_id", "sessionId", "session", "sessionID", "conversation_id"]);
        Ok(HookCall {
            dialect,
            event,
            event_name,
            session: session.map(str::to_owned),
            agent_within: fields.text(&["agent_id", "agentId"]).map(str::to_owned),
            agent_kind: fields.text(&["agent_type", "agentType"]).map(str::to_owned),
            call_id: fields.text(&["tool_use_id", "toolUseId"]).map(str::to_owned),
            cwd,
            tool,
            transcript: fields.text(&["transcript_path"]).map(str::to_owned),
            shows: fields.get(&["shows"]) != Some(&Value::Bool(false)),
            effects,
        })
    }

    /// The tool's input in a payload, as it is.
    pub fn tool_input(payload: &[u8]) -> Option<Value> {
        let value: Value = serde_json::from_slice(payload).ok()?;
        let fields = Fields(value.as_object()?);
        let Some(input) = fields.get(tools::INPUTS) else {
            // Cursor's own event for command lines.
            return fields.text(&["command"]).map(|command| serde_json::json!({ "command": command }));
        };
        Some(match input.as_str().and_then(|text| serde_json::from_str(text).ok()) {
            // Copilot CLI passes the arguments as JSON text.
            Some(parsed @ Value::Object(_)) => parsed,
            Some(_) | None => input.clone(),
        })
    }

    /// Whether the tool runs commands, which may write anything.
    pub fn runs_commands(&self) -> bool {
        tools::runs_commands(self.dialect, &self.event_name, self.tool.as_deref())
    }

    /// Whether the program shows its model what a hook adds to this event.
    pub fn takes_context(&self) -> bool {
        self.shows && crate::verdict::takes_context(self.dialect, self.event)
    }
}
