//! JSON-RPC messages: what comes in, and what goes out as one line.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::error::Category;
use serde_json::{Map, Number, Value};

use crate::refusal::{Code, RpcError};

/// A longer message is refused unread.
pub const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The id of a request: a string or an integer, echoed exactly.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub enum JsonRpcId {
    Number(Number),
    Text(String),
}

impl JsonRpcId {
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) if !number.is_f64() => Some(JsonRpcId::Number(number.clone())),
            Value::String(text) => Some(JsonRpcId::Text(text.clone())),
            _ => None,
        }
    }
}

/// The token under which a client wants to hear of a call's progress.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct ProgressToken(JsonRpcId);

impl ProgressToken {
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        JsonRpcId::from_value(value).map(ProgressToken)
    }
}

/// A progress notification; `step` must grow from one to the next.
pub fn progress(token: &ProgressToken, step: u64, message: &str) -> String {
    let params = ProgressParams { progress_token: token, progress: step, message };
    render(&Notification { jsonrpc: "2.0", method: "notifications/progress", params })
}

/// A message from the client, split but not yet interpreted.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request(ClientRequest),
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// An answer to a request of ours; this server sends none, so nothing waits for it.
    Response,
}

#[derive(Debug)]
pub(crate) struct ClientRequest {
    pub(crate) id: JsonRpcId,
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
}

/// A malformed message, and its id if that was readable.
#[derive(Debug)]
pub(crate) struct BadMessage {
    pub(crate) id: Option<JsonRpcId>,
    pub(crate) refusal: RpcError,
}

impl Incoming {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Incoming, BadMessage> {
        let unreadable =
            |code, message: String| BadMessage { id: None, refusal: RpcError::new(code, message) };
        if bytes.len() > MESSAGE_BYTES_MAX {
            let why = format!("the message has {} bytes; the limit is {MESSAGE_BYTES_MAX}", bytes.len());
            return Err(unreadable(Code::InvalidRequest, why));
        }
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            let why = "batches are not supported; send one message at a time";
            return Err(unreadable(Code::InvalidRequest, why.to_owned()));
        }
        let envelope = serde_json::from_slice::<Envelope>(bytes).map_err(|error| match error.classify() {
            // The text of this error could repeat a whole message, so it is not passed on.
            Category::Data => {
                let why = "a message must be one JSON object, with no member repeated";
                unreadable(Code::InvalidRequest, why.to_owned())
            }
            Category::Io | Category::Syntax | Category::Eof => {
                unreadable(Code::ParseError, format!("not JSON: {error}"))
            }
        })?;
        let id = envelope.id.as_ref().and_then(JsonRpcId::from_value);
        envelope.open(id.clone()).map_err(|refusal| BadMessage { id, refusal })
    }
}

/// The members of a JSON-RPC message, of whatever types.
#[derive(Deserialize)]
struct Envelope {
    #[serde(default, deserialize_with = "present")]
    jsonrpc: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    method: Option<Value>,
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    error: Option<Value>,
}

impl Envelope {
    fn open(self, id: Option<JsonRpcId>) -> Result<Incoming, RpcError> {
        let invalid = |message| Err(RpcError::new(Code::InvalidRequest, message));
        if self.jsonrpc != Some(Value::from("2.0")) {
            return invalid("\"jsonrpc\" must be \"2.0\"");
        }
        let method = match self.method {
            Some(Value::String(method)) => method,
            Some(_) => return invalid("\"method\" must be a string"),
            None if self.result.is_some() || self.error.is_some() => return Ok(Incoming::Response),
            None => return invalid("the message has no \"method\""),
        };
        let params = match self.params {
            None => Some(Map::new()),
            Some(Value::Object(params)) => Some(params),
            Some(_) => None,
        };
        match (self.id, id, params) {
            // Never answered, even if it makes no sense.
            (None, _, params) => Ok(Incoming::Notification { method, params: params.unwrap_or_default() }),
            (Some(_), Some(id), Some(params)) => Ok(Incoming::Request(ClientRequest { id, method, params })),
            (Some(_), None, _) => invalid("\"id\" must be a string or an integer"),
            (Some(_), Some(_), None) => {
                Err(RpcError::new(Code::InvalidParams, "\"params\" must be an object"))
            }
        }
    }
}

/// Tells a member that is null from one that is absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// A message as one line, without the line break.
pub(crate) fn render(message: &impl Serialize) -> String {
    serde_json::to_string(message).expect("messages have string keys and nothing that fails to serialize")
}

/// The reply to a request that succeeded.
pub(crate) fn render_result(id: &JsonRpcId, result: &impl Serialize) -> String {
    render(&ResultReply { jsonrpc: "2.0", id, result })
}

#[derive(Serialize)]
struct ResultReply<'a, T> {
    jsonrpc: &'static str,
    id: &'a JsonRpcId,
    result: &'a T,
}

#[derive(Serialize)]
struct Notification<T> {
    jsonrpc: &'static str,
    method: &'static str,
    params: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressParams<'a> {
    progress_token: &'a ProgressToken,
    progress: u64,
    message: &'a str,
}
