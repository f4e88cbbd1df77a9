//! Tools: what the server offers, a call of one, and how the call came out.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::context::ClientInfo;
use crate::message::{JsonRpcId, ProgressToken};
use crate::version::Version;

/// The field of an answer as data that has its words.
pub const WORDS: &str = "text";

/// One tool of the server.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The name by which it is called.
    pub name: String,
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments: `"type": "object"`, and no `x-mcp-header`, which is not checked.
    pub input_schema: Value,
    /// What calling it can do to the server's state.
    pub effect: ToolEffect,
    /// The JSON Schema of what comes back as data, if some does.
    pub output_schema: Option<Value>,
    /// Asks Claude to show the tool to the model at once instead of behind a tool search.
    pub always_load: bool,
}

/// What a call can do; clients ask people less often before the harmless ones.
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
    /// What the reply has to carry; give it back to [`crate::McpServer::finish`].
    pub ticket: CallTicket,
    /// The name of the tool, which the server has.
    pub tool: String,
    /// The arguments, not yet checked against the schema.
    pub arguments: Map<String, Value>,
    /// Where to send progress, if the client wants any.
    pub progress_token: Option<ProgressToken>,
    /// Who calls, as far as the client said.
    pub client: Option<ClientInfo>,
    /// The whole `_meta` of the request, with keys that clients add, such as `claudecode/toolUseId`.
    pub meta: Map<String, Value>,
}

/// The claim of a running call on a reply.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallTicket {
    /// The request to reply to.
    pub id: JsonRpcId,
    /// The version to reply in.
    pub version: Version,
    /// The resource that is read by this call, if that is what was asked for.
    pub(crate) resource: Option<&'static str>,
}

/// How a call came out.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutcome {
    /// The full answer: some clients show the model nothing else.
    pub text: String,
    /// The same answer as data: some clients show the model only this, so it must be full as well.
    pub structured: Option<Value>,
    /// A picture that belongs to the answer.
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
    /// The answer of a call that worked.
    pub fn answer(text: impl Into<String>) -> Self {
        ToolOutcome { text: text.into(), structured: None, image: None, is_error: false }
    }

    /// What the model should know of a call that did not work, bad arguments included.
    pub fn error(text: impl Into<String>) -> Self {
        ToolOutcome { text: text.into(), structured: None, image: None, is_error: true }
    }

    /// Adds words to the answer: to the data, too, for some clients show the model nothing else.
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
    /// What is left out is taken for the worst case, so only the better cases are written: every agent reads them.
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
