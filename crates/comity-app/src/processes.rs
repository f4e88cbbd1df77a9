//! Processes, as the kernel knows them, with an identity that survives the reuse of pids.

use std::io::Read;
use std::sync::atomic::{AtomicU64, Ordering};

use comity_core::Millis;
use comity_core::agents::{Process, Since};

use crate::lineage::{Lineage, LineageProcess, link};

/// Prefix of the group of processes in the first process's session.
pub const FIRST_SESSION: &str = "1:";

/// How a process is marked; the number is its limit on file locks. Limits only fall, so an agent's process stays
/// marked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ProcessMark {
    Agent = 0x434f_4d48,
    /// It presented an agent's token, as a script that works with several agents does.
    TokenUser = 0x434f_4d49,
}

/// How often new processes are looked for below a marked one.
#[cfg(target_os = "linux")]
const MARK_ROUNDS: usize = 3;
/// Processes below an agent's that are marked one by one; those that they start inherit it.
#[cfg(target_os = "linux")]
const MARKED_MAX: usize = 10_000;
/// A guess at the size of a file about a process: the kernel does not say, and reading it in small pieces takes
/// longer.
const ABOUT_BYTES: usize = 2_048;
/// The unit in which the kernel reports start times.
const MILLIS_PER_TICK: u64 = 10;

/// The contents of one of the kernel's files about a process, up to a limit.
pub(crate) fn about(pid: u32, file: &str, at_most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(ABOUT_BYTES);
    let file = std::fs::File::open(format!("/proc/{pid}/{file}")).ok()?;
    file.take(at_most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// The process with this pid, if it exists.
pub fn identify(pid: u32) -> Option<Process> {
    link(pid).map(|link| link.process)
}

/// Whether this process, and not another with its pid, is alive.
pub fn is_alive(process: Process) -> bool {
    identify(process.pid) == Some(process)
}

/// The machine's boot id, if the system has one.
pub fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// The machine's uptime, if the system tells.
pub fn uptime() -> Option<Millis> {
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = uptime.split(' ').next()?.parse().ok()?;
    Some(Millis((seconds * 1_000.0) as u64))
}

/// The machine's uptime, in the ticks of process start times.
pub fn ticks_now() -> Option<u64> {
    uptime().map(|uptime| uptime.0 / MILLIS_PER_TICK)
}

/// Since when, and in which group, processes may be an agent's: from its own process, otherwise from whoever lets it
/// join.
pub fn since(process: Option<Process>, caller: Option<&Lineage>) -> Option<Since> {
    let line = process.and_then(|process| link(process.pid)).filter(|link| Some(link.process) == process);
    match line.as_ref().or_else(|| caller?.links.first()) {
        Some(link) => Some(Since { start: link.process.start, group: group(link).map(Into::into) }),
        None => ticks_now().map(|start| Since { start, group: None }),
    }
}

/// What a process shares with everything that it starts, even orphans: its control group, and whether it is in the
/// first process's session.
pub fn group(link: &LineageProcess) -> Option<String> {
    let groups = control_group(link.process.pid)?;
    let hash = blake3::hash(groups.as_bytes()).to_hex();
    Some(format!("{}{}", if link.session == 1 { FIRST_SESSION } else { "" }, &hash[..16]))
}

/// As the system writes it.
pub(crate) fn control_group(pid: u32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()
}

static MARKINGS: AtomicU64 = AtomicU64::new(0);

/// How often this server has marked processes: until it grows, a process that was checked need not be checked again.
pub fn markings() -> u64 {
    MARKINGS.load(Ordering::Acquire)
}

/// Marks a process and everything below it as an agent's. The mark is the hard limit on file locks, which the kernel
/// ignores: children inherit it, even orphans, and only root can remove it.
#[cfg(target_os = "linux")]
pub fn mark(process: Process, mark: ProcessMark) {
    mark_all(process, mark);
    MARKINGS.fetch_add(1, Ordering::Release);
}

#[cfg(target_os = "linux")]
fn mark_all(process: Process, mark: ProcessMark) {
    let mut marked = Vec::new();
    let mut waiting = vec![process.pid];
    // A process that starts meanwhile is found in the next round, or has inherited the mark.
    for _ in 0..MARK_ROUNDS {
        while let Some(pid) = waiting.pop() {
            let is_meant = pid != process.pid || is_alive(process);
            if !is_meant || marked.len() >= MARKED_MAX {
                return;
            }
            if !marked.contains(&pid) {
                mark_one(pid, mark);
                marked.push(pid);
            }
            waiting.extend(children(pid).into_iter().filter(|child| !marked.contains(child)));
        }
        waiting.extend(marked.iter().flat_map(|pid| children(*pid)).filter(|child| !marked.contains(child)));
        if waiting.is_empty() {
            return;
        }
    }
}

/// Marks one process, and what it starts from now on.
#[cfg(target_os = "linux")]
pub fn mark_one(pid: u32, mark: ProcessMark) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(mark as u64), maximum: Some(mark as u64) };
    // It fails for what has a smaller limit, and so the mark.
    let _ = Pid::from_raw(pid as i32).map(|pid| prlimit(Some(pid), Resource::Locks, limit));
}

