//! Tools: what the server offers, calls, and their results.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::context::ClientInfo;
use crate::message::{JsonRpcId, ProgressToken};
use crate::version::Version;

/// The field with the text, in an answer as data.
pub const WORDS: &str = "text";

/// One tool of the server.
#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    /// For the model.
    pub description: String,
    /// The JSON Schema of its arguments: `"type": "object"`, and no `x-mcp-header`, which is not checked.
    pub input_schema: Value,
    /// What calling it can do to the server's state.
    pub effect: ToolEffect,
    /// The JSON Schema of the data that it returns, if any.
    pub output_schema: Option<Value>,
    /// Asks Claude to show the tool to the model at once, without a tool search.
    pub always_load: bool,
}

/// What a call can do; clients ask people less often before harmless ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// It only looks.
    Reads,
    /// It adds, and takes nothing away.
    Adds,
    /// It can overwrite or remove.
    Destroys,
}

impl Tool {
    /// A tool that only looks, loaded when the client sees fit.
    pub fn reading(name: &str, description: &str, input_schema: Value) -> Self {
        Tool {
            name: name.to_owned(),
            title: None,
            description: description.to_owned(),
            input_schema,
            effect: ToolEffect::Reads,
            output_schema: None,
            always_load: false,
        }
    }
}

/// A call of a tool, for the caller of this crate to run.
#[derive(Debug, Clone)]
pub struct Call {
    /// What the reply needs; pass it to [`crate::McpServer::finish`].
    pub ticket: CallTicket,
    pub tool: String,
    /// Not yet checked against the schema.
    pub arguments: Map<String, Value>,
    /// Where to send progress, if the client wants any.
    pub progress_token: Option<ProgressToken>,
    /// Who calls, as far as the client said.
    pub client: Option<ClientInfo>,
    /// The whole `_meta` of the request, with keys that clients add, such as `claudecode/toolUseId`.
    pub meta: Map<String, Value>,
}

/// What a running call needs for its reply.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallTicket {
    pub id: JsonRpcId,
    pub version: Version,
    /// The resource that is read by this call, if any.
    pub(crate) resource: Option<&'static str>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// The full answer: some clients show the model nothing else.
    pub text: String,
    /// The same answer as data: some clients show the model only this, so it must be complete as well.
    pub structured: Option<Value>,
    pub image: Option<ImageData>,
    /// Whether the tool refused or failed; the model sees the text either way.
    pub is_error: bool,
}

/// A picture in an answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageData {
    /// Its bytes, in Base64.
    pub data: String,
    pub mime_type: String,
}

impl ToolOutcome {
    /// The result of a successful call.
    pub fn answer(text: impl Into<String>) -> Self {
        ToolOutcome { text: text.into(), structured: None, image: None, is_error: false }
    }

    /// What the model should know of a failed call, including bad arguments.
    pub fn error(text: impl Into<String>) -> Self {
        ToolOutcome { text: text.into(), structured: None, image: None, is_error: true }
    }

    /// Adds text to the answer; to the data, too, since some clients show the model nothing else.
    pub fn add(&mut self, words: &str) {
        self.text.push_str(words);
        if let Some(Value::Object(data)) = &mut self.structured {
            data.insert(WORDS.to_owned(), self.text.as_str().into());
        }
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let definition = Definition {
            name: &self.name,
            title: self.title.as_deref(),
            description: &self.description,
            input_schema: &self.input_schema,
            output_schema: self.output_schema.as_ref(),
            annotations: Annotations::of(self.effect),
            meta: self.always_load.then_some(ToolMeta { always_load: true }),
        };
        definition.serialize(serializer)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Definition<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a Value>,
    annotations: Annotations,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ToolMeta>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
}

impl Annotations {
    /// The default is the worst case, so only the better cases are written: every agent reads them.
    fn of(effect: ToolEffect) -> Self {
        Annotations {
            read_only_hint: (effect == ToolEffect::Reads).then_some(true),
            destructive_hint: (effect == ToolEffect::Adds).then_some(false),
        }
    }
}

#[derive(Serialize)]
struct ToolMeta {
    #[serde(rename = "anthropic/alwaysLoad")]
    always_load: bool,
}
