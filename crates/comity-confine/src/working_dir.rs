//! The working directory: one that was entered before leads past the mounts that were made since.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, stat, unlinkat};
use rustix::process::{chdir, fchdir};

use crate::{Extent, sealed, sys};

/// The working directory of this process from before it was confined.
pub(crate) enum WorkingDir {
    /// By name, and by what it is.
    Named { path: PathBuf, id: (u64, u64) },
    /// It was removed, or was never in sight.
    Nameless,
}

impl WorkingDir {
    pub(crate) fn of_process() -> WorkingDir {
        match (std::env::current_dir(), stat(".")) {
            (Ok(path), Ok(found)) if path.is_absolute() => {
                WorkingDir::Named { path, id: (found.st_dev, found.st_ino) }
            }
            _ => WorkingDir::Nameless,
        }
    }

    /// Enters it again by its name, and so by the mounts that are there now.
    pub(crate) fn enter(&self, extent: &Extent) -> Result<(), String> {
        let WorkingDir::Named { path, id } = self else {
            return enter_nothing().map_err(|error| format!("there is no working directory: {error}"));
        };
        let cannot = |why: &str| {
            format!(
                "the working directory {} can't be entered again: {why}; change to another one, and try again",
                path.display()
            )
        };
        chdir(path).map_err(|error| cannot(&error.to_string()))?;
        let found = stat(".").map_err(|error| cannot(&error.to_string()))?;
        // A temporary directory is a private one then, and nothing can be done to another.
        let may_differ = matches!(extent, Extent::Everything { .. });
        match may_differ || (found.st_dev, found.st_ino) == *id {
            true => Ok(()),
            false => Err(cannot("it was replaced meanwhile")),
        }
    }
}

/// Enters a directory that is empty and removed already, as the one was that this process came with; but nothing is
/// above it, either.
fn enter_nothing() -> io::Result<()> {
    let root = sealed::temporary("1777")?;
    mkdirat(&root, "removed", Mode::RWXU)?;
    let dir = openat(&root, "removed", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    unlinkat(&root, "removed", AtFlags::REMOVEDIR)?;
    sys::make_read_only(root.as_fd(), c"", false)?;
    Ok(fchdir(dir)?)
}
