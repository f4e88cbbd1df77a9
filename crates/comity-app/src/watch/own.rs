//! Commits that went through Comity: those that it made itself, and those that the guard of git has judged.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use comity_core::ProjectId;

/// Commits and judgements that are remembered.
const REMEMBERED_MAX: usize = 1_024;
/// How long after it was judged a commit may take to be made: an editor asks for its message.
const JUDGED_FOR: Duration = Duration::from_secs(600);

/// What is known of commits that went through Comity.
#[derive(Debug, Default)]
pub(super) struct Own {
    running: AtomicUsize,
    made: Mutex<VecDeque<Box<str>>>,
    judged: Mutex<VecDeque<JudgedPaths>>,
}

#[derive(Debug)]
struct JudgedPaths {
    project: ProjectId,
    paths: BTreeSet<Box<str>>,
    at: Instant,
}

/// Comity moves branches itself as long as this is there.
#[derive(Debug)]
pub(crate) struct OwnMove<'a>(&'a Own);

impl Drop for OwnMove<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Own {
    pub(super) fn moving(&self) -> OwnMove<'_> {
        self.running.fetch_add(1, Ordering::AcqRel);
        OwnMove(self)
    }

    pub(super) fn is_moving(&self) -> bool {
        self.running.load(Ordering::Acquire) > 0
    }

    pub(super) fn made(&self, commit: &str) {
        push(&mut lock(&self.made), commit.into());
    }

    pub(super) fn has_made(&self, commit: &str) -> bool {
        lock(&self.made).iter().any(|made| **made == *commit)
    }

    pub(super) fn judged(&self, project: ProjectId, paths: &[String]) {
        let paths = paths.iter().map(|path| path.as_str().into()).collect();
        push(&mut lock(&self.judged), JudgedPaths { project, paths, at: Instant::now() });
    }

    /// Whether git's guard has let a commit of these pass, and no more. One judgement is for one commit.
    pub(super) fn take_judgement(&self, project: ProjectId, paths: &BTreeSet<Box<str>>) -> bool {
        let mut all = lock(&self.judged);
        all.retain(|judged| judged.at.elapsed() < JUDGED_FOR);
        let is_it = |judged: &JudgedPaths| judged.project == project && judged.paths == *paths;
        match all.iter().position(is_it) {
            Some(at) => all.remove(at).is_some(),
            None => false,
        }
    }
}

fn push<T>(kept: &mut VecDeque<T>, one: T) {
    if kept.len() >= REMEMBERED_MAX {
        kept.pop_front();
    }
    kept.push_back(one);
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
