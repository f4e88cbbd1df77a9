//! The runner's thread: waits for guardians and terminals, and tells what it hears.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;

use super::acp_run::Pipe;
use super::run::{END_WAIT, Run, Stage};
use super::{CONNECT_WAIT, Notify, RunnerEvent, State, locked};
use crate::launch::Exit;
use crate::panes::{Pane, PaneHost};
use crate::process_tree::ProcessId;
use crate::protocol::{FromGuardian, Received, Running, ToGuardian, send};

/// Bytes that are taken from a terminal at once.
const OUTPUT_BYTES: usize = 64 * 1024;
/// Connections that have not said who they are.
const STRANGERS_MAX: usize = 64;

pub(super) struct Turns {
    state: Arc<Mutex<State>>,
    news: Arc<Condvar>,
    listener: UnixListener,
    woken: UnixStream,
    notify: Notify,
    strangers: Vec<UnidentifiedClient>,
}

/// A connection that has not said who it is.
struct UnidentifiedClient {
    connection: UnixStream,
    received: Received,
    due: Instant,
}

/// What has something to read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Wake,
    Listener,
    UnidentifiedClient(usize),
    Guardian(String),
    Terminal(String),
    Acp(String, Pipe),
}

impl Turns {
    pub(super) fn new(
        state: Arc<Mutex<State>>,
        news: Arc<Condvar>,
        listener: UnixListener,
        woken: UnixStream,
        notify: Notify,
    ) -> Self {
        Self { state, news, listener, woken, notify, strangers: Vec::new() }
    }

    pub(super) fn run(mut self) {
        loop {
            let ready = self.wait();
            let mut events = Vec::new();
            {
                let state = Arc::clone(&self.state);
                let mut state = locked(&state);
                if state.is_over {
                    // All at once, for each waits for its guardian when it is dropped.
                    for run in state.runs.values_mut() {
                        run.connection = None;
                    }
                    state.runs.clear();
                    state.spare = None;
                    self.news.notify_all();
                    return;
                }
                for source in ready {
                    self.take(source, &mut state, &mut events);
                }
                overdue(&mut state.runs, &mut events);
                let now = Instant::now();
                state.runs.iter_mut().for_each(|(key, run)| look(key, run, now, &mut events));
            }
            self.news.notify_all();
            self.strangers.retain(|stranger| stranger.due > Instant::now());
            for event in events {
                (self.notify)(event);
            }
        }
    }

