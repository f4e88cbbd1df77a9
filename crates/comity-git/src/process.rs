//! Runs a program to its end or to a deadline, whichever comes first.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::time_limits::{GitPace, TimeLeft};
use crate::umask;

/// A program that writes more is stopped.
const STDOUT_BYTES_MAX: usize = 64 << 20;
const STDERR_BYTES_MAX: usize = 4_096;
/// How often a program that has closed its output is polled at once: most are about to exit.
const EXIT_SPINS: usize = 100;
/// How often it is polled after that.
const EXIT_POLL: Duration = Duration::from_micros(200);

/// A program's output, and how it exited.
pub(crate) struct ChildOutput {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// A program's standard input.
#[derive(Debug)]
pub(crate) enum ChildInput {
    /// Nothing, but this file is held open while it runs.
    Nothing(Option<File>),
    Bytes(Vec<u8>),
}

/// What a program may run in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MayRun {
    /// It is git, and whatever it reads in a repository, it runs nothing else.
    OnlyGit,
    Everything,
}

impl MayRun {
    /// How long git may take; nobody knows how long the programs that it runs may.
    pub(crate) fn pace(self, verb: &str) -> GitPace {
        match self {
            MayRun::OnlyGit => GitPace::of(verb),
            MayRun::Everything => GitPace::Any,
        }
    }
}

/// Runs a program in a process group of its own, which is killed as a whole if it is not done in time. If it is git alone, it
/// writes only below these places, if there are any.
pub(crate) fn run(
    command: &mut Command,
    may_run: MayRun,
    writes: &[PathBuf],
    input: ChildInput,
    mut bound: TimeLeft,
) -> io::Result<ChildOutput> {
    crate::fair_lock::assert_may_wait();
    let (stdin, input) = match input {
        ChildInput::Nothing(open) => (open.map_or_else(Stdio::null, Stdio::from), Vec::new()),
        ChildInput::Bytes(bytes) => (Stdio::piped(), bytes),
    };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = umask::as_user(|| match may_run {
        #[cfg(target_os = "linux")]
        MayRun::OnlyGit => crate::only_git::spawn(command, writes),
        // Elsewhere the settings that it is given have to do.
        #[cfg(not(target_os = "linux"))]
        MayRun::OnlyGit => {
            let _ = writes;
            command.spawn()
        }
        MayRun::Everything => command.spawn(),
    })?;
    crate::open_files::restore(&child);
    let mut group = ChildGroup { child, has_ended: false };
    let (stdout, stderr) = group.talk(&input, &mut bound)?;
    let status = group.wait(&mut bound)?;
    Ok(ChildOutput { status, stdout, stderr })
}

/// A child that leads a process group. Its id stays its own until it is waited for.
struct ChildGroup {
    child: Child,
    has_ended: bool,
}

impl ChildGroup {
    /// Writes the input and reads the output, each as far as the program lets us.
    fn talk(&mut self, mut input: &[u8], bound: &mut TimeLeft) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut to = self.child.stdin.take();
        let (mut out, mut err) = (self.child.stdout.take(), self.child.stderr.take());
        if let Some(to) = &to {
            fcntl_setfl(to, fcntl_getfl(to)? | OFlags::NONBLOCK)?;
        }
        while out.is_some() || err.is_some() || to.is_some() {
            let left = Timespec::try_from(bound.left(self.child.id())?).map_err(io::Error::other)?;
            let mut waiting: Vec<PollFd<'_>> = Vec::new();
            waiting.extend(out.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
            waiting.extend(err.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
            waiting.extend(to.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::OUT)));
            match poll(&mut waiting, Some(&left)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let mut ready = waiting.iter().map(|fd| !fd.revents().is_empty());
            let mut is_ready = |is_open: bool| is_open && ready.next().unwrap_or_default();
            let (out_is_ready, err_is_ready) = (is_ready(out.is_some()), is_ready(err.is_some()));
            let to_is_ready = is_ready(to.is_some());
            if out_is_ready && has_closed(&mut out, &mut stdout)? {
                out = None;
            }
            if err_is_ready && has_closed(&mut err, &mut stderr)? {
                err = None;
            }
            if to_is_ready && has_taken_all(&mut to, &mut input)? {
                to = None;
            }
            if stdout.len() > STDOUT_BYTES_MAX {
                return Err(io::Error::other("it wrote more than 64 MiB"));
            }
            stderr.truncate(STDERR_BYTES_MAX);
        }
        Ok((stdout, stderr))
    }

