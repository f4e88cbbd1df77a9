//! Why something was not done to a box.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::message::MessageId;

/// Why something was not done. The box is as it was; only if the disk failed at the very end, it may be done.
#[derive(Debug)]
pub enum Failure {
    /// A name that cannot be the name of a file.
    BadName {
        /// The name, shortened.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// An id that cannot be used.
    BadId,
    /// The message is too long.
    TooLong {
        /// Which part of it.
        what: &'static str,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        bytes_max: usize,
    },
    /// The box takes no more until its owner reads.
    Full {
        /// Messages that nobody has read.
        unread: usize,
    },
    /// Another message of the same box has this id.
    IdTaken(MessageId),
    /// Somebody else has the box, and keeps it.
    Busy {
        /// The process that has it, if it left its number.
        holder: Option<u32>,
        /// How often we tried.
        tries: u32,
    },
    /// Something inside of the root is no directory of its own: a symlink, a file.
    BadPlace(PathBuf),
    /// The file system failed.
    Disk {
        /// Where.
        path: PathBuf,
        /// How.
        error: io::Error,
    },
}

impl Failure {
    /// Says that the file system failed at a path.
    pub(crate) fn disk<E: Into<io::Error>>(path: &Path) -> impl FnOnce(E) -> Failure {
        move |error| Failure::Disk { path: path.to_owned(), error: error.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::BadName { name, problem } => write!(f, "{name:?} cannot be a name: {problem}"),
            Failure::BadId => f.write_str("an id has 1 to 128 bytes and no control characters"),
            Failure::TooLong { what, bytes, bytes_max } => {
                write!(
                    f,
                    "the {what} has {bytes} bytes, {bytes_max} are allowed; write it to a file and name that"
                )
            }
            Failure::Full { unread } => {
                write!(f, "the mailbox is full ({unread} unread); try again when its owner has read")
            }
            Failure::IdTaken(id) => write!(f, "another message has the id {id}; use a new one"),
            Failure::Busy { holder: Some(holder), tries } => {
                write!(
                    f,
                    "process {holder} keeps the mailbox locked ({tries} tries); see what it does, try again"
                )
            }
            Failure::Busy { holder: None, tries } => {
                write!(f, "somebody keeps the mailbox locked ({tries} tries); try again")
            }
            Failure::BadPlace(path) => {
                write!(f, "{} is no directory of its own, or a symlink; move it away", path.display())
            }
            Failure::Disk { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for Failure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Failure::Disk { error, .. } => Some(error),
            Failure::BadName { .. }
            | Failure::BadId
            | Failure::TooLong { .. }
            | Failure::Full { .. }
            | Failure::IdTaken(_)
            | Failure::Busy { .. }
            | Failure::BadPlace(_) => None,
        }
    }
}
