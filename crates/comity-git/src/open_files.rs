//! How many files programs may have open.
//!
//! A server raises its own limit. Programs that use `select` break above 1,024, so those that it starts get the old
//! one.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that a server needs at most.
const FILES: u64 = 65_536;

static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// Lets this process open as many files as it may; what it starts from here on keeps the old limit.
pub fn raise_open_files() {
    let before = getrlimit(Resource::Nofile);
    let most = before.maximum.map_or(FILES, |hard| hard.min(FILES));
    if before.current.is_some_and(|soft| soft < most)
        && setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..before }).is_ok()
    {
        let _ = BEFORE.set(before);
    }
}

/// Gives a new process the limit that this one had.
#[cfg(target_os = "linux")]
pub(crate) fn restore(child: &std::process::Child) {
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let (Some(before), Some(pid)) = (BEFORE.get(), pid) {
        // Without this only the few that use `select` have a problem.
        let _ = rustix::process::prlimit(Some(pid), Resource::Nofile, *before);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn restore(_: &std::process::Child) {}
