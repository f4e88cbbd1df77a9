//! One local connection: what was received, what has to be sent, and whose it is.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use comity_app::engine::WaitPlace;
use comity_app::identity::Identity;
use comity_app::lineage::Lineage;
use comity_core::{AgentId, Principal, TokenHash};
use comity_wire::{FRAME_BYTES_MAX, PROTOCOL};
use mio::net::UnixStream;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::outbox::ConnectionId;
use super::output::{QueuedBytes, SendBuffer};

const READ_BYTES: usize = 4 * 1024;
/// Bytes of whole requests that are read before they are taken.
const INPUT_BYTES: usize = 64 * 1024;
/// Bytes that may wait for a client: while there are more, nothing is read from it.
const UNSENT_BYTES_MAX: usize = 256 * 1024;
const REQUESTS_PER_TURN: usize = 32;
/// Requests that run for one client at a time, besides those that wait for somebody.
const AT_WORK_MAX: usize = 16;

/// How long a request may be incomplete: local clients send it in one piece.
const HALF_SENT_MAX: Duration = Duration::from_secs(1);

/// A request that follows the log.
#[derive(Clone, Copy)]
pub(crate) struct Follow {
    pub(crate) request: u64,
    /// The last record that was sent.
    pub(crate) cursor: u64,
    pub(crate) who: Principal,
}

pub(crate) struct Connection {
    pub(crate) id: ConnectionId,
    pub(crate) stream: UnixStream,
    /// The calling process and its ancestors, when it connected.
    pub(crate) lineage: Arc<Lineage>,
    /// Who it is, once known.
    pub(crate) identity: Option<Identity>,
    /// The protocol that its client speaks.
    pub(crate) protocol: u32,
    /// The client's version, if it is another one and the client has not been told.
    pub(crate) other_version: Option<Box<str>>,
    /// The last token that came over it and was known.
    pub(crate) token: Option<TokenHash>,
    /// How often processes had been marked when somebody was last known on it, and by which token.
    pub(crate) looked_at: Option<(u64, Option<TokenHash>)>,
    /// Queued requests.
    pub(crate) parked: HashMap<u64, WaitPlace>,
    /// Those of them that have to end, and whose askers are not told yet.
    pub(crate) refused_waits: HashSet<u64>,
    /// Whether it was accepted when all places but the reserve were taken.
    pub(crate) came_into_reserve: bool,
    pub(crate) link: Option<AgentId>,
    /// Whether it follows the log, and how far it got.
    pub(crate) follow: Option<Follow>,
    /// Whether there is something to read from it that the loop is not told of again.
    pub(crate) is_held: bool,
    /// The turn in which it was last heard of.
    pub(crate) heard_in: u64,
    /// Whether the loop is told when the socket has room: only while something waits to be sent.
    pub(crate) wants_room: bool,
    /// Bytes at the front of the socket that are already in `input`.
    seen: usize,
    input: Vec<u8>,
    /// Bytes of `input` that are known to contain no line end.
    searched: usize,
    /// Since when an incomplete request is there.
    half_since: Option<Instant>,
    output: SendBuffer,
    /// Requests that were taken and are not answered.
    taken: usize,
    /// Requests that were taken in this turn.
    taken_now: usize,
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) enum ReadStatus {
    Open,
    /// The other end is gone.
    Closed,
    /// Whole lines, and there is more.
    More,
    /// A line without an end.
    TooLong,
}

impl Connection {
    pub(crate) fn new(
        id: ConnectionId,
        stream: UnixStream,
        lineage: Lineage,
        queued: QueuedBytes,
    ) -> Connection {
        Connection {
            id,
            stream,
            lineage: Arc::new(lineage),
            identity: None,
            protocol: PROTOCOL,
            other_version: None,
            token: None,
            looked_at: None,
            parked: HashMap::new(),
            refused_waits: HashSet::new(),
            came_into_reserve: false,
            link: None,
            follow: None,
            is_held: false,
            heard_in: 0,
            wants_room: false,
            seen: 0,
            input: Vec::new(),
            searched: 0,
            half_since: None,
            output: SendBuffer::new(queued),
            taken: 0,
            taken_now: 0,
        }
    }

    /// Reads what was received, or peeks and leaves it in the socket: [`Connection::take_seen`] takes it out after
    /// the answer.
    ///
    /// Taking it out wakes the other end, which waits for its answer and would only go to sleep again: on another
    /// core that costs both sides more than the whole question.
    pub(crate) fn receive(&mut self) -> ReadStatus {
        self.take_seen();
        let start = self.input.len();
        self.input.reserve(READ_BYTES);
        match recv(&self.stream, spare_capacity(&mut self.input), RecvFlags::PEEK).map(|(count, _)| count) {
            Ok(0) => ReadStatus::Closed,
            // Perhaps there is more than fits: read it normally.
            Ok(READ_BYTES..) => {
                self.input.truncate(start);
                self.read()
            }
            Ok(count) => {
                self.seen = count;
                ReadStatus::Open
            }
            Err(Errno::WOULDBLOCK | Errno::INTR) => ReadStatus::Open,
            Err(_) => ReadStatus::Closed,
        }
    }

