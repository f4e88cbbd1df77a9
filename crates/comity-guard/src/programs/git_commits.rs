//! `git add` and `git commit`: which files the commit will contain.

use super::walk::{ProgramCall, Walk};
use crate::arguments::Argument;
use crate::effects::{FileTarget, GitCommit};
use crate::limits::EFFECTS_MAX;

pub(crate) fn git_add(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if call.given.has(&["n", "dry-run"]) {
        return;
    }
    let everything = call.given.operands.is_empty() || call.given.has(&["pathspec-from-file", "p", "i"]);
    let added = if everything { all(walk) } else { targets(walk, &call.given.operands) };
    // Each later commit contains all of this.
    match walk.staged.len() + added.len() <= EFFECTS_MAX {
        true => walk.staged.extend(added),
        false => walk.staged = all(walk),
    }
}

pub(crate) fn git_commit(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if call.given.has(&["dry-run"]) {
        return;
    }
    let Some(of) = walk.base.here() else {
        // Only running would tell where; the commit itself is judged, or noticed.
        return;
    };
    let given = &call.given;
    let named = !given.operands.is_empty() || given.has(&["pathspec-from-file"]);
    // With paths only those are committed, unless the rest is asked for, too.
    let staged = !named || given.has(&["i", "include"]);
    let mut paths = match given.has(&["pathspec-from-file", "p", "patch", "interactive"]) {
        true => all(walk),
        false => targets(walk, &given.operands),
    };
    if staged && walk.spends(walk.staged.len()) {
        paths.extend(walk.staged.iter().cloned());
    }
    walk.found.commit(GitCommit { of, staged, tracked: given.has(&["a", "all"]), paths });
}

fn all(walk: &Walk<'_>) -> Vec<FileTarget> {
    walk.base.here().map(FileTarget::WorkTree).into_iter().collect()
}

/// Pathspecs; anything but a plain path may be any file.
fn targets(walk: &Walk<'_>, pathspecs: &[Argument]) -> Vec<FileTarget> {
    let mut found = Vec::new();
    for pathspec in pathspecs {
        let is_magic =
            pathspec.plain().is_some_and(|path| path.starts_with(':') || path.contains(['*', '?', '[']));
        let meant = if is_magic { all(walk) } else { walk.base.targets(pathspec) };
        let is_unclear = meant.iter().any(|target| matches!(target, FileTarget::Unclear(_)));
        found.extend(if is_unclear { all(walk) } else { meant });
    }
    found
}
