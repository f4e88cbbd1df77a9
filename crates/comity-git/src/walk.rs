//! Walks a path component by component like the kernel does, and remembers which part does not exist.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization;

use crate::dir_cache::{DirCache, DirStamp};

/// The same limit as on Linux.
pub(crate) const LINKS_MAX: usize = 40;

#[derive(Clone, Debug)]
pub(crate) struct PathWalk {
    /// How far it exists; no symlinks, no `..`.
    at: PathBuf,
    is_dir: bool,
    /// The names below it, which do not exist.
    missing: Vec<Vec<u8>>,
    links: usize,
    /// The directories on the way, by the length of their path.
    stamps: Vec<(usize, DirStamp)>,
    /// What was seen of directories before.
    known: DirCache,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WalkStep {
    /// An existing name, or none.
    There,
    Missing,
}

#[derive(Debug)]
pub(crate) enum WalkError {
    Links,
    Unreadable(io::Error),
    /// It goes through a process's link to its directory, root, program or open files.
    Process(ProcessLink),
}

/// A link in `/proc` that means something else for every process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProcessLink {
    /// To an open file, such as `/dev/stdout`.
    OpenFile,
    /// To its directory, root or program.
    Place,
}

impl PathWalk {
    /// Begins at an existing directory, given without symlinks.
    pub(crate) fn from(dir: &Path, known: &DirCache) -> PathWalk {
        let known = known.clone();
        PathWalk {
            at: dir.to_owned(),
            is_dir: true,
            missing: Vec::new(),
            links: 0,
            stamps: Vec::new(),
            known,
        }
    }

    /// How far the path exists.
    pub(crate) fn at(&self) -> &Path {
        &self.at
    }

    /// The directory that contains the file, or would contain what is missing.
    pub(crate) fn dir(&self) -> &Path {
        if self.is_dir { &self.at } else { self.at.parent().unwrap_or(&self.at) }
    }

    pub(crate) fn missing(&self) -> &[Vec<u8>] {
        &self.missing
    }

    pub(crate) fn ends_at_dir(&self) -> bool {
        self.missing.is_empty() && self.is_dir
    }

    /// Undoes a step to a missing name.
    pub(crate) fn step_back(&mut self) {
        self.missing.pop();
    }

    pub(crate) fn go(&mut self, path: &[u8]) -> Result<(), WalkError> {
        path.split(|byte| *byte == b'/').try_for_each(|name| self.step(name).map(drop))
    }

    /// Goes to a name, to the parent (`..`), or nowhere (`.` and nothing).
    pub(crate) fn step(&mut self, name: &[u8]) -> Result<WalkStep, WalkError> {
        match name {
            b"" | b"." => Ok(WalkStep::There),
            b".." => {
                if self.missing.pop().is_none() {
                    self.at.pop();
                    self.is_dir = true;
                    self.forget_below();
                }
                Ok(WalkStep::There)
            }
            name if self.missing.is_empty() && self.is_dir => self.enter(name),
            name => {
                self.missing.push(name.to_vec());
                Ok(WalkStep::Missing)
            }
        }
    }

    fn enter(&mut self, name: &[u8]) -> Result<WalkStep, WalkError> {
        if self.enter_as(name)? {
            return Ok(WalkStep::There);
        }
        if !name.is_ascii() {
            // The disk may have it in the other Unicode form; both are one name for us.
            let text = String::from_utf8_lossy(name);
            let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
            if self.enter_as(composed.as_bytes())? || self.enter_as(decomposed.as_bytes())? {
                return Ok(WalkStep::There);
            }
        }
        self.missing.push(name.to_vec());
        Ok(WalkStep::Missing)
    }

    /// The directory as it was when the walk passed it; `dir` is the walk's position or above it.
    pub(crate) fn stamp(&self, dir: &Path) -> Option<DirStamp> {
        let length = dir.as_os_str().len();
        self.stamps.iter().find(|(at, _)| *at == length).map(|(_, stamp)| *stamp)
    }

    /// Only directories above the position can be told apart by their length.
    fn forget_below(&mut self) {
        let length = self.at.as_os_str().len();
        self.stamps.retain(|(at, _)| *at <= length);
    }

    /// Goes to a name if it exists.
    fn enter_as(&mut self, name: &[u8]) -> Result<bool, WalkError> {
        self.at.push(OsStr::from_bytes(name));
        let length = self.at.as_os_str().len();
        if let Some(stamp) = self.known.walked(self.at.as_os_str().as_bytes()) {
            self.is_dir = true;
            self.stamps.push((length, stamp));
            return Ok(true);
        }
        match rustix::fs::lstat(&self.at) {
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink => self.follow()?,
                FileType::Directory => {
                    self.is_dir = true;
                    let stamp = DirStamp::of(&stat);
                    self.stamps.push((length, stamp));
                    self.known.walk(self.at.as_os_str().as_bytes(), stamp);
                }
                _ => self.is_dir = false,
            },
            Err(error) => {
                self.at.pop();
                return match error {
                    // A glob may well be longer than any name.
                    Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Ok(false),
                    error => Err(WalkError::Unreadable(error.into())),
                };
            }
        }
        Ok(true)
    }

    /// The kind of process link that the walk is at, if it is one; wherever `/proc` is mounted.
    #[cfg(target_os = "linux")]
    fn process_link(&self) -> Option<ProcessLink> {
        let above = self.at.parent()?;
        let is_proc = rustix::fs::statfs(above).is_ok_and(|at| at.f_type == rustix::fs::PROC_SUPER_MAGIC);
        let of = above.file_name().and_then(OsStr::to_str);
        is_proc.then_some(if of == Some("fd") { ProcessLink::OpenFile } else { ProcessLink::Place })
    }

    #[cfg(not(target_os = "linux"))]
    fn process_link(&self) -> Option<ProcessLink> {
        None
    }

    fn follow(&mut self) -> Result<(), WalkError> {
        self.links += 1;
        if self.links > LINKS_MAX {
            return Err(WalkError::Links);
        }
        let target = match (self.at.read_link(), self.process_link()) {
            // `/proc/self` and the like lead on within it.
            (Ok(target), Some(_)) if is_plain_link(&target) => target,
            (_, Some(link)) => return Err(WalkError::Process(link)),
            (Ok(target), None) => target,
            (Err(error), None) => return Err(WalkError::Unreadable(error)),
        };
        if target.is_absolute() {
            self.at = PathBuf::from("/");
        } else {
            self.at.pop();
        }
        self.forget_below();
        self.go(target.as_os_str().as_bytes())
    }
}

/// Whether a link in `/proc` is a plain one by its text: those to a process's things begin with a slash or tell a
/// kind, such as `pipe:[7]`.
fn is_plain_link(target: &Path) -> bool {
    let target = target.as_os_str().as_bytes();
    !target.starts_with(b"/") && !target.contains(&b':')
}

/// The process link that an absolute path goes through, if it does.
pub fn through_process(path: &Path) -> Option<ProcessLink> {
    let mut walk = PathWalk::from(Path::new("/"), &DirCache::default());
    match walk.go(path.as_os_str().as_bytes()) {
        Err(WalkError::Process(link)) => Some(link),
        Err(WalkError::Links | WalkError::Unreadable(_)) | Ok(()) => None,
    }
}