#[cfg(target_os = "linux")]
fn limit_of(pid: u32) -> Option<u64> {
    let limits = about(pid, "limits", u64::MAX).unwrap_or_default();
    let limits = String::from_utf8_lossy(&limits);
    let hard = limits.lines().find_map(|line| line.strip_prefix("Max file locks")?.split_whitespace().nth(1));
    hard?.parse().ok()
}

#[cfg(target_os = "linux")]
pub(crate) fn mark_of(pid: u32) -> Option<ProcessMark> {
    let hard = limit_of(pid)?;
    [ProcessMark::Agent, ProcessMark::TokenUser].into_iter().find(|mark| hard <= *mark as u64)
}

/// A limit that looks like a mark though nobody here has set it: a mark below could not be told from it.
#[cfg(target_os = "linux")]
pub(crate) fn limit_like_a_mark(pid: u32) -> Option<u64> {
    limit_of(pid).filter(|hard| *hard < ProcessMark::Agent as u64)
}

#[cfg(target_os = "linux")]
fn children(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// Elsewhere a process cannot be marked from outside.
#[cfg(not(target_os = "linux"))]
pub fn mark(_: Process, _: ProcessMark) {}

/// Elsewhere a process cannot be marked from outside.
#[cfg(not(target_os = "linux"))]
pub fn mark_one(_: u32, _: ProcessMark) {}

/// Elsewhere there are no marks.
#[cfg(not(target_os = "linux"))]
pub(crate) fn mark_of(_: u32) -> Option<ProcessMark> {
    None
}

/// Elsewhere there are no marks.
#[cfg(not(target_os = "linux"))]
pub(crate) fn limit_like_a_mark(_: u32) -> Option<u64> {
    None
}

/// Whether a process carries a mark.
pub fn is_marked(pid: u32) -> bool {
    mark_of(pid).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_mark_is_inherited_and_stays() {
        let script = "(setsid sleep 60 & echo $!) ; read line; ulimit -Hx unlimited 2>/dev/null; sleep 60 & echo $!; wait";
        let mut command = std::process::Command::new("sh");
        let pipe = || std::process::Stdio::piped();
        let mut shell = command.args(["-c", script]).stdin(pipe()).stdout(pipe()).spawn().expect("a shell");
        let mut lines =
            std::io::BufRead::lines(std::io::BufReader::new(shell.stdout.take().expect("a pipe")));
        let mut number = || lines.next().expect("a line").expect("text").parse::<u32>().expect("a number");
        let before = number();
        let top = identify(shell.id()).expect("the shell");
        assert!(!is_marked(top.pid) && !is_marked(std::process::id()));
        mark(top, ProcessMark::TokenUser);
        mark(top, ProcessMark::Agent);
        std::io::Write::write_all(&mut shell.stdin.take().expect("a pipe"), b"go\n").expect("written");
        let after = number();
        mark(top, ProcessMark::TokenUser);
        assert_eq!([mark_of(top.pid), mark_of(after)], [Some(ProcessMark::Agent); 2]);
        assert!(!is_marked(std::process::id()));
        for pid in [before, after, top.pid] {
            let kill = std::process::Command::new("kill").arg(pid.to_string()).status();
            assert!(kill.expect("kill").success());
        }
        shell.wait().expect("an end");
    }

    #[test]
    fn a_later_process_with_the_same_number_is_another() {
        let own = identify(std::process::id()).expect("this process");
        assert!(is_alive(own));
        assert!(!is_alive(Process { start: own.start + 1, ..own }));
        assert_eq!(identify(u32::MAX), None);
    }
}
