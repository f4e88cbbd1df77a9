//! The streamable HTTP transport, one POST at a time, without sessions or other state.
//!
//! Left to the caller, since only it knows: who may connect (`Origin`, `Host`, authorization), and that a call is to
//! be given up when its client hangs up.

mod headers;

use crate::context::{self, RequestContext};
use crate::message::{BadMessage, ClientRequest, Incoming, MESSAGE_BYTES_MAX};
use crate::refusal::{Code, RpcError};
use crate::server::{McpServer, RequestResult};
use crate::tool::{Call, CallTicket, ToolOutcome};
use crate::version::Version;
use headers::Headers;

const JSON: (&str, &str) = ("content-type", "application/json");

/// An HTTP request to the MCP endpoint.
#[derive(Debug, Clone, Copy)]
pub struct HttpRequest<'a> {
    pub method: &'a str,
    /// All headers, with repeated ones repeated; names in any case.
    pub headers: &'a [(&'a str, &'a [u8])],
    pub body: &'a [u8],
}

/// An HTTP response to send.
#[derive(Debug, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    /// The headers that matter to the protocol; caching and length are the caller's.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Empty for some.
    pub body: String,
}

/// What a request asks of the caller.
#[derive(Debug)]
pub enum HttpStep {
    Respond(HttpResponse),
    /// Run this call, then send what [`finish`] makes of it.
    Call(Call),
}

/// Processes one HTTP request.
pub fn receive(server: &McpServer, request: &HttpRequest<'_>) -> HttpStep {
    let headers = Headers(request.headers);
    // GET would open a stream and DELETE end a session; there are neither.
    if request.method != "POST" {
        return respond(405, vec![("allow", "POST")], String::new());
    }
    // This also keeps out forms of foreign web pages, which browsers send without asking.
    if !headers.are_json() {
        return respond(415, vec![], String::new());
    }
    if request.body.len() > MESSAGE_BYTES_MAX {
        return respond(413, vec![], String::new());
    }
    let message = match Incoming::parse(request.body) {
        Ok(message) => message,
        Err(BadMessage { id, refusal }) => return respond(400, vec![JSON], refusal.reply(id.as_ref())),
    };
    match message {
        Incoming::Request(request) => answer(server, &headers, request),
        Incoming::Notification { .. } => accept(headers.version().map(|_| ())),
        Incoming::Response => accept(headers.version().and_then(refuse_responses)),
    }
}

/// The response to a finished call.
pub fn finish(server: &McpServer, ticket: &CallTicket, outcome: &ToolOutcome) -> HttpResponse {
    HttpResponse { status: 200, headers: vec![JSON], body: server.finish(ticket, outcome) }
}

fn answer(server: &McpServer, headers: &Headers<'_>, request: ClientRequest) -> HttpStep {
    let id = request.id.clone();
    let context = match admit(headers, &request) {
        Ok(context) => context,
        Err(refusal) => return respond(400, vec![JSON], refusal.reply(Some(&id))),
    };
    if request.method == "initialize" {
        return respond(200, vec![JSON], server.initialize(&request).1);
    }
    let stateless = context.version.is_stateless();
    match server.answer(request, context) {
        Ok(RequestResult::Reply(reply)) => respond(200, vec![JSON], reply),
        Ok(RequestResult::Call(call)) => HttpStep::Call(call),
        Err(refusal) => {
            let status = if stateless && refusal.code == Code::MethodNotFound { 404 } else { 200 };
            respond(status, vec![JSON], refusal.reply(Some(&id)))
        }
    }
}

/// Checks the headers against the body, and finds the version to answer in.
fn admit(headers: &Headers<'_>, request: &ClientRequest) -> Result<RequestContext, RpcError> {
    if request.method == "initialize" {
        // The version is still to be negotiated, so the header that names one is ignored.
        headers.match_method_if_sent(request)?;
        return Ok(RequestContext { version: Version::NEWEST_WITH_HANDSHAKE, client: None });
    }
    if let Some(named) = context::named_version(request) {
        headers.match_version(named)?;
    }
    if let Some(context) = context::stand_alone(request)? {
        if context.version.is_stateless() {
            headers.match_method(request)?;
            headers.match_tool(request)?;
        }
        return Ok(context);
    }
    let version = headers.version()?;
    if version.is_stateless() {
        return Err(context::missing_version());
    }
    Ok(RequestContext { version, client: None })
}

fn refuse_responses(version: Version) -> Result<(), RpcError> {
    if version.is_stateless() {
        return Err(RpcError::new(Code::InvalidRequest, "clients must not send responses in this version"));
    }
    Ok(())
}

/// The response to a message that needs no reply.
fn accept(verdict: Result<(), RpcError>) -> HttpStep {
    match verdict {
        Ok(()) => respond(202, vec![], String::new()),
        Err(refusal) => respond(400, vec![JSON], refusal.reply(None)),
    }
}

fn respond(status: u16, headers: Vec<(&'static str, &'static str)>, body: String) -> HttpStep {
    HttpStep::Respond(HttpResponse { status, headers, body })
}

#[cfg(test)]
mod tests;
