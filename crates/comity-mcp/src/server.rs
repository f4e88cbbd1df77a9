//! What is offered, and the answer to each request; the same for every door.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::context::{ClientInfo, DISCOVER, RequestContext};
use crate::message::{ClientRequest, ProgressToken, render_result};
use crate::refusal::{Code, RpcError, quote};
use crate::resource::{Prompt, Resource};
use crate::results::{Cacheable, CallFinished, Capabilities, Discovered, Initialized, Pong, Stamp, ToolList};
use crate::tool::{Call, CallTicket, ToolOutcome};
use crate::version::Version;

/// The server's name for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerInfo {
    pub name: String,
    pub title: Option<String>,
    pub version: String,
    /// How to use the tools together, for the model.
    pub instructions: Option<String>,
}

/// A server: its name and its tools, which never change while it lives.
#[derive(Debug)]
pub struct McpServer {
    info: ServerInfo,
    tool_names: Vec<String>,
    /// Tools that can be called and are not listed.
    unlisted: Vec<String>,
    resources: Vec<Resource>,
    prompts: Vec<Prompt>,
    /// Serialized once, so that every listing is identical to the byte and prompt caches hold.
    tool_list: Box<RawValue>,
}

/// What a request leads to when it is not refused.
#[derive(Debug)]
pub(crate) enum RequestResult {
    Reply(String),
    Call(Call),
}

impl McpServer {
    /// A server with this list of [`Tool`](crate::Tool)s, as JSON.
    pub fn new(info: ServerInfo, tool_list: Box<RawValue>) -> serde_json::Result<Self> {
        #[derive(Deserialize)]
        struct ListedTool {
            name: String,
        }
        let tools: Vec<ListedTool> = serde_json::from_str(tool_list.get())?;
        Ok(McpServer {
            info,
            tool_names: tools.into_iter().map(|tool| tool.name).collect(),
            unlisted: Vec::new(),
            resources: Vec::new(),
            prompts: Vec::new(),
            tool_list,
        })
    }

    /// Lets these unlisted tools be called, too.
    #[must_use]
    pub fn also_calls(self, unlisted: Vec<String>) -> Self {
        McpServer { unlisted, ..self }
    }

    /// Adds resources to the server.
    #[must_use]
    pub fn with_resources(self, resources: Vec<Resource>) -> Self {
        McpServer { resources, ..self }
    }

    /// Adds prompts to the server.
    #[must_use]
    pub fn with_prompts(self, prompts: Vec<Prompt>) -> Self {
        McpServer { prompts, ..self }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::new(!self.resources.is_empty(), !self.prompts.is_empty())
    }

    /// The reply to a finished call; a cancelled call gets none.
    pub fn finish(&self, ticket: &CallTicket, outcome: &ToolOutcome) -> String {
        let stamp = Stamp::of(ticket.version, &self.info);
        match ticket.resource {
            Some(uri) => render_result(&ticket.id, &Cacheable::contents(uri, &outcome.text, stamp)),
            None => render_result(&ticket.id, &CallFinished::new(outcome, stamp)),
        }
    }

    /// Answers the handshake; the context holds for the requests that follow it.
    pub(crate) fn initialize(&self, request: &ClientRequest) -> (RequestContext, String) {
        let asked = request.params.get("protocolVersion").and_then(Value::as_str);
        let version = Version::negotiate(asked);
        let client = ClientInfo::from_value(request.params.get("clientInfo"));
        let reply = render_result(&request.id, &Initialized::new(version, &self.info, self.capabilities()));
        (RequestContext { version, client }, reply)
    }

