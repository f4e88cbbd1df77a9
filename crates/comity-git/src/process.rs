//! Runs a program to its end or to a deadline, whichever comes first.

use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

/// Bytes of output that are kept; a program that says more is stopped.
const STDOUT_BYTES_MAX: usize = 64 << 20;
/// Bytes of complaints that are kept.
const STDERR_BYTES_MAX: usize = 4_096;
/// How often a program that has closed its output is asked whether it has ended.
const EXIT_POLL: Duration = Duration::from_micros(200);

/// What a program said, and how it ended.
pub(crate) struct Said {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Runs a program in a process group of its own, which is killed as a whole if it is not done in time.
pub(crate) fn run(command: &mut Command, deadline: Instant) -> io::Result<Said> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut group = Group { child: command.spawn()?, has_ended: false };
    let (stdout, stderr) = group.read(deadline)?;
    let status = group.wait(deadline)?;
    Ok(Said { status, stdout, stderr })
}

/// A child that leads a process group. Its id stays its own until it is waited for.
struct Group {
    child: Child,
    has_ended: bool,
}

impl Group {
    fn read(&mut self, deadline: Instant) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let (mut out, mut err) = (self.child.stdout.take(), self.child.stderr.take());
        while out.is_some() || err.is_some() {
            let left = Timespec::try_from(left_until(deadline)?).map_err(io::Error::other)?;
            let mut waiting: Vec<PollFd<'_>> = Vec::new();
            waiting.extend(out.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
            waiting.extend(err.iter().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
            match poll(&mut waiting, Some(&left)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is_ready = |at: usize| waiting.get(at).is_some_and(|fd| !fd.revents().is_empty());
            let (out_is_ready, err_is_ready) =
                (out.is_some() && is_ready(0), err.is_some() && is_ready(usize::from(out.is_some())));
            if out_is_ready && has_closed(&mut out, &mut stdout)? {
                out = None;
            }
            if err_is_ready && has_closed(&mut err, &mut stderr)? {
                err = None;
            }
            if stdout.len() > STDOUT_BYTES_MAX {
                return Err(io::Error::other("it said more than 64 MiB"));
            }
            stderr.truncate(STDERR_BYTES_MAX);
        }
        Ok((stdout, stderr))
    }

    fn wait(&mut self, deadline: Instant) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                self.has_ended = true;
                return Ok(status);
            }
            std::thread::sleep(left_until(deadline)?.min(EXIT_POLL));
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        // Not waited for yet, so the id cannot be anybody else's.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _already_gone = kill_process_group(group, Signal::KILL);
        }
        let _already_gone = self.child.wait();
    }
}

/// Reads what is ready, and says whether that was the end.
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

fn left_until(deadline: Instant) -> io::Result<Duration> {
    match deadline.checked_duration_since(Instant::now()) {
        Some(left) if !left.is_zero() => Ok(left),
        _ => Err(io::Error::new(ErrorKind::TimedOut, "it was not done in time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_says() {
        let deadline = Instant::now() + Duration::from_secs(60);
        let said = run(Command::new("git").arg("--version"), deadline).expect("git");
        assert!(said.status.success() && said.stdout.starts_with(b"git version"));
        let said = run(Command::new("git").arg("no-such-command"), deadline).expect("git");
        assert!(!said.status.success() && !said.stderr.is_empty());
    }

    #[test]
    fn a_program_that_is_not_done_is_killed_with_its_children() {
        let deadline = Instant::now() + Duration::from_millis(50);
        let begun = Instant::now();
        let said = run(Command::new("sh").args(["-c", "sleep 600 & sleep 600"]), deadline);
        assert_eq!(said.err().map(|error| error.kind()), Some(ErrorKind::TimedOut));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
}
