//! Whether a command line only reads, proven by reading it.
//!
//! The guard's [`crate::programs`] says what a command is known to write, and knows nothing of the rest. This is the
//! other way round: what is not proven to only read is not proven. Every command that could run is a program of
//! `table` with options of its list, and nothing in the text is read differently by bash, zsh and a POSIX shell.
//! What is taken for granted (the programs are the system's, the repository's git settings are trusted) is written
//! down in `docs/guide/permissions.md`.

mod archives;
mod awk;
mod builtins;
mod conditions;
mod documents;
mod doubt;
mod filters;
mod find;
mod git;
mod git_options;
mod listings;
mod options;
mod runners;
mod search;
mod sed;
mod table;
mod text;
mod variables;
mod walk;
mod words;

use crate::limits::PROVEN_BYTES_MAX;
use doubt::{Doubt, Proven};

/// What reading a command line has shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Classification {
    /// It writes nothing, runs nothing unknown and connects to nothing.
    ReadOnly,
    /// It may do anything.
    NotProven {
        /// Which part of it is in doubt, and why: a sentence.
        why: String,
    },
}

/// Proves that a command line only reads, or says why that is not proven.
pub fn classify(command: &str) -> Classification {
    match proof(command) {
        Ok(()) => Classification::ReadOnly,
        Err(doubt) => Classification::NotProven { why: doubt.to_string() },
    }
}

fn proof(command: &str) -> Proven {
    if command.len() > PROVEN_BYTES_MAX {
        return Err(Doubt::because(format!("it is longer than {PROVEN_BYTES_MAX} bytes")));
    }
    text::is_read_alike(command)?;
    let command = documents::taken_out(command)?;
    let parsed = crate::shell::parse(&command);
    if let Some(problem) = parsed.problem {
        return Err(Doubt::because(format!("it cannot be read: {problem}")));
    }
    walk::Walk::default().whole(&parsed.script)
}
