//! Processes, as the kernel knows them: identity that survives the reuse of numbers, and who descends from whom.

use comity_core::agents::Process;

/// How far up the process tree is looked.
const ANCESTORS_MAX: usize = 64;

/// The process with this number, if it is there.
pub fn identify(pid: u32) -> Option<Process> {
    let (_, start) = parent_and_start(pid)?;
    Some(Process { pid, start })
}

/// Whether this very process is still there.
pub fn is_alive(process: Process) -> bool {
    identify(process.pid) == Some(process)
}

/// The process and those above it, the nearest first.
pub fn lineage(pid: u32) -> Vec<Process> {
    let mut line = Vec::new();
    let mut next = pid;
    while next > 1 && line.len() < ANCESTORS_MAX {
        let Some((parent, start)) = parent_and_start(next) else { break };
        line.push(Process { pid: next, start });
        next = parent;
    }
    line
}

/// Programs that only run other programs.
const WRAPPERS: [&str; 10] = ["sh", "bash", "dash", "zsh", "fish", "env", "timeout", "setsid", "npm", "npx"];

/// The program that a process was started by: the nearest ancestor that is no mere wrapper.
pub fn program_above(pid: u32) -> Option<Process> {
    let mut above = lineage(pid).into_iter().skip(1);
    above.find(|process| name(process.pid).is_none_or(|name| !WRAPPERS.contains(&name.as_str())))
}

/// The name of a process's program, cut off by the kernel after 15 bytes.
pub fn name(pid: u32) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(text.trim().to_owned())
}

/// Whether `above` is `below` or above it.
pub fn is_ancestor(above: u32, below: u32) -> bool {
    lineage(below).iter().any(|process| process.pid == above)
}

#[cfg(target_os = "linux")]
fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold anything, so the fields are counted from its closing parenthesis.
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(stat.get(after_name + 2..)?).ok()?;
    let mut fields = fields.split(' ');
    let parent = fields.nth(1)?.parse().ok()?;
    let start = fields.nth(17)?.parse().ok()?;
    Some((parent, start))
}

#[cfg(not(target_os = "linux"))]
fn parent_and_start(pid: u32) -> Option<(u32, u64)> {
    let output = std::process::Command::new("ps")
        .args(["-o", "ppid=,lstart=", "-p", &pid.to_string()])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (parent, started) = text.trim().split_once(' ')?;
    let start = started.bytes().fold(0_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
    Some((parent.parse().ok()?, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_its_ancestors() {
        let own = std::process::id();
        let line = lineage(own);
        assert_eq!(line.first().map(|process| process.pid), Some(own));
        assert!(line.len() > 1, "a test has a parent");
        assert!(is_ancestor(line[1].pid, own) && !is_ancestor(own, line[1].pid));
        assert!(is_alive(line[0]));
        assert!(
            !is_alive(Process { pid: own, start: line[0].start + 1 }),
            "a later process with the same number"
        );
        assert_eq!(identify(u32::MAX), None);
    }
}
