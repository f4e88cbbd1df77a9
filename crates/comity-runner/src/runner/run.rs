//! One program that was started, or is to be.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use crate::launch::{Exit, Program};
use crate::panes::{Pane, PanePlace};
use crate::process_tree::{ProcessId, descendants};
use crate::protocol::{Received, Running, ToGuardian, send};
use crate::scrollback::Scrollback;

use super::acp_run::AcpRun;

/// How long a guardian has to end once what is below it has to be gone: only the kernel, or whoever stopped it, holds it up.
pub(super) const END_WAIT: Duration = Duration::from_secs(12);
/// How long a program has to take what is typed.
const WRITE_WAIT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Run {
    pub(super) stage: Stage,
    pub(super) connection: Option<UnixStream>,
    pub(super) received: Received,
    /// The other end of its terminal, if that is no pane.
    pub(super) terminal: Option<OwnedFd>,
    pub(super) scrollback: Scrollback,
    pub(super) pane: Option<(PanePlace, Pane)>,
    /// What it says on its pipes, if it speaks ACP.
    pub(super) acp: Option<AcpRun>,
    /// The guardian, if this process started it.
    child: Option<Child>,
    /// When its guardian is stuck, for it was told to end everything long before.
    pub(super) stuck_at: Option<Instant>,
    survives: bool,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The guardian was started and has not connected.
    Awaited {
        program: Program,
        /// Where it is known which process that is.
        guardian: Option<u32>,
        due: Instant,
    },
    /// The guardian was told what to run.
    Told,
    Running(Running),
    /// An earlier runner left it running; its guardian has not come back.
    Away {
        program: ProcessId,
        place: Option<PanePlace>,
        due: Instant,
    },
}

impl Run {
    pub(super) fn launched(program: Program, guardian: Option<u32>, due: Instant) -> Self {
        let survives = program.survives;
        Self::at(Stage::Awaited { program, guardian, due }, survives)
    }

    /// One whose guardian was there, and knows what to run.
    pub(super) fn told(connection: UnixStream, received: Received, survives: bool) -> Self {
        let mut run = Self::at(Stage::Told, survives);
        (run.connection, run.received) = (Some(connection), received);
        run
    }

    pub(super) fn survivor(program: ProcessId, place: Option<PanePlace>, due: Instant) -> Self {
        Self::at(Stage::Away { program, place, due }, true)
    }

    fn at(stage: Stage, survives: bool) -> Self {
        Self {
            stage,
            connection: None,
            received: Received::default(),
            terminal: None,
            scrollback: Scrollback::default(),
            pane: None,
            acp: None,
            child: None,
            stuck_at: None,
            survives,
        }
    }

    pub(super) fn with_child(mut self, child: Child) -> Self {
        self.child = Some(child);
        self
    }

    pub(super) fn with_acp(mut self, acp: AcpRun) -> Self {
        self.survives = false;
        self.acp = Some(acp);
        self
    }

    pub(super) fn with_pane(mut self, place: PanePlace, pane: Pane) -> Self {
        self.pane = Some((place, pane));
        self
    }

    pub(super) fn due(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Awaited { due, .. } | Stage::Away { due, .. } => Some(*due),
            Stage::Told | Stage::Running(_) => None,
        }
    }

    /// When something is to be looked at, whether anybody tells or not.
    pub(super) fn wakes(&self) -> Option<Instant> {
        self.due().into_iter().chain(self.stuck_at).chain(self.acp.as_ref().and_then(AcpRun::due)).min()
    }

    pub(super) fn tell(&mut self, message: &ToGuardian) -> io::Result<()> {
        match &self.connection {
            Some(connection) => send(connection, message, &[]),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let terminal = self.terminal.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            match rustix::io::write(terminal, rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let wait = Timespec::try_from(WRITE_WAIT).map_err(io::Error::other)?;
                    if poll(&mut [PollFd::new(terminal, PollFlags::OUT)], Some(&wait))? == 0 {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Its guardian is gone without a word: ends what can still be found of it.
    pub(super) fn lost(&self) -> Exit {
        if let Stage::Running(running) = &self.stage {
            if let Some(group) = &running.group {
                let _ = crate::cgroup::kill(group);
                crate::cgroup::remove(group);
            }
            running.program.signal(Signal::KILL);
        }
        Exit::Unseen
    }

    /// Ends what is below a guardian that does not, and then the guardian.
    pub(super) fn end_stuck(&mut self) -> Exit {
        if let Some(child) = &mut self.child {
            for process in descendants(child.id()) {
                process.signal(Signal::KILL);
            }
            let _ = child.kill();
        }
        self.lost()
    }

    fn has_guardian_ended(&mut self, within: Duration) -> bool {
        let Some(child) = &self.child else { return true };
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let Some(Ok(handle)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else { return true };
        let wait = Timespec::try_from(within).ok();
        !matches!(poll(&mut [PollFd::new(&handle, PollFlags::IN)], wait.as_ref()), Ok(0))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // A guardian whose connection is closed ends by itself, unless its program survives.
        self.connection = None;
        if self.survives {
            return;
        }
        if !self.has_guardian_ended(END_WAIT) {
            self.end_stuck();
        }
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}
