//! Faults that are planted, to see that each is found.

use std::time::Duration;

use serde_json::json;

use crate::gather::RunResult;
use crate::told::Told;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// The log lacks the newest entry that tells of a lock which was given back.
    Lost,
    /// Another agent was told that it has a lock at the same time.
    Twice,
    /// A letter comes again and does not say so.
    Letter,
    /// A commit is made past the server, in the real repository.
    Commit,
    /// Who made a commit was told that there was nothing to commit.
    Denied,
    /// The ref that kept what was put aside is gone.
    Rescue,
    /// A worktree came back twice from one trash.
    Restore,
    /// A merge that was finished has one parent.
    Merge,
    /// A question got an answer that should not be.
    Wrong,
    /// A server took ten seconds to come back.
    Slow,
    /// Servers become larger and larger.
    Memory,
    /// One server becomes larger and larger as long as it lives.
    Leak,
    /// The write-ahead log became huge.
    Backlog,
    /// A real process is still there at the end.
    Process,
}

impl Plant {
    /// All of them, with the words for them and the figures that they spoil.
    pub const ALL: [(Plant, &'static str, &'static str); 14] = [
        (Plant::Lost, "lost", "lost"),
        (Plant::Twice, "twice", "granted twice"),
        (Plant::Letter, "letter", "granted twice"),
        (Plant::Commit, "commit", "unrecorded commits"),
        (Plant::Denied, "denied", "own commits denied"),
        (Plant::Rescue, "rescue", "lost"),
        (Plant::Restore, "restore", "granted twice"),
        (Plant::Merge, "merge", "lost"),
        (Plant::Wrong, "wrong", "wrong answers"),
        (Plant::Slow, "slow", "restart p50, p99, max"),
        (Plant::Memory, "memory", "memory after the start"),
        (Plant::Leak, "leak", "memory of the longest life"),
        (Plant::Backlog, "backlog", "write-ahead log, max"),
        (Plant::Process, "process", "left behind"),
    ];

    /// The fault that is called so.
    pub fn named(word: &str) -> Option<Plant> {
        Plant::ALL.iter().find(|(_, name, _)| *name == word).map(|(plant, ..)| *plant)
    }
}

impl RunResult {
    /// Spoils what was seen; the faults that are real were planted during the run.
    pub(crate) fn plant(&mut self, plant: Plant) {
        let told = &mut self.evidence.told;
        match plant {
            Plant::Commit | Plant::Process => {}
            Plant::Lost => {
                let unlocked = told.iter().rev().find_map(|told| match told {
                    Told::Unlocked { fence } => Some(*fence),
                    _ => None,
                });
                self.evidence.log.retain(|entry| {
                    entry["action"] != "lock_released" || entry["details"]["fence"].as_u64() != unlocked
                });
            }
            Plant::Twice => {
                let locked = told.iter().find_map(|told| match told {
                    Told::Locked { is_shared: false, .. } => Some(told.clone()),
                    _ => None,
                });
                if let Some(Told::Locked { reason, fence, path, is_shared, held, .. }) = locked {
                    let agent = "somebody else".into();
                    told.push(Told::Locked { agent, reason, fence, path, is_shared, held });
                }
            }
            Plant::Letter => {
                let arrived = told.iter().find_map(|told| match told {
                    Told::Arrived { is_again: false, .. } => Some(told.clone()),
                    _ => None,
                });
                told.extend(arrived);
            }
            Plant::Denied => {
                let subject = self.evidence.commits.first().map(|commit| commit.subject.clone());
                told.extend(subject.map(|subject| Told::NothingToCommit { subject }));
            }
            Plant::Rescue => {
                self.evidence.rescues.pop_last();
            }
            Plant::Restore => {
                let restored = told.iter().find_map(|told| match told {
                    Told::TreeRestored { slug } => Some(slug.clone()),
                    _ => None,
                });
                let log = &mut self.evidence.log;
                let seq = log.len() + 1;
                log.extend(restored.map(|slug| {
                    json!({ "seq": seq, "action": "worktree_added", "details": { "tree": { "slug": slug } } })
                }));
            }
            Plant::Merge => {
                let finished = told.iter().find_map(|told| match told {
                    Told::MergeFinished { commit, .. } => Some(commit.clone()),
                    _ => None,
                });
                let made = self.evidence.commits.iter_mut().find(|made| Some(&made.id) == finished.as_ref());
                if let Some(made) = made {
                    made.parents.truncate(1);
                }
            }
            Plant::Wrong => self.wrong.push("planted".into()),
            Plant::Slow => self.restarts.extend([Duration::from_secs(10); 10]),
            Plant::Memory => {
                let first = self.samples.first().copied();
                self.samples.extend((1..=200).filter_map(|times| {
                    let first = first?;
                    Some(crate::killer::Sample { is_first: true, rss_kib: first.rss_kib * times, ..first })
                }));
            }
            Plant::Leak => {
                let first = self.samples.first().copied();
                self.samples.extend((1..=200).filter_map(|times| {
                    let first = first?;
                    let rss_kib = first.rss_kib * times;
                    Some(crate::killer::Sample { is_first: false, pid: u32::MAX, rss_kib, ..first })
                }));
            }
            Plant::Backlog => {
                self.samples.iter_mut().take(1).for_each(|sample| sample.wal_bytes = 1 << 30);
            }
        }
    }
}