    /// Sleeps until something can be read, or somebody has not come in time.
    fn wait(&self) -> Vec<Source> {
        // Duplicates, for a run may end while this waits.
        let mut sources: Vec<(Source, PollFlags, OwnedFd)> = Vec::new();
        let mut due: Option<Instant> = self.strangers.iter().map(|stranger| stranger.due).min();
        {
            let mut state = locked(&self.state);
            for (key, run) in &mut state.runs {
                due = due.into_iter().chain(run.wakes()).min();
                let connection = run
                    .connection
                    .as_ref()
                    .map(|it| (Source::Guardian(key.clone()), PollFlags::IN, it.as_fd()));
                let terminal = run
                    .terminal
                    .as_ref()
                    .map(|it| (Source::Terminal(key.clone()), PollFlags::IN, it.as_fd()));
                let acp = run.acp.iter_mut().flat_map(|acp| acp.sources());
                let acp = acp.map(|(pipe, flags, it)| (Source::Acp(key.clone(), pipe), flags, it));
                for (source, flags, descriptor) in connection.into_iter().chain(terminal).chain(acp) {
                    let descriptor = descriptor.try_clone_to_owned().ok();
                    sources.extend(descriptor.map(|descriptor| (source, flags, descriptor)));
                }
            }
        }
        let strangers = self.strangers.iter().enumerate();
        let fixed: Vec<(Source, BorrowedFd<'_>)> =
            [(Source::Wake, self.woken.as_fd()), (Source::Listener, self.listener.as_fd())]
                .into_iter()
                .chain(
                    strangers.map(|(index, it)| (Source::UnidentifiedClient(index), it.connection.as_fd())),
                )
                .collect();
        let runs = sources.iter().map(|(source, flags, descriptor)| (source, *flags, descriptor.as_fd()));
        let fixed = fixed.iter().map(|(source, descriptor)| (source, PollFlags::IN, *descriptor));
        let all: Vec<(&Source, PollFlags, BorrowedFd<'_>)> = fixed.chain(runs).collect();
        let mut polled: Vec<PollFd<'_>> =
            all.iter().map(|(_, flags, descriptor)| PollFd::new(descriptor, *flags)).collect();
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let _ = poll(&mut polled, left.and_then(|left| Timespec::try_from(left).ok()).as_ref());
        let is_ready = polled.iter().map(|it| !it.revents().is_empty());
        all.iter()
            .zip(is_ready)
            .filter(|(_, ready)| *ready)
            .map(|((source, ..), _)| (*source).clone())
            .collect()
    }

    fn take(&mut self, source: Source, state: &mut State, events: &mut Vec<RunnerEvent>) {
        match source {
            Source::Wake => {
                let mut bytes = [0; 64];
                while rustix::io::read(&self.woken, &mut bytes).is_ok_and(|count| count > 0) {}
            }
            Source::Listener => {
                while let Ok((connection, _)) = self.listener.accept() {
                    if connection.set_nonblocking(true).is_ok() && self.strangers.len() < STRANGERS_MAX {
                        let due = Instant::now() + CONNECT_WAIT;
                        self.strangers.push(UnidentifiedClient {
                            connection,
                            received: Received::default(),
                            due,
                        });
                    }
                }
            }
            Source::UnidentifiedClient(index) => {
                let Some(stranger) = self.strangers.get_mut(index) else { return };
                let is_there = stranger.received.read(&stranger.connection).unwrap_or(false);
                match stranger.received.next() {
                    Ok(Some(FromGuardian::Hello { key, guardian, running })) => {
                        stranger.due = Instant::now();
                        let Ok(connection) = stranger.connection.try_clone() else { return };
                        let received = std::mem::take(&mut stranger.received);
                        met(state, events, (key, guardian, running), connection, received);
                    }
                    Ok(None) if is_there => {}
                    Ok(_) | Err(_) => stranger.due = Instant::now(),
                }
            }
            Source::Acp(key, pipe) => {
                let acp = state.runs.get_mut(&key).and_then(|run| run.acp.as_mut());
                acp.map(|acp| acp.turn(pipe));
            }
            Source::Guardian(key) => {
                if state.runs.get_mut(&key).is_some_and(|run| heard(&key, run, events)) {
                    state.forget(&key);
                }
            }
            Source::Terminal(key) => {
                if let Some(run) = state.runs.get_mut(&key) {
                    read_terminal(run);
                }
            }
        }
    }
}

/// A guardian has said who it is. One that nobody waits for is told to end.
fn met(
    state: &mut State,
    events: &mut Vec<RunnerEvent>,
    (key, guardian, running): (String, ProcessId, Option<Running>),
    connection: UnixStream,
    mut received: Received,
) {
    let peer = socket_peercred(&connection).ok();
    let is_who_it_says = peer.is_some_and(|peer| {
        peer.pid.as_raw_pid().unsigned_abs() == guardian.pid && ProcessId::of(guardian.pid) == Some(guardian)
    });
    if let Some(spare) = state.spare.as_mut().filter(|spare| is_who_it_says && spare.key == key) {
        return spare.met(guardian.pid, connection, received);
    }
    let run = state.runs.get_mut(&key).filter(|_| is_who_it_says);
    match (run, running) {
        (Some(run), None) => {
            let launch = match run.acp {
                Some(_) => ToGuardian::LaunchPiped,
                None => ToGuardian::Launch,
            };
            if let Stage::Awaited { program, guardian: awaited, .. } = &run.stage
                && awaited.is_none_or(|awaited| awaited == guardian.pid)
                && send(&connection, &launch(program.clone()), &[]).is_ok()
            {
                (run.stage, run.connection, run.received) = (Stage::Told, Some(connection), received);
                return;
            }
        }
        (Some(run), Some(running)) => {
            if let Stage::Away { program, place, .. } = &mut run.stage
                && *program == running.program
            {
                let (program, place) = (*program, place.take());
                run.pane = place.zip(running.pane.clone()).map(|(place, id)| {
                    let host =
                        state.hosts.entry(place.clone()).or_insert_with(|| PaneHost::new(place.clone()));
                    (place, host.adopt(Pane { id, pid: Some(guardian.pid) }))
                });
                run.terminal = terminal_of(&mut received);
                (run.stage, run.connection, run.received) =
                    (Stage::Running(running), Some(connection), received);
                events.push(RunnerEvent::TakenOver { key, program });
                return;
            }
        }
        (None, _) => {}
    }
    let _ = send(&connection, &ToGuardian::End { grace_ms: 0 }, &[]);
}

/// Reads what a guardian says; tells whether the run is over.
fn heard(key: &str, run: &mut Run, events: &mut Vec<RunnerEvent>) -> bool {
    let Some(connection) = &run.connection else { return false };
    let is_there = run.received.read(connection).unwrap_or(false);
    loop {
        match run.received.next() {
            Ok(Some(FromGuardian::Started(running))) => {
                match &mut run.acp {
                    Some(acp) => acp.connect(&mut run.received),
                    None => run.terminal = terminal_of(&mut run.received),
                }
                let program = running.program;
                run.stage = Stage::Running(running);
                events.push(RunnerEvent::Started {
                    key: key.to_owned(),
                    program,
                    pane: run.pane.as_ref().map(|(_, pane)| pane.clone()),
                });
            }
            Ok(Some(FromGuardian::NotStarted { why })) => {
                events.push(RunnerEvent::NotStarted { key: key.to_owned(), why });
                return true;
            }
            Ok(Some(FromGuardian::Ended(exit))) => {
                while read_terminal(run) {}
                let event = ended(key, run, exit, events);
                events.push(event);
                return true;
            }
            Ok(None) if is_there => return false,
            Ok(Some(FromGuardian::Hello { .. }) | None) | Err(_) => {
                let event = match &run.stage {
                    Stage::Running(_) => {
                        let exit = run.lost();
                        ended(key, run, exit, events)
                    }
                    Stage::Awaited { .. } | Stage::Told | Stage::Away { .. } => not_started(key),
                };
                events.push(event);
                return true;
            }
        }
    }
}

/// What is told of an end, once all that the program still said was told.
fn ended(key: &str, run: &mut Run, exit: Exit, events: &mut Vec<RunnerEvent>) -> RunnerEvent {
    if let Some(acp) = &mut run.acp {
        acp.drain();
    }
    tell(key, run, events);
    let why = run.acp.as_ref().and_then(|acp| acp.why_of_no_use(exit));
    match why {
        Some(why) => RunnerEvent::NotStarted { key: key.to_owned(), why },
        None => RunnerEvent::Ended { key: key.to_owned(), exit },
    }
}

/// Looks after an agent that speaks ACP: tells what it said, and ends its program if it is of no use.
fn look(key: &str, run: &mut Run, now: Instant, events: &mut Vec<RunnerEvent>) {
    let Some(acp) = &mut run.acp else { return };
    let grace = acp.look(now);
    tell(key, run, events);
    if let Some(grace) = grace {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        run.stuck_at.get_or_insert(now + grace + END_WAIT);
        // Whoever can't be told is gone, which is noticed.
        let _ = run.tell(&ToGuardian::End { grace_ms });
    }
}

fn tell(key: &str, run: &mut Run, events: &mut Vec<RunnerEvent>) {
    let Some(acp) = &mut run.acp else { return };
    run.scrollback.push(acp.session.take_transcript().as_bytes());
    events.extend(acp.take_news().into_iter().map(|news| RunnerEvent::Acp { key: key.to_owned(), news }));
}

/// Takes what is there from a terminal; tells whether there may be more.
fn read_terminal(run: &mut Run) -> bool {
    let Some(terminal) = &run.terminal else { return false };
    let mut bytes = vec![0; OUTPUT_BYTES];
    match rustix::io::read(terminal, bytes.as_mut_slice()) {
        Ok(count) if count > 0 => {
            run.scrollback.push(bytes.get(..count).unwrap_or_default());
            true
        }
        Err(Errno::INTR | Errno::AGAIN) => false,
        // Nobody has its other end open any more.
        Ok(_) | Err(_) => {
            run.terminal = None;
            false
        }
    }
}

/// The terminal that a guardian has sent along.
fn terminal_of(received: &mut Received) -> Option<OwnedFd> {
    let terminal = received.descriptors.pop_front()?;
    // Nothing that a program does with its end may keep the runner.
    rustix::io::ioctl_fionbio(&terminal, true).ok()?;
    Some(terminal)
}

/// Whoever has not come in time will not come.
fn overdue(runs: &mut BTreeMap<String, Run>, events: &mut Vec<RunnerEvent>) {
    let now = Instant::now();
    runs.retain(|key, run| {
        if run.stuck_at.is_some_and(|at| at <= now) {
            let exit = run.end_stuck();
            events.push(RunnerEvent::Ended { key: key.clone(), exit });
            return false;
        }
        let is_over = run.due().is_some_and(|due| due <= now);
        if is_over {
            events.push(match &run.stage {
                Stage::Away { .. } => RunnerEvent::Ended { key: key.clone(), exit: Exit::Unseen },
                Stage::Awaited { .. } | Stage::Told | Stage::Running(_) => not_started(key),
            });
        }
        !is_over
    });
}

fn not_started(key: &str) -> RunnerEvent {
    RunnerEvent::NotStarted {
        key: key.to_owned(),
        why: "its guardian ended before it had started the program".into(),
    }
}
