//! A world in which nothing can be written to, except for temporary directories that are empty and private.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
};

use crate::{binds, sys};

/// Where programs put what they need for a while, without asking.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Seals everything; `shown` stays in sight where a temporary directory covers it.
pub(crate) fn seal(shown: &[PathBuf]) -> io::Result<()> {
    let covers = temporary_dirs();
    let covered = |path: &Path| covers.iter().any(|dir| path != dir && path.starts_with(dir));
    let mut saved: Vec<(&Path, OwnedFd)> = Vec::new();
    for path in binds::topmost(shown).into_iter().filter(|path| covered(path) && path.is_dir()) {
        let tree = binds::clone(path)?;
        sys::make_read_only(tree.as_fd(), c"", true)?;
        saved.push((path, tree));
    }
    sys::make_read_only(CWD, c"/", true)?;
    for dir in &covers {
        binds::attach(temporary()?, dir)?;
    }
    for (path, tree) in saved {
        fs::create_dir_all(path)?;
        binds::attach(tree, path)?;
    }
    Ok(())
}

/// Those that are there, symlinks resolved, each once.
fn temporary_dirs() -> Vec<PathBuf> {
    let named = std::env::var_os("TMPDIR").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let all = TEMPORARY.iter().map(PathBuf::from).chain(named).filter_map(|dir| dir.canonicalize().ok());
    let all: Vec<PathBuf> = all.filter(|dir| dir.is_dir() && dir.parent().is_some()).collect();
    binds::topmost(&all).into_iter().map(Path::to_owned).collect()
}

fn temporary() -> io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), "mode", "1777")?;
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}
