//! Directories that a build makes again.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::FileType;

use crate::git::{Git, UnknownState};
use crate::worktree::disk::Root;
use crate::worktree::names::InnerPath;

/// Of some directories, those that are there and that git ignores as a whole. Of all others the contents count.
pub(super) fn ignored_dirs(git: &Git<'_>, dirs: &[InnerPath]) -> Result<Vec<InnerPath>, UnknownState> {
    let unreadable = |error: std::io::Error| UnknownState::new(error.to_string());
    let root = Root::open(&git.worktree().root).map_err(unreadable)?;
    let is_dir =
        |dir: &&InnerPath| root.kind(dir.as_path()).is_ok_and(|kind| kind == Some(FileType::Directory));
    let there: Vec<&InnerPath> = dirs.iter().filter(is_dir).collect();
    if there.is_empty() {
        return Ok(Vec::new());
    }
    let input: Vec<String> = there.iter().map(|dir| format!("{dir}/")).collect();
    let said = git.run(&["check-ignore", "-z", "--stdin"], input.join("\0").as_bytes())?;
    // Ends with 1 if none is ignored.
    if !matches!(said.status.code(), Some(0 | 1)) {
        let complaint = String::from_utf8_lossy(&said.stderr);
        return Err(UnknownState::new(format!("git check-ignore: {}", complaint.trim())));
    }
    let specs: Vec<OsString> = there.iter().map(|dir| format!(":(top,literal){dir}").into()).collect();
    let tracked = git.ask("ls-files", &["-z"], &specs)?;
    let is_ignored = |dir: &InnerPath| {
        said.stdout.split(|byte| *byte == 0).any(|path| path == format!("{dir}/").as_bytes())
    };
    let has_tracked = |dir: &InnerPath| {
        let mut files = tracked.split(|byte| *byte == 0);
        files.any(|file| Path::new(OsStr::from_bytes(file)).starts_with(dir.as_path()))
    };
    Ok(there.into_iter().filter(|dir| is_ignored(dir) && !has_tracked(dir)).cloned().collect())
}
