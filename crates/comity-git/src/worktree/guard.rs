//! A lock on a file, so that two servers do not do the same thing to one repository at once.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::failure::{Failure, FailureKind};
use crate::umask::{as_user, share};

/// How often a lock that somebody else has is tried again.
const RETRY: Duration = Duration::from_millis(2);

/// Holds the lock until it is dropped, or the process ends.
#[derive(Debug)]
pub(crate) struct Guard {
    file: File,
}

impl Guard {
    /// The locked file: whoever holds it open keeps the lock.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Waits for the lock, until the deadline.
    pub(crate) fn take(path: &Path, deadline: Instant) -> Result<Guard, Failure> {
        let flags = OFlags::NOFOLLOW.bits().cast_signed();
        let mut how = OpenOptions::new();
        how.read(true).write(true).create(true).truncate(false).custom_flags(flags);
        let file = as_user(|| how.open(path)).map_err(Failure::disk(path))?;
        share(path);
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Guard { file }),
                Err(Errno::WOULDBLOCK | Errno::INTR) if Instant::now() < deadline => {
                    std::thread::sleep(RETRY)
                }
                Err(Errno::WOULDBLOCK) => {
                    let message = format!("{} is held by somebody else", path.display());
                    return Err(Failure::new(FailureKind::Busy, message, "try again in a moment"));
                }
                Err(error) => return Err(Failure::disk(path)(error.into())),
            }
        }
    }
}
