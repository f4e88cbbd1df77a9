//! The runner: starts programs under guardians, hears what becomes of them, and ends them.

mod acp;
mod acp_run;
mod panes;
mod run;
mod spare;
mod turn;

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::acp::{AcpNews, AcpStart};
use crate::launch::{Exit, Program, Size};
use crate::panes::{Pane, PaneError, PaneHost, PanePlace};
use crate::process_tree::ProcessId;
use crate::protocol::ToGuardian;
use crate::scrollback::{Output, Scrollback};
use acp_run::AcpRun;
use run::{END_WAIT, Run};
use spare::SpareGuardian;

/// The socket that guardians connect to.
const SOCKET: &str = "runner.sock";
/// How long a guardian has to connect, and one that survived has to come back.
const CONNECT_WAIT: Duration = Duration::from_secs(10);
/// How many programs that have ended can still be read.
const ENDED_MAX: usize = 32;
/// A program's own terminal, until somebody says how large it is.
pub(crate) const TERMINAL: Size = Size { columns: 120, rows: 40 };

/// Where a program runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LaunchPlace {
    /// In a terminal that nobody sees.
    Process,
    /// Where a terminal program makes one for it.
    Pane(PanePlace),
    /// Without a terminal: it speaks ACP.
    Acp(Box<AcpStart>),
}

/// A program to start, and where.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Names it towards the runner; unique for ever.
    pub key: String,
    pub program: Program,
    pub place: LaunchPlace,
}

/// What became of a program; each has exactly one `NotStarted` or `Ended`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RunnerEvent {
    Started {
        key: String,
        program: ProcessId,
        pane: Option<Pane>,
    },
    /// It survived the runner before this one.
    TakenOver {
        key: String,
        program: ProcessId,
    },
    NotStarted {
        key: String,
        why: String,
    },
    /// Nothing of it is left.
    Ended {
        key: String,
        exit: Exit,
    },
    /// What an agent that speaks ACP said.
    Acp {
        key: String,
        news: AcpNews,
    },
}

/// Hears of events, on the runner's thread.
pub type Notify = Box<dyn Fn(RunnerEvent) + Send>;

/// Where a runner keeps its socket, and what it runs with.
pub struct RunnerOptions {
    /// A directory of its own, readable by nobody else.
    pub directory: PathBuf,
    /// The program that is a guardian, with the arguments that go before its own.
    pub guardian: Vec<OsString>,
    /// What an earlier runner left running.
    pub survivors: Vec<Survivor>,
}

/// A program that an earlier runner left running.
#[derive(Clone, Debug)]
pub struct Survivor {
    pub key: String,
    pub program: ProcessId,
    /// Where its pane is, if it is in one.
    pub place: Option<PanePlace>,
}

