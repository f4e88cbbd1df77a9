//! The steps of changing a box, for callers that want to follow them.

/// A step that was just done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteStep {
    Created,
    Locked,
    Loaded,
    /// A box that cannot be read has a second name.
    SetAside,
    /// The file that will be the box exists, and is empty.
    TemporaryMade,
    /// It is complete.
    TemporaryWritten,
    /// It is on the disk.
    TemporarySynced,
    Replaced,
    /// That is on the disk, too.
    Stored,
    /// The archive was full, and is numbered now.
    ArchiveRotated,
    /// Delivered mail is written to the archive.
    ArchiveWritten,
    /// It is on the disk.
    Archived,
}

impl WriteStep {
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
