//! What somebody wants to commit, and how.

use std::path::PathBuf;
use std::time::Duration;

use super::not_committed::NotCommitted;
use super::scope::CommitScope;
use crate::confiner::Confiner;

/// A longer text belongs in a file.
pub const MESSAGE_BYTES_MAX: usize = 65_536;
/// Bytes of an author's name or address.
pub const AUTHOR_BYTES_MAX: usize = 256;

/// A requested commit.
#[derive(Clone, Copy)]
pub struct CommitRequest<'a> {
    /// Committed as it is.
    pub message: &'a str,
    /// Who made the change; `None` leaves it to git's settings.
    pub author: Option<Author<'a>>,
    /// Which paths may be in it.
    pub scope: &'a dyn CommitScope,
    /// Paths that should be in it; the report names those that are not.
    pub expected: &'a [PathBuf],
    pub hooks: Hooks<'a>,
    /// How long it may take until it is published, including waiting for others.
    pub patience: Duration,
}

/// Who made a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Author<'a> {
    pub name: &'a str,
    pub email: &'a str,
}

/// Whether the repository's hooks run. They are programs of whoever wrote the repository's settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Hooks<'a> {
    #[default]
    Skip,
    /// `pre-commit` and `commit-msg` run, and may refuse.
    ///
    /// `pre-commit` sees the index that is committed, as `GIT_INDEX_FILE`, and may change contents in it, but not add
    /// paths. `commit-msg` may change the message. Both may run again if somebody else commits in the meantime. Other
    /// hooks (`prepare-commit-msg`, `post-commit`, …) do not run.
    ///
    /// The confiner limits what they can write to; without one, that is whatever this process can.
    Run(Option<&'a Confiner>),
}

impl CommitRequest<'_> {
    /// Refuses what git would refuse, or would misinterpret.
    pub(super) fn check(&self) -> Result<(), NotCommitted> {
        let bad = |problem: &str| Err(NotCommitted::BadRequest { problem: problem.to_owned() });
        if self.message.trim().is_empty() {
            return bad("the message is empty");
        }
        if self.message.len() > MESSAGE_BYTES_MAX {
            return bad("the message is longer than 65,536 bytes");
        }
        if self.message.contains('\0') {
            return bad("the message has a NUL character");
        }
        let Some(Author { name, email }) = self.author else { return Ok(()) };
        for part in [name, email] {
            if part.trim().is_empty() || part.len() > AUTHOR_BYTES_MAX {
                return bad("the author's name and address have to have 1 to 256 bytes each");
            }
            if part.contains(|c: char| c.is_control() || matches!(c, '<' | '>')) {
                return bad("the author's name or address has control characters, `<` or `>`");
            }
        }
        Ok(())
    }
}
