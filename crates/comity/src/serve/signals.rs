//! The signals that ask a server to stop: it then ends as if asked on its socket, and Firefox with it.

use std::io::{self, Read};
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mio::net::UnixStream;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::{flag, low_level};

/// The exit code of a process that ended without delay.
const FAILURE: i32 = 1;

/// Has something to read once a signal came.
pub(super) struct Signals(pub(super) UnixStream);

impl Signals {
    /// Catches them from now on, except those that this process was started to ignore.
    pub(super) fn catch() -> io::Result<Signals> {
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        for signal in [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal)) {
            // Sending the same one twice means not wanting to wait. A closing terminal may do so by itself.
            if signal != SIGHUP {
                let came = Arc::new(AtomicBool::new(false));
                flag::register_conditional_shutdown(signal, FAILURE, came.clone())?;
                flag::register(signal, came)?;
            }
            low_level::pipe::register(signal, theirs.try_clone()?)?;
        }
        Ok(Signals(UnixStream::from_std(ours)))
    }

    /// Whether one came since the last look.
    pub(super) fn came(&mut self) -> bool {
        matches!(self.0.read(&mut [0; 16]), Ok(1..))
    }
}

/// A write beyond the file size limit fails, as on a full disk, and does not end this process.
pub(super) fn outlive_file_limits() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Whether a signal was ignored from the start, as with `nohup`; false if the system does not tell.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
