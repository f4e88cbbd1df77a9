//! The mounts that hold paths.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, CWD, StatVfsMountFlags, StatxAttributes, StatxFlags, accessat, statvfs, statx,
};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};

use crate::{sealed, sys};

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

/// The directories above held paths, the highest first.
pub(crate) struct AncestorDirs {
    /// Those that could be moved away by who may write to where they are.
    pub(crate) movable: Vec<PathBuf>,
    pub(crate) fixed: BTreeSet<PathBuf>,
}

impl AncestorDirs {
    pub(crate) fn of(held: &[&Path]) -> AncestorDirs {
        let above = held.iter().flat_map(|path| path.ancestors().skip(1));
        let all: BTreeSet<&Path> = above.filter(|dir| dir.parent().is_some()).collect();
        let there = all.into_iter().filter(|dir| dir.symlink_metadata().is_ok()).map(Path::to_owned);
        let (movable, fixed): (Vec<PathBuf>, Vec<PathBuf>) = there.partition(|dir| {
            let parent = dir.parent().unwrap_or(Path::new("/"));
            accessat(CWD, parent, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
        });
        AncestorDirs { movable, fixed: fixed.into_iter().collect() }
    }
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

/// Puts something empty over a path.
pub(crate) fn hide(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        let empty = sealed::temporary("0")?;
        sys::make_read_only(empty.as_fd(), c"", false)?;
        attach(empty, path)
    } else {
        attach(clone(Path::new("/dev/null"))?, path)
    }
}

/// Puts something empty over these paths where nothing is. What cannot be done is left out.
pub(crate) fn hide_all<'a>(paths: impl IntoIterator<Item = &'a Path>) {
    for path in paths.into_iter().filter(|path| !is_mount(path)) {
        let _ = hide(path);
    }
}

/// Makes these paths read-only mounts of themselves where they are not, and pins the directories above them that can be
/// moved and that are `wanted`. What cannot be done is left out.
pub(crate) fn hold_all(paths: &[&Path], wanted: impl Fn(&PathBuf) -> bool) {
    for path in paths.iter().filter(|path| !is_read_only(path)) {
        let _ = hold(path);
    }
    // After that: who entered a new directory in the meantime is below what is mounted on it, and finds the held
    // path there, too.
    for dir in AncestorDirs::of(paths).movable.iter().filter(|dir| wanted(dir) && !is_mount(dir)) {
        let _ = pin(dir);
    }
}

/// Whether a path is on a read-only mount.
pub(crate) fn is_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY))
}

pub(crate) fn is_mount(path: &Path) -> bool {
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
    found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// A copy of the mount at a path, with all below it, that is nowhere yet.
pub(crate) fn clone(path: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

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
