//! Puts together the report on a commit, or on why there is none.

use std::path::Path;
use std::time::{Duration, Instant};

use super::answer::{
    CommitOutcome, CommitReport, Committed, Dirty, FirstOf, Missing, MissingReason, SkipReason, SkippedPath,
};
use super::attempts::PublishedCommit;
use super::change::FileChange;
use super::look::CommitCandidates;
use super::presence::PresenceCache;
use super::request::CommitRequest;
use super::side_by_side::both;
use super::verify::{self, verify};
use crate::git::Git;

/// How long looking back at a commit may take. Nobody waits behind us then.
const LOOK_BACK_MAX: Duration = Duration::from_secs(30);

/// Looks back, and reports on a request.
pub(super) fn answer(
    git: &Git<'_>,
    request: &CommitRequest<'_>,
    found: &CommitCandidates,
    made: Option<PublishedCommit>,
) -> CommitOutcome {
    let git = &git.until(Instant::now() + LOOK_BACK_MAX);
    let Some(made) = made else {
        return CommitOutcome::Nothing(report(git, request, found, &[], dirty(git, found, &[])));
    };
    let (verified, dirty) =
        both(|| verify(git, &made.commit, &made.changes), || dirty(git, found, &made.changes));
    let mut report = report(git, request, found, &made.changes, dirty);
    // The commit stands, whatever could not be found out about it.
    let mut warn = |problem: String| report.warnings.push(problem);
    let overtaken = made.overtaken.unwrap_or_else(|unknown| {
        warn(format!("what others committed meanwhile could not be found out: {unknown}"));
        Vec::new()
    });
    CommitOutcome::Committed(Box::new(Committed {
        commit: made.commit,
        parent: found.head.clone(),
        branch: made.branch,
        changes: made.changes,
        overtaken: FirstOf::of(overtaken),
        verified,
        index: made.index,
        report,
    }))
}

/// What is uncommitted, from what is known already if that is enough.
fn dirty(git: &Git<'_>, found: &CommitCandidates, changes: &[FileChange]) -> Dirty {
    let Some(dirty) = &found.dirty else { return verify::dirty(git) };
    let is_committed =
        |path: &Path| changes.binary_search_by(|change| change.path.as_path().cmp(path)).is_ok();
    Dirty::Known(FirstOf::of(dirty.iter().filter(|path| !is_committed(path)).cloned()))
}

fn report(
    git: &Git<'_>,
    request: &CommitRequest<'_>,
    found: &CommitCandidates,
    changes: &[FileChange],
    dirty: Dirty,
) -> CommitReport {
    let skipped = found.skipped.iter();
    let skipped = skipped.map(|(path, reason)| SkippedPath { path: path.clone(), reason: reason.clone() });
    let tree = PresenceCache::at(&git.worktree().root);
    let is_in = |path: &Path| changes.iter().any(|change| change.path.starts_with(path));
    let missing = request.expected.iter().filter(|path| !is_in(path)).map(|path| {
        let reason = match found.reason(path) {
            Some(reason) => MissingReason::Skipped(reason.clone()),
            None if !request.scope.covers(path) => MissingReason::Skipped(SkipReason::OutsideScope),
            None if tree.has(path) => MissingReason::Unchanged,
            None => MissingReason::NotThere,
        };
        Missing { path: path.clone(), reason }
    });
    let missing = missing.collect();
    CommitReport {
        skipped: FirstOf::of(skipped),
        missing,
        dirty,
        half_renames: vec![],
        warnings: found.warnings.clone(),
    }
}
