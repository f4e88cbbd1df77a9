//! Finds changes in the working tree within a scope, and which of them can be committed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use comity_core::CaseRule;

use super::answer::SkipReason;
use super::change::FileVersion;
use super::filters::filtered;
use super::index_flags::may_hide;
use super::not_committed::NotCommitted;
use super::presence::{Presence, PresenceCache};
use super::scope::{CommitScope, SearchScope};
use super::side_by_side::both;
use crate::git::Git;
use crate::hidden::{Hidden, hidden_work};
use crate::parse::{pathspec, to_path};
use crate::status::{PathState, StatusEntry, StatusQuery, WorktreeStatus};

/// Bytes of paths that are given to git as pathspecs; beyond that, it looks everywhere.
const SPECS_BYTES_MAX: usize = 256 << 10;
/// An index up to this size (some ten thousand files) is cheaper to check as a whole than in parts.
const SMALL_INDEX_BYTES: u64 = 1 << 20;

#[derive(Default)]
pub(super) struct CommitCandidates {
    /// The current commit; `None` on a branch without commits.
    pub(super) head: Option<String>,
    /// Paths to put into the index; whether they differ from the commit shows there.
    pub(super) candidates: BTreeMap<PathBuf, Candidate>,
    pub(super) skipped: BTreeMap<PathBuf, SkipReason>,
    /// Staged changes that we do not commit, with what is committed there; there may be more elsewhere.
    pub(super) staged: BTreeMap<PathBuf, Option<FileVersion>>,
    pub(super) has_conflicts: bool,
    /// Everything uncommitted in the worktree, if all of it was looked at.
    pub(super) dirty: Option<BTreeSet<PathBuf>>,
    pub(super) warnings: Vec<String>,
}

/// A path that is changed, or may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Candidate {
    /// What the shared index has there.
    pub(super) indexed: Option<FileVersion>,
    pub(super) now: OnDisk,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum OnDisk {
    File,
    Link,
    Gone,
    /// A directory, or something behind a symlink: the path is gone, but git would not treat it as deleted.
    Replaced,
}

pub(super) fn look(
    git: &Git<'_>,
    scope: &dyn CommitScope,
    case: CaseRule,
) -> Result<CommitCandidates, NotCommitted> {
    let looked_at = scope.look();
    if looked_at == SearchScope::At(Vec::new()) {
        return Ok(CommitCandidates::default());
    }
    let index = git.worktree().git_dir.join("index");
    let index_metadata = index.metadata();
    if index_metadata.as_ref().is_ok_and(|metadata| !metadata.is_file()) {
        // Git would block on it.
        return Err(NotCommitted::fault(format!("{} isn't a plain file", index.display())));
    }
    let is_small = index_metadata.map_or(0, |metadata| metadata.len()) <= SMALL_INDEX_BYTES;
    let specs = if is_small { Vec::new() } else { specs(&looked_at, case) };
    let query = StatusQuery { specs: &specs, ignored: true, submodules: true };
    let status = || WorktreeStatus::ask(git, query);
    let hidden = || hidden_work(git, &specs, |path| scope.covers(&to_path(path)));
    let has_long_hashes = git.has_setting("extensions.objectformat");
    let (status, hidden) = if has_long_hashes || may_hide(&index) {
        both(status, hidden)
    } else {
        (status(), Ok(Hidden::Paths(Vec::new())))
    };
    let status = status?;
    let mut looking = CandidateSearch {
        scope,
        looked_at: &looked_at,
        tree: PresenceCache::at(&git.worktree().root),
        found: CommitCandidates {
            dirty: specs.is_empty().then(|| dirty(&status.entries)),
            warnings: status.warnings(),
            head: status.head.map(|head| head.as_str().to_owned()),
            ..CommitCandidates::default()
        },
    };
    status.entries.into_iter().for_each(|entry| looking.sort_in(entry));
    let mut found = looking.found;
    match hidden? {
        Hidden::Paths(paths) => {
            for path in paths.iter().map(|path| to_path(path)) {
                found.candidates.remove(&path);
                found.skipped.insert(path, SkipReason::Hidden);
            }
        }
        Hidden::TooMany => {
            found.warnings.push("too many files have hidden changes (`git ls-files -v`)".into())
        }
    }
    let files = found.candidates.iter().filter(|(_, candidate)| candidate.now == OnDisk::File);
    for (path, filter) in filtered(git, files.map(|(path, _)| path.as_path()))? {
        found.candidates.remove(&path);
        found.skipped.insert(path, SkipReason::Filtered { filter });
    }
    found.staged.retain(|path, _| !found.candidates.contains_key(path));
    Ok(found)
}