/// Why the runner did not do what it was told.
#[derive(Debug)]
pub enum RunnerError {
    Io {
        what: &'static str,
        error: io::Error,
    },
    /// This name was used before.
    KeyTaken(String),
    /// Nothing of this name runs.
    NotRunning(String),
    /// It does not speak ACP.
    NoSession(String),
    /// It does not wait for this answer.
    NotAsked(String),
    NoGuardian,
    Pane(PaneError),
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, error } => write!(f, "can't {what}: {error}"),
            Self::KeyTaken(key) => write!(f, "{key} was started before"),
            Self::NotRunning(key) => write!(f, "{key} isn't running"),
            Self::NoSession(key) => write!(f, "{key} doesn't speak ACP"),
            Self::NotAsked(key) => write!(f, "{key} doesn't wait for that answer"),
            Self::NoGuardian => f.write_str("no program was named that is a guardian"),
            Self::Pane(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunnerError {}

fn failed(what: &'static str) -> impl FnOnce(io::Error) -> RunnerError {
    move |error| RunnerError::Io { what, error }
}

/// Runs programs until it is dropped; those that do not survive end with it.
pub struct Runner {
    state: Arc<Mutex<State>>,
    /// Told whenever something was read, or has ended.
    news: Arc<Condvar>,
    wake: UnixStream,
    socket: PathBuf,
    guardian: Vec<OsString>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct State {
    runs: BTreeMap<String, Run>,
    /// The output of those that ended last, the latest at the back.
    ended: VecDeque<(String, Scrollback)>,
    hosts: BTreeMap<PanePlace, PaneHost>,
    /// A guardian that waits for the next program.
    spare: Option<SpareGuardian>,
    /// How many there were.
    spares: u64,
    is_over: bool,
}

impl State {
    fn output(&self, key: &str, since: u64) -> Result<Output, RunnerError> {
        if let Some(run) = self.runs.get(key) {
            return Ok(run.scrollback.since(since));
        }
        let ended = self.ended.iter().rfind(|(ended, _)| ended == key);
        let (_, scrollback) = ended.ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        Ok(Output { is_over: true, ..scrollback.since(since) })
    }

    /// A program has ended: what it wrote can still be read for a while.
    fn forget(&mut self, key: &str) {
        if let Some(mut run) = self.runs.remove(key) {
            self.ended.push_back((key.to_owned(), std::mem::take(&mut run.scrollback)));
            while self.ended.len() > ENDED_MAX {
                self.ended.pop_front();
            }
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runner {
    /// Starts the thread of the runner, and waits for what survived the one before.
    pub fn start(options: RunnerOptions, notify: Notify) -> Result<Self, RunnerError> {
        let directory = &options.directory;
        fs::create_dir_all(directory).map_err(failed("make the runner's directory"))?;
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
            .map_err(failed("close the runner's directory to others"))?;
        let socket = directory.join(SOCKET);
        let listener = listen(&socket).map_err(failed("listen for guardians"))?;
        let (wake, woken) = UnixStream::pair().map_err(failed("make a pipe"))?;
        wake.set_nonblocking(true).map_err(failed("make a pipe"))?;
        woken.set_nonblocking(true).map_err(failed("make a pipe"))?;

        let due = Instant::now() + CONNECT_WAIT;
        let runs = options.survivors.into_iter().map(|it| (it.key, Run::survivor(it.program, it.place, due)));
        let state = State { runs: runs.collect(), ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let news = Arc::<Condvar>::default();
        let turns = turn::Turns::new(Arc::clone(&state), Arc::clone(&news), listener, woken, notify);
        let thread = std::thread::Builder::new()
            .name("runner".into())
            .spawn(move || turns.run())
            .map_err(failed("start a thread"))?;
        Ok(Self { state, news, wake, socket, guardian: options.guardian, thread: Mutex::new(Some(thread)) })
    }

    /// Starts programs, those for panes in one go. What becomes of each comes as an event.
    pub fn launch(&self, launches: Vec<Launch>) -> Result<(), RunnerError> {
        let mut state = locked(&self.state);
        if let Some(taken) = launches.iter().find(|launch| state.runs.contains_key(&launch.key)) {
            return Err(RunnerError::KeyTaken(taken.key.clone()));
        }
        let mut panes: BTreeMap<PanePlace, Vec<Launch>> = BTreeMap::new();
        let mut processes = Vec::new();
        for launch in launches {
            match launch.place.clone() {
                LaunchPlace::Pane(place) => panes.entry(place).or_default().push(launch),
                LaunchPlace::Process | LaunchPlace::Acp(_) => processes.push(launch),
            }
        }
        for (place, launches) in panes {
            self.launch_panes(&mut state, place, launches)?;
        }
        let has_processes = !processes.is_empty();
        for mut launch in processes {
            let directory = launch.program.directory.clone();
            if launch.place == LaunchPlace::Process {
                launch.program.terminal.get_or_insert(TERMINAL);
            }
            let is_piped = matches!(launch.place, LaunchPlace::Acp(_));
            let run = self.start_program(&mut state.spare, &launch.key, launch.program, is_piped)?;
            let run = match launch.place {
                LaunchPlace::Acp(start) => run.with_acp(AcpRun::new(*start, directory)),
                LaunchPlace::Process | LaunchPlace::Pane(_) => run,
            };
            state.runs.insert(launch.key, run);
        }
        drop(state);
        self.wake();
        if has_processes {
            self.keep_spare();
        }
        Ok(())
    }

    fn guardian_command(&self, key: &str) -> Vec<OsString> {
        let own = [self.socket.clone().into_os_string(), key.into()];
        self.guardian.iter().cloned().chain(own).collect()
    }

    /// Sends SIGINT to what runs in the foreground.
    pub fn interrupt(&self, key: &str) -> Result<(), RunnerError> {
        self.tell(key, &ToGuardian::Interrupt)
    }

    /// Asks the program to end; after the grace all that is left of it is killed.
    pub fn end(&self, key: &str, grace: Duration) -> Result<(), RunnerError> {
        let mut state = locked(&self.state);
        let run = state.runs.get_mut(key).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        // A turn is ended first; the runner's thread goes on from there.
        let grace = match &mut run.acp {
            Some(acp) => acp.end(grace),
            None => Some(grace),
        };
        let told = grace.map(|grace| {
            run.stuck_at.get_or_insert(Instant::now() + grace + END_WAIT);
            let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
            run.tell(&ToGuardian::End { grace_ms })
        });
        drop(state);
        self.wake();
        told.transpose().map(|_| ()).map_err(failed("reach its guardian"))
    }

    /// Changes the size of a program's own terminal.
    pub fn resize(&self, key: &str, size: Size) -> Result<(), RunnerError> {
        self.tell(key, &ToGuardian::Resize(size))
    }

    fn tell(&self, key: &str, message: &ToGuardian) -> Result<(), RunnerError> {
        let mut state = locked(&self.state);
        let run = state.runs.get_mut(key).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        run.tell(message).map_err(failed("reach its guardian"))
    }

    /// Types into a program, wherever it runs.
    pub fn write(&self, key: &str, bytes: &[u8]) -> Result<(), RunnerError> {
        let state = locked(&self.state);
        let run = state.runs.get(key).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        match state.pane(key) {
            Some((host, pane)) => {
                host.type_lines(pane, &String::from_utf8_lossy(bytes)).map_err(RunnerError::Pane)
            }
            None => run.write(bytes).map_err(failed("write to its terminal")),
        }
    }

    /// What a program wrote to its own terminal since a position, also after its end.
    pub fn output(&self, key: &str, since: u64) -> Result<Output, RunnerError> {
        locked(&self.state).output(key, since)
    }

    /// The same, but waits up to so long until there is something, or nothing more comes.
    pub fn wait_for_output(&self, key: &str, since: u64, at_most: Duration) -> Result<Output, RunnerError> {
        let until = Instant::now() + at_most;
        let mut state = locked(&self.state);
        loop {
            let output = state.output(key, since)?;
            let left = until.saturating_duration_since(Instant::now());
            if !output.bytes.is_empty() || output.is_over || state.is_over || left.is_zero() {
                return Ok(output);
            }
            state = self.news.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Presses Escape, which ends the turn of an agent program but not the program.
    pub fn escape(&self, key: &str) -> Result<(), RunnerError> {
        let state = locked(&self.state);
        let run = state.runs.get(key).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        match state.pane(key) {
            Some((host, pane)) => host.escape(pane).map_err(RunnerError::Pane),
            None => run.write(b"\x1b").map_err(failed("write to its terminal")),
        }
    }

    /// Ends all programs that do not survive, and waits until nothing of them is left.
    pub fn stop(&self) {
        locked(&self.state).is_over = true;
        self.wake();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
            // Whoever survives waits for the next one.
            let _ = fs::remove_file(&self.socket);
        }
    }

    fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &[1]);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Listens under another name first: a guardian that sees the socket can connect to it.
fn listen(socket: &Path) -> io::Result<UnixListener> {
    let unready = socket.with_extension(format!("{}.new", std::process::id()));
    let _ = fs::remove_file(&unready);
    let listener = UnixListener::bind(&unready)?;
    listener.set_nonblocking(true)?;
    fs::rename(&unready, socket)?;
    Ok(listener)
}