    /// Answers any request but the handshake.
    pub(crate) fn answer(
        &self,
        request: ClientRequest,
        context: RequestContext,
    ) -> Result<RequestResult, RpcError> {
        let id = &request.id;
        let version = context.version;
        match request.method.as_str() {
            DISCOVER => {
                Ok(RequestResult::Reply(render_result(id, &Discovered::new(&self.info, self.capabilities()))))
            }
            // Everything fits on one page, so a cursor changes nothing.
            "tools/list" => {
                let list = ToolList::new(&self.tool_list, Stamp::of(version, &self.info));
                Ok(RequestResult::Reply(render_result(id, &list)))
            }
            "resources/list" => {
                let list = Cacheable::resources(&self.resources, Stamp::of(version, &self.info));
                Ok(RequestResult::Reply(render_result(id, &list)))
            }
            "resources/templates/list" => {
                let list = Cacheable::templates(Stamp::of(version, &self.info));
                Ok(RequestResult::Reply(render_result(id, &list)))
            }
            "resources/read" => self.read(request, context).map(RequestResult::Call),
            "prompts/list" => {
                let list = Cacheable::prompts(&self.prompts, Stamp::of(version, &self.info));
                Ok(RequestResult::Reply(render_result(id, &list)))
            }
            "prompts/get" => {
                let name = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
                let Some(prompt) = self.prompts.iter().find(|prompt| prompt.name == name) else {
                    return Err(RpcError::new(
                        Code::InvalidParams,
                        format!("there is no prompt {}", quote(name)),
                    ));
                };
                let got = Cacheable::prompt(prompt, Stamp::of(version, &self.info));
                Ok(RequestResult::Reply(render_result(id, &got)))
            }
            "tools/call" => self.call(request, context).map(RequestResult::Call),
            "ping" if !version.is_stateless() => Ok(RequestResult::Reply(render_result(id, &Pong {}))),
            unknown => {
                let message = format!("there is no method {} in {}", quote(unknown), version.name());
                Err(RpcError::new(Code::MethodNotFound, message))
            }
        }
    }

    fn read(&self, request: ClientRequest, context: RequestContext) -> Result<Call, RpcError> {
        let uri = request.params.get("uri").and_then(Value::as_str).unwrap_or_default();
        let Some(resource) = self.resources.iter().find(|resource| resource.uri == uri) else {
            return Err(RpcError::new(Code::InvalidParams, format!("there is no resource {}", quote(uri))));
        };
        Ok(Call {
            ticket: CallTicket { id: request.id, version: context.version, resource: Some(resource.uri) },
            tool: resource.tool.to_owned(),
            arguments: Map::new(),
            progress_token: None,
            client: context.client,
            meta: Map::new(),
        })
    }

    fn call(&self, mut request: ClientRequest, context: RequestContext) -> Result<Call, RpcError> {
        let invalid = |message: String| Err(RpcError::new(Code::InvalidParams, message));
        let meta = match request.params.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            Some(_) | None => Map::new(),
        };
        let tool = match request.params.remove("name") {
            Some(Value::String(tool)) => tool,
            _ => {
                return invalid(format!("\"name\" must be one of the tools: {}", self.tool_names.join(", ")));
            }
        };
        if !self.tool_names.contains(&tool) && !self.unlisted.contains(&tool) {
            let tools = self.tool_names.join(", ");
            return invalid(format!("there is no tool {}; the tools are: {tools}", quote(&tool)));
        }
        let arguments = match request.params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return invalid(format!("the arguments of {tool} must be an object")),
        };
        Ok(Call {
            ticket: CallTicket { id: request.id, version: context.version, resource: None },
            tool,
            arguments,
            progress_token: meta.get("progressToken").and_then(ProgressToken::from_value),
            client: context.client,
            meta,
        })
    }
}

#[cfg(test)]
pub(crate) fn sample() -> McpServer {
    use crate::tool::Tool;

    let info = ServerInfo {
        name: "comity".to_owned(),
        title: Some("Comity".to_owned()),
        version: "0.1.0".to_owned(),
        instructions: Some("Claim before you edit.".to_owned()),
    };
    let schema = serde_json::json!({"type": "object"});
    let locks = Tool::reading("locks", "Lists locks.", schema);
    let claim = Tool {
        name: "claim".to_owned(),
        title: Some("Claim a path".to_owned()),
        effect: crate::tool::ToolEffect::Adds,
        always_load: true,
        ..locks.clone()
    };
    McpServer::new(info, serde_json::value::to_raw_value(&[locks, claim]).expect("text for keys"))
        .expect("tools with names")
}