/// Pathspecs for git; none means everything.
fn specs(look: &SearchScope, case: CaseRule) -> Vec<OsString> {
    let paths = match look {
        SearchScope::Everywhere => return Vec::new(),
        SearchScope::At(paths) => paths,
    };
    let bytes: usize = paths.iter().map(|path| path.as_os_str().len()).sum();
    let is_top = |path: &PathBuf| path.as_os_str().is_empty();
    if bytes > SPECS_BYTES_MAX || paths.iter().any(is_top) {
        return Vec::new();
    }
    paths.iter().map(|path| pathspec(path, case)).collect()
}

/// The uncommitted paths. Another repository's files are not this worktree's.
pub(super) fn dirty(entries: &[StatusEntry]) -> BTreeSet<PathBuf> {
    let is_ours = |entry: &&StatusEntry| match entry.state {
        PathState::Tracked { .. } | PathState::Unmerged => true,
        PathState::Untracked => !entry.is_dir(),
        PathState::Ignored => false,
    };
    entries.iter().filter(is_ours).map(StatusEntry::to_path).collect()
}

/// Git's changes, as they are sorted into what can be committed and what cannot.
struct CandidateSearch<'a> {
    scope: &'a dyn CommitScope,
    looked_at: &'a SearchScope,
    tree: PresenceCache<'a>,
    found: CommitCandidates,
}

impl CandidateSearch<'_> {
    fn sort_in(&mut self, StatusEntry { path, state, is_submodule }: StatusEntry) {
        let dir = path.strip_suffix(b"/");
        let path = to_path(dir.unwrap_or(&path));
        self.found.has_conflicts |= state == PathState::Unmerged;
        if let PathState::Tracked { committed, indexed } = &state
            && committed != indexed
        {
            self.found.staged.insert(path.clone(), committed.clone());
        }
        if state == PathState::Ignored {
            return self.ignored(path, dir.is_some());
        }
        if !self.scope.covers(&path) {
            if self.is_looked_at(&path) {
                self.skip(path, SkipReason::OutsideScope);
            }
            return;
        }
        match state {
            PathState::Tracked { .. } if is_submodule => self.skip(path, SkipReason::Submodule),
            PathState::Tracked { indexed, .. } => self.candidate(path, indexed),
            PathState::Unmerged => self.skip(path, SkipReason::Unmerged),
            PathState::Untracked if dir.is_some() => self.skip(path, SkipReason::NestedRepository),
            PathState::Untracked => self.candidate(path, None),
            PathState::Ignored => {}
        }
    }

    /// Whether somebody wants to hear of a path that is not covered.
    fn is_looked_at(&self, path: &Path) -> bool {
        match self.looked_at {
            SearchScope::Everywhere => true,
            SearchScope::At(paths) => paths.iter().any(|looked_at| path.starts_with(looked_at)),
        }
    }

    fn candidate(&mut self, path: PathBuf, indexed: Option<FileVersion>) {
        let now = match self.tree.presence(&path) {
            Presence::File => OnDisk::File,
            Presence::Link => OnDisk::Link,
            Presence::Gone => OnDisk::Gone,
            Presence::Directory | Presence::BehindLink => OnDisk::Replaced,
            Presence::Other => return self.skip(path, SkipReason::NotAFile),
            Presence::Unreadable(problem) => return self.skip(path, SkipReason::Unreadable { problem }),
        };
        self.found.candidates.entry(path).or_insert(Candidate { indexed, now });
    }

    /// An ignored file matters if it is covered; an ignored directory also if somebody named something in it.
    fn ignored(&mut self, path: PathBuf, is_dir: bool) {
        if self.scope.covers(&path) {
            return self.skip(path, SkipReason::Ignored);
        }
        let SearchScope::At(named) = self.looked_at else { return };
        let named = named.iter().filter(|named| is_dir && named.starts_with(&path));
        let there: Vec<&PathBuf> = named.filter(|named| self.tree.has(named)).collect();
        there.into_iter().for_each(|named| self.skip(named.clone(), SkipReason::Ignored));
    }

    /// Leaves a path out. A tracked file is committed even if git ignores it by now.
    fn skip(&mut self, path: PathBuf, reason: SkipReason) {
        if !self.found.candidates.contains_key(&path) {
            self.found.skipped.entry(path).or_insert(reason);
        }
    }
}

impl CommitCandidates {
    /// Why a path was left out, by itself or with its directory.
    pub(super) fn reason(&self, path: &Path) -> Option<&SkipReason> {
        path.ancestors().find_map(|path| self.skipped.get(path))
    }
}
