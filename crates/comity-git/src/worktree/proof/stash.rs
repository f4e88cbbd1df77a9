//! Stashes: all worktrees share them, but each was made in one.

use std::time::Instant;

use super::commits::BranchHistory;
use super::kept::{KeepCause, KeepReason};
use crate::git::{Git, UnknownState};
use crate::worktrees::WorktreeDirs;

/// Stashes that are looked at; with more of them a worktree is kept.
const STASHES_MAX: usize = 10_000;
const FIELD: char = '\u{1f}';

/// Whether something was stashed in the worktree and is still there.
///
/// A stash names the branch on which it was made. One that does not counts if it was made at a commit that this
/// worktree has been at.
pub(super) fn work(
    worktree: &WorktreeDirs,
    history: &BranchHistory,
    deadline: Instant,
) -> Result<Option<KeepReason>, UnknownState> {
    if !history.has_stashes {
        return Ok(None);
    }
    let git = Git::on_refs(worktree, deadline);
    let limit = format!("--max-count={STASHES_MAX}");
    let format = format!("--format=tformat:%gd{FIELD}%P{FIELD}%gs");
    let list =
        ["log", "--walk-reflogs", "--no-patch", "--no-show-signature", &limit, &format, "refs/stash", "--"];
    let output = git.tell(&list, b"")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let stashes: Vec<&str> = text.lines().collect();
    if stashes.len() >= STASHES_MAX {
        return Err(UnknownState::new(format!("there are more than {STASHES_MAX} stashes")));
    }
    let is_from_here = |line: &&str| {
        let mut fields = line.splitn(3, FIELD).skip(1);
        let (Some(parents), Some(subject)) = (fields.next(), fields.next()) else { return true };
        match made_on(subject) {
            Some(branch) => history.own.iter().any(|own| own.as_str() == branch),
            None => {
                parents.split(' ').next().is_some_and(|parent| history.tips.iter().any(|tip| tip == parent))
            }
        }
    };
    let from_here = stashes.into_iter().filter(is_from_here);
    Ok(KeepReason::if_any(
        KeepCause::Stash,
        from_here.map(|line| line.split(FIELD).next().unwrap_or_default()),
    ))
}

/// The branch that a stash was made on, if it says so.
fn made_on(subject: &str) -> Option<&str> {
    let rest = subject.strip_prefix("WIP on ").or_else(|| subject.strip_prefix("On "))?;
    let (branch, _) = rest.split_once(": ")?;
    (branch != "(no branch)").then_some(branch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_branch_that_a_stash_names() {
        assert_eq!(made_on("WIP on comity/ann: 123abc first"), Some("comity/ann"));
        assert_eq!(made_on("On trunk: my words: here"), Some("trunk"));
        assert_eq!(made_on("WIP on (no branch): 123abc first"), None);
        assert_eq!(made_on("something else"), None);
    }
}
