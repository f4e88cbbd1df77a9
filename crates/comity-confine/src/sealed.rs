//! A world in which nothing can be written to, except for temporary directories that are empty and private.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, fstat};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
};

use crate::{binds, descriptors, sys};

/// Where programs put what they need for a while, without asking.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Entries of a temporary directory that are looked at.
const ENTRIES_MAX: usize = 10_000;

/// Seals everything; `shown` stays in sight where a temporary directory covers it, and so does what is open for reading.
pub(crate) fn seal(shown: &[PathBuf]) -> io::Result<()> {
    let covers = temporary_dirs();
    let covered = |path: &Path| covers.iter().any(|dir| path != dir && path.starts_with(dir));
    let shown: Vec<PathBuf> = shown.iter().cloned().chain(descriptors::open_for_reading()).collect();
    let mut saved: Vec<(&Path, OwnedFd)> = Vec::new();
    for path in binds::topmost(&shown).into_iter().filter(|path| covered(path) && path.exists()) {
        let tree = binds::clone(path)?;
        sys::make_read_only(tree.as_fd(), c"", true)?;
        saved.push((path, tree));
    }
    let made: Vec<PathBuf> = covers.iter().flat_map(|dir| own_empty_dirs(dir)).collect();
    sys::make_read_only(CWD, c"/", true)?;
    for dir in &covers {
        binds::attach(temporary("1777")?, dir)?;
    }
    // Who cannot write there says so.
    made.iter().for_each(|dir| drop(fs::create_dir(dir)));
    for (path, tree) in saved {
        make_place(path, tree.as_fd())?;
        binds::attach(tree, path)?;
    }
    Ok(())
}

/// Makes what something of the same kind can be put on.
fn make_place(path: &Path, kind: BorrowedFd<'_>) -> io::Result<()> {
    if FileType::from_raw_mode(fstat(kind)?.st_mode) == FileType::Directory {
        return fs::create_dir_all(path);
    }
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::File::create(path).map(drop)
}

/// The empty directories of this user's in a temporary one: a program makes one for what its shell is to write after a command.
fn own_empty_dirs(dir: &Path) -> Vec<PathBuf> {
    let own = rustix::process::geteuid().as_raw();
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let dirs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let owned = dirs.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == own));
    let paths = owned.map(|entry| entry.path());
    paths.filter(|path| fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_none())).collect()
}

/// Those that are there, symlinks resolved, each once.
fn temporary_dirs() -> Vec<PathBuf> {
    let named = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let all = TEMPORARY.iter().map(PathBuf::from).chain(named).filter_map(|dir| dir.canonicalize().ok());
    let all: Vec<PathBuf> = all.filter(|dir| dir.is_dir() && dir.parent().is_some()).collect();
    binds::topmost(&all).into_iter().map(Path::to_owned).collect()
}

/// An empty file system in memory with these permissions, which is nowhere yet.
pub(crate) fn temporary(mode: &str) -> io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), "mode", mode)?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
