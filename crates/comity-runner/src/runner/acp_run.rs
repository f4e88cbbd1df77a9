//! An agent that speaks ACP: its pipes, and the session over them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;

use crate::acp::{AcpNews, AcpSession, AcpStart};
use crate::protocol::Received;

/// How long an agent has from its start until it can be prompted: some look for updates on the network first.
const READY_WAIT: Duration = Duration::from_secs(120);
/// How long one that says nothing any more has to end by itself.
const CLOSED_WAIT: Duration = Duration::from_secs(1);
/// How long one that can't be used has to end.
pub(super) const FAILED_GRACE: Duration = Duration::from_secs(2);
/// Bytes that are taken at once.
const READ_BYTES: usize = 64 * 1024;
/// Taken bytes are thrown away once there are so many.
const WRITTEN_BYTES_MAX: usize = 256 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Pipe {
    Input,
    Output,
    Errors,
}

pub(super) struct AcpRun {
    pub(super) session: AcpSession,
    pub(super) directory: PathBuf,
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    /// How many of the bytes for it it has taken.
    written: usize,
    begun: Instant,
    is_connected: bool,
    closed: Option<Instant>,
    ending: Option<TurnEnding>,
    was_ready: bool,
    was_told_to_end: bool,
}

/// A turn that is being ended, for the program is to end.
struct TurnEnding {
    wait_until: Instant,
    end_at: Instant,
}

impl std::fmt::Debug for AcpRun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AcpRun").finish_non_exhaustive()
    }
}

impl AcpRun {
    pub(super) fn new(start: AcpStart, directory: PathBuf) -> Self {
        Self {
            session: AcpSession::begin(start, directory.display().to_string()),
            directory,
            input: None,
            output: None,
            errors: None,
            written: 0,
            begun: Instant::now(),
            is_connected: false,
            closed: None,
            ending: None,
            was_ready: false,
            was_told_to_end: false,
        }
    }

    /// Takes the pipes that the guardian has sent along.
    pub(super) fn connect(&mut self, received: &mut Received) {
        let mut next =
            || received.descriptors.pop_front().filter(|end| rustix::io::ioctl_fionbio(end, true).is_ok());
        (self.input, self.output, self.errors) = (next(), next(), next());
        self.is_connected = true;
        self.begun = Instant::now();
    }

    /// What is waited for.
    pub(super) fn sources(&mut self) -> impl Iterator<Item = (Pipe, PollFlags, BorrowedFd<'_>)> {
        let wants_to_write = !self.session.outbound().is_empty();
        let may_read = self.session.has_room();
        let input = self.input.as_ref().filter(|_| wants_to_write);
        let output = self.output.as_ref().filter(|_| may_read);
        let errors = self.errors.as_ref();
        [
            input.map(|end| (Pipe::Input, PollFlags::OUT, end.as_fd())),
            output.map(|end| (Pipe::Output, PollFlags::IN, end.as_fd())),
            errors.map(|end| (Pipe::Errors, PollFlags::IN, end.as_fd())),
        ]
        .into_iter()
        .flatten()
    }

    /// Reads or writes what it can; tells whether there may be more.
    pub(super) fn turn(&mut self, pipe: Pipe) -> bool {
        match pipe {
            Pipe::Input => {
                self.write();
                false
            }
            Pipe::Output => {
                let (more, bytes) = read(&mut self.output);
                self.session.receive(&bytes);
                if self.output.is_none() {
                    self.closed.get_or_insert_with(Instant::now);
                }
                more
            }
            Pipe::Errors => {
                let (more, bytes) = read(&mut self.errors);
                self.session.error_output(&bytes);
                more
            }
        }
    }

    /// Takes all that is still in the pipes of a program that has ended.
    pub(super) fn drain(&mut self) {
        while self.turn(Pipe::Output) {}
        while self.turn(Pipe::Errors) {}
        self.session.over();
    }

    fn write(&mut self) {
        let outbound = self.session.outbound();
        let Some(input) = &self.input else {
            // Nobody will take it any more.
            if self.is_connected {
                outbound.clear();
                self.written = 0;
            }
            return;
        };
        loop {
            let rest = outbound.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
            match rustix::io::write(input, rest) {
                Ok(count) => self.written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                // It does not listen any more; what it still says is read.
                Err(_) => {
                    self.input = None;
                    self.written = outbound.len();
                    break;
                }
            }
        }
        if self.written == outbound.len() || self.written > WRITTEN_BYTES_MAX {
            outbound.drain(..self.written);
            self.written = 0;
        }
    }

    /// Begins the end: a turn is ended first. Gives the grace that the program gets, if that begins now.
    pub(super) fn end(&mut self, grace: Duration) -> Option<Duration> {
        if self.session.end() && !grace.is_zero() && self.input.is_some() {
            let now = Instant::now();
            let end_at = now + grace;
            self.ending.get_or_insert(TurnEnding { wait_until: now + grace / 2, end_at });
            self.write();
            return None;
        }
        self.was_told_to_end = true;
        self.input = None;
        Some(grace)
    }

