//! Processes, as the kernel knows them: identity that survives the reuse of numbers.

use comity_core::agents::{Process, Since};

use crate::lineage::{Lineage, Link, link};

/// Begins the group of processes that are in the session of the first process.
pub const FIRST_SESSION: &str = "1:";

/// What the kernel counts the starts of processes in, for whoever looks from outside.
const TICKS_PER_SECOND: f64 = 100.0;

/// The process with this number, if it is there.
pub fn identify(pid: u32) -> Option<Process> {
    link(pid).map(|link| link.process)
}

/// Whether this very process is still there.
pub fn is_alive(process: Process) -> bool {
    identify(process.pid) == Some(process)
}

/// The run of this machine, where the system tells: another one after each boot.
pub fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// How long the machine has run, in the ticks in which the kernel counts starts.
pub fn ticks_now() -> Option<u64> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = uptime.split(' ').next()?.parse().ok()?;
    Some((seconds * TICKS_PER_SECOND) as u64)
}

/// Since when, and where, processes may be those of an agent: its own process tells, else whoever lets it join.
pub fn since(process: Option<Process>, caller: Option<&Lineage>) -> Option<Since> {
    let line = process.and_then(|process| link(process.pid)).filter(|link| Some(link.process) == process);
    match line.as_ref().or_else(|| caller?.links.first()) {
        Some(link) => Some(Since { start: link.process.start, group: group(link).map(Into::into) }),
        None => ticks_now().map(|start| Since { start, group: None }),
    }
}

/// What a process shares with all that it starts, whatever parents are lost: its control group, and whether it is in the
/// session of the first process.
pub fn group(link: &Link) -> Option<String> {
    let groups = control_group(link.process.pid)?;
    let hash = blake3::hash(groups.as_bytes()).to_hex();
    Some(format!("{}{}", if link.session == 1 { FIRST_SESSION } else { "" }, &hash[..16]))
}

/// The control group of a process, as the system writes it.
pub fn control_group(pid: u32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_process_with_the_same_number_is_another() {
        let own = identify(std::process::id()).expect("this process");
        assert!(is_alive(own));
        assert!(!is_alive(Process { start: own.start + 1, ..own }));
        assert_eq!(identify(u32::MAX), None);
    }
}
