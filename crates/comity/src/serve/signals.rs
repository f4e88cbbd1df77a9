//! The signals that ask a server to stop: it then ends as if it had been asked on its socket, and Firefox with it.

use std::io::{self, Read};
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mio::net::UnixStream;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// What a process says that ended without delay.
const FAILURE: i32 = 1;

/// Has something to read once a signal came.
pub(super) struct Signals(pub(super) UnixStream);

impl Signals {
    /// Catches them from now on. Whoever sends a second one does not want to wait: it ends the process at once.
    pub(super) fn catch() -> io::Result<Signals> {
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        let came = Arc::new(AtomicBool::new(false));
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            flag::register_conditional_shutdown(signal, FAILURE, came.clone())?;
            flag::register(signal, came.clone())?;
            low_level::pipe::register(signal, theirs.try_clone()?)?;
        }
        Ok(Signals(UnixStream::from_std(ours)))
    }

    /// Whether one came since the last look.
    pub(super) fn came(&mut self) -> bool {
        matches!(self.0.read(&mut [0; 16]), Ok(1..))
    }
}
