//! The local door: one thread, one loop over all connections.
//!
//! Each turn reads every connection that has something, answers questions from memory, gathers changes, and lets the
//! engine commit all of them at once. Nobody's question waits for somebody else's disk.

mod admission;
mod callers;
mod followers;
mod pressure;
mod socket_operations;
mod versions;

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use comity_app::{Application, Failure, OperationCall, Wording};
use comity_core::agents::AgentAsk;
use comity_core::{Ask, Principal, Refusal};
use comity_wire::{Request, SpinBudget, Wait, spin_wait};
use mio::net::UnixListener;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use super::connection::{Connection, ReadStatus};
use super::connections::Connections;
use super::logging::Trace;
use super::outbox::{ConnectionId, LoopTask, Outbox, PendingReply, RequestEnd, line};
use super::output::QueuedBytes;
use super::signals::Signals;
use super::state_dir_ownership::StateDirOwnership;
use admission::Admission;

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);
const SIGNALS: Token = Token(usize::MAX - 2);
const TENURE: Token = Token(usize::MAX - 3);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StopReason {
    Asked,
    /// By a signal: the system shuts down, or somebody pressed Ctrl-C.
    Signalled,
    /// Nobody was there for long enough.
    Unused,
    /// The state directory was moved or removed.
    Moved,
}

pub(crate) struct Socket {
    app: Application,
    poll: Poll,
    listener: UnixListener,
    outbox: Arc<Outbox>,
    signals: Signals,
    ownership: StateDirOwnership,
    connections: Connections,
    /// Connections whose other end is gone; they are closed once their last question is answered.
    leaving: Vec<ConnectionId>,
    /// Connections that are not listened to until they have read their answers.
    held: Vec<ConnectionId>,
    /// The bytes that wait for all connections.
    queued: QueuedBytes,
    /// Whether callers are waiting to connect.
    at_door: Admission,
    turns: u64,
    next_id: ConnectionId,
    own_uid: u32,
    stop: Option<StopReason>,
}

impl Socket {
    pub(crate) fn new(
        app: Application,
        listener: StdListener,
        mut signals: Signals,
        ownership: StateDirOwnership,
    ) -> io::Result<Socket> {
        listener.set_nonblocking(true)?;
        let poll = Poll::new()?;
        let mut listener = UnixListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        poll.registry().register(&mut signals.0, SIGNALS, Interest::READABLE)?;
        let news = ownership.news().as_raw_fd();
        poll.registry().register(&mut SourceFd(&news), TENURE, Interest::READABLE)?;
        let outbox = Outbox::new(mio::Waker::new(poll.registry(), WAKER)?);
        let own_uid = rustix::process::geteuid().as_raw();
        Ok(Socket {
            app,
            poll,
            listener,
            outbox,
            signals,
            ownership,
            connections: Connections::default(),
            leaving: Vec::new(),
            held: Vec::new(),
            queued: QueuedBytes::default(),
            at_door: Admission::Nobody,
            turns: 0,
            next_id: 0,
            own_uid,
            stop: None,
        })
    }

