//! The guardian: a small process above each agent program, which ends with all that the program has started.
//!
//! Whatever loses its parent below it becomes its child, and it holds a connection to the runner: when the runner is gone,
//! however it went, the guardian notices at once.

use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use comity_confine::ProblemKind;
use comity_confine::{PathAccess, Sandbox, ShownPath};
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

/// How long it waits to be told what to run.
const LAUNCH_WAIT: Duration = Duration::from_secs(10);
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

/// Runs what the runner at the socket says under this key, until it has ended with everything below it.
pub fn run(socket: &Path, key: &str) -> ExitCode {
    match Guardian::launch(socket, key) {
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

/// Tries out whether programs can run in sandboxes here.
pub fn probe() -> ExitCode {
    let shown = ["/usr", "/bin", "/lib", "/lib64", "/nix"].map(PathBuf::from).into_iter();
    let shown = shown.filter(|path| path.symlink_metadata().is_ok_and(|it| it.is_dir()));
    let shown = shown.map(|path| ShownPath { path, access: PathAccess::Read }).collect();
    let sandbox = Sandbox { shown, ..Sandbox::default() };
    match sandboxed(&sandbox, Command::new("true").stdin(Stdio::null()).current_dir("/"), &[]) {
        Ok(_) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
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
    /// Where the proxy of a sandbox listens, inside.
    proxy: Option<TcpListener>,
    survives: bool,
    program: ProcessId,
    exit: Option<Exit>,
    /// When everything is killed, whatever it does.
    kill_at: Option<Instant>,
}

impl Guardian {
    fn launch(socket: &Path, key: &str) -> io::Result<Option<Self>> {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        close_in_programs()?;
        let signals = signal_pipe(&[SIGCHLD, SIGINT, SIGQUIT, SIGTSTP])?;
        let hangup = signal_pipe(&[SIGHUP, SIGTERM])?;
        let connection = UnixStream::connect(socket)?;
        hello(&connection, key, None)?;
        let mut received = Received::default();
        let Some(ToldProgram { program, is_piped }) = told(&connection, &mut received)? else {
            return Ok(None);
        };

        let started = (|| {
            let terminal = match is_piped {
                true => None,
                false => {
                    let size = program.terminal;
                    size.map(|size| Terminal::make(size, program.sandbox.is_some())).transpose()?
                }
            };
            if program.sandbox.is_some() && terminal.is_none() && !is_piped {
                leave_terminal(&hangup)?;
            }
            let (pipes, ends) = is_piped.then(crate::pipes::make).transpose()?.unzip();
            let group = Cgroup::make(key).ok();
            let running = match &group {
                Some(group) => group.within(|| start(&program, ends))??,
                None => start(&program, ends)?,
            };
            Ok::<_, io::Error>((terminal, pipes, group, running))
        })();
        let (terminal, pipes, group, (program_id, proxy)) = match started {
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
            proxy,
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
        Running {
            program: self.program,
            group: self.group.as_ref().map(|group| group.path().to_owned()),
            has_proxy: self.proxy.is_some(),
        }
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
        descriptors.extend(self.proxy.as_ref().map(AsFd::as_fd));
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

struct ToldProgram {
    program: Program,
    is_piped: bool,
}

/// The program to run, unless the runner does not want it any more.
fn told(connection: &UnixStream, received: &mut Received) -> io::Result<Option<ToldProgram>> {
    connection.set_read_timeout(Some(LAUNCH_WAIT))?;
    let give_up = Instant::now() + LAUNCH_WAIT;
    loop {
        match received.next()? {
            Some(ToGuardian::Launch(program)) => return Ok(Some(ToldProgram { program, is_piped: false })),
            Some(ToGuardian::LaunchPiped(program)) => {
                return Ok(Some(ToldProgram { program, is_piped: true }));
            }
            Some(ToGuardian::End { .. }) => return Ok(None),
            Some(ToGuardian::Resize(_) | ToGuardian::Interrupt) => {}
            None if Instant::now() > give_up => return Err(io::ErrorKind::TimedOut.into()),
            None => {
                if !received.read(connection)? {
                    return Ok(None);
                }
            }
        }
    }
}

fn start(program: &Program, pipes: Option<ProgramEnds>) -> io::Result<(ProcessId, Option<TcpListener>)> {
    let (name, arguments) = program.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(name);
    command.args(arguments).env_clear();
    if program.terminal.is_none() && pipes.is_none() {
        // The pane's tmux is nothing to a sandbox.
        let count = if program.sandbox.is_some() { 2 } else { OF_THE_PANE.len() };
        command.envs(OF_THE_PANE.iter().take(count).filter_map(|name| Some((name, std::env::var_os(name)?))));
    }
    let kept: Vec<RawFd> = pipes.iter().flat_map(ProgramEnds::numbers).collect();
    match pipes {
        Some(ProgramEnds { input, output, errors }) => command.stdin(input).stdout(output).stderr(errors),
        None => command.stdin(Stdio::inherit()),
    };
    command
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&program.directory);
    let (pid, proxy) = match &program.sandbox {
        None => (command.spawn()?.id(), None),
        Some(sandbox) => sandboxed(sandbox, &mut command, &kept)?,
    };
    Ok((ProcessId::of(pid).unwrap_or(ProcessId { pid, start: 0 }), proxy))
}

/// What to do where a sandbox can't be made.
const WITHOUT_SANDBOX: &str = "allow user namespaces (sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, \
                               kernel.unprivileged_userns_clone=1, or user.max_user_namespaces=10000), or run Comity in a virtual machine of its own \
                               and leave out --sandbox";

#[cfg(target_os = "linux")]
fn sandboxed(
    sandbox: &Sandbox,
    command: &mut Command,
    kept: &[RawFd],
) -> io::Result<(u32, Option<TcpListener>)> {
    let started = comity_confine::start_sandboxed(sandbox, command, kept);
    let started = started.map_err(|problem| match problem.kind {
        ProblemKind::Forbidden => io::Error::other(format!("{problem}; {WITHOUT_SANDBOX}")),
        ProblemKind::Exhausted | ProblemKind::Failed | ProblemKind::HalfDone => io::Error::other(problem),
    })?;
    Ok((started.pid, Some(started.proxy)))
}

#[cfg(not(target_os = "linux"))]
fn sandboxed(_: &Sandbox, _: &mut Command, _: &[RawFd]) -> io::Result<(u32, Option<TcpListener>)> {
    Err(io::Error::other(format!("a sandbox needs Linux; {WITHOUT_SANDBOX}")))
}

/// Lets a sandbox have the terminal of this pane for its own. The hangup that comes of that is none.
fn leave_terminal(hangup: &UnixStream) -> io::Result<()> {
    #[expect(unsafe_code, reason = "no library has TIOCNOTTY, which takes nothing")]
    // SAFETY: standard input is open, and the call takes no argument.
    let left = unsafe { libc::ioctl(0, libc::TIOCNOTTY as _) };
    drain(hangup);
    if left == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
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
