//! Waits until Firefox has written down the port that it listens on.

use std::path::Path;

use super::process::Process;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};

/// Where Firefox writes the port of Marionette, in its profile.
const FILE: &str = "MarionetteActivePort";

/// The port that is written down, if any is.
pub(crate) fn written(profile: &Path) -> Option<u16> {
    std::fs::read_to_string(profile.join(FILE)).ok()?.trim().parse().ok()
}

/// Forgets the port of a Firefox that is gone.
pub(crate) fn forget(profile: &Path) {
    let _was_none = std::fs::remove_file(profile.join(FILE));
}

/// Waits until the port is written down, or the process has ended.
pub(crate) fn wait(profile: &Path, process: &Process, deadline: &Deadline) -> Result<u16> {
    let watch = Watch::begin(profile, process)
        .map_err(|error| BrowserError::not_started(format!("its profile cannot be watched: {error}")))?;
    loop {
        if let Some(port) = written(profile) {
            return Ok(port);
        }
        if !process.is_alive() {
            return Err(BrowserError::not_started("it ended at once"));
        }
        if deadline.left().is_zero() {
            return Err(deadline.missed("the start of Firefox"));
        }
        watch.wait(deadline);
    }
}

#[cfg(target_os = "linux")]
use linux::Watch;
#[cfg(not(target_os = "linux"))]
use other::Watch;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use crate::deadline::Deadline;
    use crate::firefox::process::Process;

    /// Bytes of news that are read at a time.
    const BUFFER_BYTES: usize = 4096;

    /// Wakes when a file of the profile is written, and when the process ends.
    pub(super) struct Watch {
        files: OwnedFd,
        process: OwnedFd,
    }

    impl Watch {
        pub(super) fn begin(profile: &Path, process: &Process) -> io::Result<Watch> {
            let files = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            let writes = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::CREATE;
            add_watch(&files, profile, writes)?;
            let pid =
                i32::try_from(process.pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
            Ok(Watch { files, process: pidfd_open(pid, PidfdFlags::empty())? })
        }

        pub(super) fn wait(&self, deadline: &Deadline) {
            let limit = rustix::time::Timespec::try_from(deadline.left()).ok();
            let mut both =
                [PollFd::new(&self.files, PollFlags::IN), PollFd::new(&self.process, PollFlags::IN)];
            let _woken = poll(&mut both, limit.as_ref());
            let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
            let mut news = Reader::new(&self.files, &mut buffer);
            // What was written is looked at by the caller; here it is only taken off the queue.
            while news.next().is_ok() {}
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io;
    use std::path::Path;
    use std::time::Duration;

    use crate::deadline::Deadline;
    use crate::firefox::process::Process;

    /// How often is looked, where the kernel does not tell.
    const STEP: Duration = Duration::from_millis(50);

    pub(super) struct Watch;

    impl Watch {
        pub(super) fn begin(_profile: &Path, _process: &Process) -> io::Result<Watch> {
            Ok(Watch)
        }

        pub(super) fn wait(&self, deadline: &Deadline) {
            std::thread::sleep(STEP.min(deadline.left()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    #[test]
    fn the_port_is_found_when_it_is_written_and_an_early_end_is_told() {
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = Process::identify(child.id()).unwrap();
        let short = Deadline::after(Duration::from_millis(20));
        assert!(matches!(wait(profile.path(), &process, &short), Err(BrowserError::Timeout { .. })));
        let long = Deadline::after(Duration::from_secs(30));
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| wait(profile.path(), &process, &long));
            std::fs::write(profile.path().join("other"), "1").unwrap();
            std::fs::write(profile.path().join(FILE), "4711").unwrap();
            assert_eq!(waiting.join().unwrap(), Ok(4711));
            forget(profile.path());
            let waiting = threads.spawn(|| wait(profile.path(), &process, &long));
            child.kill().unwrap();
            assert_eq!(waiting.join().unwrap(), Err(BrowserError::not_started("it ended at once")));
        });
        child.wait().unwrap();
    }
}
