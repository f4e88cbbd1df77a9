//! Replies on their way to connections, from whatever thread made them.

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};

use comity_app::engine::WaitPlace;
use comity_app::ledger::Entry;
use comity_app::{Application, Failure, Rendered, Responder, Wording};
use comity_core::{Asker, Principal, Refusal};
use comity_wire::{FRAME_BYTES_MAX, InboxCount};

use super::logging::Trace;

/// Never reused.
pub(crate) type ConnectionId = u64;

/// What the loop has to do for a connection.
pub(crate) enum LoopTask {
    /// Send this line, the answer to the request with this id; or, if the request only ended, why it had to.
    Line { id: u64, line: Vec<u8>, outcome: RequestEnd },
    /// The request with this id waits.
    Parked { id: u64, waiting: WaitPlace },
}

/// Whether a request was answered, or only ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RequestEnd {
    Answered,
    /// It waited, and gave up its place.
    GivenUp,
}

/// Where replies wait for the loop.
pub(crate) struct Outbox {
    parcels: Mutex<Vec<(ConnectionId, LoopTask)>>,
    waker: mio::Waker,
}

thread_local! {
    static ON_LOOP: Cell<bool> = const { Cell::new(false) };
}

impl Outbox {
    pub(crate) fn new(waker: mio::Waker) -> Arc<Outbox> {
        Arc::new(Outbox { parcels: Mutex::default(), waker })
    }

    /// Marks this thread as the loop: it checks the outbox by itself.
    pub(crate) fn enter_loop() {
        ON_LOOP.set(true);
    }

    pub(crate) fn post(&self, to: ConnectionId, parcel: LoopTask) {
        self.parcels.lock().unwrap_or_else(PoisonError::into_inner).push((to, parcel));
        self.wake();
    }

    pub(crate) fn wake(&self) {
        if !ON_LOOP.get() {
            let _ = self.waker.wake();
        }
    }

    /// Makes the loop take another turn, from the loop itself.
    pub(crate) fn wake_loop(&self) {
        let _ = self.waker.wake();
    }

    pub(crate) fn take(&self) -> Vec<(ConnectionId, LoopTask)> {
        std::mem::take(&mut *self.parcels.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Answers one request of one connection: for certain, even if the answering thread panics.
pub(crate) struct PendingReply {
    outbox: Arc<Outbox>,
    to: ConnectionId,
    id: u64,
    /// What the client is told besides the notices.
    pub(crate) besides: Option<String>,
    /// How calls in texts are spelled.
    pub(crate) wording: Wording,
    /// Whose inbox is counted.
    pub(crate) counted: Option<(Application, Asker)>,
    /// Set if calls are traced.
    trace: Option<Trace>,
    is_answered: bool,
    is_dropped: bool,
}

impl PendingReply {
    pub(crate) fn new(outbox: Arc<Outbox>, to: ConnectionId, id: u64, trace: Option<Trace>) -> PendingReply {
        PendingReply {
            outbox,
            to,
            id,
            besides: None,
            wording: Wording::Commands,
            counted: None,
            trace,
            is_answered: false,
            is_dropped: false,
        }
    }

    fn answer(&mut self, output: &Result<Rendered, Failure>, notices: &[String]) {
        self.is_answered = true;
        if let Some(trace) = self.trace.take() {
            trace.end(output);
        }
        let mut line = line(self.id, output, notices, self.wording);
        // A panicking thread may be looking at the world.
        if let Some((app, asker)) = self.counted.take().filter(|_| !self.is_dropped) {
            push_count(&mut line, &app, &asker);
        }
        if line.len() > FRAME_BYTES_MAX {
            let problem = format!("the answer has {} MB, and one can have 16", line.len() >> 20);
            let hint = "ask for less, with a limit or a filter".into();
            line = self::line(
                self.id,
                &Err(Refusal::LimitReached { problem, hint }.into()),
                notices,
                self.wording,
            );
        }
        let outcome = match output {
            _ if self.is_dropped => RequestEnd::GivenUp,
            Err(Failure::Refused(Refusal::WaitCancelled)) => RequestEnd::GivenUp,
            Ok(_) | Err(_) => RequestEnd::Answered,
        };
        self.outbox.post(self.to, LoopTask::Line { id: self.id, line, outcome });
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        if !self.is_answered {
            self.is_dropped = true;
            let fault = "the server dropped this question, and its log says why; see what was done before you ask again";
            self.answer(&Err(Failure::fault(fault)), &[]);
        }
    }
}

impl Responder for PendingReply {
    fn parked(&mut self, waiting: WaitPlace) {
        self.outbox.post(self.to, LoopTask::Parked { id: self.id, waiting });
    }

    fn respond(mut self: Box<Self>, output: Result<Rendered, Failure>, mut notices: Vec<String>) {
        notices.extend(self.besides.take());
        self.answer(&output, &notices);
    }
}

/// One reply as a line; the id comes first, so that clients find theirs without parsing.
pub(crate) fn line(
    id: u64,
    output: &Result<Rendered, Failure>,
    notices: &[String],
    wording: Wording,
) -> Vec<u8> {
    let mut line = format!("{{\"id\":{id},");
    match output {
        Ok(rendered) => {
            line.push_str("\"ok\":");
            line.push_str(&wording.spell_json(&rendered.json));
            if let Some(text) = &rendered.text {
                line.push_str(",\"text\":");
                push_json(&mut line, &wording.spell(text));
            }
            if let Some(receipt) = rendered.receipt {
                line.push_str(&format!(",\"receipt\":{receipt}"));
            }
        }
        Err(failure) => {
            line.push_str("\"error\":");
            line.push_str(&failure.to_json(wording));
        }
    }
    if !notices.is_empty() {
        line.push_str(",\"notices\":");
        let notices: Vec<_> = notices.iter().map(|notice| wording.spell(notice)).collect();
        push_json(&mut line, &notices);
    }
    line.push_str("}\n");
    line.into_bytes()
}

/// One record of the log as a line for a follower.
pub(crate) fn event_line(id: u64, mut entry: Entry) -> Vec<u8> {
    let line = |entry: &Entry| {
        let mut line = format!("{{\"id\":{id},\"event\":");
        push_json(&mut line, entry);
        line.push_str("}\n");
        line.into_bytes()
    };
    let whole = line(&entry);
    if whole.len() <= FRAME_BYTES_MAX {
        return whole;
    }
    // No client could read it and continue: it is only told that it happened.
    entry.details = serde_json::json!({ "bytes": whole.len() });
    line(&entry)
}

/// Adds to a reply how much is waiting for somebody; nothing for an agent that has just ended.
fn push_count(line: &mut Vec<u8>, app: &Application, asker: &Asker) {
    let who = asker.who;
    let count = {
        let world = app.engine().world();
        let has_ended = |id| world.agents.get(id).is_none_or(|agent| !agent.is_live());
        if who.agent().is_some_and(has_ended) {
            return;
        }
        u32::try_from(app.inbox_count(&world, asker)).unwrap_or(u32::MAX)
    };
    let inbox = InboxCount { count, is_agents: who != Principal::Human };
    let mut field = String::from(",\"inbox\":");
    push_json(&mut field, &inbox);
    field.push_str("}\n");
    let end = line.len().saturating_sub("}\n".len());
    line.splice(end.., field.into_bytes());
}

fn push_json(line: &mut String, value: &(impl serde::Serialize + ?Sized)) {
    // Strings and plain structs can always be serialized.
    line.push_str(&serde_json::to_string(value).unwrap_or_else(|_| "null".into()));
}
