//! The guardian: a small process above each agent program, which ends with all that the program has started.
//!
//! Whatever loses its parent below it becomes its child, and it holds a connection to the runner: when the runner is gone,
//! however it went, the guardian notices at once.

mod told;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify;
use rustix::io::FdFlags;
use rustix::process::{Signal, WaitOptions, WaitStatus, wait};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};

use crate::cgroup::Cgroup;
use crate::launch::{Exit, Program};
use crate::pipes::{Pipes, ProgramEnds};
use crate::process_tree::{ProcessId, descendants};
use crate::protocol::{FromGuardian, Received, Running, ToGuardian, send};
use crate::terminal::Terminal;
use told::{ToldProgram, told};

/// How long a program has to end by itself after its runner was killed.
const ORPHAN_GRACE: Duration = Duration::from_millis(800);
/// How long a program that survives waits for the next runner.
const ADOPTION_WAIT: Duration = Duration::from_secs(600);
/// How long what is left gets to vanish after SIGKILL: only the kernel can hold it up.
const KILL_WAIT: Duration = Duration::from_secs(10);
/// What a pane says of itself, for the program in it.
const OF_THE_PANE: [&str; 4] = ["TERM", "COLORTERM", "TMUX", "TMUX_PANE"];
/// Between two looks at what is left after SIGKILL.
const KILL_ROUND: Duration = Duration::from_millis(5);

/// By what all that a program has started is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Containment {
    /// A control group, where one can be made; else as below.
    Group,
    /// What is below the guardian, to whom falls whatever loses its parent there.
    Tree,
}

