//! Ids of commits, and where a worktree starts.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::failure::WorktreeError;
use super::names::plain_text;

/// A full id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

impl CommitId {
    /// 40 or 64 hexadecimal digits.
    pub fn parse(text: &str) -> Result<CommitId, WorktreeError> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match matches!(text.len(), 40 | 64) && text.bytes().all(is_digit) {
            true => Ok(CommitId(text.to_owned())),
            false => Err(WorktreeError::bad_name(text, "it isn't the id of a commit")),
        }
    }

    /// An id that git printed, perhaps with a line end.
    pub(crate) fn printed(output: &[u8]) -> Result<CommitId, WorktreeError> {
        let text = String::from_utf8_lossy(output);
        CommitId::parse(text.trim_end()).map_err(|_| {
            WorktreeError::git(format!("git printed {text:?} where the id of a commit was expected"))
        })
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

plain_text!(CommitId);

/// The commit that a worktree starts from, and the name by which it was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BaseCommit {
    /// As it was asked for, such as `origin/main`.
    pub name: String,
    /// What that was at the time.
    pub commit: CommitId,
}
