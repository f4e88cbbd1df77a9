//! A directory that is held open: writes go there, wherever it was moved and whatever is at its path now.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, mkdirat, openat, renameat, unlinkat};

use crate::plain_file;

/// A directory by its identity; clones hold the same one.
#[derive(Clone, Debug)]
pub(crate) struct HeldDir {
    dir: Arc<OwnedFd>,
    /// Where it was when it was opened, for messages.
    path: PathBuf,
}

const DIRECTORY: OFlags = OFlags::DIRECTORY.union(OFlags::RDONLY).union(OFlags::CLOEXEC);

impl HeldDir {
    pub(crate) fn open(path: &Path) -> io::Result<HeldDir> {
        let dir = rustix::fs::open(path, DIRECTORY, Mode::empty())?;
        Ok(HeldDir { dir: Arc::new(dir), path: path.into() })
    }

    /// Created if missing.
    pub(crate) fn make(path: &Path) -> io::Result<HeldDir> {
        fs::create_dir_all(path)?;
        HeldDir::open(path)
    }

    /// Created if missing.
    pub(crate) fn make_inside(&self, name: &str) -> io::Result<HeldDir> {
        match mkdirat(&self.dir, name, Mode::from_raw_mode(0o700)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let dir = openat(&self.dir, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(HeldDir { dir: Arc::new(dir), path: self.path.join(name) })
    }

    /// Whether its path still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        let identity = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
        let held = rustix::fs::fstat(&self.dir).map(identity);
        held.is_ok() && held == rustix::fs::stat(&self.path).map(identity)
    }

    /// Where it was when it was opened.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn open_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        plain_file::checked(openat(&self.dir, name, flags, Mode::empty())?.into())
    }

    /// The size of a file in it, if there is one.
    pub(crate) fn bytes_of(&self, name: &str) -> Option<u64> {
        let stat = rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        u64::try_from(stat.st_size).ok()
    }

    pub(crate) fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(name)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Replaces whatever is there with an empty file.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        Ok(openat(&self.dir, name, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// Writes a file atomically, also across a power cut.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let unfinished = format!("{name}.unfinished");
        let mut file = self.create(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        self.rename(&unfinished, name)?;
        self.sync()
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.dir, from, &self.dir, to)?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.dir, name, AtFlags::empty())?)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.dir)?)
    }

    pub(crate) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.dir)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }
}
