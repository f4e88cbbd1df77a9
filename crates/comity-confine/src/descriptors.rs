//! What a process has open from before: it leads past the mounts that were made since.
//!
//! A directory leads to all that is below and above it, a file to itself: what is open for reading only can be opened
//! again for writing by its number, and its mode can be set.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    CWD, FileType, Mode, OFlags, SeekFrom, Stat, StatVfsMountFlags, fcntl_getfl, fstat, fstatvfs, openat,
    readlinkat, seek, stat,
};

use crate::Extent;

/// Opens again by name what is affected by the mounts; what cannot be is closed.
pub(crate) fn reopen_all(extent: &Extent) -> io::Result<()> {
    numbers()?.into_iter().try_for_each(|number| reopen(number, extent))
}

/// The files that this process has open for reading only.
pub(crate) fn open_for_reading() -> Vec<PathBuf> {
    let is_read = |open: &OpenFile<'_>| {
        open.kind() == FileType::RegularFile && open.found.st_nlink > 0 && open.access() == OFlags::RDONLY
    };
    let all =
        numbers().unwrap_or_default().into_iter().filter_map(|number| OpenFile::of(number).ok().flatten());
    all.filter(is_read)
        .map(|open| PathBuf::from(std::ffi::OsString::from_vec(open.name.into_bytes())))
        .collect()
}

fn numbers() -> io::Result<Vec<RawFd>> {
    let entries = fs::read_dir("/proc/self/fd")?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// Something that is open and has a name.
struct OpenFile<'a> {
    fd: BorrowedFd<'a>,
    found: Stat,
    flags: OFlags,
    name: CString,
}

impl OpenFile<'_> {
    /// Nothing if it is something else than a file or a directory, or has never had a name.
    #[expect(
        unsafe_code,
        reason = "what was inherited is owned by nobody here; its number is all that there is"
    )]
    fn of(number: RawFd) -> io::Result<Option<OpenFile<'static>>> {
        // SAFETY: nobody here closes it while this is used; what read the list is closed, which the next line notices.
        let fd = unsafe { BorrowedFd::borrow_raw(number) };
        let Ok(found) = fstat(fd) else { return Ok(None) };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory | FileType::RegularFile | FileType::Symlink => {}
            _ => return Ok(None),
        }
        let name = readlinkat(CWD, format!("/proc/self/fd/{number}"), Vec::new())?;
        if !name.as_bytes().starts_with(b"/") {
            return Ok(None);
        }
        Ok(Some(OpenFile { fd, found, flags: fcntl_getfl(fd)?, name }))
    }

    fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.found.st_mode)
    }

    /// How it may be used: [`OFlags::PATH`] means not at all.
    fn access(&self) -> OFlags {
        if self.flags.contains(OFlags::PATH) { OFlags::PATH } else { self.flags & OFlags::RWMODE }
    }

    /// The same by its name, which leads through the mounts that are there now.
    fn by_name(&self, flags: OFlags) -> Option<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let again = openat(CWD, self.name.as_c_str(), flags, Mode::empty()).ok()?;
        is_same(&fstat(&again).ok()?, &self.found).then_some(again)
    }

    /// Whether writing to this file is forbidden now, and would be possible by what is open.
    fn is_held(&self, extent: &Extent) -> bool {
        let is_read_only =
            |fd: BorrowedFd<'_>| fstatvfs(fd).is_ok_and(|it| it.f_flag.contains(StatVfsMountFlags::RDONLY));
        if is_read_only(self.fd) {
            return false;
        }
        match (self.by_name(OFlags::PATH), extent) {
            (Some(again), _) => is_read_only(again.as_fd()),
            // It was removed: nobody else can see it.
            (None, _) if self.found.st_nlink == 0 => false,
            (None, Extent::Everything { .. }) => true,
            (None, Extent::Held(paths)) => paths.iter().any(|path| self.may_be(path)),
        }
    }

    /// Whether a path leads to it or to a directory that it was in, as far as can be said without seeing it there.
    fn may_be(&self, path: &Path) -> bool {
        use std::os::unix::ffi::OsStrExt;
        let name = Path::new(std::ffi::OsStr::from_bytes(self.name.as_bytes()));
        name.starts_with(path) || stat(path).is_ok_and(|there| is_same(&there, &self.found))
    }
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

fn reopen(number: RawFd, extent: &Extent) -> io::Result<()> {
    let Some(open) = OpenFile::of(number)? else { return Ok(()) };
    let is_directory = open.kind() == FileType::Directory;
    if !is_directory && !open.is_held(extent) {
        return Ok(());
    }
    let flags = match (open.access(), extent) {
        // Its program has made it for the output of this very command.
        (OFlags::WRONLY | OFlags::RDWR, Extent::Everything { .. }) => return Ok(()),
        // It still has a number, and can be used for nothing.
        (OFlags::WRONLY, Extent::Held(_)) => OFlags::PATH,
        (OFlags::RDWR, Extent::Held(_)) => OFlags::RDONLY,
        (access, _) => access,
    };
    let kept = OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::APPEND;
    match open.by_name(flags | (open.flags & kept)) {
        Some(again) => {
            // From here on it is at a place of its own in the file.
            if !flags.contains(OFlags::PATH)
                && let Ok(at) = seek(open.fd, SeekFrom::Current(0))
            {
                let _ = seek(&again, SeekFrom::Start(at));
            }
            replace(number, again.as_fd())
        }
        None if number <= libc::STDERR_FILENO => {
            let nothing = fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
            replace(number, nothing.as_fd())
        }
        None => {
            close(number);
            Ok(())
        }
    }
}

#[expect(unsafe_code, reason = "what was inherited is owned by nobody here")]
fn replace(number: RawFd, by: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the number stays in use, for something else.
    let inherited = unsafe { BorrowedFd::borrow_raw(number) };
    let close_on_exec = rustix::io::fcntl_getfd(inherited)?;
    // SAFETY: as above.
    if unsafe { libc::dup2(by.as_raw_fd(), number) } == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(rustix::io::fcntl_setfd(inherited, close_on_exec)?)
}

#[expect(unsafe_code, reason = "what was inherited is owned by nobody here")]
fn close(number: RawFd) {
    // SAFETY: nobody here uses it again.
    unsafe { rustix::io::close(number) }
}
