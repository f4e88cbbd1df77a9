//! A process, identified by pid and start time, so that a reused pid is never taken for it.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// A process that is running or has ended.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
pub struct FirefoxProcess {
    pub pid: u32,
    /// When it was started, in the kernel's unit.
    pub start: u64,
}

impl FirefoxProcess {
    /// The process with this pid, if it runs.
    pub fn identify(pid: u32) -> Option<FirefoxProcess> {
        Some(FirefoxProcess { pid, start: start_of(pid)? })
    }

    pub fn is_alive(&self) -> bool {
        FirefoxProcess::identify(self.pid) == Some(*self)
    }

    /// Never signals another process with the same pid.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.number().filter(|_| self.is_alive()) {
            let _already_gone = kill_process(pid, signal);
        }
    }

    /// Waits until the process has ended; returns whether it has.
    #[cfg(target_os = "linux")]
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        use rustix::process::{PidfdFlags, pidfd_open};

        let Some(handle) = self.number().and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
            return !self.is_alive();
        };
        if !self.is_alive() {
            return true;
        }
        let limit = rustix::time::Timespec::try_from(limit).ok();
        let _ready = poll(&mut [PollFd::new(&handle, PollFlags::IN)], limit.as_ref());
        !self.is_alive()
    }

    /// Waits until the process has ended; returns whether it has.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn wait(&self, limit: Duration) -> bool {
        /// How often to look, where the kernel does not tell.
        const STEP: Duration = Duration::from_millis(50);
        let until = std::time::Instant::now() + limit;
        while self.is_alive() && std::time::Instant::now() < until {
            std::thread::sleep(STEP);
        }
        !self.is_alive()
    }

    fn number(&self) -> Option<Pid> {
        Pid::from_raw(i32::try_from(self.pid).ok()?)
    }
}

/// When a running process was started; a zombie counts as gone.
#[cfg(target_os = "linux")]
fn start_of(pid: u32) -> Option<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything, so the fields are counted from its closing parenthesis.
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = std::str::from_utf8(stat.get(after_name + 2..)?).ok()?.split(' ');
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(start)
}

#[cfg(not(target_os = "linux"))]
fn start_of(pid: u32) -> Option<u64> {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=,lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (state, started) = text.trim().split_once(' ')?;
    let start = started.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    (!state.starts_with('Z')).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_process_is_known_until_it_has_ended() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = FirefoxProcess::identify(child.id()).unwrap();
        assert!(process.is_alive());
        let other = FirefoxProcess { start: process.start + 1, ..process };
        other.signal(Signal::KILL);
        assert!(!other.is_alive() && process.is_alive(), "a reused number is another process");
        assert!(!process.wait(Duration::from_millis(1)));
        process.signal(Signal::KILL);
        assert!(process.wait(Duration::from_secs(10)));
        child.wait().unwrap();
        assert!(!process.is_alive());
    }
}
