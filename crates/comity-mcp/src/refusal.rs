//! Refused requests: JSON-RPC error codes and their sentences.

use serde::Serialize;

use crate::message::{JsonRpcId, render};
use crate::version::Version;

/// The longest piece of a client's text that a refusal repeats.
const QUOTE_CHARS_MAX: usize = 80;

/// The codes of JSON-RPC, and those that MCP adds since 2026-07-28.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    ParseError = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    HeaderMismatch = -32020,
    UnsupportedVersion = -32022,
}

/// Why a request gets an error in place of a result.
#[derive(Debug)]
pub(crate) struct RpcError {
    pub(crate) code: Code,
    message: String,
    data: Option<VersionData>,
}

impl RpcError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), data: None }
    }

    pub(crate) fn unsupported_version(requested: &str) -> Self {
        RpcError {
            code: Code::UnsupportedVersion,
            message: format!("protocol version {} is not supported", quote(requested)),
            data: Some(VersionData { supported: Version::SPOKEN, requested: clip(requested).to_owned() }),
        }
    }

    /// The error reply; the id is null if the request was too broken to have one.
    pub(crate) fn reply(&self, id: Option<&JsonRpcId>) -> String {
        let error = Error { code: self.code as i32, message: &self.message, data: self.data.as_ref() };
        render(&ErrorReply { jsonrpc: "2.0", id, error })
    }
}

/// A client's text in quotes, short enough to repeat.
pub(crate) fn quote(text: &str) -> String {
    let clipped = clip(text);
    let more = if clipped.len() < text.len() { "…" } else { "" };
    format!("\"{clipped}{more}\"")
}

fn clip(text: &str) -> &str {
    text.char_indices().nth(QUOTE_CHARS_MAX).map_or(text, |(end, _)| &text[..end])
}

/// What a client needs to retry with another version.
#[derive(Debug, Serialize)]
struct VersionData {
    supported: [Version; Version::SPOKEN.len()],
    requested: String,
}

#[derive(Serialize)]
struct ErrorReply<'a> {
    jsonrpc: &'static str,
    id: Option<&'a JsonRpcId>,
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: i32,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<&'a VersionData>,
}
