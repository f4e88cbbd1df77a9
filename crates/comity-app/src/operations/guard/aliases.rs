//! Other names of a file: hard links, and paths through bind mounts. A lock is on the file, whatever its name.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use comity_core::paths::covers;
use comity_core::{CaseRule, PathPattern, Principal, ProjectId, Refusal};
use comity_guard::WriteKind;

use super::targets::Touch;
use crate::application::Application;
use crate::operation::Failure;
use crate::operations::locks::keeps_out;

/// Entries of locked directories that are compared with one file.
const ENTRIES_MAX: usize = 100_000;

/// A file, whatever its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct InodeId {
    device: u64,
    inode: u64,
}

/// What others have locked in one project.
struct Locked {
    common_dir: PathBuf,
    case: CaseRule,
    patterns: Vec<PathPattern>,
}

/// The locked files that are this file under another name. `is_inside` says whether its own path is in a project.
pub(super) fn aliases(
    app: &Application,
    who: Principal,
    file: &Path,
    is_inside: bool,
    how: WriteKind,
) -> Result<Vec<Touch>, Failure> {
    let Ok(found) = fs::metadata(file) else { return Ok(vec![]) };
    if !found.is_file() || (is_inside && found.nlink() < 2) {
        return Ok(vec![]);
    }
    let identity = InodeId { device: found.dev(), inode: found.ino() };
    let mut left = ENTRIES_MAX;
    let mut touches = Vec::new();
    for (_, locked) in locked_by_others(app, who) {
        for root in comity_git::worktrees(&locked.common_dir).unwrap_or_default() {
            // No name of a file is on another device.
            if fs::metadata(&root).map(|root| root.dev()).ok() != Some(identity.device) {
                continue;
            }
            let Ok(place) = app.projects().at(&root) else { continue };
            for pattern in &locked.patterns {
                let mut search =
                    Search { root: &root, identity, case: locked.case, pattern, left: &mut left };
                let Some(pattern) = search.run(found.nlink() > 1).map_err(|()| too_many(file))? else {
                    continue;
                };
                let (place, file) = (place.clone(), None);
                touches.push(Touch { place, pattern, how, file, stays_unlocked: true });
            }
        }
    }
    Ok(touches)
}

fn locked_by_others(app: &Application, who: Principal) -> BTreeMap<ProjectId, Locked> {
    let now = app.engine().now();
    let world = app.engine().world();
    let mut locked: BTreeMap<ProjectId, Locked> = BTreeMap::new();
    for lock in world.locks.iter().filter(|lock| keeps_out(lock, who, &world, now)) {
        let project = lock.wanted.project;
        let Some(known) = world.projects.get(&project) else { continue };
        let locked = locked.entry(project).or_insert_with(|| Locked {
            common_dir: PathBuf::from(&*known.common_dir),
            case: known.case,
            patterns: Vec::new(),
        });
        locked.patterns.push(lock.wanted.pattern.clone());
    }
    locked
}

fn too_many(file: &Path) -> Failure {
    let problem =
        format!("{} has several names, and too much is locked to tell whether one is", file.display());
    Refusal::bad_input(problem, "copy the file to a name of its own, and write to that").into()
}

/// The search for one file among those that a lock covers.
struct Search<'a> {
    root: &'a Path,
    identity: InodeId,
    case: CaseRule,
    pattern: &'a PathPattern,
    left: &'a mut usize,
}

impl Search<'_> {
    /// The file's name under which it is locked. Whole directories are searched only for a file with several names.
    fn run(&mut self, in_directories: bool) -> Result<Option<PathPattern>, ()> {
        for alternative in self.pattern.alternatives() {
            let prefix: PathBuf = alternative.prefix().collect();
            let at = self.root.join(&prefix);
            let found = match fs::symlink_metadata(&at) {
                Ok(found) if found.is_dir() && in_directories && !alternative.rest().is_empty() => {
                    self.below(&prefix)?
                }
                Ok(found) => self.is_it(found.dev(), found.ino()).then_some(prefix),
                Err(_) => None,
            };
            if let Some(name) = found.as_deref().and_then(|name| self.named(name)) {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    fn is_it(&self, device: u64, inode: u64) -> bool {
        self.identity == InodeId { device, inode }
    }

    fn named(&self, path: &Path) -> Option<PathPattern> {
        PathPattern::file(path.to_str()?, self.case).ok()
    }

    fn below(&mut self, top: &Path) -> Result<Option<PathBuf>, ()> {
        let mut directories = vec![top.to_owned()];
        while let Some(directory) = directories.pop() {
            let entries = fs::read_dir(self.root.join(&directory)).into_iter().flatten().flatten();
            for entry in entries.filter(|entry| entry.file_name() != ".git") {
                *self.left = self.left.checked_sub(1).ok_or(())?;
                let path = directory.join(entry.file_name());
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    directories.push(path);
                    continue;
                }
                // The entry has the inode; only candidates are inspected.
                let is_it = kind.is_file()
                    && entry.ino() == self.identity.inode
                    && entry.metadata().is_ok_and(|found| found.dev() == self.identity.device);
                if is_it && self.named(&path).is_some_and(|name| covers(self.pattern, &name)) {
                    return Ok(Some(path));
                }
            }
        }
        Ok(None)
    }
}