    /// Looks at what time alone changes. Gives the grace, if the program is to end now.
    pub(super) fn look(&mut self, now: Instant) -> Option<Duration> {
        self.write();
        if self.output.is_some() && self.session.is_starting() && now >= self.begun + READY_WAIT {
            self.session.too_slow();
        }
        if self.closed.is_some_and(|closed| now >= closed + CLOSED_WAIT) {
            self.session.closed();
        }
        if self.was_told_to_end {
            return None;
        }
        let grace = if self.session.failure().is_some() {
            FAILED_GRACE
        } else {
            let ending =
                self.ending.as_ref().filter(|it| now >= it.wait_until || !self.session.is_in_turn())?;
            ending.end_at.saturating_duration_since(now)
        };
        self.was_told_to_end = true;
        self.input = None;
        Some(grace)
    }

    pub(super) fn due(&self) -> Option<Instant> {
        let starting = (self.output.is_some() && self.session.is_starting()).then(|| self.begun + READY_WAIT);
        let closed = self.closed.map(|closed| closed + CLOSED_WAIT);
        let ending = self.ending.as_ref().map(|ending| ending.wait_until);
        starting.into_iter().chain(closed).chain(ending).min().filter(|_| !self.was_told_to_end)
    }

    pub(super) fn take_news(&mut self) -> Vec<AcpNews> {
        let news = self.session.take_news();
        self.was_ready |= news.iter().any(|news| matches!(news, AcpNews::Ready { .. }));
        news
    }

    /// Why the program never was of use, if that is so.
    pub(super) fn why_of_no_use(&self, exit: crate::launch::Exit) -> Option<String> {
        let is_silent = exit == crate::launch::Exit::Code(0);
        let silent = || is_silent.then(|| "it ended before it had begun a session".to_owned());
        let why = self.session.failure().map(str::to_owned).or_else(silent);
        why.filter(|_| !self.was_ready)
    }
}

/// Takes what is there; an end that nobody writes to is closed.
fn read(end: &mut Option<OwnedFd>) -> (bool, Vec<u8>) {
    let Some(open) = end else { return (false, Vec::new()) };
    let mut bytes = vec![0; READ_BYTES];
    match rustix::io::read(open, bytes.as_mut_slice()) {
        Ok(count) if count > 0 => {
            bytes.truncate(count);
            (true, bytes)
        }
        Err(Errno::INTR | Errno::AGAIN) => (false, Vec::new()),
        Ok(_) | Err(_) => {
            *end = None;
            (false, Vec::new())
        }
    }
}

/// The error of a session, for whoever told it something.
pub(super) fn refused(refusal: crate::acp::SessionRefusal) -> io::Error {
    io::Error::other(match refusal {
        crate::acp::SessionRefusal::TooManyPrompts => "too many prompts wait for its turn to end",
        crate::acp::SessionRefusal::Over => "it is ending",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::pipe;

    /// A run, and the program's ends of its pipes.
    fn connected() -> (AcpRun, [OwnedFd; 3]) {
        let mut run = AcpRun::new(AcpStart::default(), "/".into());
        let (their_input, input) = pipe().unwrap();
        let (output, their_output) = pipe().unwrap();
        let (errors, their_errors) = pipe().unwrap();
        let mut received = Received::default();
        received.descriptors.extend([input, output, errors]);
        run.connect(&mut received);
        (run, [their_input, their_output, their_errors])
    }

    #[test]
    fn one_that_never_answers_is_ended() {
        let (mut run, ends) = connected();
        let due = run.due().unwrap();
        assert_eq!(run.look(due - Duration::from_millis(1)), None);
        assert_eq!(run.session.failure(), None);
        assert_eq!(run.look(due), Some(FAILED_GRACE));
        assert_eq!(run.session.failure(), Some("it didn't answer in time"));
        assert_eq!((run.look(due), run.due()), (None, None));
        drop(ends);
    }

    #[test]
    fn one_that_closes_its_output_has_a_moment_to_end_by_itself() {
        let (mut run, [_input, output, _errors]) = connected();
        drop(output);
        run.turn(Pipe::Output);
        let due = run.due().unwrap();
        assert_eq!(run.look(due - Duration::from_millis(1)), None);
        assert_eq!(run.look(due), Some(FAILED_GRACE));
    }

    #[test]
    fn what_nobody_takes_is_not_kept() {
        let (mut run, [input, _output, _errors]) = connected();
        drop(input);
        run.turn(Pipe::Input);
        run.turn(Pipe::Input);
        assert!(run.session.outbound().is_empty());
    }
}
