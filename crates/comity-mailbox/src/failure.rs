//! Why something was not done to a box.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::message::MessageId;

/// Why something was not done. The box is unchanged; only if the disk failed at the very end, it may be done.
#[derive(Debug)]
pub enum MailboxError {
    /// A name that cannot be a file name.
    BadName {
        name: String,
        problem: &'static str,
    },
    /// An id that cannot be used.
    BadId,
    /// The message is too long.
    TooLong {
        what: &'static str,
        bytes: usize,
        bytes_max: usize,
    },
    /// The box is full until its owner reads.
    Full {
        unread: usize,
    },
    /// Another message in the same box has this id.
    IdTaken(MessageId),
    /// Somebody else keeps the box locked.
    Busy {
        /// The process that has it, if it left its pid.
        holder: Option<u32>,
        tries: u32,
    },
    /// Something inside of the root is not a real directory: a symlink, a file.
    BadPlace(PathBuf),
    Disk {
        path: PathBuf,
        error: io::Error,
    },
}

impl MailboxError {
    pub(crate) fn disk<E: Into<io::Error>>(path: &Path) -> impl FnOnce(E) -> MailboxError {
        move |error| MailboxError::Disk { path: path.to_owned(), error: error.into() }
    }
}

impl fmt::Display for MailboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MailboxError::BadName { name, problem } => write!(f, "{name:?} can't be a name: {problem}"),
            MailboxError::BadId => f.write_str("an id has 1 to 128 bytes and no control characters"),
            MailboxError::TooLong { what, bytes, bytes_max } => {
                write!(
                    f,
                    "the {what} has {bytes} bytes, {bytes_max} are allowed; write it to a file and name that"
                )
            }
            MailboxError::Full { unread } => {
                write!(f, "the mailbox is full ({unread} unread); try again when its owner has read")
            }
            MailboxError::IdTaken(id) => write!(f, "another message has the id {id}; use a new one"),
            MailboxError::Busy { holder: Some(holder), tries } => {
                write!(
                    f,
                    "process {holder} keeps the mailbox locked ({tries} tries); see what it does, try again"
                )
            }
            MailboxError::Busy { holder: None, tries } => {
                write!(f, "somebody keeps the mailbox locked ({tries} tries); try again")
            }
            MailboxError::BadPlace(path) => {
                write!(f, "{} isn't a directory of its own, or is a symlink; move it away", path.display())
            }
            MailboxError::Disk { path, error } => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for MailboxError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MailboxError::Disk { error, .. } => Some(error),
            MailboxError::BadName { .. }
            | MailboxError::BadId
            | MailboxError::TooLong { .. }
            | MailboxError::Full { .. }
            | MailboxError::IdTaken(_)
            | MailboxError::Busy { .. }
            | MailboxError::BadPlace(_) => None,
        }
    }
}
