//! The engine: one writer at a time. It decides all waiting asks, appends all their events in one transaction, and
//! only then answers, publishes and wakes the log's readers.
//!
//! There is no queue to go through when nobody else writes: whoever has asks and finds the writer free runs them, and
//! those that came in the meantime, on its own thread. That is group commit without a timer and, for a single client,
//! a commit without a thread switch.

mod feed;
mod housekeeping;
mod parked;
mod published;
mod timer;
mod unclaimed;
mod waited;
mod writer;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use comity_core::queues::QueueAsk;
use comity_core::{AgentId, Ask, Event, Key, Principal, Refusal, Ticket, Timestamp, World};

use crate::clock::Clock;
use crate::log::{Log, LogReader};
pub use feed::{Feed, Waker};
pub use housekeeping::{BACKLOG_RECORDS_MAX, HOT_RECORDS_MAX, HOT_RECORDS_QUIET};
use parked::ParkedJobs;
pub use parked::When;
use published::PublishedWorld;
pub use published::WorldView;
pub(crate) use published::assert_nobody_looks;
use timer::Timer;
use writer::Writer;

/// What everybody is told after a panic in the writer, if the server lives to say it.
const BROKEN: &str = "a bug has stopped the engine, so nothing was changed; restart the server";

/// One request to the writer: asks that are decided in order; the last one's answer counts.
pub struct Job {
    /// Who asks, and how that is known.
    pub who: comity_core::Asker,
    /// If one is refused, the rest is not asked.
    pub asks: Vec<Ask>,
    /// Makes a repeat of the last ask harmless.
    pub key: Option<Key>,
    pub reply_to: Box<dyn ReplyTo>,
}

/// Where a call waits; [`Engine::give_up`] takes it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitPlace {
    /// In a queue, for others to make room.
    InLine(Ticket),
    /// Until there is something for it.
    Parked(u64),
}

/// Where an answer goes.
pub trait ReplyTo: Send {
    /// The ask waits; the answer comes later.
    fn parked(&mut self, _waiting: WaitPlace) {}

    /// The answer, once its events are in the log.
    fn answer(self: Box<Self>, answer: JobAnswer<'_>);
}

/// What became of the asks of a job.
pub enum JobAnswer<'a> {
    /// It happened, by these events; the world is as they left it.
    Done {
        events: &'a [Event],
        world: &'a World,
        now: Timestamp,
    },
    Refused(Refusal),
    /// It could not be recorded, so it did not happen.
    Fault(String),
}

/// For asks whose answer nobody needs.
struct NoReply;

impl ReplyTo for NoReply {
    fn answer(self: Box<Self>, _: JobAnswer<'_>) {}
}

/// Clones are the same engine.
#[derive(Clone)]
pub struct Engine(Arc<EngineState>);

struct EngineState {
    clock: Clock,
    published: PublishedWorld,
    pending: Mutex<Vec<Job>>,
    parked: ParkedJobs,
    writer: Mutex<Writer>,
    timer: Timer,
    feed: Feed,
    on_fence: Box<dyn Fn() + Send + Sync>,
    is_at_work: OnceLock<Box<IsAtWork>>,
}

/// Whether a thread that runs a batch may wait for the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thread {
    MayWait,
    MustNotWait,
}

/// Whether a call of an agent runs outside of the engine.
type IsAtWork = dyn Fn(AgentId) -> bool + Send + Sync;

impl Engine {
    /// Starts an engine over a log that is at `world`. `on_fence` is called when another server took over the log.
    pub fn start(
        world: World,
        log: Box<dyn Log>,
        clock: Clock,
        on_fence: impl Fn() + Send + Sync + 'static,
    ) -> Engine {
        let head = world.head;
        comity_git::before_each_wait(assert_nobody_looks);
        Engine(Arc::new(EngineState {
            clock,
            published: PublishedWorld::new(world.clone()),
            pending: Mutex::default(),
            parked: ParkedJobs::default(),
            writer: Mutex::new(Writer::new(world, log)),
            timer: Timer::default(),
            feed: Feed::new(head),
            on_fence: Box::new(on_fence),
            is_at_work: OnceLock::new(),
        }))
    }

