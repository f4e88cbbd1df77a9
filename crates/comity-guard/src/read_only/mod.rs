//! Whether a command line only reads, proven by reading it.
//!
//! [`crate::programs`] guesses what a command writes, and knows nothing of the rest. Here it is the other way round:
//! whatever is not shown to be harmless is not proven. Every command that could run is a program of the table with
//! listed options, and nothing in the text is read differently by bash, zsh and POSIX shells, interactive or not. The
//! assumptions are in `docs/guide/permissions.md`; `cargo xtask fuzz-shell` tries to prove this wrong.

mod awk;
mod builtins;
mod conditions;
mod doubt;
mod find;
mod git;
mod git_settings;
mod prover;
mod runners;
mod sed;
mod text;
mod words;

use crate::limits::PROVEN_BYTES_MAX;
pub(crate) use awk::{awk, awk_only_prints};
pub(crate) use builtins::{anything, cd, command, date, printf, read, set, status};
pub(crate) use conditions::{bracket, test};
pub(crate) use doubt::{Doubt, Proven, shown};
pub(crate) use find::find;
pub(crate) use git::{git, git_formats, git_lists, git_needs, git_one_word, git_stash_list};
pub use git_settings::{index_has_no_repositories, runs_nothing as settings_run_nothing};
pub(crate) use prover::Prover;
pub(crate) use runners::{env, timeout, xargs};
pub(crate) use sed::{sed, sed_only_prints};

/// The result of classifying a command line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Classification {
    /// It writes nothing, runs nothing unknown and connects to nothing.
    ReadOnly {
        /// Whether git runs: then this holds only if the repository's settings run nothing.
        asks_git: bool,
    },
    NotProven {
        /// Which part of it is in doubt, and why: a sentence.
        why: String,
    },
}

/// Proves that a command line only reads, or says why that is not proven.
pub fn classify(command: &str) -> Classification {
    match proof(command) {
        Ok(asks_git) => Classification::ReadOnly { asks_git },
        Err(doubt) => Classification::NotProven { why: doubt.to_string() },
    }
}

fn proof(command: &str) -> Result<bool, Doubt> {
    if command.len() > PROVEN_BYTES_MAX {
        return Err(Doubt::because(format!("it is longer than {PROVEN_BYTES_MAX} bytes")));
    }
    text::is_read_alike(command)?;
    let parsed = crate::shell::parse(command);
    if let Some(problem) = parsed.problem {
        return Err(Doubt::because(format!("it can't be read: {problem}")));
    }
    if let Some(what) = parsed.differs {
        return Err(Doubt::because(format!("not every shell reads it alike: {what}")));
    }
    Prover::default().whole(&parsed.script)
}
