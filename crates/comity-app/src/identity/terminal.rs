//! Terminals: who created one, and whether somebody sits at it.

use std::os::unix::ffi::OsStrExt;

use comity_core::Principal;
use comity_core::agents::Process;

use super::{Identities, lock};
use crate::application::Application;
use crate::lineage::{Lineage, LineageEnd, LineageProcess, link};
use crate::processes;
use crate::terminal_programs::is_multiplexer;

/// Remembered terminals.
const TERMINALS_MAX: usize = 256;

/// Nested multiplexers that are followed.
const NESTED_MAX: usize = 4;

/// Who holds the other end of a terminal.
#[derive(Clone, Debug)]
pub(super) enum Holder {
    /// Programs of the system, or without an agent above them, until more than this many processes are marked.
    Fine { until: u64 },
    /// A program that may be an agent's.
    Doubtful(String),
}

impl Application {
    /// Whether no agent is above the program that holds the terminal's other end.
    pub(super) fn check_holder(&self, pty: u32, leader: &LineageProcess) -> Result<(), String> {
        // Whoever holds it may become an agent's, or pass it to one that it starts.
        let markings = processes::markings();
        let known = lock(&self.identities().terminals).get(&leader.led_terminal()).cloned();
        let known = known.filter(|holder| !matches!(holder, Holder::Fine { until } if *until != markings));
        let holder = known.unwrap_or_else(|| {
            let found = self.find_doubtful(pty, leader);
            let found = found.map_or(Holder::Fine { until: markings }, Holder::Doubtful);
            self.identities().remember(leader, found.clone());
            found
        });
        match holder {
            Holder::Fine { .. } => Ok(()),
            Holder::Doubtful(why) => Err(why),
        }
    }

    /// A holder of the other end that may be an agent's. There can be several: children inherit it.
    fn find_doubtful(&self, pty: u32, leader: &LineageProcess) -> Option<String> {
        // Those of other users cannot be read: they are the system's, such as sshd.
        let mut holders = all().filter(|pid| *pid != leader.process.pid && holds_other_end(*pid, pty));
        holders.find_map(|pid| {
            let above = Lineage::of(pid);
            if above.end == LineageEnd::Gone || self.recognise_holder(&above) {
                return None;
            }
            let name = above.links.first().map(|link| link.name.clone()).unwrap_or_default();
            Some(format!(
                "{name} (process {pid}) holds the other end of this terminal, and may be an agent's"
            ))
        })
    }

    /// Whether a process descends from a person, as far as its lineage and its marks tell.
    fn recognise_holder(&self, lineage: &Lineage) -> bool {
        if self.registered(lineage).is_some() || lineage.end != LineageEnd::Top {
            return false;
        }
        self.marked(lineage).is_none()
            && self.ended_in(lineage).is_none()
            && self.astray(lineage, &[]).is_none()
    }

    /// The terminal's leader, if that is a window of a multiplexer and younger than an agent: any of the user's
    /// programs may have opened it, so it is a place of its own.
    pub(super) fn window(&self, lineage: &Lineage) -> Option<Process> {
        let leader = lineage.links.iter().position(|link| link.leads_terminal());
        let (leader, above) = leader.and_then(|at| lineage.links[at..].split_first())?;
        let is_later = self.engine().world().people.may_be_an_agents(leader.process.start, |_| true);
        (is_later && above.iter().any(is_multiplexer)).then_some(leader.process)
    }

    /// Whether it is a terminal multiplexer that a person is attached to, from a terminal without an agent above it.
    ///
    /// `asked` are those that are already being checked: being attached only from one of them proves nothing.
    pub(super) fn is_attended(&self, server: &LineageProcess, asked: &[Process]) -> bool {
        let is_asked = asked.contains(&server.process) || asked.len() >= NESTED_MAX;
        if server.name != "tmux: server" || is_asked {
            return false;
        }
        let asked = [asked, &[server.process]].concat();
        let seen = open_files(server.process.pid);
        let terminals: Vec<u32> =
            seen.filter_map(|file| file.strip_prefix("/dev/pts/")?.parse().ok()).collect();
        all().filter_map(link).any(|client| {
            client.name == "tmux: client"
                && client.pty().is_some_and(|pty| terminals.contains(&pty))
                && client.foreground == client.group as i32
                && self
                    .known(&Lineage::of(client.process.pid), &asked)
                    .is_none_or(|known| known.who == Principal::Human)
        })
    }
}

impl Identities {
    fn remember(&self, leader: &LineageProcess, holder: Holder) {
        let mut terminals = lock(&self.terminals);
        if terminals.len() >= TERMINALS_MAX {
            terminals.clear();
        }
        terminals.insert(leader.led_terminal(), holder);
    }
}

/// The ids of all processes.
fn all() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The files that a process has open, as far as they are visible.
fn open_files(pid: u32) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(std::fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
}

fn holds_other_end(pid: u32, pty: u32) -> bool {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let is_other_end = |entry: &std::fs::DirEntry| {
        let target = std::fs::read_link(entry.path()).ok();
        if !target.is_some_and(|target| target.as_os_str().as_bytes().ends_with(b"ptmx")) {
            return false;
        }
        let info = format!("/proc/{pid}/fdinfo/{}", entry.file_name().to_string_lossy());
        let info = std::fs::read_to_string(info).unwrap_or_default();
        info.lines().any(|line| line.strip_prefix("tty-index:").is_some_and(|n| n.trim().parse() == Ok(pty)))
    };
    entries.into_iter().any(|entry| is_other_end(&entry))
}
