//! What git itself has not finished in a worktree.

use std::fs;
use std::path::Path;

use super::kept::{KeepCause, KeepReason};
use crate::commit;
use crate::unfinished::Unfinished;
use crate::worktree::record::RECORD_FILE;

/// Files and directories of git that say nothing about work: other proofs cover their contents.
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

/// Reads what is going on from the worktree's git directory. What we do not know counts, too.
pub(crate) fn unfinished(git_dir: &Path) -> Vec<KeepReason> {
    let names = match names(git_dir) {
        Ok(names) => names,
        Err(error) => return vec![KeepReason::unknown(format!("{}: {error}", git_dir.display()))],
    };
    let (mut begun, mut unknown, mut repositories) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        match Unfinished::of_file(&name) {
            Some(what) => begun.push(what.to_string()),
            None if name.ends_with(".lock") => begun.push(format!("git is at work, or was stopped ({name})")),
            None if HARMLESS.contains(&name.as_str()) || name.starts_with("sharedindex.") => {}
            // The directory of our own commits: whatever is in it is unfinished.
            None if name == commit::COMMIT_DIR => {
                match fs::read_dir(git_dir.join(&name)).map(|mut all| all.next()) {
                    Ok(None) => {}
                    Ok(Some(_)) => begun.push("a commit".to_owned()),
                    Err(error) => unknown.push(format!("{name} in git's directory for it: {error}")),
                }
            }
            // They outlive the submodule's files, with all commits that were made in it.
            None if name == "modules" => repositories.push("those of submodules"),
            None => unknown.push(format!("git's directory for it has {name:?}, which we do not know")),
        }
    }
    begun.sort_unstable();
    begun.dedup();
    let begun = KeepReason::if_any(KeepCause::Unfinished, begun);
    let kept = [
        begun,
        KeepReason::if_any(KeepCause::Repository, repositories),
        KeepReason::if_any(KeepCause::Unknown, unknown),
    ];
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
