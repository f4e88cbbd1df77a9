//! The steps of what is done to a box, for whoever wants to follow them.

/// A step that was just done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The box exists.
    Created,
    /// The box is locked.
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
    /// It is the box.
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

impl Step {
    /// Every step.
    pub const ALL: [Step; 12] = [
        Step::Created,
        Step::Locked,
        Step::Loaded,
        Step::SetAside,
        Step::TemporaryMade,
        Step::TemporaryWritten,
        Step::TemporarySynced,
        Step::Replaced,
        Step::Stored,
        Step::ArchiveRotated,
        Step::ArchiveWritten,
        Step::Archived,
    ];
}
