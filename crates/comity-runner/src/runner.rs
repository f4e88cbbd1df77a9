//! The runner: starts programs under guardians, hears what becomes of them, and ends them.

mod run;
mod turn;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::launch::{Exit, Program, Size};
use crate::process_tree::ProcessId;
use crate::protocol::ToGuardian;
use crate::scrollback::{Output, Scrollback};
use crate::tmux::{Pane, PaneCommand, Tmux, TmuxError};
use run::Run;

/// The socket that guardians connect to.
const SOCKET: &str = "runner.sock";
/// How long a guardian has to connect, and one that survived has to come back.
const CONNECT_WAIT: Duration = Duration::from_secs(10);
/// How many programs that have ended can still be read.
const ENDED_MAX: usize = 32;
/// A program's own terminal, until somebody says how large it is.
pub(crate) const TERMINAL: Size = Size { columns: 120, rows: 40 };

/// Where a program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaunchPlace {
    /// In a terminal that nobody sees.
    Process,
    /// In a pane of the runner's tmux.
    Pane,
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
pub enum Event {
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
}

/// Hears of events, on the runner's thread.
pub type Notify = Box<dyn Fn(Event) + Send>;

/// Where a runner keeps its socket, and what it runs with.
pub struct RunnerOptions {
    /// A directory of its own, readable by nobody else.
    pub directory: PathBuf,
    /// The program `comity-guardian`.
    pub guardian: PathBuf,
    pub tmux: Option<Tmux>,
    /// What an earlier runner left running.
    pub survivors: Vec<(String, ProcessId)>,
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
    NoTmux,
    Tmux(TmuxError),
}

impl fmt::Display for RunnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, error } => write!(f, "can't {what}: {error}"),
            Self::KeyTaken(key) => write!(f, "{key} was started before"),
            Self::NotRunning(key) => write!(f, "{key} isn't running"),
            Self::NoTmux => f.write_str("there is no tmux here"),
            Self::Tmux(error) => error.fmt(f),
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
    wake: UnixStream,
    socket: PathBuf,
    guardian: PathBuf,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    runs: BTreeMap<String, Run>,
    /// The output of those that ended last, the latest at the back.
    ended: VecDeque<(String, Scrollback)>,
    tmux: Option<Tmux>,
    is_over: bool,
}

impl State {
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
        let runs = options.survivors.into_iter().map(|(key, program)| (key, Run::survivor(program, due)));
        let state = State { runs: runs.collect(), tmux: options.tmux, ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let turns = turn::Turns::new(Arc::clone(&state), listener, woken, notify);
        let thread = std::thread::Builder::new()
            .name("runner".into())
            .spawn(move || turns.run())
            .map_err(failed("start a thread"))?;
        Ok(Self { state, wake, socket, guardian: options.guardian, thread: Some(thread) })
    }

    /// Starts programs, those for panes in one go. What becomes of each comes as an event.
    pub fn launch(&self, launches: Vec<Launch>) -> Result<(), RunnerError> {
        let mut state = locked(&self.state);
        if let Some(taken) = launches.iter().find(|launch| state.runs.contains_key(&launch.key)) {
            return Err(RunnerError::KeyTaken(taken.key.clone()));
        }
        let (panes, processes): (Vec<Launch>, Vec<Launch>) =
            launches.into_iter().partition(|launch| launch.place == LaunchPlace::Pane);
        self.launch_panes(&mut state, panes)?;
        for mut launch in processes {
            let guardian = Command::new(&self.guardian)
                .arg(&self.socket)
                .arg(&launch.key)
                .current_dir("/")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .map_err(failed("start comity-guardian"))?;
            launch.program.terminal.get_or_insert(TERMINAL);
            let due = Instant::now() + CONNECT_WAIT;
            let run = Run::launched(launch.program, guardian.id(), due).with_child(guardian);
            state.runs.insert(launch.key, run);
        }
        drop(state);
        self.wake();
        Ok(())
    }

    fn launch_panes(&self, state: &mut State, launches: Vec<Launch>) -> Result<(), RunnerError> {
        if launches.is_empty() {
            return Ok(());
        }
        let commands: Vec<PaneCommand> = launches.iter().map(|launch| self.pane_command(launch)).collect();
        let tmux = state.tmux.as_mut().ok_or(RunnerError::NoTmux)?;
        let panes = tmux.open(&commands).map_err(RunnerError::Tmux)?;
        for (mut launch, pane) in launches.into_iter().zip(panes) {
            launch.program.terminal = None;
            let run = Run::launched(launch.program, pane.pid, Instant::now() + CONNECT_WAIT).with_pane(pane);
            state.runs.insert(launch.key, run);
        }
        Ok(())
    }

    fn pane_command(&self, launch: &Launch) -> PaneCommand {
        let command = [self.guardian.as_os_str(), self.socket.as_os_str(), launch.key.as_ref()];
        PaneCommand {
            command: command.map(ToOwned::to_owned).to_vec(),
            directory: launch.program.directory.clone(),
        }
    }

    /// Sends SIGINT to what runs in the foreground.
    pub fn interrupt(&self, key: &str) -> Result<(), RunnerError> {
        self.tell(key, &ToGuardian::Interrupt)
    }

    /// Asks the program to end; after the grace all that is left of it is killed.
    pub fn end(&self, key: &str, grace: Duration) -> Result<(), RunnerError> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.tell(key, &ToGuardian::End { grace_ms })
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
        let mut state = locked(&self.state);
        let run = state.runs.get_mut(key).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        run.write(bytes).map_err(failed("write to its terminal"))
    }

    /// What a program wrote to its own terminal since a position, also after its end.
    pub fn output(&self, key: &str, since: u64) -> Result<Output, RunnerError> {
        let state = locked(&self.state);
        let running = state.runs.get(key).map(|run| &run.scrollback);
        let ended = || state.ended.iter().rfind(|(ended, _)| ended == key).map(|(_, scrollback)| scrollback);
        let scrollback = running.or_else(ended).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        Ok(scrollback.since(since))
    }

    /// Presses Escape, which ends the turn of an agent program but not the program.
    pub fn escape(&self, key: &str) -> Result<(), RunnerError> {
        let state = locked(&self.state);
        let run = state.runs.get(key).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        match (&run.pane, &state.tmux) {
            (Some(pane), Some(tmux)) => tmux.press(pane, &["Escape"]).map_err(RunnerError::Tmux),
            (Some(_), None) => Err(RunnerError::NoTmux),
            (None, _) => run.write(b"\x1b").map_err(failed("write to its terminal")),
        }
    }

    /// The command that shows a program in its pane to a person.
    pub fn attach_command(&self, key: &str) -> Option<Vec<String>> {
        let state = locked(&self.state);
        let pane = state.runs.get(key)?.pane.as_ref()?;
        Some(state.tmux.as_ref()?.attach_command(pane))
    }

    fn wake(&self) {
        let _ = rustix::io::write(&self.wake, &[1]);
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        locked(&self.state).is_over = true;
        self.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
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
