//! Looks at every entry of a directory tree, following no link, and seals what it saw.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use serde::{Deserialize, Serialize};

use super::disk::Root;
use super::failure::WorktreeError;
use super::names::plain_text;
use super::watch::ChangeWatch;

const ENTRIES_MAX: usize = 2_000_000;
const DEPTH_MAX: usize = 200;
/// The file system's clock moves in steps; a change this long after a look shows in the file's times.
const CLOCK_STEP: Duration = Duration::from_millis(20);

/// A hash of everything that tells one state of a tree from another: names, kinds, sizes, inodes and times.
///
/// A file cannot be changed without the kernel setting its change time, so equal seals mean equal bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Seal(String);

/// What a tree contains.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Plain files and links, sorted by directory.
    pub(crate) files: Vec<PathBuf>,
    /// Each `.git` below the top.
    pub(crate) nested: Vec<PathBuf>,
    /// What is neither file nor link nor directory, and directories of other file systems.
    pub(crate) odd: Vec<PathBuf>,
    /// By device and inode.
    pub(crate) dirs: HashMap<(u64, u64), PathBuf>,
    /// The last change in it, in seconds and nanoseconds.
    pub(crate) newest: (i64, u64),
    pub(crate) seal: Seal,
}

/// What of a tree is not looked at.
#[derive(Clone, Default, Debug)]
pub(crate) struct Except {
    pub(crate) paths: HashSet<PathBuf>,
}

impl Survey {
    /// Surveys everything below a directory.
    pub(crate) fn of(root: &Root, except: &Except, deadline: Instant) -> io::Result<Survey> {
        let top = rustix::fs::fstat(root.fd())?;
        let mut looking = SurveyWalk {
            except,
            deadline,
            device: top.st_dev,
            entries: 0,
            hasher: blake3::Hasher::new(),
            found: Survey {
                files: Vec::new(),
                nested: Vec::new(),
                odd: Vec::new(),
                dirs: HashMap::from([((top.st_dev, top.st_ino), PathBuf::new())]),
                newest: (0, 0),
                seal: Seal(String::new()),
            },
        };
        let fd = root.dir(Path::new(""))?;
        looking.look(Dir::read_from(fd.fd())?, fd.fd(), Path::new(""), 0)?;
        looking.found.seal = Seal(looking.hasher.finalize().to_hex().to_string());
        Ok(looking.found)
    }
}

impl Survey {
    /// The files and links below a directory.
    pub(crate) fn below<'a>(&'a self, dir: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.files.iter().map(PathBuf::as_path).filter(move |path| path.starts_with(dir))
    }

    /// Waits until a change of any file would show in its times: a moment, if something was changed just now.
    pub(crate) fn settle(&self) {
        let seconds = Duration::from_secs(self.newest.0.max(0).cast_unsigned());
        let changed = UNIX_EPOCH + seconds + Duration::from_nanos(self.newest.1);
        if SystemTime::now() < changed + CLOCK_STEP {
            std::thread::sleep(CLOCK_STEP);
        }
    }

    /// Begins to watch the tree. Valid if a later look finds it unchanged.
    pub(crate) fn watch(&self, root: &Path) -> Option<ChangeWatch> {
        ChangeWatch::begin(root, self.dirs.values())
    }

    /// Whether anything but directories is below a directory.
    pub(crate) fn has_below(&self, dir: &Path) -> bool {
        self.below(dir).next().is_some()
            || self.odd.iter().chain(&self.nested).any(|path| path.starts_with(dir))
    }
}

impl Seal {
    fn parse(text: &str) -> Result<Seal, WorktreeError> {
        let is_hash = text.len() == blake3::OUT_LEN * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash {
            Ok(Seal(text.to_owned()))
        } else {
            Err(WorktreeError::bad_name(text, "it isn't a seal"))
        }
    }
}

plain_text!(Seal);

struct SurveyWalk<'a> {
    except: &'a Except,
    deadline: Instant,
    device: u64,
    entries: usize,
    hasher: blake3::Hasher,
    found: Survey,
}

impl SurveyWalk<'_> {
    fn look(
        &mut self,
        entries: Dir,
        dir: impl std::os::fd::AsFd + Copy,
        at: &Path,
        depth: usize,
    ) -> io::Result<()> {
        if depth > DEPTH_MAX || Instant::now() > self.deadline {
            return Err(io::Error::new(ErrorKind::TimedOut, "it is too deep, or takes too long to look at"));
        }
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            if name != c"." && name != c".." {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        self.entries += names.len();
        if self.entries > ENTRIES_MAX {
            return Err(io::Error::other("it has more than two million entries"));
        }
        for name in names {
            let stat = rustix::fs::statat(dir, &name, AtFlags::SYMLINK_NOFOLLOW)?;
            let path = at.join(std::ffi::OsStr::from_bytes(name.as_bytes()));
            // Whoever asks where it leads looks at the worktree's own `.git`.
            if self.except.paths.contains(&path) || (depth == 0 && name.as_bytes() == b".git") {
                continue;
            }
            if name.as_bytes() == b".git" {
                self.found.nested.push(path.clone());
            }
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory if stat.st_dev == self.device => {
                    self.found.dirs.insert((stat.st_dev, stat.st_ino), path.clone());
                    self.note_dir(&path, &stat);
                    let below = open_dir(dir, &name)?;
                    self.look(Dir::read_from(&below)?, &below, &path, depth + 1)?;
                }
                FileType::RegularFile | FileType::Symlink => {
                    self.note_file(&path, &stat);
                    self.found.files.push(path);
                }
                _ => {
                    self.note_file(&path, &stat);
                    self.found.odd.push(path);
                }
            }
        }
        Ok(())
    }

    /// For a directory only name and mode count: its times change when a file comes and goes.
    fn note_dir(&mut self, path: &Path, stat: &Stat) {
        self.note(path, &[u64::from(stat.st_mode)]);
    }

    fn note_file(&mut self, path: &Path, stat: &Stat) {
        let changed = (stat.st_ctime, stat.st_ctime_nsec);
        self.found.newest = self.found.newest.max(changed);
        let written = (stat.st_mtime.cast_unsigned(), stat.st_mtime_nsec);
        self.note(
            path,
            &[
                u64::from(stat.st_mode),
                stat.st_ino,
                stat.st_size.cast_unsigned(),
                written.0,
                written.1,
                changed.0.cast_unsigned(),
                changed.1,
            ],
        );
    }

    fn note(&mut self, path: &Path, numbers: &[u64]) {
        let path = path.as_os_str().as_encoded_bytes();
        self.hasher.update(&(path.len() as u64).to_le_bytes());
        self.hasher.update(path);
        self.hasher.update(&(numbers.len() as u64).to_le_bytes());
        for number in numbers {
            self.hasher.update(&number.to_le_bytes());
        }
    }
}

fn open_dir(dir: impl std::os::fd::AsFd, name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}
