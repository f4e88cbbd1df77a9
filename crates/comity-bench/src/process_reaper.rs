//! Ends what a benchmark leaves behind, even if it is killed itself: servers run in sessions of their own.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::firefox;

/// How long a killed process may take to end.
const END_MAX: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };

/// How often the directory is tried to be removed.
const REMOVALS_MAX: usize = 10;
const REMOVAL_PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// A process that watches over this one: it is told of every process that is started.
pub(super) struct ProcessReaper {
    process: std::cell::RefCell<Child>,
}

/// A process of the benchmark; it ends with this value.
pub(super) struct OwnedProcess {
    child: Child,
    reaper: Rc<ProcessReaper>,
}

impl ProcessReaper {
    /// Starts the reaper of a directory, which it removes in the end.
    pub(super) fn start(program: &Path, dir: &Path) -> Result<Rc<ProcessReaper>, String> {
        let process = Command::new(program)
            .args(["all", "--reaper"])
            .arg(dir)
            // Ctrl-C in the terminal is not for it.
            .process_group(0)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("the reaper can't be started: {error}"))?;
        Ok(Rc::new(ProcessReaper { process: process.into() }))
    }

    /// Starts a process that ends with the value, or with this process.
    pub(super) fn spawn(self: &Rc<Self>, command: &mut Command) -> Result<OwnedProcess, String> {
        let child =
            command.spawn().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let kept = OwnedProcess { child, reaper: self.clone() };
        self.tell('+', kept.id());
        Ok(kept)
    }

    fn tell(&self, what: char, pid: u32) {
        let mut process = self.process.borrow_mut();
        let tell = |stdin: &mut ChildStdin| writeln!(stdin, "{what}{pid}");
        // Without a reaper the benchmark still cleans up when it ends by itself.
        let _ = process.stdin.as_mut().map(tell);
    }
}

impl Drop for ProcessReaper {
    fn drop(&mut self) {
        let process = self.process.get_mut();
        drop(process.stdin.take());
        let _ = process.wait();
    }
}

impl OwnedProcess {
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}

impl Drop for OwnedProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.reaper.tell('-', self.child.id());
    }
}

/// Is the reaper: listens until the benchmark is gone, then ends what is left of it.
pub(super) fn reap(dir: &Path) -> Result<(), String> {
    let mut left: HashMap<i32, OwnedFd> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let Some((what, pid)) = line.split_at_checked(1) else { continue };
        let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) else { continue };
        match what {
            // Held by descriptor, so that a number that is used again is not mistaken.
            "+" => drop(pidfd_open(pid, PidfdFlags::empty()).map(|fd| left.insert(pid.as_raw_pid(), fd))),
            _ => drop(left.remove(&pid.as_raw_pid())),
        }
    }
    for process in left.values() {
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
    for process in left.values() {
        // It may still be writing into the directory.
        let _ = poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&END_MAX));
    }
    firefox::end_all(dir);
    // A file that goes by itself meanwhile ends a removal early.
    for _ in 0..REMOVALS_MAX {
        let _ = std::fs::remove_dir_all(dir);
        if !dir.exists() {
            return Ok(());
        }
        std::thread::sleep(REMOVAL_PAUSE);
    }
    Err(format!("{} could not be removed", dir.display()))
}
