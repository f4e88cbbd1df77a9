//! Changes as patches: uncommitted ones by worktree, and those of commits.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comity_core::{CaseRule, PathPattern};
use rustix::fs::{Mode, OFlags};

use crate::git::{Git, UnknownState};
use crate::parse::pathspec;
use crate::status::{PathState, StatusEntry};
use crate::uncommitted::{WorkQuery, work};
use crate::worktree::CommitId;
use crate::worktree_filter::WorktreeFilter;
use crate::worktrees;

/// Files of one worktree whose changes are shown.
const FILES_MAX: usize = 500;
/// Options that keep git from running programs for a patch.
const PLAIN: [&str; 5] =
    ["--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--submodule=short"];

/// The uncommitted changes in one worktree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirtyWorktree {
    pub root: PathBuf,
    /// The first of the changed files.
    pub files: Vec<String>,
    pub files_total: usize,
    /// The changes in them, if asked for.
    pub patch: String,
}

/// The uncommitted changes on these paths, by worktree; with patches of at most this many bytes.
pub fn dirty_worktrees(
    common_dir: &Path,
    meant: &[(PathPattern, WorktreeFilter)],
    case: CaseRule,
    deadline: Duration,
    patch_bytes_max: usize,
) -> Result<Vec<DirtyWorktree>, UnknownState> {
    let deadline = Instant::now() + deadline;
    let all = worktrees::list(common_dir)
        .map_err(|error| UnknownState::new(format!("can't read {}: {error}", common_dir.display())))?;
    let (mut found, mut room) = (Vec::new(), patch_bytes_max);
    for worktree in &all.worktrees {
        let here = meant.iter().filter(|(_, among)| among.holds(&worktree.root));
        let patterns: Vec<&PathPattern> = here.map(|(pattern, _)| pattern).collect();
        if patterns.is_empty() {
            continue;
        }
        let git = Git::on(worktree, deadline)?;
        let mut entries: Vec<StatusEntry> = Vec::new();
        for pattern in patterns {
            let new = work(&git, &WorkQuery { pattern, case })?;
            entries.extend(new.into_iter().filter(|entry| !entries.contains(entry)).collect::<Vec<_>>());
        }
        if entries.is_empty() {
            continue;
        }
        let patch = if room > 0 { patch_of(&git, &entries, room)? } else { String::new() };
        room = room.saturating_sub(patch.len());
        let files = entries.iter().take(FILES_MAX).map(StatusEntry::name).collect();
        found.push(DirtyWorktree { root: worktree.root.clone(), files, files_total: entries.len(), patch });
    }
    Ok(found)
}

/// What a commit changed, as a patch of at most this many bytes; for a merge, against its first parent.
pub fn commit_patch(
    common_dir: &Path,
    commit: &str,
    deadline: Duration,
    bytes_max: usize,
) -> Result<String, UnknownState> {
    let commit = CommitId::parse(commit)
        .map_err(|_| UnknownState::new(format!("{commit:?} is not the id of a commit")))?;
    let all = worktrees::list(common_dir)
        .map_err(|error| UnknownState::new(format!("can't read {}: {error}", common_dir.display())))?;
    let Some(worktree) = all.worktrees.first() else {
        return Err(UnknownState::new(format!("{} has no worktree", common_dir.display())));
    };
    let git = Git::on_refs(worktree, Instant::now() + deadline);
    let options = [&PLAIN[..], &["--format=", "--diff-merges=first-parent", commit.as_str()]].concat();
    Ok(shortened(&git.ask("show", &options, &[])?, bytes_max))
}

fn patch_of(git: &Git<'_>, entries: &[StatusEntry], bytes_max: usize) -> Result<String, UnknownState> {
    let is_tracked =
        |entry: &&StatusEntry| matches!(entry.state, PathState::Tracked { .. } | PathState::Unmerged);
    let spec = |entry: &StatusEntry| pathspec(&entry.to_path(), CaseRule::Exact);
    let tracked: Vec<OsString> = entries.iter().filter(is_tracked).take(FILES_MAX).map(spec).collect();
    let mut patch = match tracked.is_empty() {
        true => String::new(),
        false => {
            let options = [&PLAIN[..], &["HEAD"]].concat();
            // Git warns about line ends, and shows the patch all the same.
            let mut call = git.call("diff").args(&options).arg("--").args(&tracked);
            let output = call.output()?;
            if !output.status.success() {
                return Err(call.failure(&output));
            }
            shortened(&output.stdout, bytes_max)
        }
    };
    let root = &git.worktree().root;
    for entry in entries.iter().filter(|entry| entry.state == PathState::Untracked).take(FILES_MAX) {
        if patch.len() >= bytes_max {
            break;
        }
        patch += &new_file(root, entry, bytes_max - patch.len());
    }
    Ok(patch)
}

/// An untracked file, as a patch that adds it.
fn new_file(root: &Path, entry: &StatusEntry, bytes_max: usize) -> String {
    let name = entry.name();
    let head = format!("diff --git a/{name} b/{name}\nnew file, not in git yet\n");
    let opened = rustix::fs::open(
        root.join(entry.to_path()),
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    );
    let mut bytes = Vec::new();
    let read = opened.map_err(std::io::Error::from).and_then(|file| {
        let file = std::fs::File::from(file);
        if !file.metadata()?.is_file() {
            return Ok(0);
        }
        file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)
    });
    if read.is_err() || bytes.contains(&0) {
        return head;
    }
    let text = shortened(&bytes, bytes_max);
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    format!("{head}--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{} @@\n{lines}", text.lines().count())
}

/// Whole lines of it, up to this many bytes.
fn shortened(bytes: &[u8], bytes_max: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    if text.len() <= bytes_max {
        return text.into_owned();
    }
    let kept = &text[..text.floor_char_boundary(bytes_max)];
    let end = kept.rfind('\n').map_or(0, |at| at + 1);
    format!("{}... cut off here\n", &kept[..end])
}
