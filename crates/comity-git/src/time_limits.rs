//! How long a program may take: a quick question is given up soon, long work once nothing progresses.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Git commands that take longer with more files or commits. All others are quick.
const LONG: [&str; 14] = [
    "checkout",
    "diff-index",
    "diff-tree",
    "hash-object",
    "hook",
    "log",
    "ls-files",
    "merge-tree",
    "read-tree",
    "reset",
    "rev-list",
    "stash",
    "status",
    "update-index",
];

/// How often long work is checked for progress, within the time after which it counts as hung.
const LOOKS: u32 = 8;
static HUNG_AFTER_MS: AtomicU64 = AtomicU64::new(30_000);

/// Sets after how long git is given up that does not answer a quick question, or makes no progress in long work.
pub fn give_up_git_after(silence: Duration) {
    HUNG_AFTER_MS.store(u64::try_from(silence.as_millis()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GitPace {
    Quick,
    /// It may use all the time there is, as long as it progresses.
    Long,
    /// It may use all the time there is: nobody knows what it waits for.
    Any,
}

impl GitPace {
    pub(crate) fn of(verb: &str) -> GitPace {
        if LONG.contains(&verb) { GitPace::Long } else { GitPace::Quick }
    }
}

pub(crate) struct TimeLeft {
    deadline: Instant,
    pace: GitPace,
    hung_after: Duration,
    looked: Instant,
    /// When it last made progress, and all that it had done by then.
    moved: (Instant, u64),
}

impl TimeLeft {
    pub(crate) fn new(pace: GitPace, deadline: Instant) -> TimeLeft {
        let hung_after = Duration::from_millis(HUNG_AFTER_MS.load(Ordering::Relaxed));
        let now = Instant::now();
        TimeLeft { deadline, pace, hung_after, looked: now, moved: (now, 0) }
    }

    /// How long to wait for this process group before the next check.
    pub(crate) fn left(&mut self, group: u32) -> io::Result<Duration> {
        let now = Instant::now();
        let Some(left) = self.deadline.checked_duration_since(now).filter(|left| !left.is_zero()) else {
            return Err(io::Error::new(ErrorKind::TimedOut, "it was not done in time"));
        };
        let step = self.hung_after / LOOKS;
        match self.pace {
            GitPace::Any => return Ok(left),
            GitPace::Long if now.duration_since(self.looked) >= step => {
                self.looked = now;
                match work_of(group) {
                    Some(done) if done == self.moved.1 => {}
                    Some(done) => self.moved = (now, done),
                    None => self.moved.0 = now,
                }
            }
            GitPace::Long | GitPace::Quick => {}
        }
        let silence = now.duration_since(self.moved.0);
        if silence < self.hung_after {
            return Ok(left.min(self.hung_after - silence).min(step));
        }
        let silence = self.hung_after.as_secs_f32();
        let problem = format!("it hung for {silence:.0}s and was ended; see whether the disk answers");
        Err(io::Error::new(ErrorKind::TimedOut, problem))
    }
}

/// What the processes of a group have done so far, as a growing number; `None` if the system does not tell.
#[cfg(target_os = "linux")]
fn work_of(group: u32) -> Option<u64> {
    let mut work = 0_u64;
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(") ") else { continue };
        let mut fields = fields.split(' ');
        if fields.nth(2).and_then(|group| group.parse().ok()) != Some(group) {
            continue;
        }
        // Processor time, including children that have exited.
        let ticks = fields.skip(8).take(4).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>();
        let io = std::fs::read_to_string(entry.path().join("io")).unwrap_or_default();
        let bytes = io.lines().filter_map(|line| line.split_once(": ")?.1.parse::<u64>().ok()).sum::<u64>();
        work = work.wrapping_add(ticks).wrapping_add(bytes);
    }
    Some(work)
}

#[cfg(not(target_os = "linux"))]
fn work_of(_: u32) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unless_set_otherwise_git_that_hangs_is_given_up_after_30_seconds() {
        let check = |pace: GitPace, silent: u64, is_given_up: bool| {
            let now = Instant::now();
            let mut bound = TimeLeft::new(pace, now + Duration::from_secs(600));
            let ago = now.checked_sub(Duration::from_secs(silent)).expect("the machine runs for longer");
            (bound.looked, bound.moved) = (now, (ago, 0));
            let left = bound.left(0);
            assert_eq!(left.is_err(), is_given_up, "{pace:?}, silent for {silent}s: {left:?}");
            let said = left.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(!is_given_up || said.starts_with("it hung for 30s"), "{said}");
        };
        for pace in [GitPace::Quick, GitPace::Long] {
            check(pace, 29, false);
            check(pace, 30, true);
        }
        check(GitPace::Any, 599, false);
    }
}
