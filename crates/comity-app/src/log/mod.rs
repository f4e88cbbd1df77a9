//! The log: everything that happened, in order, on the disk.

mod backup;
mod ceiling;
mod chain;
mod memory;
mod proof;
mod reader;
mod recover;
mod replacement;
mod rows;
mod segments;
mod set_aside;
mod sizes;
mod sqlite;
mod verify;
mod witness;
mod witness_names;
mod world_file;
mod written_by;

use comity_core::Record;

pub use backup::{BackedUp, back_up, check_backup, restore};
pub use chain::{Chain, Hash, Stored};
pub use memory::MemoryLog;
pub use proof::{check, is_new, is_used, knows_anybody};
pub use reader::{Checkpoint, LogReader};
pub use recover::{RecoverMode, Recovery, recover};
pub use segments::{SEGMENT_RECORDS, Segments};
pub use sqlite::{SqliteLog, StartPoint};
pub use verify::VerifiedLog;
pub use world_file::sealed_world;
pub use written_by::FORM;

/// How safe a batch must be before it is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Durability {
    /// It survives the end of the process.
    Live,
    /// It survives a power cut.
    Durable,
}

/// How a truncated log is reported.
pub const CUT: &str = "the log is damaged, so nothing was changed, and this server ends: ";

/// Why the log could not take a batch. Nothing of it was written.
#[derive(Debug)]
pub enum LogError {
    DiskFull,
    /// Another server has written to this log, or may be about to: this one must stop.
    Fenced,
    /// Somebody has truncated the log's files: this server must stop before it answers anybody from less.
    Cut(String),
    Failed(String),
}

impl std::fmt::Display for LogError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LogError::DiskFull => {
                f.write_str("the disk is full, so nothing was changed; free some space and ask again")
            }
            LogError::Fenced => f.write_str(
                "another server has this state directory, or it was moved; nothing was changed, and this server ends",
            ),
            LogError::Cut(what) => write!(
                f,
                "{CUT}{what}; see what can be kept with: comity log recover --dry-run, or put a backup back with: \
                 comity restore FILE"
            ),
            LogError::Failed(what) => {
                write!(f, "the log could not be written, so nothing was changed: {what}")
            }
        }
    }
}

impl std::error::Error for LogError {}

/// Where the engine writes.
pub trait Log: Send {
    /// Writes all records in one transaction, or none. They continue from the last one.
    fn append(&mut self, records: &[Record], durability: Durability) -> Result<(), LogError>;

    /// Drops records that are sealed elsewhere, at most this many; returns how many.
    fn drop_sealed(&mut self, at_most: usize) -> usize;

    /// Closes the log: nothing is written any more, and all of it is in one file.
    fn close(&mut self) {}
}
