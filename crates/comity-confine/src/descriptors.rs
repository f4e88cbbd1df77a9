//! What a process has open from before: directories among it lead past the mounts that were made since.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat, readlinkat, stat};

/// The working directory, by name and by what it is.
pub(crate) struct WorkingDir {
    path: PathBuf,
    id: (u64, u64),
}

impl WorkingDir {
    /// The one that this process is in. One that was removed has no name, and nothing can be done for it.
    pub(crate) fn of_process() -> io::Result<WorkingDir> {
        let path = std::env::current_dir()?;
        let found = stat(".")?;
        Ok(WorkingDir { path, id: (found.st_dev, found.st_ino) })
    }

    /// Enters it again by its name, and so by the mounts that are there now.
    pub(crate) fn enter(&self) -> io::Result<()> {
        rustix::process::chdir(&self.path)?;
        let found = stat(".")?;
        match (found.st_dev, found.st_ino) == self.id {
            true => Ok(()),
            false => Err(io::Error::other("the working directory was replaced meanwhile")),
        }
    }
}

/// Opens inherited directories again by their names; one that has none any more is closed.
pub(crate) fn reopen_directories() -> io::Result<()> {
    let listed: Vec<RawFd> = fs::read_dir("/proc/self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    listed.into_iter().try_for_each(reopen)
}

#[expect(unsafe_code, reason = "what was inherited is owned by nobody here; its number is all that there is")]
fn reopen(number: RawFd) -> io::Result<()> {
    // SAFETY: it is only used in this function; what reads the list above is closed, which the next line notices.
    let inherited = unsafe { BorrowedFd::borrow_raw(number) };
    let Ok(found) = fstat(inherited) else { return Ok(()) };
    if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
        return Ok(());
    }
    let name = readlinkat(CWD, format!("/proc/self/fd/{number}"), Vec::new())?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let close_on_exec = rustix::io::fcntl_getfd(inherited)?;
    let same = |fd: &std::os::fd::OwnedFd| {
        fstat(fd).is_ok_and(|again| (again.st_dev, again.st_ino) == (found.st_dev, found.st_ino))
    };
    match openat(CWD, name.as_c_str(), flags, Mode::empty()).ok().filter(same) {
        Some(again) => {
            // SAFETY: the number stays in use, for the new directory.
            if unsafe { libc::dup2(again.as_raw_fd(), number) } == -1 {
                return Err(io::Error::last_os_error());
            }
            rustix::io::fcntl_setfd(inherited, close_on_exec)?;
        }
        // SAFETY: nobody here owns it.
        None => unsafe { rustix::io::close(number) },
    }
    Ok(())
}
