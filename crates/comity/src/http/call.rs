//! One call of an operation, without blocking the runtime, given up when its client goes away.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use comity_app::engine::WaitPlace as Place;
use comity_app::{Application, CallOutput, Caller, Failure, OperationCall, Rendered, Responder};
use comity_core::Principal;
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use super::CALL_THREADS_MAX;

/// Calls that are being planned, or whose output nobody has taken yet: nothing else bounds what waits for the
/// runtime.
static PLANNED: Semaphore = Semaphore::const_new(CALL_THREADS_MAX);

/// What is asked, and by whom.
pub(super) struct Question {
    pub(super) caller: Caller,
    pub(super) op: &'static str,
    pub(super) input: Value,
    pub(super) key: Option<String>,
    /// Whether the output is wanted as text, too.
    pub(super) text: bool,
}

/// Asks and waits. If the future is dropped while the call is queued, its place is given up.
pub(super) async fn ask(app: &Application, question: Question) -> CallOutput {
    let (sender, output) = oneshot::channel();
    let line = QueuedCall { app: app.clone(), who: question.caller.who, stage: Arc::default() };
    let _leaves = CancelOnDrop(line.clone());
    let planned = PLANNED.acquire().await.ok().map(Arc::new);
    let held = planned.as_ref().map(Arc::downgrade).unwrap_or_default();
    let responder = Box::new(HttpReply { line, held, sender: Some(sender) });
    let app = app.clone();
    // Finding the project reads files, and reading the log reads the disk.
    tokio::task::spawn_blocking(move || {
        comity_app::planted_panic::panic_at("http call");
        let Question { caller, op, input, key, text } = question;
        let call = OperationCall { op, input: input.into(), key: key.as_deref(), text, again: false };
        app.call(&caller, call, responder);
        app.engine().wake();
        drop(planned);
    });
    match output.await {
        Ok((output, _taken)) => output,
        Err(_) => (Err(Failure::fault("the call ended without an answer")), vec![]),
    }
}

#[derive(Clone)]
struct QueuedCall {
    app: Application,
    who: Principal,
    stage: Arc<Mutex<CallStage>>,
}

#[derive(Clone, Copy, Default)]
enum CallStage {
    #[default]
    Asked,
    Parked(Place),
    Answered,
    /// Nobody waits for the answer any more.
    Left,
}

impl QueuedCall {
    /// Moves to a stage, unless it is over; returns the one before.
    fn reach(&self, next: CallStage) -> CallStage {
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *stage;
        if matches!(before, CallStage::Asked | CallStage::Parked(_)) {
            *stage = next;
        }
        before
    }
}

type PlanningSlot = SemaphorePermit<'static>;

struct HttpReply {
    line: QueuedCall,
    /// The call's place among those that are planned, while it has one: what is answered later has none.
    held: Weak<PlanningSlot>,
    sender: Option<oneshot::Sender<(CallOutput, Option<Arc<PlanningSlot>>)>>,
}

impl Responder for HttpReply {
    fn parked(&mut self, place: Place) {
        if let CallStage::Left = self.line.reach(CallStage::Parked(place)) {
            self.line.app.engine().give_up(self.line.who, place);
        }
    }

    fn respond(mut self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>) {
        self.line.reach(CallStage::Answered);
        if let Some(sender) = self.sender.take() {
            let _ = sender.send(((output, notices), self.held.upgrade()));
        }
    }
}

impl Drop for HttpReply {
    /// Without an answer, a repeat of the same call has taken the place: it is no longer ours to give up.
    fn drop(&mut self) {
        self.line.reach(CallStage::Answered);
    }
}

/// Gives up the place in the queue when the one who waits is gone.
struct CancelOnDrop(QueuedCall);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let CallStage::Parked(place) = self.0.reach(CallStage::Left) {
            self.0.app.engine().give_up(self.0.who, place);
        }
    }
}