    fn wait(&mut self, bound: &mut TimeLeft) -> io::Result<ExitStatus> {
        let mut spins = 0;
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.has_ended = true;
                return Ok(status);
            }
            let left = bound.left(self.child.id())?;
            spins += 1;
            if spins <= EXIT_SPINS {
                std::thread::yield_now()
            } else {
                std::thread::sleep(left.min(EXIT_POLL))
            }
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        // Not waited for yet, so the id cannot belong to anybody else.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _already_gone = kill_process_group(group, Signal::KILL);
        }
        let _already_gone = self.child.wait();
    }
}

/// Reads what is ready, and returns whether that was the end.
fn has_closed(pipe: &mut Option<impl Read>, to: &mut Vec<u8>) -> io::Result<bool> {
    let mut bytes = [0; 65_536];
    let Some(pipe) = pipe else { return Ok(true) };
    match pipe.read(&mut bytes) {
        Ok(read) => {
            to.extend_from_slice(&bytes[..read]);
            Ok(read == 0)
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes what the program takes now, and returns whether that was all, or all that it will ever take.
fn has_taken_all(pipe: &mut Option<ChildStdin>, input: &mut &[u8]) -> io::Result<bool> {
    let Some(pipe) = pipe else { return Ok(true) };
    match pipe.write(input) {
        Ok(written) => {
            *input = &input[written..];
            Ok(input.is_empty())
        }
        Err(error) if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => Ok(false),
        // It has stopped reading; how it exits says why.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(true),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_a_program_says() {
        let minute = || TimeLeft::new(GitPace::Any, Instant::now() + Duration::from_secs(60));
        let output = run(
            Command::new("git").arg("--version"),
            MayRun::OnlyGit,
            &[],
            ChildInput::Nothing(None),
            minute(),
        )
        .expect("git");
        assert!(output.status.success() && output.stdout.starts_with(b"git version"));
        let output = run(
            Command::new("git").arg("no-such-command"),
            MayRun::OnlyGit,
            &[],
            ChildInput::Nothing(None),
            minute(),
        )
        .expect("git");
        assert!(!output.status.success() && !output.stderr.is_empty());
    }

    #[test]
    fn input_of_any_size_is_passed_on() {
        let minute = || TimeLeft::new(GitPace::Any, Instant::now() + Duration::from_secs(60));
        // More than a pipe holds, in both directions at once.
        let input: Vec<u8> = (0..3_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let output = run(
            &mut Command::new("cat"),
            MayRun::Everything,
            &[],
            ChildInput::Bytes(input.clone()),
            minute(),
        )
        .expect("cat");
        assert!(output.stdout == input, "{} of {} bytes", output.stdout.len(), input.len());
        let deaf =
            run(&mut Command::new("true"), MayRun::Everything, &[], ChildInput::Bytes(input), minute())
                .expect("true");
        assert!(deaf.status.success() && deaf.stdout.is_empty());
    }

    #[test]
    fn a_program_that_is_not_done_is_killed_with_its_children() {
        let bound = TimeLeft::new(GitPace::Any, Instant::now() + Duration::from_millis(50));
        let output = run(
            Command::new("sh").args(["-c", "sleep 600 & sleep 600"]),
            MayRun::Everything,
            &[],
            ChildInput::Nothing(None),
            bound,
        );
        assert_eq!(output.err().map(|error| error.kind()), Some(ErrorKind::TimedOut));
    }
}
