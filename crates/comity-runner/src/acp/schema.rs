//! The part of the Agent Client Protocol, version 1, that is spoken here. What agents say besides is not looked at.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub(super) const PROTOCOL: u16 = 1;

/// An agent wants somebody to log in first.
pub(super) const AUTH_REQUIRED: i64 = -32000;
pub(super) const NO_SUCH_METHOD: i64 = -32601;
pub(super) const BAD_PARAMS: i64 = -32602;
pub(super) const REFUSED: i64 = -32603;
pub(super) const NO_SUCH_FILE: i64 = -32002;
/// Whoever had asked took it back.
pub(super) const CANCELLED: i64 = -32800;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize {
    pub(super) protocol_version: u16,
    pub(super) client_capabilities: ClientCapabilities,
    pub(super) client_info: ClientName,
}

#[derive(Serialize)]
pub(super) struct ClientCapabilities {
    pub(super) fs: FileCapabilities,
    pub(super) terminal: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileCapabilities {
    pub(super) read_text_file: bool,
    pub(super) write_text_file: bool,
}

#[derive(Serialize)]
pub(super) struct ClientName {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) version: &'static str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentHello {
    pub(super) protocol_version: u16,
    pub(super) agent_capabilities: Option<AgentCapabilities>,
    pub(super) auth_methods: Option<Vec<AuthMethod>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentCapabilities {
    pub(super) load_session: Option<bool>,
    pub(super) session_capabilities: Option<SessionCapabilities>,
}

#[derive(Deserialize, Default)]
pub(super) struct SessionCapabilities {
    /// An object, if the agent can go on with a session without telling it again.
    pub(super) resume: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
pub(super) struct AuthMethod {
    pub(super) name: Option<String>,
    pub(super) id: Option<String>,
}

/// A server of tools that the agent is to start.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AcpServer {
    pub name: String,
    pub command: String,
    pub args: Vec<String>,
    pub env: Vec<AcpVariable>,
}

/// One variable of its environment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AcpVariable {
    pub name: String,
    pub value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenSession<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) session_id: Option<&'a str>,
    pub(super) cwd: &'a str,
    pub(super) mcp_servers: &'a [AcpServer],
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenedSession {
    pub(super) session_id: Option<String>,
    pub(super) modes: Option<Modes>,
    pub(super) models: Option<Models>,
    pub(super) config_options: Option<Vec<ConfigOption>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Modes {
    pub(super) current_mode_id: Option<String>,
    #[serde(default)]
    pub(super) available_modes: Vec<OfferedMode>,
}

#[derive(Deserialize)]
pub(super) struct OfferedMode {
    pub(super) id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Models {
    #[serde(default)]
    pub(super) available_models: Vec<OfferedModel>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfferedModel {
    pub(super) model_id: String,
}

#[derive(Deserialize)]
pub(super) struct ConfigOption {
    pub(super) id: String,
    pub(super) category: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetSessionMode<'a> {
    pub(super) session_id: &'a str,
    pub(super) mode_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetModel<'a> {
    pub(super) session_id: &'a str,
    pub(super) model_id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetConfigOption<'a> {
    pub(super) session_id: &'a str,
    pub(super) config_id: &'a str,
    pub(super) value: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptTurn<'a> {
    pub(super) session_id: &'a str,
    pub(super) prompt: [Text<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct Text<'a> {
    pub(super) r#type: &'static str,
    pub(super) text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cancel<'a> {
    pub(super) session_id: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompted {
    pub(super) stop_reason: Option<String>,
    pub(super) usage: Option<TurnUsage>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnUsage {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cached_read_tokens: Option<u64>,
    pub(super) cached_write_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionUpdate {
    pub(super) session_id: String,
    pub(super) update: Box<RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateKind {
    pub(super) session_update: String,
}

#[derive(Deserialize)]
pub(super) struct Chunk {
    pub(super) content: ContentBlock,
}

#[derive(Deserialize)]
pub(super) struct ContentBlock {
    pub(super) r#type: String,
    pub(super) text: Option<String>,
    pub(super) uri: Option<String>,
}

/// A tool call, or what has changed of one.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolCallChange {
    pub(super) tool_call_id: String,
    pub(super) title: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) status: Option<String>,
    pub(super) raw_input: Option<Box<RawValue>>,
    pub(super) content: Option<Vec<ToolContent>>,
    pub(super) locations: Option<Vec<Location>>,
    #[serde(rename = "_meta")]
    pub(super) meta: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolContent {
    pub(super) content: Option<ContentBlock>,
    /// Of a diff.
    pub(super) path: Option<String>,
    pub(super) new_text: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Location {
    pub(super) path: String,
}

/// What adapters of other programs say of a tool: Claude's names it.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolMetadata {
    pub(super) claude_code: Option<NamedTool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NamedTool {
    pub(super) tool_name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct PlanUpdate {
    #[serde(default)]
    pub(super) entries: Vec<PlanEntry>,
}

#[derive(Deserialize)]
pub(super) struct PlanEntry {
    #[serde(default)]
    pub(super) content: String,
    pub(super) status: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct UsageUpdate {
    pub(super) used: Option<u64>,
    pub(super) size: Option<u64>,
    pub(super) cost: Option<Cost>,
}

#[derive(Deserialize)]
pub(super) struct Cost {
    pub(super) amount: f64,
    pub(super) currency: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestPermission {
    pub(super) session_id: String,
    pub(super) tool_call: ToolCallChange,
    #[serde(default)]
    pub(super) options: Vec<PermissionOption>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionOption {
    pub(super) option_id: String,
    pub(super) kind: Option<String>,
}

#[derive(Serialize)]
pub(super) struct PermissionOutcome<'a> {
    pub(super) outcome: Selected<'a>,
}

#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub(super) enum Selected<'a> {
    Cancelled,
    #[serde(rename_all = "camelCase")]
    Selected {
        option_id: &'a str,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadTextFile {
    pub(super) session_id: String,
    pub(super) path: String,
    pub(super) line: Option<u64>,
    pub(super) limit: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WriteTextFile {
    pub(super) session_id: String,
    pub(super) path: String,
    pub(super) content: String,
}

#[derive(Serialize)]
pub(super) struct FileText {
    pub(super) content: String,
}

#[derive(Serialize)]
pub(super) struct Nothing {}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelRequest {
    pub(super) request_id: Box<RawValue>,
}
