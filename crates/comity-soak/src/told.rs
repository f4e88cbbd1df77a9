//! What clients were told: everything that has to be true for ever.

use std::time::Instant;

/// A time in which something was certainly held: from the answer that gave it to the question that gave it back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldSpan {
    pub(crate) from: Instant,
    pub(crate) until: Instant,
}

impl HeldSpan {
    pub(crate) fn overlaps(&self, other: &HeldSpan) -> bool {
        self.from < other.until && other.from < self.until
    }
}

/// One thing that a client was told. Agents are named by their ids.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// It has a lock; the reason that it gave names the ask.
    Locked {
        agent: String,
        reason: String,
        fence: u64,
        path: String,
        is_shared: bool,
        held: HeldSpan,
    },
    Unlocked {
        fence: u64,
    },
    Extended {
        fence: u64,
    },
    HandedOver {
        fence: u64,
        to: String,
    },
    /// A letter was stored; no other letter has the same text.
    Sent {
        from: String,
        to: String,
        text: String,
        id: String,
    },
    Arrived {
        from: String,
        to: String,
        text: String,
        is_again: bool,
    },
    Declared {
        task: String,
    },
    Claimed {
        agent: String,
        task: String,
        attempt: u64,
        held: HeldSpan,
    },
    Completed {
        task: String,
        attempt: u64,
    },
    Leased {
        agent: String,
        pool: String,
        id: u64,
        held: HeldSpan,
    },
    Freed {
        id: u64,
    },
    /// A commit has this text in this file.
    Committed {
        commit: String,
        path: String,
        text: String,
    },
    /// Somebody changed a file that it had locked, and was told that there is nothing to commit.
    NothingToCommit {
        subject: String,
    },
    Merged {
        commit: String,
    },
    /// A merge that git could not make alone is made: of what its agent had, and of this commit.
    MergeFinished {
        commit: String,
        theirs: String,
    },
    /// What a dead agent had left is somebody else's, with its lock.
    Adopted {
        fence: u64,
        to: String,
    },
    /// What a dead agent had left is kept by a ref.
    Rescued {
        name: String,
        commit: String,
        path: String,
        text: String,
    },
    TreeAdded {
        slug: String,
    },
    /// It came back from the trash.
    TreeRestored {
        slug: String,
    },
    TreeRemoved {
        slug: String,
    },
    /// The log had this entry when it was followed.
    Followed {
        seq: u64,
        action: String,
    },
}

impl Told {
    /// The commit, the object and the text of work that has to be in git.
    pub(crate) fn content(&self) -> Option<(&str, String, &str)> {
        match self {
            Told::Committed { commit, path, text } => Some((commit, format!("{commit}:{path}"), text)),
            // A stash has what was new in a commit of its own.
            Told::Rescued { commit, path, text, .. } => Some((commit, format!("{commit}^3:{path}"), text)),
            _ => None,
        }
    }

    /// Whether it is the answer to something that was asked to be done.
    pub(crate) fn is_acknowledgement(&self) -> bool {
        !matches!(self, Told::Followed { .. } | Told::Arrived { .. } | Told::NothingToCommit { .. })
    }
}

/// What one client has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub(crate) told: Vec<Told>,
    /// Answers that should not be, or that never came.
    pub(crate) wrong: Vec<String>,
}

impl History {
    pub(crate) fn add(&mut self, other: History) {
        self.told.extend(other.told);
        self.wrong.extend(other.wrong);
    }
}
