//! Accepting connections: somebody always gets in, because idle ones are closed first.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use comity_app::Wording;
use comity_core::{Principal, Refusal};
use mio::{Interest, Token};

use super::Socket;
use crate::serve::connection::Connection;
use crate::serve::identity;
use crate::serve::outbox::{ConnectionId, line};

/// Beyond this, idle connections are closed for new ones.
const CONNECTIONS_MAX: usize = 4_096;
/// Further ones, when none of those is idle, so that a person and the hooks still get in. Nobody may wait there.
const RESERVE: usize = 256;
/// Callers that are accepted before those inside get their turn.
const ACCEPTS_PER_TURN: usize = 64;
/// Idle connections that are closed at a time when the system has no more file descriptors.
const CLOSED_WHEN_STARVED: usize = 16;
/// File descriptors that stay free for those inside: without them nobody could be identified.
const KEPT_FREE: usize = 8;
/// How long to wait for a file descriptor before trying again.
pub(super) const STARVED_FOR: Duration = Duration::from_millis(100);

/// Who is known to be waiting to connect: this is reported only once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Admission {
    Nobody,
    /// Perhaps more than a turn accepts.
    Somebody,
    /// Somebody for whom there is no file descriptor.
    Starved,
}

impl Socket {
    /// Accepts some of those waiting.
    pub(super) fn accept(&mut self) -> io::Result<()> {
        for _ in 0..ACCEPTS_PER_TURN {
            if !are_free(&self.listener, KEPT_FREE + 1) {
                self.starve();
                return Ok(());
            }
            let (mut stream, _) = match self.listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.at_door = Admission::Nobody;
                    return Ok(());
                }
                // It hung up before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                // Most likely there is no file descriptor for it.
                Err(_) => {
                    self.starve();
                    return Ok(());
                }
            };
            let Ok((uid, lineage)) = identity::of(&stream) else { continue };
            if uid != self.own_uid || !self.has_place() {
                continue;
            }
            let id = self.next_id;
            self.next_id += 1;
            self.poll.registry().register(&mut stream, Token(id as usize), Interest::READABLE)?;
            self.app.metrics().count_connection();
            let mut connection = Connection::new(id, stream, lineage, self.queued.clone());
            connection.heard_in = self.turns;
            connection.came_into_reserve = self.connections.len() >= CONNECTIONS_MAX;
            self.connections.insert(id, connection);
        }
        self.at_door = Admission::Somebody;
        self.outbox.wake_loop();
        Ok(())
    }

    fn has_place(&mut self) -> bool {
        self.connections.len() < CONNECTIONS_MAX
            || self.close_idle()
            || self.connections.len() < CONNECTIONS_MAX + RESERVE
    }

    /// Ends those of these requests that would wait in the reserve, which is needed for the next caller.
    pub(super) fn refuse_waits_in_reserve(&mut self, parked: &[(ConnectionId, u64)]) {
        if self.connections.len() <= CONNECTIONS_MAX {
            return;
        }
        for (id, request) in parked {
            let Some(connection) = self.connections.get_mut(id) else { continue };
            // It may already be answered.
            let Some(waiting) = connection.parked.get(request).filter(|_| connection.came_into_reserve)
            else {
                continue;
            };
            let who = connection.identity.as_ref().map_or(Principal::Nobody, |identity| identity.who);
            connection.refused_waits.insert(*request);
            self.app.engine().give_up(who, *waiting);
            self.outbox.wake_loop();
        }
    }

    /// Closes some idle connections, and continues with the next turn; if there are none, those waiting to connect
    /// wait a while.
    fn starve(&mut self) {
        match (0..CLOSED_WHEN_STARVED).take_while(|_| self.close_idle()).count() {
            0 => self.at_door = Admission::Starved,
            _ => {
                self.at_door = Admission::Somebody;
                self.outbox.wake_loop();
            }
        }
    }

    /// Closes the connection that has been silent for longest; otherwise such a follower, which continues from its
    /// cursor. Never a new one: its question has not been read yet.
    fn close_idle(&mut self) -> bool {
        let idle = self.longest_silent(Connection::is_idle);
        let silent = idle.or_else(|| self.longest_silent(|connection| connection.follow.is_some()));
        silent.inspect(|id| self.close(*id)).is_some()
    }

    fn longest_silent(&self, may_go: impl Fn(&Connection) -> bool) -> Option<ConnectionId> {
        let all = self.connections.values();
        let all = all.filter(|connection| connection.heard_in < self.turns && may_go(connection));
        all.min_by_key(|connection| (connection.heard_in, connection.id)).map(|connection| connection.id)
    }
}

/// The answer to a request that may not wait.
pub(super) fn no_room_to_wait(request: u64) -> Vec<u8> {
    let problem = format!("{CONNECTIONS_MAX} connections are open, and no further one may wait");
    let hint = "ask without waiting, or again when others have ended".into();
    line(request, &Err(Refusal::LimitReached { problem, hint }.into()), &[], Wording::Commands)
}

/// Whether so many more files can be opened.
fn are_free(any: &impl AsFd, count: usize) -> bool {
    let opened: Vec<_> = (0..count).map_while(|_| rustix::io::fcntl_dupfd_cloexec(any, 0).ok()).collect();
    opened.len() == count
}
