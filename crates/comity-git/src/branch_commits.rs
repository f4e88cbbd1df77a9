//! The commits on a worktree's branch since it began, however they were made.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::git::{Git, UnknownState};
use crate::worktree::CommitId;
use crate::worktrees;

/// The newest commits that are read.
const COMMITS_MAX: &str = "--max-count=100";
const COMMIT: char = '\u{1e}';
const SUBJECT: char = '\u{1f}';

/// A commit on a branch, and the files that it changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BranchCommit {
    pub id: String,
    pub subject: String,
    pub files: Vec<String>,
}

/// What was committed in a worktree since `base`, oldest first; without what merges brought in.
pub fn branch_commits(
    common_dir: &Path,
    root: &Path,
    base: &str,
    deadline: Duration,
) -> Result<Vec<BranchCommit>, UnknownState> {
    let unreadable = |error| UnknownState::new(format!("can't read {}: {error}", common_dir.display()));
    let base = CommitId::parse(base)
        .map_err(|_| UnknownState::new(format!("{base:?} is not the id of a commit")))?;
    let all = worktrees::list(common_dir).map_err(unreadable)?;
    let Some(worktree) = all.worktrees.iter().find(|worktree| worktree.root == root) else {
        return Ok(vec![]);
    };
    let git = Git::on_refs(worktree, Instant::now() + deadline);
    let range = format!("{}..HEAD", base.as_str());
    let options = [
        "-z",
        "--reverse",
        "--first-parent",
        "--no-merges",
        "--no-renames",
        "--no-show-signature",
        "--name-only",
        COMMITS_MAX,
        "--format=%x1e%H%x1f%s",
        &range,
    ];
    let said = git.ask("log", &options, &[])?;
    Ok(String::from_utf8_lossy(&said).split(COMMIT).filter_map(read).collect())
}

fn read(commit: &str) -> Option<BranchCommit> {
    let mut parts = commit.split('\0');
    let (id, subject) = parts.next()?.split_once(SUBJECT)?;
    let files = parts.map(|file| file.trim_start_matches('\n')).filter(|file| !file.is_empty());
    Some(BranchCommit {
        id: id.to_owned(),
        subject: subject.to_owned(),
        files: files.map(str::to_owned).collect(),
    })
}