    /// Serves until told to stop.
    pub(crate) fn run(&mut self, idle_exit: Option<Duration>) -> io::Result<StopReason> {
        Outbox::enter_loop();
        let outbox = self.outbox.clone();
        // The loop itself wakes followers when it writes, and this does when another thread writes.
        self.app.engine().feed().wake(Arc::new(move |_| outbox.wake()));
        let mut events = Events::with_capacity(256);
        let mut spinning = SpinBudget::default();
        loop {
            let unused = idle_exit.filter(|_| self.connections.is_empty());
            let resumed = self.resumed();
            let timeout = match (resumed.is_empty(), self.at_door) {
                (false, _) => Some(Duration::ZERO),
                (true, Admission::Starved) => Some(admission::STARVED_FOR),
                (true, _) => unused,
            };
            let waited = match self.await_events(&mut events, timeout, &mut spinning) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => false,
                other => other.map(|()| true)?,
            };
            if waited
                && events.is_empty()
                && unused.is_some()
                && self.at_door == Admission::Nobody
                && self.app.engine().world().agents.live().next().is_none()
            {
                return Ok(StopReason::Unused);
            }
            // Before anybody is answered: the next server may have begun.
            if events.iter().any(|event| event.token() == TENURE) && self.ownership.is_over() {
                return Ok(StopReason::Moved);
            }
            self.turns += 1;
            for id in resumed {
                self.turn(id, true);
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.at_door = Admission::Somebody,
                    WAKER | TENURE => {}
                    SIGNALS if self.signals.came() => self.stop = Some(StopReason::Signalled),
                    SIGNALS => {}
                    Token(id) => {
                        self.turn(id as u64, event.is_readable());
                        // It may have come together with the last data, and is not reported again.
                        if event.is_read_closed() {
                            self.leaving.push(id as u64);
                        }
                    }
                }
            }
            self.app.engine().run_pending_without_waiting();
            self.deliver();
            if self.at_door != Admission::Nobody {
                self.accept()?;
            }
            for id in std::mem::take(&mut self.leaving) {
                match self.connections.get(&id).is_some_and(|connection| connection.is_held) {
                    // It has asked more than was listened to.
                    true => self.leaving.push(id),
                    false => self.close(id),
                }
            }
            self.feed_followers();
            self.cut_off();
            if let Some(stop) = self.stop {
                return Ok(stop);
            }
        }
    }

    /// Whether the state directory was moved or removed.
    pub(crate) fn is_moved(&self) -> bool {
        self.ownership.is_moved()
    }

    /// Waits until somebody wants something.
    fn await_events(
        &mut self,
        events: &mut Events,
        timeout: Option<Duration>,
        spinning: &mut SpinBudget,
    ) -> io::Result<()> {
        if timeout == Some(Duration::ZERO) {
            return self.poll.poll(events, timeout);
        }
        let begun = Instant::now();
        let mut look = || match self.poll.poll(events, Some(Duration::ZERO)) {
            Ok(()) => (!events.is_empty()).then_some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        let how = spinning.wait();
        let seen = match how {
            Wait::Spinning => spin_wait(&mut look),
            Wait::Sleeping => None,
        };
        let waited = seen.unwrap_or_else(|| self.poll.poll(events, timeout));
        spinning.came(how, begun.elapsed());
        waited
    }

    /// One connection's turn: send what is left, read what came, take its requests.
    fn turn(&mut self, id: ConnectionId, readable: bool) {
        if !self.flush(id) || !readable {
            return;
        }
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.heard_in = self.turns;
        if !connection.may_ask() {
            self.hold(id);
            return;
        }
        let received = connection.receive();
        let lines = connection.lines();
        let mut rest = &lines[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            if end > 0 {
                if !self.connections.get_mut(&id).is_some_and(Connection::take) {
                    break;
                }
                self.request(id, &rest[..end]);
            }
            rest = &rest[end + 1..];
        }
        if let Some(connection) = self.connections.get_mut(&id) {
            match rest {
                [] => connection.recycle(lines),
                rest => connection.put_back(rest),
            }
            if connection.has_more(&received) {
                self.hold(id);
            }
        }
        if matches!(received, ReadStatus::Closed | ReadStatus::TooLong) {
            self.leaving.push(id);
        }
    }

    fn request(&mut self, id: ConnectionId, text: &[u8]) {
        let request: Request<'_> = match serde_json::from_slice(text) {
            Ok(request) => request,
            Err(error) => {
                let refusal =
                    Refusal::bad_input(format!("this isn't a request: {error}"), "send a line of JSON");
                return self.reply(id, 0, Err(refusal.into()));
            }
        };
        let caller = match self.caller(id, &request) {
            Ok(caller) => caller,
            Err(refusal) => {
                return self.reply(id, request.id, Err(refusal.into()));
            }
        };
        if let Err(refusal) = self.greet(id, &request) {
            return self.reply(id, request.id, Err(refusal.into()));
        }
        if let Some(own) = request.op.strip_prefix('$') {
            let done = self.own_request(id, &request, own, &caller);
            return self.reply(id, request.id, done);
        }
        let call = OperationCall {
            op: &request.op,
            input: request.input.map_or("", |input| input.get()).into(),
            key: request.key.as_deref(),
            text: request.text,
            again: request.again,
        };
        let trace = Trace::begin(&request.op, caller.who, id);
        let mut reply = PendingReply::new(self.outbox.clone(), id, request.id, trace);
        reply.wording = self.wording(id);
        reply.besides = if request.text { self.other_version(id) } else { None };
        reply.counted = request.inbox.then(|| (self.app.clone(), caller.asker()));
        self.app.call(&caller, call, Box::new(reply));
    }

    /// How to spell calls for the client: an agent's own connection is that of its tools.
    fn wording(&self, id: ConnectionId) -> Wording {
        let is_linked = self.connections.get(&id).is_some_and(|connection| connection.link.is_some());
        if is_linked { Wording::Tools } else { Wording::Commands }
    }

    fn reply(&mut self, id: ConnectionId, request: u64, output: Result<comity_app::Rendered, Failure>) {
        let line = line(request, &output, &[], self.wording(id));
        self.outbox.post(id, LoopTask::Line { id: request, line, outcome: RequestEnd::Answered });
    }

    /// Sends what is in the outbox.
    fn deliver(&mut self) {
        let mut touched: Vec<ConnectionId> = Vec::new();
        let mut parked = Vec::new();
        for (id, parcel) in self.outbox.take() {
            let Some(connection) = self.connections.get_mut(&id) else {
                // It hung up before it was known that its call waits.
                if let LoopTask::Parked { waiting, .. } = parcel {
                    self.app.engine().give_up(Principal::System, waiting);
                }
                continue;
            };
            match parcel {
                LoopTask::Parked { id: request, waiting } => {
                    connection.parked.insert(request, waiting);
                    parked.push((id, request));
                }
                LoopTask::Line { id: request, line, outcome } => {
                    match connection.refused_waits.remove(&request) && outcome == RequestEnd::GivenUp {
                        true => connection.answer(request, &admission::no_room_to_wait(request)),
                        false => connection.answer(request, &line),
                    }
                    if touched.last() != Some(&id) {
                        touched.push(id);
                    }
                }
            }
        }
        self.refuse_waits_in_reserve(&parked);
        for id in touched {
            if self.flush(id) {
                // Right after the answer: its reader is about to wake, and is not woken a second time.
                self.connections.get_mut(&id).map(Connection::take_seen);
            }
        }
    }

    /// Sends what a connection's socket takes; the loop is told of more room only while something is left.
    fn flush(&mut self, id: ConnectionId) -> bool {
        let Some(connection) = self.connections.get_mut(&id) else { return false };
        if !connection.flush() {
            self.close(id);
            return false;
        }
        let wants_room = connection.unsent() > 0;
        if wants_room != connection.wants_room {
            connection.wants_room = wants_room;
            let interest =
                if wants_room { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
            // A socket that cannot be watched is useless; its owner reconnects.
            if self.poll.registry().reregister(&mut connection.stream, Token(id as usize), interest).is_err()
            {
                self.close(id);
                return false;
            }
        }
        true
    }

    fn close(&mut self, id: ConnectionId) {
        let Some(mut connection) = self.connections.remove(&id) else { return };
        let _ = self.poll.registry().deregister(&mut connection.stream);
        let who = connection.identity.map_or(Principal::Nobody, |identity| identity.who);
        for waiting in connection.parked.into_values() {
            self.app.engine().give_up(who, waiting);
        }
        if let Some(agent) = connection.link
            && !self.connections.values().any(|other| other.link == Some(agent))
        {
            self.app.tell_engine(Ask::Agent(AgentAsk::Disconnect { agent }));
        }
    }
}
