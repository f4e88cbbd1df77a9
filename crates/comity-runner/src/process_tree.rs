//! Processes as the kernel lists them: who is whose parent, and signals that reach nobody else.

use std::fs;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process that no reused number can stand for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ProcessId {
    pub pid: u32,
    /// When it started, in the kernel's ticks since boot.
    pub start: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    id: ProcessId,
    parent: u32,
    is_zombie: bool,
}

impl ProcessId {
    /// The process that has this number now.
    pub fn of(pid: u32) -> Option<Self> {
        entry(pid).map(|entry| entry.id)
    }

    /// Whether this very process runs; one that has ended and waits for its parent does not.
    pub fn is_alive(self) -> bool {
        entry(self.pid).is_some_and(|entry| entry.id == self && !entry.is_zombie)
    }

    /// Sends the signal to this very process; tells whether it was there.
    pub fn signal(self, signal: Signal) -> bool {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return false };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // Only now the number cannot change hands any more.
            Ok(handle) => Self::of(self.pid) == Some(self) && pidfd_send_signal(handle, signal).is_ok(),
            Err(Errno::NOSYS) => {
                Self::of(self.pid) == Some(self) && rustix::process::kill_process(pid, signal).is_ok()
            }
            Err(_) => false,
        }
    }
}

/// All that live below a process: its children, theirs, and so on.
pub fn descendants(root: u32) -> Vec<ProcessId> {
    let all: Vec<Entry> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|file| file.file_name().to_str()?.parse().ok())
        .filter_map(entry)
        .collect();
    let mut found = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for child in all.iter().filter(|entry| entry.parent == parent && entry.id.pid != root) {
            parents.push(child.id.pid);
            if !child.is_zombie {
                found.push(child.id);
            }
        }
    }
    found
}

fn entry(pid: u32) -> Option<Entry> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may have any character, so count from the last one.
    let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    Some(Entry { id: ProcessId { pid, start }, parent, is_zombie: matches!(state, "Z" | "X") })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_is_below_and_a_number_used_again_is_another_process() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let id = ProcessId::of(child.id()).unwrap();
        assert!(descendants(std::process::id()).contains(&id));
        assert!(id.is_alive());
        let earlier = ProcessId { start: id.start - 1, ..id };
        assert!(!earlier.is_alive());
        assert!(!earlier.signal(Signal::KILL));
        assert!(id.is_alive());
        assert!(id.signal(Signal::KILL));
        child.wait().unwrap();
        assert!(!id.is_alive());
    }
}
