//! The steps of what is done to a box, for whoever wants to follow them.

/// A step that was just done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteStep {
    Created,
    Locked,
    /// What is in it was read.
    Loaded,
    /// A box that cannot be read has a second name.
    SetAside,
    /// The file that will be the box is there, and empty.
    TemporaryMade,
    /// It has all of its bytes.
    TemporaryWritten,
    /// They are on the disk.
    TemporarySynced,
    Replaced,
    /// That is on the disk, too.
    Stored,
    /// The archive was full, and has a number now.
    ArchiveRotated,
    /// Delivered mail is written to the archive.
    ArchiveWritten,
    /// And is on the disk.
    Archived,
}

impl WriteStep {
    /// Every step.
    pub const ALL: [WriteStep; 12] = [
        WriteStep::Created,
        WriteStep::Locked,
        WriteStep::Loaded,
        WriteStep::SetAside,
        WriteStep::TemporaryMade,
        WriteStep::TemporaryWritten,
        WriteStep::TemporarySynced,
        WriteStep::Replaced,
        WriteStep::Stored,
        WriteStep::ArchiveRotated,
        WriteStep::ArchiveWritten,
        WriteStep::Archived,
    ];
}
