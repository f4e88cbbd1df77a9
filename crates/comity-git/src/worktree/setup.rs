//! What a new worktree gets besides its files: settings, requested ignored files, links.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::disk::Root;
use super::failure::WorktreeError;
use super::include::{Included, included};
use super::links;
use super::names::InnerPath;
use super::record::{Copied, SharedLink};
use crate::git::Git;

const FILE_BYTES_MAX: u64 = 16 << 20;
const COPIED_BYTES_MAX: u64 = 256 << 20;
const BUFFER_BYTES: usize = 64 << 10;

/// Why nothing can be copied or linked.
const NO_MAIN: &str = "the project has no main worktree";

/// What a new worktree should get.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Setup {
    /// Files with local settings to copy from the main worktree.
    pub settings: Vec<InnerPath>,
    /// Large directories of the main worktree to link.
    pub links: Vec<InnerPath>,
}

/// What a new worktree got.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SetupDone {
    /// Files that were copied, because of settings or `.worktreeinclude`.
    pub copied: Vec<Copied>,
    pub linked: Vec<Linked>,
    /// What was asked for and not done.
    pub skipped: Vec<SkippedCopy>,
}

/// A directory that was linked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Linked {
    pub link: SharedLink,
    /// Whether git ignores it. A pattern with a trailing slash (`node_modules/`) does not match a link.
    pub is_ignored: bool,
}

/// Something that was requested and not done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkippedCopy {
    /// From the top of the worktree.
    pub path: PathBuf,
    pub why: String,
}

/// What is to be done, found out in advance.
pub(crate) struct Preparation {
    /// `None` if the project has no main worktree.
    main: Option<Root>,
    included: Included,
    settings: Vec<InnerPath>,
    links: Vec<InnerPath>,
}

impl Preparation {
    pub(crate) fn of(main: &Git<'_>, setup: &Setup) -> Result<Preparation, WorktreeError> {
        let root = Root::open(&main.worktree().root).map_err(WorktreeError::disk(&main.worktree().root))?;
        let (settings, links) = (setup.settings.clone(), setup.links.clone());
        Ok(Preparation { main: Some(root), included: included(main)?, settings, links })
    }

    /// What was asked for, with nothing to get it from.
    pub(crate) fn without_main(setup: &Setup) -> Preparation {
        let (settings, links) = (setup.settings.clone(), setup.links.clone());
        Preparation { main: None, included: Included::default(), settings, links }
    }

    /// Sets up a worktree that has its files. What cannot be done is skipped, and reported.
    pub(crate) fn apply(
        self,
        worktree: &Git<'_>,
        hooks: Option<InnerPath>,
    ) -> Result<SetupDone, WorktreeError> {
        let root =
            Root::open(&worktree.worktree().root).map_err(WorktreeError::disk(&worktree.worktree().root))?;
        let mut done = SetupDone { skipped: self.included.skipped, ..SetupDone::default() };
        let Some(main) = &self.main else {
            let asked = self.settings.iter().chain(&self.links).map(|path| path.as_path().to_owned());
            done.skipped.extend(asked.map(|path| SkippedCopy { path, why: NO_MAIN.into() }));
            return Ok(done);
        };
        let settings = self.settings.iter().map(|path| path.as_path().to_owned());
        let mut bytes_left = COPIED_BYTES_MAX;
        for path in settings.chain(self.included.files) {
            if done.copied.iter().any(|copied| copied.path == path) {
                continue;
            }
            match copy(main, &root, &path, &mut bytes_left) {
                Ok(copied) => done.copied.push(copied),
                Err(error) => done.skipped.push(SkippedCopy { path, why: reason(&error) }),
            }
        }
        // Committed hooks are in the new worktree anyway.
        let is_missing = |hooks: &InnerPath| root.kind(hooks.as_path()).is_ok_and(|kind| kind.is_none());
        let hooks = hooks.filter(|hooks| main.dir(hooks.as_path()).is_ok() && is_missing(hooks));
        for path in self.links.iter().chain(&hooks) {
            match links::link(main, &root, path) {
                Ok(link) => done.linked.push(Linked { link, is_ignored: false }),
                Err(why) => done.skipped.push(SkippedCopy { path: path.as_path().to_owned(), why }),
            }
        }
        note_ignored(worktree, &mut done.linked)?;
        Ok(done)
    }
}

impl SetupDone {
    pub(crate) fn links(&self) -> Vec<SharedLink> {
        self.linked.iter().map(|linked| linked.link.clone()).collect()
    }
}

pub(crate) fn hash_of(file: impl Read) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    pour(file, |bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    Ok(hasher.finalize().to_hex().to_string())
}

fn copy(from: &Root, to: &Root, path: &Path, bytes_left: &mut u64) -> io::Result<Copied> {
    let source = from.file(path)?;
    let metadata = source.metadata()?;
    let bytes_max = FILE_BYTES_MAX.min(*bytes_left);
    let too_large =
        || io::Error::other(format!("it is larger than the {bytes_max} bytes that may be copied"));
    if metadata.len() > bytes_max {
        return Err(too_large());
    }
    let mut target = to.new_file(path, metadata.permissions().mode())?;
    let mut hasher = blake3::Hasher::new();
    let mut bytes = 0;
    let copied = pour(source.take(bytes_max + 1), |read| {
        bytes += read.len() as u64;
        hasher.update(read);
        target.write_all(read)
    });
    let copied = copied.and_then(|()| if bytes > bytes_max { Err(too_large()) } else { Ok(()) });
    if let Err(error) = copied {
        // Half a file is worse than none, and it is ours: it did not exist a moment ago.
        let parent = to.dir(path.parent().unwrap_or(Path::new("")))?;
        parent.unlink(path.file_name().and_then(|name| name.to_str()).unwrap_or_default())?;
        return Err(error);
    }
    *bytes_left -= bytes;
    Ok(Copied { path: path.to_owned(), hash: hasher.finalize().to_hex().to_string() })
}

fn pour(mut from: impl Read, mut to: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => to(&buffer[..read])?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The kernel's error, in words, when told to follow no link and to overwrite nothing.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => "it is a link, or behind one".into(),
        ErrorKind::AlreadyExists => "it is there already".into(),
        ErrorKind::NotFound => "the main worktree has none".into(),
        _ => error.to_string(),
    }
}

/// Asks git which of the links it ignores.
fn note_ignored(worktree: &Git<'_>, linked: &mut [Linked]) -> Result<(), WorktreeError> {
    let ignored = worktree.ignored(&[], linked.iter().map(|linked| linked.link.path.as_path()))?;
    for linked in linked {
        linked.is_ignored = ignored.iter().any(|path| path == linked.link.path.as_path());
    }
    Ok(())
}
