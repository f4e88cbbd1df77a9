//! What the owner of a worktree had locked while working in it.

use comity_core::locks::LockEvent;
use comity_core::worktrees::Worktree;
use comity_core::{CaseRule, Event, PathPattern};
use comity_git::commit::{CommitScope, Patterns};

use crate::application::Application;
use crate::operation::Failure;

/// Records that are read at a time.
const PAGE_RECORDS: usize = 5_000;

/// Paths of a list that the owner of a worktree never had locked since it was made.
pub(super) fn never_locked(
    app: &Application,
    worktree: &Worktree,
    case: CaseRule,
    paths: &[std::path::PathBuf],
) -> Result<Vec<String>, Failure> {
    let patterns = locked_since(app, worktree)?;
    let scope = Patterns { patterns: &patterns, case };
    let outside = paths.iter().filter(|path| !scope.covers(path));
    Ok(outside.map(|path| path.to_string_lossy().into_owned()).collect())
}

fn locked_since(app: &Application, worktree: &Worktree) -> Result<Vec<PathPattern>, Failure> {
    let reader = app.reader()?;
    // Locks that the owner had taken before and still holds count as well.
    let held = app.engine().world();
    let held = held.locks.of(worktree.owner).filter(|lock| lock.wanted.project == worktree.project);
    let mut patterns: Vec<PathPattern> = held.map(|lock| lock.wanted.pattern.clone()).collect();
    let mut after = worktree.added;
    loop {
        let page = reader.read(after, PAGE_RECORDS).map_err(Failure::fault)?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        let taken = page.iter().filter_map(|record| match &record.event {
            Event::Lock(LockEvent::Acquired { holder, wanted, .. })
                if *holder == worktree.owner && wanted.project == worktree.project =>
            {
                Some(wanted.pattern.clone())
            }
            _ => None,
        });
        patterns.extend(taken);
        patterns.sort();
        patterns.dedup();
    }
    Ok(patterns)
}
