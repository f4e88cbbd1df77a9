//! Commits that agents made of what they had locked.

use serde::{Deserialize, Serialize};

/// A commit that was made and verified.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Commit {
    /// Its id.
    pub id: Box<str>,
    /// The branch that it is on; none for a detached head.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<str>>,
    /// The first line of its message.
    pub subject: Box<str>,
    /// What it changed; with very many files, the first of them.
    pub files: Vec<CommittedFile>,
    /// How many files it changed.
    pub files_total: usize,
}

/// One file of a commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CommittedFile {
    /// Its path in the project.
    pub path: Box<str>,
    /// The id of its new content; none if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub blob: Option<Box<str>>,
}
