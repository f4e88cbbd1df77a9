//! Large directories that a worktree shares with the main one by a link.

use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::FileType;

use super::disk::Root;
use super::failure::WorktreeError;
use super::names::InnerPath;
use super::record::SharedLink;
use crate::git::Git;

/// Links to a directory of the main worktree at the same place in another one.
///
/// The directory must be inside the main worktree, without any link on the way.
pub(crate) fn link(main: &Root, worktree: &Root, path: &InnerPath) -> Result<SharedLink, String> {
    let target = main.path().join(path.as_path());
    let says = |error: std::io::Error| error.to_string();
    match main.kind(path.as_path()).map_err(says)? {
        Some(FileType::Directory) => {}
        Some(_) => return Err("it isn't a directory in the main worktree".into()),
        None => return Err("the main worktree has none".into()),
    }
    main.dir(path.as_path()).map_err(says)?;
    if worktree.kind(path.as_path()).map_err(says)?.is_some() {
        return Err("it is there already".into());
    }
    let parent = worktree.dir(path.as_path().parent().unwrap_or(Path::new(""))).map_err(says)?;
    let name = path.as_path().file_name().ok_or("it has no name")?;
    rustix::fs::symlinkat(&target, parent.fd(), name).map_err(|error| error.to_string())?;
    Ok(SharedLink { path: path.clone(), target })
}

/// Whether a link is as we made it.
pub(crate) fn is_ours(worktree: &Path, link: &SharedLink) -> bool {
    let path = worktree.join(link.path.as_path());
    let is_beneath = || {
        let parent = link.path.as_path().parent().unwrap_or(Path::new(""));
        Root::open(worktree).and_then(|root| root.dir(parent)).is_ok()
    };
    is_beneath() && std::fs::read_link(path).is_ok_and(|target| target == link.target)
}

/// Removes a link of ours, not its target. One that is not as we made it stays.
pub(crate) fn unlink(worktree: &Path, link: &SharedLink) -> Result<(), WorktreeError> {
    let path = worktree.join(link.path.as_path());
    if !is_ours(worktree, link) {
        return Ok(());
    }
    std::fs::remove_file(&path).map_err(WorktreeError::disk(&path))
}

/// Recreates a link of ours, if its place is free.
pub(crate) fn link_again(worktree: &Path, link: &SharedLink) -> Result<(), WorktreeError> {
    let path = worktree.join(link.path.as_path());
    match symlink(&link.target, &path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map_err(WorktreeError::disk(&path)),
    }
}

/// The directory with the hooks of the user's checkout, if they are in the checkout and not in git's directory.
///
/// A relative `core.hooksPath` means a directory of each worktree; if it is not committed (as with tools that
/// generate it), a new worktree would silently have no hooks.
pub(crate) fn hooks_dir(main: &Git<'_>) -> Result<Option<InnerPath>, WorktreeError> {
    let output = main.run(&["config", "-z", "--get-all", "core.hooksPath"], b"")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let values: Vec<&str> = text.split_terminator('\0').collect();
    // The last one is our own, which switches hooks off for what we run.
    let Some((_, [.., set])) = values.split_last() else { return Ok(None) };
    Ok(InnerPath::parse(set).ok())
}
