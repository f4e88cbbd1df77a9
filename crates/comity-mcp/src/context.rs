//! What a request says about itself: its version, its client, and the rest of `_meta`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::message::ClientRequest;
use crate::refusal::{Code, RpcError};
use crate::version::Version;

/// The method that asks what the server speaks and offers, without a handshake.
pub(crate) const DISCOVER: &str = "server/discover";

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The client's name for itself; a claim, never to be trusted for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ClientInfo {
    /// Such as `claude-code`.
    pub name: String,
    /// Empty if it gave none.
    #[serde(default)]
    pub version: String,
    pub title: Option<String>,
}

impl ClientInfo {
    /// What a client says of itself in its first message, whichever way it begins.
    pub fn in_message(line: &[u8]) -> Option<ClientInfo> {
        let message: Value = serde_json::from_slice(line).ok()?;
        let params = &message["params"];
        let said = [&params["clientInfo"], &params["_meta"][META_CLIENT]];
        said.into_iter().find_map(|said| ClientInfo::from_value(Some(said)))
    }

    pub(crate) fn from_value(value: Option<&Value>) -> Option<Self> {
        ClientInfo::deserialize(value?).ok()
    }
}

/// The circumstances under which a request is answered.
#[derive(Debug, Clone)]
pub(crate) struct RequestContext {
    pub(crate) version: Version,
    pub(crate) client: Option<ClientInfo>,
}

/// The version that the request names in its own `_meta`.
pub(crate) fn named_version(request: &ClientRequest) -> Option<&str> {
    meta(request)?.get(META_VERSION)?.as_str()
}

/// The context of a self-contained request, or `None` for one that relies on a handshake.
pub(crate) fn stand_alone(request: &ClientRequest) -> Result<Option<RequestContext>, RpcError> {
    let meta = meta(request);
    let leans = !meta.is_some_and(|meta| meta.contains_key(META_VERSION));
    if leans && request.method != DISCOVER {
        return Ok(None);
    }
    let Some(name) = named_version(request) else {
        return Err(missing_version());
    };
    let Some(version) = Version::named(name) else {
        return Err(RpcError::unsupported_version(name));
    };
    let capabilities = meta.and_then(|meta| meta.get(META_CAPABILITIES));
    if !capabilities.is_some_and(Value::is_object) {
        return Err(missing(META_CAPABILITIES, "an object"));
    }
    let client = ClientInfo::from_value(meta.and_then(|meta| meta.get(META_CLIENT)));
    Ok(Some(RequestContext { version, client }))
}

/// The refusal of a request that should be self-contained and names no version.
pub(crate) fn missing_version() -> RpcError {
    missing(META_VERSION, "a string")
}

fn missing(key: &str, kind: &str) -> RpcError {
    RpcError::new(Code::InvalidParams, format!("\"_meta\" must have \"{key}\", {kind}"))
}

fn meta(request: &ClientRequest) -> Option<&Map<String, Value>> {
    request.params.get("_meta")?.as_object()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_says_who_it_is_in_its_first_message() {
        let name = |line: &str| ClientInfo::in_message(line.as_bytes()).map(|client| client.name);
        let greeting =
            r#"{"id":1,"method":"initialize","params":{"clientInfo":{"name":"zed","version":"1"}}}"#;
        assert_eq!(name(greeting).as_deref(), Some("zed"));
        let stateless = r#"{"id":1,"method":"server/discover",
            "params":{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"goose"}}}}"#;
        assert_eq!(name(stateless).as_deref(), Some("goose"));
        assert_eq!(name(r#"{"id":1,"method":"ping"}"#), None);
        assert_eq!(name("no JSON"), None);
    }
}
