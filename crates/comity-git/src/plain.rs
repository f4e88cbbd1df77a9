//! Remembers directories that are known to be no repositories of their own, for as long as nothing in them changes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Directories that are remembered.
const DIRECTORIES_MAX: usize = 8_192;
/// A directory that was changed this lately might change again without its time showing it.
const SETTLED_SECONDS: i64 = 2;

/// A directory as it was at one look: making or removing an entry changes its times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    id: (u64, u64),
    changed: (i64, u64),
    written: (i64, u64),
}

/// The directories without a `.git`; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plain(Arc<Mutex<HashMap<(u64, u64), Stamp>>>);

impl Stamp {
    pub(crate) fn of(stat: &rustix::fs::Stat) -> Stamp {
        Stamp {
            id: (stat.st_dev, stat.st_ino),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
            written: (stat.st_mtime, stat.st_mtime_nsec),
        }
    }

    /// Whether its times are old enough to tell every later change.
    fn is_settled(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
        now - self.changed.0.max(self.written.0) > SETTLED_SECONDS
    }
}

impl Plain {
    /// Whether the directory had no `.git` at an earlier look and has not changed since.
    pub(crate) fn knows(&self, stamp: Stamp) -> bool {
        self.lock().get(&stamp.id) == Some(&stamp)
    }

    /// The directory has no `.git`.
    pub(crate) fn remember(&self, stamp: Stamp) {
        if !stamp.is_settled() {
            return;
        }
        let mut known = self.lock();
        if known.len() >= DIRECTORIES_MAX {
            known.clear();
        }
        known.insert(stamp.id, stamp);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(u64, u64), Stamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is remembered is no part of what a repository is.
impl PartialEq for Plain {
    fn eq(&self, _: &Plain) -> bool {
        true
    }
}

impl Eq for Plain {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_known_until_it_changes() {
        let plain = Plain::default();
        let old = Stamp { id: (1, 7), changed: (1_000, 5), written: (1_000, 5) };
        assert!(!plain.knows(old));
        plain.remember(old);
        assert!(plain.knows(old));
        assert!(!plain.knows(Stamp { changed: (1_000, 6), ..old }), "something was made in it");
        assert!(!plain.knows(Stamp { id: (1, 8), ..old }), "another directory");

        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs() as i64);
        let fresh = Stamp { id: (1, 9), changed: (now, 0), written: (now, 0) };
        plain.remember(fresh);
        assert!(!plain.knows(fresh), "its times do not tell every change yet");
    }
}
