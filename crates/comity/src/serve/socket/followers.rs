//! Followers of the log: each gets it as fast as it reads.

use std::sync::Arc;

use comity_app::Application;
use comity_app::identity::Identity;
use comity_app::ledger::Entry;
use comity_app::page_size::PageSize;
use comity_core::Record;

use super::Socket;
use crate::serve::connection::{Connection, Follow};
use crate::serve::outbox::{ConnectionId, event_line};

/// What is sent to a follower before others get their turn.
const PAGE: PageSize = PageSize { records: 500, bytes: 64 * 1024 };
/// Bytes that may wait for a follower before more of the log is read for it.
const FOLLOW_BYTES: usize = 64 * 1024;

impl Socket {
    /// Sends the log to its followers, as fast as they read.
    pub(super) fn feed_followers(&mut self) {
        let head = self.app.engine().feed().head();
        let behind = |connection: &Connection| {
            connection.follow.is_some_and(|follow| follow.cursor < head) && connection.unsent() < FOLLOW_BYTES
        };
        let followers: Vec<ConnectionId> = self
            .connections
            .values()
            .filter(|connection| behind(connection))
            .map(|connection| connection.id)
            .collect();
        for id in followers {
            let Some(connection) = self.connections.get_mut(&id) else { continue };
            let Some(follow) = connection.follow else { continue };
            comity_app::planted_panic::panic_at("follower");
            let is_known = |known: &Identity| {
                self.app.still_proves(known, &connection.lineage, connection.token.as_ref())
            };
            if !connection.identity.as_ref().is_some_and(is_known) {
                // It connects again, as whom it is now.
                self.close(id);
                continue;
            }
            let records = read_on(&self.app, follow.cursor);
            if records.is_empty() {
                // The log cannot be read right now: the follower reconnects with its cursor.
                self.close(id);
                continue;
            }
            let world = self.app.engine().world();
            for record in &records {
                connection.push(&event_line(follow.request, Entry::of(record, &world, follow.who)));
                connection.follow = Some(Follow { cursor: record.seq, ..follow });
            }
            drop(world);
            let is_behind = connection.follow.is_some_and(|follow| follow.cursor < head);
            if self.flush(id) && is_behind {
                // There is more: take another turn soon.
                self.outbox.wake_loop();
            }
        }
    }
}

fn read_on(app: &Application, cursor: u64) -> Vec<Arc<Record>> {
    app.engine().feed().recent(cursor, PAGE).unwrap_or_else(|| {
        let read = app.reader().ok().and_then(|reader| reader.read_page(cursor, PAGE).ok());
        read.unwrap_or_default().into_iter().map(Arc::new).collect()
    })
}
