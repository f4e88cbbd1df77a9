//! Clients that ask and do not read: they are not listened to for a while, and disconnected if that is not enough.

use super::Socket;
use crate::serve::logging::note;
use crate::serve::outbox::ConnectionId;

/// Bytes that may wait for all clients together; beyond that, those with most are disconnected.
const QUEUED_BYTES_MAX: usize = 32 * 1024 * 1024;

impl Socket {
    /// Listens to a connection again once it has room: nothing else reports what it sent.
    pub(super) fn hold(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id)
            && !std::mem::replace(&mut connection.is_held, true)
        {
            self.held.push(id);
        }
    }

    /// Those held connections that are listened to again.
    pub(super) fn resumed(&mut self) -> Vec<ConnectionId> {
        if self.held.is_empty() {
            return Vec::new();
        }
        let mut resumed = Vec::new();
        let connections = &mut self.connections;
        self.held.retain(|id| {
            let Some(connection) = connections.get_mut(id) else { return false };
            connection.is_held = !connection.may_ask();
            if !connection.is_held {
                resumed.push(*id);
            }
            connection.is_held
        });
        resumed
    }

    /// Disconnects those with most waiting bytes, while there are too many in total.
    pub(super) fn cut_off(&mut self) {
        while self.queued.get() > QUEUED_BYTES_MAX {
            let Some(most) = self.connections.values().max_by_key(|connection| connection.unsent()) else {
                return;
            };
            let (id, bytes) = (most.id, most.unsent().to_string());
            let why = "it does not read its answers; it continues where it was once it reconnects";
            note("warn", "cut_off", &[("bytes", &bytes), ("message", why)]);
            self.close(id);
        }
    }
}
