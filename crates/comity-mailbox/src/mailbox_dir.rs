//! The directory of a team's boxes, held open: whatever is moved meanwhile, we stay inside of the root.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::failure::MailboxError;
use crate::name::SET_ASIDE;

const DIR_MODE: Mode = Mode::RWXU;
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);
const DIR_FLAGS: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// Neither a symlink nor a pipe in a file's place misleads us.
const FILE_FLAGS: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Names that are tried for what is set aside; all but the first are free unless somebody foresaw them.
const ASIDE_NAMES_MAX: u32 = 1_000;

pub(crate) struct MailboxDir {
    pub(crate) dir: OwnedFd,
    path: PathBuf,
}

/// What is in the place of a file.
pub(crate) enum FileEntry {
    Nothing,
    File(File),
    /// A directory, a symlink, a pipe, a socket, a device.
    Other,
}

impl MailboxDir {
    /// `None` if it does not exist.
    pub(crate) fn open(root: &Path, team: &str) -> Result<Option<MailboxDir>, MailboxError> {
        let Some(mut place) = MailboxDir::root(root)? else { return Ok(None) };
        for name in ["teams", team, "inboxes"] {
            let Some(below) = place.below(name)? else { return Ok(None) };
            place = below;
        }
        Ok(Some(place))
    }

    /// Created if missing.
    pub(crate) fn make(root: &Path, team: &str) -> Result<MailboxDir, MailboxError> {
        if let Some(place) = MailboxDir::open(root, team)? {
            return Ok(place);
        }
        DirBuilder::new()
            .recursive(true)
            .mode(DIR_MODE.bits())
            .create(root)
            .map_err(MailboxError::disk(root))?;
        let gone = || MailboxError::Disk { path: root.to_owned(), error: io::ErrorKind::NotFound.into() };
        let mut place = MailboxDir::root(root)?.ok_or_else(gone)?;
        for name in ["teams", team, "inboxes"] {
            match rustix::fs::mkdirat(&place.dir, name, DIR_MODE) {
                Ok(()) => place.sync()?,
                Err(Errno::EXIST) => {}
                Err(error) => return Err(place.failed(name)(error)),
            }
            place = place.below(name)?.ok_or_else(gone)?;
        }
        Ok(place)
    }

    /// Opens the root; how the caller's path leads there is the caller's business.
    pub(crate) fn root(root: &Path) -> Result<Option<MailboxDir>, MailboxError> {
        let flags = DIR_FLAGS.difference(OFlags::NOFOLLOW);
        match rustix::fs::openat(CWD, root, flags, Mode::empty()) {
            Ok(dir) => Ok(Some(MailboxDir { dir, path: root.to_owned() })),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(MailboxError::disk(root)(error)),
        }
    }

    /// Opens a subdirectory, if it exists.
    pub(crate) fn below(&self, name: &str) -> Result<Option<MailboxDir>, MailboxError> {
        match rustix::fs::openat(&self.dir, name, DIR_FLAGS, Mode::empty()) {
            Ok(dir) => Ok(Some(MailboxDir { dir, path: self.path(name) })),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(MailboxError::BadPlace(self.path(name))),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    /// The path of a file in it, to be shown.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn failed<'a, E: Into<io::Error>>(
        &'a self,
        name: &'a str,
    ) -> impl FnOnce(E) -> MailboxError + use<'a, E> {
        move |error| MailboxError::Disk { path: self.path(name), error: error.into() }
    }

    /// The status of an entry, without following it.
    pub(crate) fn look(&self, name: &str) -> Result<Option<Stat>, MailboxError> {
        match rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    /// Opens a file, if it exists.
    pub(crate) fn find(&self, name: &str, access: OFlags) -> Result<FileEntry, MailboxError> {
        match rustix::fs::openat(&self.dir, name, FILE_FLAGS | access, FILE_MODE) {
            Ok(file) => {
                let file = File::from(file);
                let is_file = file.metadata().map_err(self.failed(name))?.is_file();
                Ok(if is_file { FileEntry::File(file) } else { FileEntry::Other })
            }
            Err(Errno::NOENT) => Ok(FileEntry::Nothing),
            Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO | Errno::NODEV) => Ok(FileEntry::Other),
            // Such as a symlink where the platform has another error for it, or a device that is not allowed.
            Err(error) => match self.look(name)? {
                Some(stat) if !is_file(&stat) => Ok(FileEntry::Other),
                Some(_) | None => Err(self.failed(name)(error)),
            },
        }
    }

