//! The headers that repeat parts of the body for routers on the way, and must agree with it.

use data_encoding::BASE64;
use serde_json::Value;

use crate::message::ClientRequest;
use crate::refusal::{Code, RpcError, quote};
use crate::version::Version;

const VERSION: &str = "MCP-Protocol-Version";
const METHOD: &str = "Mcp-Method";
const NAME: &str = "Mcp-Name";

pub(super) struct Headers<'a>(pub(super) &'a [(&'a str, &'a [u8])]);

impl Headers<'_> {
    /// Whether the content type is JSON.
    pub(super) fn are_json(&self) -> bool {
        let Ok(Some(kind)) = self.value("content-type") else {
            return false;
        };
        let kind = kind.split(';').next().unwrap_or(kind);
        kind.trim().eq_ignore_ascii_case("application/json")
    }

    /// The named version; if absent, one from before there was such a header.
    pub(super) fn version(&self) -> Result<Version, RpcError> {
        match self.value(VERSION)? {
            None => Ok(Version::V2025_03_26),
            Some(name) => Version::named(name).ok_or_else(|| RpcError::unsupported_version(name)),
        }
    }

    pub(super) fn match_version(&self, in_body: &str) -> Result<(), RpcError> {
        self.matches(VERSION, in_body)
    }

    pub(super) fn match_method(&self, request: &ClientRequest) -> Result<(), RpcError> {
        self.matches(METHOD, &request.method)
    }

    pub(super) fn match_method_if_sent(&self, request: &ClientRequest) -> Result<(), RpcError> {
        if self.value(METHOD)?.is_none() {
            return Ok(());
        }
        self.match_method(request)
    }

    /// Checks the name of the called tool, if there is one.
    pub(super) fn match_tool(&self, request: &ClientRequest) -> Result<(), RpcError> {
        match request.params.get("name").and_then(Value::as_str) {
            Some(tool) if request.method == "tools/call" => self.matches(NAME, tool),
            Some(_) | None => Ok(()),
        }
    }

    fn matches(&self, name: &str, in_body: &str) -> Result<(), RpcError> {
        let Some(value) = self.value(name)? else {
            return Err(mismatch(format!("the header {name} is missing")));
        };
        if value == in_body || (name == NAME && value == base64_word(in_body)) {
            return Ok(());
        }
        let (value, in_body) = (quote(value), quote(in_body));
        Err(mismatch(format!("the header {name} says {value}, the body says {in_body}")))
    }

    /// The only value of a header; a repeated one could be read differently on the way.
    fn value(&self, name: &str) -> Result<Option<&str>, RpcError> {
        let mut values = self.0.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        let Some((_, value)) = values.next() else {
            return Ok(None);
        };
        if values.next().is_some() {
            return Err(mismatch(format!("the header {name} is repeated")));
        }
        match str::from_utf8(value) {
            Ok(value) if value.is_ascii() => Ok(Some(value.trim())),
            Ok(_) | Err(_) => Err(mismatch(format!("the header {name} is not plain ASCII"))),
        }
    }
}

fn mismatch(message: String) -> RpcError {
    RpcError::new(Code::HeaderMismatch, message)
}

/// The form in which a header carries text that is not plain: `=?base64?…?=`.
fn base64_word(text: &str) -> String {
    format!("=?base64?{}?=", BASE64.encode(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_words_are_those_of_the_specification() {
        assert_eq!(base64_word("Hello, 世界"), "=?base64?SGVsbG8sIOS4lueVjA==?=");
        assert_eq!(base64_word(" padded "), "=?base64?IHBhZGRlZCA=?=");
        assert_eq!(base64_word("=?base64?literal?="), "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    }
}
