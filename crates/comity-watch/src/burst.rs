//! Paths that were touched recently and have not settled.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::watcher::Bounds;

/// The paths of one tree that wait to settle.
#[derive(Debug, Default)]
pub(crate) struct Burst {
    waiting: BTreeMap<PathBuf, Touches>,
    /// The last touch of any of them: what is touched together settles together, and git is asked once.
    last: Option<Instant>,
    /// The first touch of the one that has waited longest.
    first: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Touches {
    first: Instant,
    last: Instant,
}

/// The result of a touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TouchOutcome {
    Waits,
    NoRoom,
}

impl Burst {
    pub(crate) fn touch(&mut self, path: &Path, now: Instant, bounds: &Bounds) -> TouchOutcome {
        if let Some(touches) = self.waiting.get_mut(path) {
            touches.last = now;
            self.last = Some(now);
            return TouchOutcome::Waits;
        }
        if self.waiting.len() >= bounds.paths_max {
            return TouchOutcome::NoRoom;
        }
        self.waiting.insert(path.to_owned(), Touches { first: now, last: now });
        self.last = Some(now);
        self.first = self.first.or(Some(now));
        TouchOutcome::Waits
    }

    /// When something may have settled; `None` if nothing waits.
    pub(crate) fn next(&self, bounds: &Bounds) -> Option<Instant> {
        Some((self.last? + bounds.settle).min(self.first? + bounds.burst_max))
    }

    pub(crate) fn settled(&mut self, now: Instant, bounds: &Bounds) -> Vec<PathBuf> {
        if self.next(bounds).is_none_or(|next| now < next) {
            return Vec::new();
        }
        let due = |touches: &Touches| (touches.last + bounds.settle).min(touches.first + bounds.burst_max);
        let mut settled = Vec::new();
        self.waiting.retain(|path, touches| {
            let waits = now < due(touches);
            if !waits {
                settled.push(path.clone());
            }
            waits
        });
        self.count_anew();
        settled
    }

    /// Forgets a path and everything below it.
    pub(crate) fn forget_below(&mut self, dir: &Path) {
        self.waiting.retain(|path, _| !path.starts_with(dir));
        self.count_anew();
    }

    fn count_anew(&mut self) {
        self.last = self.waiting.values().map(|touches| touches.last).max();
        self.first = self.waiting.values().map(|touches| touches.first).min();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const BOUNDS: Bounds = Bounds {
        directories_max: 10,
        paths_max: 2,
        settle: Duration::from_millis(100),
        burst_max: Duration::from_millis(1_000),
        git_max: Duration::from_secs(30),
        again_min: Duration::from_millis(500),
        again_max: Duration::from_secs(60),
    };

    /// Plays touches (`a` at so many milliseconds) and looks at each moment in turn; gives what settled when.
    fn check(touches: &[(&str, u64)], expected: &[(u64, &str)]) {
        let begun = Instant::now();
        let mut burst = Burst::default();
        let mut settled = Vec::new();
        for ms in 0..3_000 {
            let now = begun + Duration::from_millis(ms);
            for (path, _) in touches.iter().filter(|(_, at)| *at == ms) {
                burst.touch(Path::new(path), now, &BOUNDS);
            }
            let paths = burst.settled(now, &BOUNDS);
            settled.extend(paths.into_iter().map(|path| (ms, path.to_string_lossy().into_owned())));
        }
        let settled: Vec<(u64, &str)> = settled.iter().map(|(at, path)| (*at, path.as_str())).collect();
        assert_eq!(settled, expected, "{touches:?}");
        assert_eq!(burst.next(&BOUNDS), None, "nothing waits, so nothing is to wake for");
    }

    #[test]
    fn a_burst_is_told_once() {
        check(&[("a", 0)], &[(100, "a")]);
        check(&[("a", 0), ("a", 50), ("a", 120)], &[(220, "a")]);
        check(&[("a", 0), ("a", 500)], &[(100, "a"), (600, "a")]);
        check(&[("a", 0), ("b", 50)], &[(150, "a"), (150, "b")]);
        check(&[("a", 0), ("b", 1), ("c", 2)], &[(101, "a"), (101, "b")]);
        let endless: Vec<(&str, u64)> = (0..20).map(|at| ("a", at * 90)).collect();
        check(&endless, &[(1_000, "a"), (1_810, "a")]);
        let beside: Vec<(&str, u64)> = endless.iter().copied().chain([("b", 300)]).collect();
        check(&beside, &[(1_000, "a"), (1_000, "b"), (1_810, "a")]);
    }
}
