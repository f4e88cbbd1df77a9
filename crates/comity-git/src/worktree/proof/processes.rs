//! Processes in a worktree: those that work there, run a program of it, or have a file of it open.

use std::fs;
use std::io::{self, ErrorKind};
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kept::{KeepCause, KeepReason};
use crate::worktree::survey::Survey;

/// The unit of process start times; the same on all systems that matter.
const TICKS_PER_SECOND: u64 = 100;
/// How far the clocks of the kernel and of files may differ.
const SLACK_SECONDS: u64 = 2;
/// Our program that confines others.
const KEEPER: &str = "comity-confine";
/// How long it takes to start a program, at most.
const STARTING: Duration = Duration::from_millis(30);

/// The processes in a worktree that was made at this second since 1970.
///
/// Those of other users that we may not inspect do not concern us. One of our own that we may not inspect (an ssh
/// agent, say) counts if it started between the making of the worktree and the last change in it: only then can it
/// have made the change.
pub(crate) fn processes_in(root: &Path, files: &Survey, made_at: u64) -> Option<KeepReason> {
    let last_change = files.newest.0.max(0).cast_unsigned();
    let busy = made_at.saturating_sub(SLACK_SECONDS)..=last_change.saturating_add(SLACK_SECONDS);
    let look = || scan(root, files, &busy);
    let found = match look() {
        Ok(found) if found.is_empty() => return None,
        Ok(found) => found,
        Err(kept) => return Some(kept),
    };
    // A program that one of our threads is just starting has our own files open, until it runs.
    std::thread::sleep(STARTING);
    match look() {
        Ok(again) => {
            let is_still = |(pid, _): &&(String, String)| again.iter().any(|(other, _)| other == pid);
            KeepReason::if_any(
                KeepCause::Process,
                found.iter().filter(is_still).map(|(_, what)| what.as_str()),
            )
        }
        Err(kept) => Some(kept),
    }
}

/// The processes that are in it right now, each with what it does.
fn scan(
    root: &Path,
    files: &Survey,
    busy: &RangeInclusive<u64>,
) -> Result<Vec<(String, String)>, KeepReason> {
    let mut found = Vec::new();
    let processes = fs::read_dir("/proc")
        .map_err(|error| KeepReason::unknown(format!("can't look at processes: {error}")))?;
    for entry in processes.flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) else {
            continue;
        };
        let process = ProcessDir { dir: entry.path() };
        let mut note = |how: &str| found.push((pid.to_owned(), format!("{} ({pid}) {how}", process.name())));
        match process.is_in(root, files) {
            Ok(None) => {}
            Ok(Some(how)) => note(how),
            Err(error) if error.kind() != ErrorKind::PermissionDenied => {
                return Err(KeepReason::unknown(format!("can't look at process {pid}: {error}")));
            }
            // The keeper of a confined command's mounts is in no worktree, and cannot be inspected.
            Err(_) if process.name() == KEEPER => {}
            // Nor can a zombie; in some containers nobody reaps them.
            Err(_) if process.has_ended() => {}
            Err(_) if process.is_ours() && process.began_at().is_none_or(|began| busy.contains(&began)) => {
                note("does not let us look");
            }
            Err(_) => {}
        }
    }
    Ok(found)
}

/// A process, by its directory in `/proc`.
struct ProcessDir {
    dir: PathBuf,
}

impl ProcessDir {
    fn is_in(&self, root: &Path, files: &Survey) -> io::Result<Option<&'static str>> {
        let cwd = self.dir.join("cwd");
        if self.leads_into(&cwd, root)? || self.is_dir_of(&cwd, files) {
            return Ok(Some("works in it"));
        }
        if self.leads_into(&self.dir.join("exe"), root)? || self.leads_into(&self.dir.join("root"), root)? {
            return Ok(Some("runs a program of it"));
        }
        let open = match fs::read_dir(self.dir.join("fd")) {
            Err(error) if has_ended(&error) => return Ok(None),
            open => open?,
        };
        for file in open {
            match file {
                Err(error) if has_ended(&error) => return Ok(None),
                Ok(file) if self.leads_into(&file.path(), root)? => return Ok(Some("has a file of it open")),
                Ok(_) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Whether one of its links leads into a directory; no, if the process has ended in the meantime.
    fn leads_into(&self, link: &Path, root: &Path) -> io::Result<bool> {
        match fs::read_link(link) {
            Ok(target) => Ok(target.starts_with(root) || is_deleted_below(&target, root)),
            Err(error) if has_ended(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether it is one of the directories, under whatever name the process knows it (as in a container).
    fn is_dir_of(&self, link: &Path, files: &Survey) -> bool {
        fs::metadata(link).is_ok_and(|metadata| files.dirs.contains_key(&(metadata.dev(), metadata.ino())))
    }

    fn name(&self) -> String {
        fs::read_to_string(self.dir.join("comm")).unwrap_or_default().trim().to_owned()
    }

    /// Whether it runs as our user.
    fn is_ours(&self) -> bool {
        let status = fs::read_to_string(self.dir.join("status")).unwrap_or_default();
        let uid = status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().next());
        uid.and_then(|uid| uid.parse().ok()) == Some(rustix::process::getuid().as_raw())
    }

    fn has_ended(&self) -> bool {
        self.stat(0).is_none_or(|state| matches!(&*state, "Z" | "X"))
    }

    /// A field of its `stat`, counted after the name.
    fn stat(&self, field: usize) -> Option<String> {
        let stat = fs::read_to_string(self.dir.join("stat")).ok()?;
        // The name in parentheses may contain anything.
        let (_, fields) = stat.rsplit_once(')')?;
        fields.split_whitespace().nth(field).map(str::to_owned)
    }

    /// In seconds since 1970.
    fn began_at(&self) -> Option<u64> {
        let ticks: u64 = self.stat(19)?.parse().ok()?;
        let system = fs::read_to_string("/proc/stat").ok()?;
        let booted: u64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
        Some(booted + ticks / TICKS_PER_SECOND)
    }
}

/// The kernel's errors for a process that has ended, and for its own threads.
fn has_ended(error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound
        || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// The kernel marks the path of a deleted file.
fn is_deleted_below(target: &Path, root: &Path) -> bool {
    target
        .to_str()
        .and_then(|text| text.strip_suffix(" (deleted)"))
        .is_some_and(|text| Path::new(text).starts_with(root))
}
