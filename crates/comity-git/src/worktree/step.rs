//! The steps of long acts, for whoever wants to follow them.

/// A step that was just done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorktreeStep {
    /// The folder of a new worktree is reserved.
    Reserved,
    /// The branch of a new worktree exists.
    BranchMade,
    /// Git knows the new worktree; it has no files yet.
    Added,
    /// It is written down that the worktree is being made.
    Recorded,
    CheckedOut,
    /// A worktree of the pool cannot be claimed until it is brought to another commit, or is in the trash.
    Held,
    /// A worktree of the pool has moved to its new place.
    Claimed,
    /// Settings are copied and directories linked.
    SetUp,
    /// It is written down that the worktree is somebody's.
    Made,
    /// It is written down that the worktree goes to the trash.
    RemovalRecorded,
    /// The commit of a worktree that goes is kept by a ref.
    CommitSaved,
    /// Git is told to leave its entry for the worktree alone.
    Locked,
    /// The files are in the trash.
    FilesMoved,
    /// Git's entry for the worktree is in the trash.
    EntryMoved,
    LinksRemoved,
    /// The merged branch is gone.
    BranchRemoved,
    /// Git's entry for a worktree is back from the trash.
    EntryBack,
    /// Its files are.
    FilesBack,
    /// Its branch and links are.
    RefsBack,
    /// All of it is, and that is written down.
    BroughtBack,
    /// An entry of the trash that has nothing in it any more is hidden.
    Hidden,
    /// What was written down about it is gone, too.
    Unwritten,
}
