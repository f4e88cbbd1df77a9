//! The steps of long operations, for callers that want to follow them.

/// A step that has just finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorktreeStep {
    Reserved,
    BranchMade,
    /// Git knows the new worktree; it has no files yet.
    Added,
    /// It is recorded that the worktree is being made.
    Recorded,
    CheckedOut,
    /// A worktree of the pool cannot be claimed while it is updated or discarded.
    Held,
    /// A worktree of the pool has moved to its new place.
    Claimed,
    /// Settings are copied and directories linked.
    SetUp,
    /// It is recorded that the worktree is somebody's.
    Made,
    /// It is recorded that the worktree goes to the trash.
    RemovalRecorded,
    /// A ref keeps the commit of a worktree that goes.
    CommitSaved,
    /// Git is told to leave its entry for the worktree alone.
    Locked,
    FilesMoved,
    EntryMoved,
    LinksRemoved,
    BranchRemoved,
    /// Git's entry for a worktree is back from the trash.
    EntryBack,
    FilesBack,
    RefsBack,
    /// Everything is back, and that is recorded.
    BroughtBack,
    /// An entry of the trash that has nothing in it any more is hidden.
    Hidden,
    /// What was written down about it is gone, too.
    Unwritten,
}