    /// Agents with a call that runs outside of the engine are alive, however long it takes.
    pub(crate) fn ask_who_is_at_work(&self, is_at_work: impl Fn(AgentId) -> bool + Send + Sync + 'static) {
        let _ = self.0.is_at_work.set(Box::new(is_at_work));
    }

    /// Starts the thread that lets time pass and commits what may take long.
    pub fn run_timer(&self) -> std::io::Result<std::thread::JoinHandle<()>> {
        let engine = self.clone();
        std::thread::Builder::new().name("engine".into()).spawn(move || timer::run(&engine))
    }

    /// Starts the thread that keeps the log small; `None` keeps all sealed segments.
    pub fn run_housekeeping(
        &self,
        reader: Arc<LogReader>,
        keep_segments: Option<usize>,
    ) -> std::io::Result<std::thread::JoinHandle<()>> {
        let engine = self.clone();
        std::thread::Builder::new()
            .name("housekeeping".into())
            .spawn(move || housekeeping::run(&engine, &reader, keep_segments))
    }

    /// The world as the log has it; never waits for a commit.
    #[track_caller]
    pub fn world(&self) -> WorldView<'_> {
        self.0.published.view()
    }

    pub fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// What was appended recently, and how to be woken by more.
    pub fn feed(&self) -> &Feed {
        &self.0.feed
    }

    /// Adds a job for the next batch. Call [`Engine::run_pending`] or [`Engine::wake`] after it.
    pub fn submit(&self, job: Job) {
        lock(&self.0.pending).push(job);
    }

    /// The same for asks whose answer nobody needs.
    pub fn tell(&self, who: impl Into<comity_core::Asker>, asks: Vec<Ask>) {
        self.submit(Job { who: who.into(), asks, key: None, reply_to: Box::new(NoReply) });
    }

    /// Adds a job that is decided once there is something for it, or its time is up.
    pub(crate) fn submit_when(&self, mut job: Job, when: When) {
        let id = self.0.parked.number();
        job.reply_to.parked(WaitPlace::Parked(id));
        self.0.parked.insert(id, job, when);
        // It may be ready already: a batch has to look.
        self.tell(Principal::System, vec![]);
    }

    /// The asker is gone, and gives up its place.
    pub fn give_up(&self, who: Principal, waiting: WaitPlace) {
        match waiting {
            WaitPlace::Parked(id) => self.0.parked.forget(id),
            WaitPlace::InLine(ticket) => {
                self.tell(who, vec![Ask::Queue(QueueAsk::Cancel { ticket })]);
                self.wake();
            }
        }
    }

    /// Lets the engine's own thread run what was submitted.
    pub fn wake(&self) {
        self.0.timer.wake();
    }

    /// Runs what was submitted on this thread, unless another thread is running a batch: then that one does.
    #[track_caller]
    pub fn run_pending(&self) {
        self.run_pending_on(Thread::MayWait);
    }

    /// The same for a thread that others wait for: what has to wait for the disk is left to the engine's own thread.
    #[track_caller]
    pub fn run_pending_without_waiting(&self) {
        self.run_pending_on(Thread::MustNotWait);
    }

    #[track_caller]
    fn run_pending_on(&self, thread: Thread) {
        assert_nobody_looks();
        while !lock(&self.0.pending).is_empty() {
            match self.0.writer.try_lock() {
                // The engine's thread was woken for it, and does the rest.
                Ok(writer) if thread == Thread::MustNotWait && writer.has_unwritten() => return,
                Ok(mut writer) => self.run_batch(&mut writer, thread),
                Err(TryLockError::Poisoned(_)) => return self.refuse_all(),
                // Whoever has it checks again after releasing it.
                Err(TryLockError::WouldBlock) => return,
            }
        }
    }

    /// Does what is due.
    pub fn pass_time(&self) {
        if let Ok(mut writer) = self.0.writer.lock() {
            self.run_batch(&mut writer, Thread::MayWait);
        }
        self.run_pending();
    }

    /// Submits and waits for the answer, for callers that have a thread to spend.
    pub fn ask(&self, who: impl Into<comity_core::Asker>, ask: Ask) -> Result<Vec<Event>, Failed> {
        self.ask_all(who, vec![ask])
    }

    /// The same with several asks; if one is refused the rest is not asked.
    pub(crate) fn ask_all(
        &self,
        who: impl Into<comity_core::Asker>,
        asks: Vec<Ask>,
    ) -> Result<Vec<Event>, Failed> {
        self.ask_with_key(who, asks, None)
    }

    /// The same, remembered by the key of a call, so that its repeat gets the same answer.
    pub fn ask_with_key(
        &self,
        who: impl Into<comity_core::Asker>,
        asks: Vec<Ask>,
        key: Option<Key>,
    ) -> Result<Vec<Event>, Failed> {
        struct SendEvents(std::sync::mpsc::SyncSender<Result<Vec<Event>, Failed>>);
        impl ReplyTo for SendEvents {
            fn answer(self: Box<Self>, answer: JobAnswer<'_>) {
                let outcome = match answer {
                    JobAnswer::Done { events, .. } => Ok(events.to_vec()),
                    JobAnswer::Refused(refusal) => Err(Failed::Refused(refusal)),
                    JobAnswer::Fault(fault) => Err(Failed::Fault(fault)),
                };
                let _ = self.0.send(outcome);
            }
        }
        let (sender, answer) = std::sync::mpsc::sync_channel(1);
        self.submit(Job { who: who.into(), asks, key, reply_to: Box::new(SendEvents(sender)) });
        self.run_pending();
        answer.recv().unwrap_or_else(|_| Err(Failed::Fault("the engine stopped".into())))
    }

    /// Does something short while nobody writes.
    fn between_writes(&self, work: impl FnOnce()) {
        if let Ok(_writer) = self.0.writer.lock() {
            work();
        }
        self.run_pending();
    }

    /// Closes the log after the last write; whoever asks from here on is told that the server stops.
    pub fn close_log(&self) {
        let mut writer = lock(&self.0.writer);
        writer.write_unwritten(&self.0);
        writer.close_log();
    }

    /// Drops all sealed records, for tests that do not wait for a quiet moment.
    pub fn drop_all_sealed(&self) {
        while self.drop_sealed(usize::MAX) > 0 {}
    }

    /// Drops sealed records, a few at a time.
    fn drop_sealed(&self, at_most: usize) -> usize {
        let dropped = self.0.writer.lock().map_or(0, |mut writer| writer.drop_sealed(at_most));
        self.run_pending();
        dropped
    }

    /// A panic has left the writer's world between the log's and the next: nothing goes on from there.
    fn refuse_all(&self) {
        for job in std::mem::take(&mut *lock(&self.0.pending)) {
            job.reply_to.answer(JobAnswer::Fault(BROKEN.into()));
        }
    }

    fn run_batch(&self, writer: &mut Writer, thread: Thread) {
        writer.write_unwritten(&self.0);
        let jobs = std::mem::take(&mut *lock(&self.0.pending));
        let batch = writer.decide(jobs, &self.0);
        if thread == Thread::MustNotWait && batch.waits_for_disk() {
            writer.leave_unwritten(batch);
            self.wake();
        } else {
            writer.write(batch, &self.0);
        }
        if let Some(at) = writer.next_deadline(&self.0) {
            self.0.timer.not_later_than(at);
        }
    }
}

/// Why [`Engine::ask`] got no events.
#[derive(Debug)]
pub enum Failed {
    Refused(Refusal),
    /// It could not be recorded.
    Fault(String),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
