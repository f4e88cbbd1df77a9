//! Commits that went through Comity: its own, and those that the guard of git has judged.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use comity_core::{Fence, Principal, ProjectId};

/// Remembered commits and judgements.
const REMEMBERED_MAX: usize = 1_024;
/// How long after its judgement a commit may be made: an editor may be open for its message.
const JUDGED_FOR: Duration = Duration::from_secs(600);

/// The known commits that went through Comity.
#[derive(Debug, Default)]
pub(super) struct Own {
    running: AtomicUsize,
    made: Mutex<VecDeque<Box<str>>>,
    judged: Mutex<VecDeque<JudgedPaths>>,
}

/// A commit that the guard has let pass.
#[derive(Debug)]
pub(super) struct JudgedPaths {
    project: ProjectId,
    paths: BTreeSet<Box<str>>,
    /// Who was about to make it.
    pub(super) by: Principal,
    /// The newest lock that was considered.
    pub(super) newest: Fence,
    at: Instant,
}

/// Comity itself moves branches while this exists.
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

    /// The guard has let a commit of these pass. One commit may be judged twice: before its command, and by git.
    pub(super) fn judged(&self, project: ProjectId, by: Principal, paths: &[String], newest: Fence) {
        let paths: BTreeSet<Box<str>> = paths.iter().map(|path| path.as_str().into()).collect();
        let mut all = lock(&self.judged);
        // Nobody has one at a time, and displaces no others'.
        let is_of_nobody = by == Principal::Nobody;
        all.retain(|judged| {
            judged.project != project || judged.by != by || (judged.paths != paths && !is_of_nobody)
        });
        push(&mut all, JudgedPaths { project, paths, by, newest, at: Instant::now() });
    }

    /// The judgement for a commit of these by somebody who may have made it. One judgement is for one commit.
    pub(super) fn take_judgement(
        &self,
        project: ProjectId,
        paths: &BTreeSet<Box<str>>,
        may_be: impl Fn(Principal) -> bool,
    ) -> Option<JudgedPaths> {
        let mut all = lock(&self.judged);
        all.retain(|judged| judged.at.elapsed() < JUDGED_FOR);
        let is_it =
            |judged: &JudgedPaths| judged.project == project && judged.paths == *paths && may_be(judged.by);
        let at = all.iter().position(is_it)?;
        all.remove(at)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_crowds_out_no_judgement_of_others() {
        let (own, project) = (Own::default(), ProjectId::from_bits(1));
        own.judged(project, Principal::Human, &["src/a.rs".into()], Fence(1));
        for number in 0..2 * REMEMBERED_MAX {
            own.judged(project, Principal::Nobody, &[format!("src/{number}.rs")], Fence(1));
        }
        let asked = BTreeSet::from(["src/a.rs".into()]);
        assert!(own.take_judgement(project, &asked, |by| by == Principal::Human).is_some());
        let last = BTreeSet::from([format!("src/{}.rs", 2 * REMEMBERED_MAX - 1).into()]);
        assert!(own.take_judgement(project, &last, |by| by == Principal::Nobody).is_some());
    }
}
