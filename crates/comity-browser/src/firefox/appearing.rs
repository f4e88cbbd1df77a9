//! Waits until Firefox has created a file in its profile.

use std::path::Path;

use super::process::FirefoxProcess;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};

/// Waits until one of these exists, or the process has ended.
pub(crate) fn wait(
    profile: &Path,
    names: &[&str],
    process: &FirefoxProcess,
    deadline: &Deadline,
) -> Result<()> {
    let watch = DirWatch::begin(profile, process)
        .map_err(|error| BrowserError::not_started(format!("its profile can't be watched: {error}")))?;
    loop {
        if names.iter().any(|name| profile.join(name).exists()) {
            return Ok(());
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
use linux::DirWatch;
#[cfg(not(target_os = "linux"))]
use other::DirWatch;

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
    use crate::firefox::process::FirefoxProcess;

    const BUFFER_BYTES: usize = 4096;

    /// Wakes when a file of the profile is written, and when the process ends.
    pub(super) struct DirWatch {
        files: OwnedFd,
        process: OwnedFd,
    }

    impl DirWatch {
        pub(super) fn begin(profile: &Path, process: &FirefoxProcess) -> io::Result<DirWatch> {
            let files = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            let writes = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::CREATE;
            add_watch(&files, profile, writes)?;
            let pid =
                i32::try_from(process.pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
            Ok(DirWatch { files, process: pidfd_open(pid, PidfdFlags::empty())? })
        }

        pub(super) fn wait(&self, deadline: &Deadline) {
            let limit = rustix::time::Timespec::try_from(deadline.left()).ok();
            let mut both =
                [PollFd::new(&self.files, PollFlags::IN), PollFd::new(&self.process, PollFlags::IN)];
            let _woken = poll(&mut both, limit.as_ref());
            let mut buffer = [MaybeUninit::uninit(); BUFFER_BYTES];
            let mut news = Reader::new(&self.files, &mut buffer);
            // The caller looks at the files; here events are only removed from the queue.
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
    use crate::firefox::process::FirefoxProcess;

    /// How often to look, where the kernel does not tell.
    const STEP: Duration = Duration::from_millis(50);

    pub(super) struct DirWatch;

    impl DirWatch {
        pub(super) fn begin(_profile: &Path, _process: &FirefoxProcess) -> io::Result<DirWatch> {
            Ok(DirWatch)
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
    fn a_file_is_found_when_it_is_made_and_an_early_end_is_told() {
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = FirefoxProcess::identify(child.id()).unwrap();
        let short = Deadline::after(Duration::from_millis(20));
        let begun = |deadline| wait(profile.path(), &["socket", "failed"], &process, deadline);
        assert!(matches!(begun(&short), Err(BrowserError::Timeout { .. })));
        let long = Deadline::after(Duration::from_secs(30));
        std::thread::scope(|threads| {
            let waiting = threads.spawn(|| begun(&long));
            std::fs::write(profile.path().join("other"), "1").unwrap();
            std::os::unix::net::UnixListener::bind(profile.path().join("socket")).unwrap();
            assert_eq!(waiting.join().unwrap(), Ok(()));
            std::fs::remove_file(profile.path().join("socket")).unwrap();
            let waiting = threads.spawn(|| begun(&long));
            child.kill().unwrap();
            assert_eq!(waiting.join().unwrap(), Err(BrowserError::not_started("it ended at once")));
        });
        child.wait().unwrap();
    }
}