/// Runs what the runner at the socket says under this key, until it has ended with everything below it.
pub fn run(socket: &Path, key: &str, containment: Containment) -> ExitCode {
    match Guardian::launch(socket, key, containment) {
        Ok(Some(mut guardian)) => {
            guardian.watch();
            ExitCode::SUCCESS
        }
        Ok(None) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("comity-guardian: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Guardian {
    socket: PathBuf,
    key: String,
    connection: Option<UnixStream>,
    received: Received,
    signals: UnixStream,
    hangup: UnixStream,
    terminal: Option<Terminal>,
    /// The runner's ends of the pipes, until it has them.
    pipes: Option<Pipes>,
    group: Option<Cgroup>,
    survives: bool,
    program: ProcessId,
    exit: Option<Exit>,
    /// When everything is killed, whatever it does.
    kill_at: Option<Instant>,
}

impl Guardian {
    fn launch(socket: &Path, key: &str, containment: Containment) -> io::Result<Option<Self>> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        close_in_programs()?;
        let signals = signal_pipe(&[SIGCHLD, SIGINT, SIGQUIT, SIGTSTP])?;
        let hangup = signal_pipe(&[SIGHUP, SIGTERM])?;
        let connection = UnixStream::connect(socket)?;
        hello(&connection, key, None)?;
        let mut received = Received::default();
        let Some(ToldProgram { program, is_piped, key: told_key }) = told(&connection, &mut received)? else {
            return Ok(None);
        };
        let key = told_key.as_deref().unwrap_or(key);

        let started = (|| {
            let terminal = match is_piped {
                true => None,
                false => program.terminal.map(Terminal::make).transpose()?,
            };
            let (pipes, ends) = is_piped.then(crate::pipes::make).transpose()?.unzip();
            let group = match containment {
                Containment::Group => Cgroup::make(key).ok(),
                Containment::Tree => None,
            };
            let running = match &group {
                Some(group) => group.within(|| start(&program, ends))??,
                None => start(&program, ends)?,
            };
            Ok::<_, io::Error>((terminal, pipes, group, running))
        })();
        let (terminal, pipes, group, program_id) = match started {
            Ok(started) => started,
            Err(error) => {
                let name = program.command.first().map_or("", String::as_str);
                send(&connection, &FromGuardian::NotStarted { why: format!("{name}: {error}") }, &[])?;
                return Ok(None);
            }
        };
        connection.set_nonblocking(true)?;
        let mut guardian = Self {
            socket: socket.to_owned(),
            key: key.to_owned(),
            connection: Some(connection),
            received,
            signals,
            hangup,
            terminal,
            pipes,
            group,
            // Nobody could take over what was half said.
            survives: program.survives && !is_piped,
            program: program_id,
            exit: None,
            kill_at: None,
        };
        guardian.tell_started();
        Ok(Some(guardian))
    }

    /// Stands by until the program has ended, then ends what it has left behind.
    fn watch(&mut self) {
        loop {
            self.reap();
            if self.exit.is_some() || self.kill_at.is_some_and(|at| at <= Instant::now()) {
                break;
            }
            if self.connection.is_none() && self.kill_at.is_none() && !self.adopted() {
                self.end(ORPHAN_GRACE);
            }
            self.wait_for_news();
        }
        self.kill_all();
        if let Some(connection) = &self.connection {
            let _ = send(connection, &FromGuardian::Ended(self.exit.unwrap_or(Exit::Unseen)), &[]);
        }
    }

    fn wait_for_news(&mut self) {
        let left = self.kill_at.map(|at| at.saturating_duration_since(Instant::now()));
        let ready = {
            let mut sources =
                vec![PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.hangup, PollFlags::IN)];
            sources.extend(self.connection.as_ref().map(|connection| PollFd::new(connection, PollFlags::IN)));
            let _ = poll(&mut sources, left.and_then(|left| Timespec::try_from(left).ok()).as_ref());
            sources.iter().map(|source| !source.revents().is_empty()).collect::<Vec<_>>()
        };
        drain(&self.signals);
        if ready.get(1) == Some(&true) {
            drain(&self.hangup);
            self.end(ORPHAN_GRACE);
        }
        if ready.get(2) == Some(&true) {
            self.read_connection();
        }
    }

    fn read_connection(&mut self) {
        let Some(connection) = &self.connection else { return };
        if !self.received.read(connection).unwrap_or(false) {
            self.connection = None;
            return;
        }
        loop {
            match self.received.next() {
                Ok(Some(ToGuardian::End { grace_ms })) => self.end(Duration::from_millis(grace_ms)),
                Ok(Some(ToGuardian::Interrupt)) => self.interrupt(),
                Ok(Some(ToGuardian::Resize(size))) => {
                    let _ = self.terminal.as_ref().map(|terminal| terminal.resize(size));
                }
                Ok(Some(ToGuardian::Wait | ToGuardian::Become { .. })) => {}
                Ok(Some(ToGuardian::Launch(_) | ToGuardian::LaunchPiped(_)) | None) => return,
                Err(_) => {
                    self.connection = None;
                    return;
                }
            }
        }
    }

    /// Asks the program to end; when the time is up, nobody is asked.
    fn end(&mut self, grace: Duration) {
        let at = Instant::now() + grace;
        self.kill_at = Some(self.kill_at.map_or(at, |earlier| earlier.min(at)));
        self.program.signal(Signal::TERM);
    }

    fn interrupt(&self) {
        let foreground = self.terminal.as_ref().and_then(Terminal::foreground);
        let own_group = rustix::process::getpgrp();
        match foreground.filter(|group| *group != own_group) {
            Some(group) => {
                let _ = rustix::process::kill_process_group(group, Signal::INT);
            }
            None => {
                self.program.signal(Signal::INT);
            }
        }
    }

    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid.as_raw_pid().unsigned_abs() == self.program.pid && self.exit.is_none() {
                self.exit = Some(exit_of(status));
            }
        }
    }

    /// Ends everything below, whatever session or group it has made for itself.
    fn kill_all(&mut self) {
        let give_up = Instant::now() + KILL_WAIT;
        loop {
            if let Some(group) = &self.group {
                let _ = crate::cgroup::kill(group.path());
            }
            let left = descendants(std::process::id());
            for process in &left {
                process.signal(Signal::KILL);
            }
            self.reap();
            if left.is_empty() || Instant::now() > give_up {
                return;
            }
            std::thread::sleep(KILL_ROUND);
        }
    }

    /// Waits for another runner, if the program is to survive this one.
    fn adopted(&mut self) -> bool {
        if !self.survives {
            return false;
        }
        let give_up = Instant::now() + ADOPTION_WAIT;
        while Instant::now() < give_up {
            let Ok(news) = watch_directory(&self.socket) else { return false };
            if let Ok(connection) = UnixStream::connect(&self.socket)
                && connection.set_nonblocking(true).is_ok()
            {
                self.received = Received::default();
                self.connection = Some(connection);
                self.tell_hello_again();
                return self.connection.is_some();
            }
            let left = give_up.saturating_duration_since(Instant::now());
            let mut sources = [
                PollFd::new(&self.signals, PollFlags::IN),
                PollFd::new(&self.hangup, PollFlags::IN),
                PollFd::new(&news, PollFlags::IN),
            ];
            let _ = poll(&mut sources, Timespec::try_from(left).ok().as_ref());
            let hung_up = sources.get(1).is_some_and(|source| !source.revents().is_empty());
            drain(&self.signals);
            self.reap();
            if self.exit.is_some() || hung_up {
                return self.exit.is_some();
            }
        }
        false
    }

    fn running(&self) -> Running {
        let group = self.group.as_ref().map(|group| group.path().to_owned());
        let pane = ["TMUX_PANE", "ITERM_SESSION_ID"].iter().find_map(|name| std::env::var(name).ok());
        Running { program: self.program, group, pane: pane.filter(|_| self.terminal.is_none()) }
    }

    fn tell_started(&mut self) {
        let message = FromGuardian::Started(self.running());
        self.tell(&message);
    }

    fn tell_hello_again(&mut self) {
        let message =
            FromGuardian::Hello { key: self.key.clone(), guardian: own_id(), running: Some(self.running()) };
        self.tell(&message);
    }

    /// The terminal comes along, or the pipes, which are only the runner's from then on.
    fn tell(&mut self, message: &FromGuardian) {
        let pipes = self.pipes.take();
        let mut descriptors: Vec<BorrowedFd<'_>> = pipes.iter().flat_map(Pipes::all).collect();
        descriptors.extend(self.terminal.as_ref().map(|terminal| terminal.master.as_fd()));
        let sent = self.connection.as_ref().map(|connection| send(connection, message, &descriptors));
        if sent.is_some_and(|sent| sent.is_err()) {
            self.connection = None;
        }
    }
}