    /// Creates a file with this content, unless something is there.
    pub(crate) fn create(&self, name: &str, content: &[u8]) -> Result<(), MailboxError> {
        let flags = FILE_FLAGS | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        match rustix::fs::openat(&self.dir, name, flags, FILE_MODE) {
            Ok(file) => File::from(file).write_all(content).map_err(self.failed(name)),
            Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    /// Creates a file that only we have; what has its name is removed, or set aside if it is not a file.
    pub(crate) fn remake(&self, name: &str) -> Result<File, MailboxError> {
        match self.look(name)? {
            Some(stat) if is_file(&stat) => self.remove(name)?,
            Some(_) => drop(self.move_aside(name)?),
            None => {}
        }
        let flags = FILE_FLAGS | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = rustix::fs::openat(&self.dir, name, flags, FILE_MODE).map_err(self.failed(name))?;
        Ok(File::from(file))
    }

    pub(crate) fn remove(&self, name: &str) -> Result<(), MailboxError> {
        match rustix::fs::unlinkat(&self.dir, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(self.failed(name)(error)),
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<(), MailboxError> {
        rustix::fs::renameat(&self.dir, from, &self.dir, to).map_err(self.failed(to))
    }

    /// The sorted names of its entries; names that are not text are not ours.
    pub(crate) fn names(&self) -> Result<Vec<String>, MailboxError> {
        let list = || -> Result<Vec<String>, Errno> {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.dir)? {
                names.extend(entry?.file_name().to_str().map(ToOwned::to_owned).ok());
            }
            names.sort();
            Ok(names)
        };
        list().map_err(MailboxError::disk(&self.path))
    }

    /// Makes what was created, renamed and removed here survive a power cut.
    pub(crate) fn sync(&self) -> Result<(), MailboxError> {
        rustix::fs::fsync(&self.dir).map_err(MailboxError::disk(&self.path))
    }

    /// Gives a file a second name; the same one if this is repeated before the file is replaced.
    pub(crate) fn link_aside(&self, name: &str) -> Result<PathBuf, MailboxError> {
        let (stat, aside) = self.aside(name)?;
        if self.look(&aside)?.is_some_and(|there| is_same(&there, &stat)) {
            return Ok(self.path(&aside));
        }
        match rustix::fs::linkat(&self.dir, name, &self.dir, &aside, AtFlags::empty()) {
            Ok(()) => self.sync()?,
            // A file system without links: for a moment only the set-aside file will exist.
            Err(_) => return self.move_aside(name),
        }
        Ok(self.path(&aside))
    }

    /// Moves whatever has this name out of the way.
    pub(crate) fn move_aside(&self, name: &str) -> Result<PathBuf, MailboxError> {
        let (_, aside) = self.aside(name)?;
        self.rename(name, &aside)?;
        self.sync()?;
        Ok(self.path(&aside))
    }

    /// The name to set something aside under: a free one, or the one that the same file already has.
    fn aside(&self, name: &str) -> Result<(Stat, String), MailboxError> {
        let stat = self.look(name)?.ok_or_else(|| self.failed(name)(Errno::NOENT))?;
        let unique = format!("{:x}-{:x}-{:x}", stat.st_ino, stat.st_mtime, stat.st_mtime_nsec);
        for number in 0..ASIDE_NAMES_MAX {
            let aside = format!("{name}{SET_ASIDE}{unique}-{number:x}");
            if self.look(&aside)?.is_none_or(|there| is_same(&there, &stat)) {
                return Ok((stat, aside));
            }
        }
        Err(self.failed(name)(Errno::EXIST))
    }
}

/// Reads a file up to a bound; the second value says whether there is more.
pub(crate) fn read_bounded(file: &File, bytes_max: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() > bytes_max;
    bytes.truncate(bytes_max);
    Ok((bytes, is_cut))
}

pub(crate) fn is_file(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
}

fn is_same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}
