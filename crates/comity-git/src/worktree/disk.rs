//! Files below a directory that is held open, reached without following any link.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::umask::{as_user, share};

/// How a directory is opened: only if it is one.
const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// How a file is opened for reading; a pipe does not block us.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
/// How a file is created: it must not exist.
const MAKE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[derive(Debug)]
pub(crate) struct Root {
    fd: OwnedFd,
    path: PathBuf,
}

impl Root {
    /// Its last name must not be a link.
    pub(crate) fn open(path: &Path) -> io::Result<Root> {
        Ok(Root { fd: rustix::fs::openat(CWD, path, DIRECTORY, Mode::empty())?, path: path.to_owned() })
    }

    /// Where it was when it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Opens a directory below, if there is no link on the way.
    pub(crate) fn dir(&self, below: &Path) -> io::Result<Root> {
        if below.as_os_str().is_empty() {
            let fd = rustix::fs::openat(&self.fd, ".", DIRECTORY, Mode::empty())?;
            return Ok(Root { fd, path: self.path.clone() });
        }
        Ok(Root { fd: beneath(self.fd(), below, DIRECTORY, Mode::empty())?, path: self.path.join(below) })
    }

    /// Opens a plain file below, if there is no link on the way.
    pub(crate) fn file(&self, below: &Path) -> io::Result<File> {
        let file = File::from(beneath(self.fd(), below, READ, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it isn't a plain file"));
        }
        Ok(file)
    }

    /// Creates a new file below, and its missing parents.
    pub(crate) fn new_file(&self, below: &Path, mode: u32) -> io::Result<File> {
        if let Some(parent) = below.parent() {
            self.make_dirs(parent)?;
        }
        let mode = Mode::from_raw_mode(mode & 0o777);
        Ok(File::from(as_user(|| beneath(self.fd(), below, MAKE, mode))?))
    }

    /// Creates a directory and its missing parents.
    pub(crate) fn make_dirs(&self, below: &Path) -> io::Result<()> {
        let mut at = PathBuf::new();
        for name in plain_names(below)? {
            let parent = self.dir(&at)?;
            match as_user(|| rustix::fs::mkdirat(&parent.fd, name, Mode::from_raw_mode(0o777))) {
                Ok(()) | Err(Errno::EXIST) => at.push(name),
                Err(error) => return Err(error.into()),
            }
        }
        self.dir(&at).map(drop)
    }

    /// The type of an entry, without following links; `None` if there is none.
    pub(crate) fn kind(&self, below: &Path) -> io::Result<Option<FileType>> {
        let parent = match self.dir(below.parent().unwrap_or(Path::new(""))) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            parent => parent?,
        };
        let name = below.file_name().ok_or(ErrorKind::InvalidInput)?;
        match rustix::fs::statat(&parent.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads a small plain file; `None` if there is none, an error if it is larger.
    pub(crate) fn read(&self, below: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
        let file = match self.file(below) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut bytes = Vec::new();
        file.take(bytes_max + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > bytes_max {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                format!("it has more than {bytes_max} bytes"),
            ));
        }
        Ok(Some(bytes))
    }

    /// Writes a file atomically, also across a power cut.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = format!("{name}.new");
        match rustix::fs::unlinkat(&self.fd, &new, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = self.new_file(Path::new(&new), 0o666)?;
        file.write_all(bytes)?;
        file.sync_data()?;
        rustix::fs::renameat(&self.fd, &new, &self.fd, name)?;
        Ok(())
    }

    /// Removes a file or a link, not its target; a missing one is no error.
    pub(crate) fn unlink(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn remove_empty(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR)?)
    }

    /// Creates a new directory.
    pub(crate) fn make_dir(&self, name: &str) -> io::Result<()> {
        as_user(|| rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o777)))?;
        share(&self.path.join(name));
        Ok(())
    }

    /// Moves an entry to another directory, where the name must be free.
    pub(crate) fn rename(&self, name: &str, to: &Root, new_name: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(&self.fd, name, &to.fd, new_name, RenameFlags::NOREPLACE)?)
    }

    /// Makes names in this directory survive a power cut.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }
}

/// Opens a path below a directory, without `..` and without any link on the way.
fn beneath(dir: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    plain_names(path)?;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(dir, path, flags, mode, resolve) {
            // Old kernels do not have it, and some containers block it.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
    }
    step_by_step(dir, path, flags, mode)
}

/// The same, one name at a time.
fn step_by_step(dir: BorrowedFd<'_>, path: &Path, flags: OFlags, mode: Mode) -> io::Result<OwnedFd> {
    let names = plain_names(path)?;
    let (last, way) = names.split_last().ok_or(ErrorKind::InvalidInput)?;
    let mut at = rustix::fs::openat(dir, ".", DIRECTORY, Mode::empty())?;
    for name in way {
        at = rustix::fs::openat(&at, *name, DIRECTORY, Mode::empty())?;
    }
    Ok(rustix::fs::openat(&at, *last, flags, mode)?)
}

/// The names of a path that consists only of names.
fn plain_names(path: &Path) -> io::Result<Vec<&std::ffi::OsStr>> {
    let name = |component| match component {
        Component::Normal(name) => Ok(name),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            Err(io::Error::new(ErrorKind::InvalidInput, format!("{} does not stay inside", path.display())))
        }
    };
    path.components().map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_reached_through_links() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("root/in")).expect("made");
        fs::create_dir_all(at("out")).expect("made");
        fs::write(at("root/in/file"), "in").expect("written");
        fs::write(at("out/file"), "out").expect("written");
        symlink("../out", at("root/link")).expect("linked");
        symlink("in", at("root/inner")).expect("linked");
        symlink("file", at("root/in/alias")).expect("linked");
        let root = Root::open(&at("root")).expect("opened");
        type Open = fn(BorrowedFd<'_>, &Path, OFlags, Mode) -> io::Result<OwnedFd>;
        for open in [beneath as Open, step_by_step as Open] {
            let opens = |path: &str| open(root.fd(), Path::new(path), READ, Mode::empty()).is_ok();
            assert!(opens("in/file"));
            for path in
                ["link/file", "inner/file", "in/alias", "../out/file", "in/../../out/file", "/etc/hosts"]
            {
                assert!(!opens(path), "{path}");
            }
        }
        assert!(Root::open(&at("root/link")).is_err());
        assert!(root.new_file(Path::new("link/new"), 0o644).is_err() && !at("out/new").exists());
        assert!(root.make_dirs(Path::new("link/new")).is_err() && !at("out/new").exists());
    }
}
