//! One stdio connection: a line comes in, a step comes out.

use std::sync::Arc;

use crate::context::{self, RequestContext};
use crate::message::{BadMessage, ClientRequest, Incoming, JsonRpcId};
use crate::refusal::RpcError;
use crate::server::{McpServer, RequestResult};
use crate::tool::Call;
use crate::version::Version;

/// What a message from the client asks of the caller.
#[derive(Debug)]
pub enum Step {
    /// Send this line now; it contains no line break, not even at its end.
    Reply(String),
    /// Run this call, then send what [`McpServer::finish`](crate::McpServer::finish) makes of it.
    Call(Call),
    /// Give up the call with this id if it still runs, and send no reply to it.
    Cancel(JsonRpcId),
    Nothing,
}

/// One connection, which remembers its client's handshake.
#[derive(Debug)]
pub struct McpConnection {
    server: Arc<McpServer>,
    /// For requests that are not self-contained.
    handshake: RequestContext,
}

impl McpConnection {
    /// A new connection.
    pub fn new(server: Arc<McpServer>) -> Self {
        // Requests before the handshake are served as if it had happened: some clients are hasty.
        let handshake = RequestContext { version: Version::NEWEST_WITH_HANDSHAKE, client: None };
        McpConnection { server, handshake }
    }

    /// Processes one message: a line with or without its line break, of any bytes.
    pub fn receive(&mut self, message: &[u8]) -> Step {
        if message.trim_ascii().is_empty() {
            return Step::Nothing;
        }
        match Incoming::parse(message) {
            Ok(Incoming::Request(request)) => self.request(request),
            Ok(Incoming::Notification { method, params }) if method == "notifications/cancelled" => {
                params.get("requestId").and_then(JsonRpcId::from_value).map_or(Step::Nothing, Step::Cancel)
            }
            Ok(Incoming::Notification { .. } | Incoming::Response) => Step::Nothing,
            Err(BadMessage { id, refusal }) => Step::Reply(refusal.reply(id.as_ref())),
        }
    }

    fn request(&mut self, request: ClientRequest) -> Step {
        if request.method == "initialize" {
            let (handshake, reply) = self.server.initialize(&request);
            self.handshake = handshake;
            return Step::Reply(reply);
        }
        let id = request.id.clone();
        match self.answer(request) {
            Ok(RequestResult::Reply(reply)) => Step::Reply(reply),
            Ok(RequestResult::Call(call)) => Step::Call(call),
            Err(refusal) => Step::Reply(refusal.reply(Some(&id))),
        }
    }

    fn answer(&self, request: ClientRequest) -> Result<RequestResult, RpcError> {
        let context = context::stand_alone(&request)?.unwrap_or_else(|| self.handshake.clone());
        self.server.answer(request, context)
    }
}

#[cfg(test)]
mod tests;
