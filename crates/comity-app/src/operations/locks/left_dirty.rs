//! Tells an agent that gives up locks what is uncommitted: the next holder would take it for its own.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use comity_core::display::visible;
use comity_core::limits::FILES_LEFT_MAX;
use comity_core::locks::{Lock as CoreLock, LockEvent, LockMode};
use comity_core::next_call::Argument;
use comity_core::projects::Project;
use comity_core::{Event, Fence, ProjectId, Timestamp, World};
use comity_git::WorktreeFilter;

use super::Lock;
use crate::catalog::next_call;
use crate::lock_worktrees::is_in;
use crate::operations::commits::Commit;

/// How long git may take; without an answer nothing is said.
const LOOK_MAX: Duration = Duration::from_secs(3);
/// How far clocks and file systems may differ.
const SLACK_SECS: i64 = 2;

/// Locks that are about to be given up and under which somebody may have written.
pub(super) struct WrittenUnder(BTreeMap<Fence, (Project, CoreLock, WorktreeFilter)>);

impl WrittenUnder {
    /// Those of the locks whose files may have changed since they were locked.
    pub(super) fn among<'a>(
        world: &World,
        now: Timestamp,
        locks: impl IntoIterator<Item = &'a CoreLock>,
    ) -> WrittenUnder {
        let mut written = BTreeMap::new();
        for lock in locks {
            let Some(project) = world.projects.get(&lock.wanted.project) else { continue };
            // A holder with a worktree besides may have written there.
            let has_another = || {
                let own = world.worktrees.of(lock.wanted.project).filter(|tree| tree.owner == lock.holder);
                own.into_iter().any(|tree| Some(&*tree.tree.path) != lock.wanted.worktree.as_deref())
            };
            if lock.wanted.mode == LockMode::Exclusive && (may_be_written(lock, now) || has_another()) {
                written.insert(lock.fence, (project.clone(), lock.clone(), is_in(world, lock)));
            }
        }
        WrittenUnder(written)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The notes about locks that the events gave up.
    pub(super) fn notes(&self, events: &[Event]) -> Vec<String> {
        let mut by_project: BTreeMap<ProjectId, Vec<&(Project, CoreLock, WorktreeFilter)>> = BTreeMap::new();
        for event in events {
            let Event::Lock(LockEvent::Released { fence, .. }) = event else { continue };
            if let Some(given_up) = self.0.get(fence) {
                by_project.entry(given_up.1.wanted.project).or_default().push(given_up);
            }
        }
        let mut files: Vec<String> = Vec::new();
        for given_up in by_project.into_values() {
            let (project, ..) = given_up[0];
            let meant: Vec<_> =
                given_up.iter().map(|(_, lock, within)| (&lock.wanted.pattern, within)).collect();
            let common_dir = Path::new(&*project.common_dir);
            let found =
                comity_git::uncommitted_works(common_dir, &meant, project.case, LOOK_MAX, FILES_LEFT_MAX);
            files.extend(found.into_iter().filter_map(Result::ok).flatten().flatten());
        }
        files.sort();
        files.dedup();
        note(&files).into_iter().collect()
    }
}

fn note(files: &[String]) -> Option<String> {
    let shown: Vec<_> = files.iter().take(FILES_LEFT_MAX).map(|file| visible(file)).collect();
    let more = match files.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let has = match files.len() {
        0 => return None,
        1 => "has",
        _ => "have",
    };
    let shown = shown.join(", ");
    Some(format!(
        "{shown}{more} {has} uncommitted changes; to commit them: {}, then {}",
        next_call::<Lock>([("paths", Argument::List(files.to_vec()))]),
        next_call::<Commit>([("message", "MESSAGE".into())])
    ))
}

/// Whether a file may have been written since it was locked; always possible for directories and globs.
fn may_be_written(lock: &CoreLock, now: Timestamp) -> bool {
    let [alternative] = lock.wanted.pattern.alternatives() else { return true };
    let Some(root) = lock.wanted.worktree.as_deref().filter(|_| alternative.rest().is_empty()) else {
        return true;
    };
    let locked_for = i64::try_from(now.since(lock.since).0 / 1_000).unwrap_or(i64::MAX);
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |wall| wall.as_secs());
    let locked =
        i64::try_from(wall).unwrap_or(i64::MAX).saturating_sub(locked_for).saturating_sub(SLACK_SECS);
    let path: PathBuf = Path::new(root).join(alternative.prefix().collect::<PathBuf>());
    // For a missing file, the directory tells when it was removed.
    let there = path.ancestors().find_map(|path| path.symlink_metadata().ok());
    there.is_none_or(|there| there.ctime() >= locked)
}