fn own_id() -> ProcessId {
    let pid = std::process::id();
    ProcessId::of(pid).unwrap_or(ProcessId { pid, start: 0 })
}

fn hello(connection: &UnixStream, key: &str, running: Option<Running>) -> io::Result<()> {
    send(connection, &FromGuardian::Hello { key: key.to_owned(), guardian: own_id(), running }, &[])
}

fn start(program: &Program, pipes: Option<ProgramEnds>) -> io::Result<ProcessId> {
    let (name, arguments) = program.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(name);
    command.args(arguments).env_clear();
    if program.terminal.is_none() && pipes.is_none() {
        command.envs(OF_THE_PANE.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    }
    match pipes {
        Some(ProgramEnds { input, output, errors }) => command.stdin(input).stdout(output).stderr(errors),
        None => command.stdin(Stdio::inherit()),
    };
    let child = command
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&program.directory)
        .spawn()?;
    Ok(ProcessId::of(child.id()).unwrap_or(ProcessId { pid: child.id(), start: 0 }))
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unseen,
    }
}

fn signal_pipe(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

fn drain(pipe: &UnixStream) {
    let mut bytes = [0; 64];
    while rustix::io::read(pipe, &mut bytes).is_ok_and(|count| count > 0) {}
}

/// Whatever else whoever started us had open is none of the program's business.
#[expect(unsafe_code, reason = "descriptors that this process did not open can only be borrowed by number")]
fn close_in_programs() -> io::Result<()> {
    for file in std::fs::read_dir("/proc/self/fd")?.flatten() {
        let Some(number) = file.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if number > 2 {
            // SAFETY: the call only sets a flag, and one that is closed by now is refused.
            let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
            let _ = rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC);
        }
    }
    Ok(())
}

fn watch_directory(socket: &Path) -> io::Result<OwnedFd> {
    let news = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    let directory = socket.parent().ok_or(io::ErrorKind::InvalidInput)?;
    inotify::add_watch(&news, directory, inotify::WatchFlags::MOVED_TO | inotify::WatchFlags::CREATE)?;
    Ok(news)
}
