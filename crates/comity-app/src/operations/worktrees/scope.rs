//! What a worktree's owner had locked while working in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use comity_core::commits::CommitEvent;
use comity_core::locks::LockEvent;
use comity_core::worktrees::Worktree;
use comity_core::{CaseRule, Event, PathPattern};
use comity_git::commit::{CommitScope, Patterns};

use crate::application::Application;
use crate::operation::Failure;

/// Records that are read at a time.
const PAGE_RECORDS: usize = 5_000;
/// Paths whose commits are traced.
const TRACED_MAX: usize = 100;

/// Those paths that the worktree's owner never had locked since it was made. What `comity commit` committed was
/// locked then, by whomever and wherever: `commits_to` says which commits a path comes from.
pub(super) fn never_locked(
    app: &Application,
    worktree: &Worktree,
    case: CaseRule,
    paths: &[PathBuf],
    commits_to: impl Fn(&Path) -> Result<Vec<String>, Failure>,
) -> Result<Vec<String>, Failure> {
    let patterns = locked_since(app, worktree)?;
    let scope = Patterns { patterns: &patterns, case };
    let outside: Vec<&PathBuf> = paths.iter().filter(|path| !scope.covers(path)).collect();
    let mut never = Vec::new();
    let mut asked: BTreeMap<&Path, Vec<String>> = BTreeMap::new();
    // If there are very many, whoever merges has to check them.
    for path in outside.iter().take(TRACED_MAX) {
        asked.insert(path, commits_to(path)?);
    }
    let ids: BTreeSet<&str> = asked.values().flatten().map(String::as_str).collect();
    let made = if ids.is_empty() { BTreeSet::new() } else { made_under_locks(app, &ids)? };
    for path in outside {
        let commits = asked.get(path.as_path()).map(Vec::as_slice).unwrap_or_default();
        if commits.is_empty() || !commits.iter().all(|commit| made.contains(commit)) {
            never.push(path.to_string_lossy().into_owned());
        }
    }
    Ok(never)
}

/// Those of the commits that were made of what somebody had locked.
pub(crate) fn made_under_locks(app: &Application, ids: &BTreeSet<&str>) -> Result<BTreeSet<String>, Failure> {
    let reader = app.reader()?;
    let (mut made, mut after) = (BTreeSet::new(), 0);
    while made.len() < ids.len() {
        let page = reader.read(after, PAGE_RECORDS).map_err(Failure::fault)?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        made.extend(page.iter().filter_map(|record| match &record.event {
            Event::Commit(CommitEvent::Made { commit, .. }) if ids.contains(&*commit.id) => {
                Some(commit.id.to_string())
            }
            _ => None,
        }));
    }
    Ok(made)
}

fn locked_since(app: &Application, worktree: &Worktree) -> Result<Vec<PathPattern>, Failure> {
    let reader = app.reader()?;
    // Locks that the owner had taken before and still holds count as well.
    let mut patterns: Vec<PathPattern> = {
        let world = app.engine().world();
        let held = world.locks.of(worktree.owner).filter(|lock| lock.wanted.project == worktree.project);
        held.map(|lock| lock.wanted.pattern.clone()).collect()
    };
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
