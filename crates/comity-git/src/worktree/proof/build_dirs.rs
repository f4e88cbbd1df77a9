//! Directories that a build recreates.

use std::ffi::OsString;

use comity_core::CaseRule;
use rustix::fs::FileType;

use crate::git::{Git, UnknownState};
use crate::parse::{parts, pathspec, to_path};
use crate::worktree::disk::Root;
use crate::worktree::names::InnerPath;

/// Those of the directories that exist and that git ignores as a whole. In others the contents count.
pub(super) fn ignored_dirs(git: &Git<'_>, dirs: &[InnerPath]) -> Result<Vec<InnerPath>, UnknownState> {
    let unreadable = |error: std::io::Error| UnknownState::new(error.to_string());
    let root = Root::open(&git.worktree().root).map_err(unreadable)?;
    let is_dir =
        |dir: &&InnerPath| root.kind(dir.as_path()).is_ok_and(|kind| kind == Some(FileType::Directory));
    let there: Vec<&InnerPath> = dirs.iter().filter(is_dir).collect();
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let ignored = git.ignored(&[], there.iter().map(|dir| format!("{dir}/")))?;
    let specs: Vec<OsString> = there.iter().map(|dir| pathspec(dir.as_path(), CaseRule::Exact)).collect();
    let tracked = git.ask("ls-files", &["-z"], &specs)?;
    let is_ignored = |dir: &InnerPath| ignored.iter().any(|path| path == dir.as_path());
    let has_tracked = |dir: &InnerPath| parts(&tracked).any(|file| to_path(file).starts_with(dir.as_path()));
    Ok(there.into_iter().filter(|dir| is_ignored(dir) && !has_tracked(dir)).cloned().collect())
}