    /// Takes out of the socket what was peeked at.
    pub(crate) fn take_seen(&mut self) {
        let start = self.input.len();
        while self.seen > 0 {
            self.input.resize(start + self.seen, 0);
            match self.stream.read(&mut self.input[start..]) {
                Ok(0) => break,
                Ok(count) => self.seen -= count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // It is there: it was seen. Whatever this is, the next turn finds out.
                Err(_) => break,
            }
        }
        self.input.truncate(start);
    }

    fn read(&mut self) -> ReadStatus {
        loop {
            let start = self.input.len();
            self.input.resize(start + READ_BYTES, 0);
            let read = self.stream.read(&mut self.input[start..]);
            self.input.truncate(start + read.as_ref().copied().unwrap_or(0));
            match read {
                Ok(0) => return ReadStatus::Closed,
                Ok(_) if self.input.len() > INPUT_BYTES && self.has_lines() => return ReadStatus::More,
                Ok(_) if self.input.len() > FRAME_BYTES_MAX => return ReadStatus::TooLong,
                // Less than requested: there is no more, and the next byte will be reported.
                Ok(count) if count < READ_BYTES => return ReadStatus::Open,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return ReadStatus::Open,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return ReadStatus::Closed,
            }
        }
    }

    /// Whether a whole line was received.
    fn has_lines(&mut self) -> bool {
        // A long line comes in many pieces: none of them is searched twice.
        if let Some(at) = self.input[self.searched..].iter().position(|byte| *byte == b'\n') {
            self.searched += at;
            return true;
        }
        self.searched = self.input.len();
        false
    }

    /// Begins a turn; false while the client is not listened to.
    pub(crate) fn may_ask(&mut self) -> bool {
        self.taken_now = 0;
        self.has_room()
    }

    fn has_room(&self) -> bool {
        self.taken_now < REQUESTS_PER_TURN
            && self.output.unsent() < UNSENT_BYTES_MAX
            && self.taken.saturating_sub(self.taken_now + self.parked.len()) < AT_WORK_MAX
    }

    /// Takes the whole lines that were received.
    pub(crate) fn lines(&mut self) -> Vec<u8> {
        let searched = std::mem::replace(&mut self.searched, self.input.len());
        let Some(end) = self.input[searched..].iter().rposition(|byte| *byte == b'\n') else {
            if !self.input.is_empty() {
                self.half_since.get_or_insert_with(Instant::now);
            }
            return Vec::new();
        };
        let rest = self.input.split_off(searched + end + 1);
        self.half_since = (!rest.is_empty()).then(Instant::now);
        self.searched = rest.len();
        std::mem::replace(&mut self.input, rest)
    }

    /// Whether something is left for another turn.
    pub(crate) fn has_more(&mut self, received: &ReadStatus) -> bool {
        *received == ReadStatus::More || self.has_lines()
    }

    /// Returns the buffer of taken lines, to be reused.
    pub(crate) fn recycle(&mut self, mut lines: Vec<u8>) {
        if self.input.is_empty() && lines.capacity() <= READ_BYTES * 4 {
            lines.clear();
            self.input = lines;
        }
    }

    /// Whether it could be closed without losing anything: its client reconnects.
    pub(crate) fn is_idle(&self) -> bool {
        let is_late = || self.half_since.is_some_and(|since| since.elapsed() >= HALF_SENT_MAX);
        let is_asking = !self.input.is_empty() && !is_late();
        let is_silent = self.taken == 0 && self.output.unsent() == 0 && !is_asking && !self.is_held;
        is_silent && self.link.is_none() && self.follow.is_none()
    }

    /// Takes one more request, unless this is enough for now.
    pub(crate) fn take(&mut self) -> bool {
        let takes = self.has_room();
        self.taken += usize::from(takes);
        self.taken_now += usize::from(takes);
        takes
    }

    /// Puts back what was not taken, for another turn.
    pub(crate) fn put_back(&mut self, lines: &[u8]) {
        self.input.splice(..0, lines.iter().copied());
        self.searched = 0;
    }

    pub(crate) fn answer(&mut self, request: u64, line: &[u8]) {
        self.parked.remove(&request);
        self.taken = self.taken.saturating_sub(1);
        self.push(line);
    }

    /// Appends a line to the output.
    pub(crate) fn push(&mut self, line: &[u8]) {
        self.output.push(line);
    }

    /// Sends as much as the socket takes; false if the other end is gone.
    #[must_use]
    pub(crate) fn flush(&mut self) -> bool {
        self.output.flush(&mut self.stream)
    }

    /// How many bytes still wait to be sent.
    pub(crate) fn unsent(&self) -> usize {
        self.output.unsent()
    }
}
