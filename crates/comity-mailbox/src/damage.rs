//! What was found in a box, or in place of one, that is not mail.

use std::fmt;
use std::path::PathBuf;

/// Something that was set aside so that the box can be used. Nothing of it is lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    pub set_aside: PathBuf,
    pub problem: DamageKind,
    /// Messages in it that could be read; they are still in the box.
    pub salvaged: usize,
}

/// What is wrong with a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DamageKind {
    /// It is not an array of JSON values, or only the beginning of one.
    Torn,
    /// It is an array, but not all of it are messages.
    BadEntries,
    /// It is larger than a box may be.
    TooLarge,
    /// It is not a file: a directory, a symlink, a pipe.
    NoFile,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Damage { set_aside, problem, salvaged } = self;
        write!(f, "a mailbox {problem}; it is kept as {}, {salvaged} messages go on", set_aside.display())
    }
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DamageKind::Torn => "was torn or isn't a JSON array",
            DamageKind::BadEntries => "had entries that are no messages",
            DamageKind::TooLarge => "was too large",
            DamageKind::NoFile => "was no file",
        })
    }
}
