//! What git itself has not finished in a worktree.

use std::fs;
use std::path::Path;

use super::kept::{Kept, Why};
use crate::commit;
use crate::worktree::record::RECORD_FILE;

/// Files and directories of git's that say nothing about work: what they hold is looked at by other proofs.
const HARMLESS: &[&str] = &[
    "HEAD",
    "ORIG_HEAD",
    "FETCH_HEAD",
    "COMMIT_EDITMSG",
    "MERGE_RR",
    "commondir",
    "config.worktree",
    "fsmonitor--daemon",
    "fsmonitor--daemon.ipc",
    "gitdir",
    "index",
    "info",
    "logs",
    "refs",
    "reftable",
    RECORD_FILE,
];
/// What stands for something unfinished, and its name.
const UNFINISHED: &[(&str, &str)] = &[
    ("MERGE_HEAD", "a merge"),
    ("MERGE_AUTOSTASH", "a merge"),
    ("MERGE_MODE", "a merge"),
    ("MERGE_MSG", "a merge"),
    ("AUTO_MERGE", "a merge"),
    ("SQUASH_MSG", "a squashed merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("sequencer", "a sequence of commits"),
    ("REBASE_HEAD", "a rebase"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase or patches by mail"),
    ("NOTES_MERGE_PARTIAL", "a merge of notes"),
    ("NOTES_MERGE_WORKTREE", "a merge of notes"),
];

/// Reads from git's directory for the worktree what is going on. What we do not know counts, too.
pub(crate) fn unfinished(git_dir: &Path) -> Vec<Kept> {
    let names = match names(git_dir) {
        Ok(names) => names,
        Err(error) => return vec![Kept::unknown(format!("{}: {error}", git_dir.display()))],
    };
    let (mut begun, mut unknown, mut repositories) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let known = UNFINISHED.iter().find(|(file, _)| *file == name);
        match known {
            Some((_, what)) => begun.push((*what).to_owned()),
            None if name.starts_with("BISECT_") => begun.push("a bisection".to_owned()),
            None if name.ends_with(".lock") => begun.push(format!("git is at work, or was stopped ({name})")),
            None if HARMLESS.contains(&name.as_str()) || name.starts_with("sharedindex.") => {}
            // The desk of our own commits: whatever lies on it is not done.
            None if name == commit::DESK => match fs::read_dir(git_dir.join(&name)).map(|mut all| all.next())
            {
                Ok(None) => {}
                Ok(Some(_)) => begun.push("a commit".to_owned()),
                Err(error) => unknown.push(format!("{name} in git's directory for it: {error}")),
            },
            // They outlive the submodule's files, with all commits that were made in it.
            None if name == "modules" => repositories.push("those of submodules"),
            None => unknown.push(format!("git's directory for it has {name:?}, which we do not know")),
        }
    }
    begun.sort_unstable();
    begun.dedup();
    let begun = Kept::if_any(Why::Unfinished, begun);
    let kept = [begun, Kept::if_any(Why::Repository, repositories), Kept::if_any(Why::Unknown, unknown)];
    kept.into_iter().flatten().collect()
}

fn names(git_dir: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(git_dir)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}
