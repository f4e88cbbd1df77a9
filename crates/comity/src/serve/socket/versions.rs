//! Tells clients of another version so, with what to do.

use comity_app::catalog::name_of;
use comity_app::operations::server::Status;
use comity_core::Refusal;
use comity_core::version::is_newer;
use comity_wire::{PROTOCOL, Request};

use super::Socket;
use crate::serve::outbox::ConnectionId;

impl Socket {
    /// Notes the client's version; refuses what it may not have meant.
    pub(super) fn greet(&mut self, id: ConnectionId, request: &Request<'_>) -> Result<(), Refusal> {
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let own = &self.app.server().version;
        if let Some(theirs) = request.version.as_deref().filter(|theirs| *theirs != own.as_str()) {
            connection.other_version = Some(theirs.into());
        }
        connection.protocol = request.protocol.unwrap_or(connection.protocol);
        // Every program can ask any server for its status, and stop it.
        if connection.protocol == PROTOCOL || request.op == name_of::<Status>() || request.op == "$stop" {
            return Ok(());
        }
        let theirs = connection.other_version.as_deref().unwrap_or("another version");
        Err(Refusal::OtherVersion { server: own.as_str().into(), client: theirs.into() })
    }

    /// What to tell a client of another version, once per connection: with its first answer in words.
    pub(super) fn other_version(&mut self, id: ConnectionId) -> Option<String> {
        let theirs = self.connections.get_mut(&id)?.other_version.take()?;
        let own = &self.app.server().version;
        Some(match is_newer(&theirs, own) {
            true => format!(
                "the server is Comity {own}, and this program is {theirs}; restart it with: comity up"
            ),
            false => format!(
                "the server is Comity {own}, and this program is {theirs}; start it again, or update it"
            ),
        })
    }
}
