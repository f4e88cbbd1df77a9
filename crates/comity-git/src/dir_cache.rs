//! Remembers what was seen of directories: that they are not repositories and not case-insensitive, for as long as
//! nothing in them changes, and for a moment that they are directories at all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const DIRECTORIES_MAX: usize = 8_192;
/// A directory that was changed this recently might change again without its times showing it.
const SETTLED_SECONDS: i64 = 2;

/// A directory as it was at one look: adding or removing an entry changes its times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DirStamp {
    id: (u64, u64),
    changed: (i64, u64),
    written: (i64, u64),
}

/// A directory that was walked through is not looked at again for this long: asks come in bursts.
const WALKED_FOR: Duration = Duration::from_millis(100);

/// Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirCache(Arc<Mutex<CachedDirs>>);

#[derive(Debug, Default)]
struct CachedDirs {
    /// Those without a `.git` and without a case rule of their own, by device and inode.
    plain: HashMap<(u64, u64), DirStamp>,
    /// Those that were walked through recently, with what was seen and when.
    walked: HashMap<Box<[u8]>, (DirStamp, Instant)>,
}

impl DirStamp {
    pub(crate) fn of(stat: &rustix::fs::Stat) -> DirStamp {
        DirStamp {
            id: (stat.st_dev, stat.st_ino),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
            written: (stat.st_mtime, stat.st_mtime_nsec),
        }
    }

    pub(crate) fn device(&self) -> u64 {
        self.id.0
    }

    /// Whether its times are old enough to show every later change.
    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
        now - self.changed.0.max(self.written.0) > SETTLED_SECONDS
    }
}

impl DirCache {
    /// Whether the directory was plain at an earlier look and has not changed since.
    pub(crate) fn knows(&self, stamp: DirStamp) -> bool {
        self.lock().plain.get(&stamp.id) == Some(&stamp)
    }

    /// Records that the directory has no `.git`, and the project's case rule.
    pub(crate) fn remember(&self, stamp: DirStamp) {
        if !stamp.is_settled() {
            return;
        }
        let mut known = self.lock();
        if known.plain.len() >= DIRECTORIES_MAX {
            known.plain.clear();
        }
        known.plain.insert(stamp.id, stamp);
    }

    /// The directory at this path as it was a moment ago, if it was walked through then.
    pub(crate) fn walked(&self, path: &[u8]) -> Option<DirStamp> {
        let known = self.lock();
        known.walked.get(path).filter(|(_, when)| when.elapsed() < WALKED_FOR).map(|(stamp, _)| *stamp)
    }

    /// Whether every directory on the way to this path, from `start` on, was walked through a moment ago and is
    /// plain.
    pub(crate) fn is_plain_way(&self, path: &[u8], start: usize) -> bool {
        let known = self.lock();
        let now = Instant::now();
        let is_plain = |dir: &[u8]| {
            known.walked.get(dir).is_some_and(|(stamp, when)| {
                now.duration_since(*when) < WALKED_FOR && known.plain.get(&stamp.id) == Some(stamp)
            })
        };
        (start..path.len()).filter(|at| path[*at] == b'/').all(|at| is_plain(&path[..at]))
    }

    pub(crate) fn walk(&self, path: &[u8], stamp: DirStamp) {
        let mut known = self.lock();
        if known.walked.len() >= DIRECTORIES_MAX {
            known.walked.clear();
        }
        known.walked.insert(path.into(), (stamp, Instant::now()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, CachedDirs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cache is no part of a repository's identity.
impl PartialEq for DirCache {
    fn eq(&self, _: &DirCache) -> bool {
        true
    }
}

impl Eq for DirCache {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_known_until_it_changes() {
        let plain = DirCache::default();
        let old = DirStamp { id: (1, 7), changed: (1_000, 5), written: (1_000, 5) };
        assert!(!plain.knows(old));
        plain.remember(old);
        assert!(plain.knows(old));
        assert!(!plain.knows(DirStamp { changed: (1_000, 6), ..old }), "something was made in it");
        assert!(!plain.knows(DirStamp { id: (1, 8), ..old }), "another directory");

        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
        let fresh = DirStamp { id: (1, 9), changed: (now, 0), written: (now, 0) };
        plain.remember(fresh);
        assert!(!plain.knows(fresh), "its times do not tell every change yet");
    }
}
