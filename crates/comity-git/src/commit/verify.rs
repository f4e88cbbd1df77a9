//! Asks git afterwards what was committed and what is left.

use super::answer::{Confirmation, Dirty, FirstOf};
use super::change::{FileChange, read_raw};
use super::look;
use crate::git::{Git, UnknownState};
use crate::status::{StatusQuery, WorktreeStatus};

/// Whether the commit is on the branch, and changes exactly what it should.
pub(super) fn verify(git: &Git<'_>, commit: &str, changes: &[FileChange]) -> Confirmation {
    match look(git, commit, changes) {
        Ok(None) => Confirmation::Yes,
        Ok(Some(problem)) => Confirmation::No { problem },
        Err(unknown) => Confirmation::No { problem: unknown.to_string() },
    }
}

fn look(git: &Git<'_>, commit: &str, changes: &[FileChange]) -> Result<Option<String>, UnknownState> {
    let (mut at, mut found) = changes_of(git, "HEAD")?;
    if at != commit {
        // Somebody has committed since.
        if !git.call("merge-base").args(["--is-ancestor", commit, "HEAD"]).agrees()? {
            return Ok(Some(format!("{commit} is no longer part of what is checked out")));
        }
        (at, found) = changes_of(git, commit)?;
    }
    let is_same = at == commit && found == changes;
    Ok((!is_same).then(|| format!("{commit} does not change what it should; git says {found:?}")))
}

pub(super) fn changes_of(git: &Git<'_>, commit: &str) -> Result<(String, Vec<FileChange>), UnknownState> {
    let options =
        ["-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--root", "--diff-merges=first-parent", commit];
    let output = git.call("diff-tree").args(options).done()?;
    let end = output.iter().position(|byte| *byte == 0).unwrap_or(output.len());
    let (commit, changes) = output.split_at(end);
    Ok((String::from_utf8_lossy(commit).into_owned(), read_raw(changes)?))
}

/// What is uncommitted in the worktree now.
pub(super) fn dirty(git: &Git<'_>) -> Dirty {
    match WorktreeStatus::ask(git, StatusQuery { submodules: true, ..StatusQuery::default() }) {
        Ok(status) => Dirty::Known(FirstOf::of(look::dirty(&status.entries))),
        Err(unknown) => Dirty::Unknown { problem: unknown.to_string() },
    }
}
