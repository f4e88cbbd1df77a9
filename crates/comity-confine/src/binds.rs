//! The mounts that hold paths.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, StatVfsMountFlags, accessat, statvfs};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};

use crate::sys;

/// Paths that are held, sorted; none is below another.
pub(crate) fn topmost(paths: &[PathBuf]) -> Vec<&Path> {
    let sorted: BTreeSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let mut kept: Vec<&Path> = Vec::new();
    for path in sorted {
        // In this order what is above stands before what is below it, though not always next to it.
        if !path.ancestors().skip(1).any(|above| kept.binary_search(&above).is_ok()) {
            kept.push(path);
        }
    }
    kept
}

/// The directories above held paths that could be moved away by who may write to where they are, the highest first.
pub(crate) fn movable(held: &[&Path]) -> Vec<PathBuf> {
    let above = held.iter().flat_map(|path| path.ancestors().skip(1));
    let all: BTreeSet<&Path> = above.filter(|dir| dir.parent().is_some()).collect();
    let may_be_moved = |dir: &&Path| {
        let parent = dir.parent().unwrap_or(Path::new("/"));
        accessat(CWD, parent, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
    };
    all.into_iter().filter(may_be_moved).map(Path::to_owned).collect()
}

/// Makes a directory a mount of itself: nobody here can rename or remove it then.
pub(crate) fn pin(dir: &Path) -> io::Result<()> {
    let tree = clone(dir)?;
    attach(tree.as_fd(), dir)
}

/// Makes a path a read-only mount of itself.
pub(crate) fn hold(path: &Path) -> io::Result<()> {
    let tree = clone(path)?;
    sys::make_read_only(tree.as_fd(), c"", true)?;
    attach(tree.as_fd(), path)
}

/// Whether a path is on a read-only mount.
pub(crate) fn is_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// A copy of the mount at a path, with all below it, that is nowhere yet.
pub(crate) fn clone(path: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

/// Puts a copy somewhere.
pub(crate) fn attach(tree: impl AsFd, at: &Path) -> io::Result<()> {
    Ok(move_mount(tree, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_a_held_path_is_held_with_it() {
        let paths = ["/r/src", "/r/src/a.rs", "/r/src-b", "/r/src/deep/x", "/r/b.rs"].map(PathBuf::from);
        assert_eq!(topmost(&paths), ["/r/b.rs", "/r/src", "/r/src-b"].map(Path::new));
    }
}
