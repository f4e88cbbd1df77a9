//! Puts uncommitted work aside in a git stash, with a ref that keeps it; the files are then as committed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comity_core::display::shell_word;
use comity_core::{CaseRule, PathPattern};

use crate::commit::{BetweenCommits, filtered};
use crate::git::{Git, UnknownState};
use crate::parse::parts;
use crate::status::{PathState, StatusEntry};
use crate::uncommitted::{WorkQuery, work};
use crate::worktree_filter::WorktreeFilter;
use crate::worktrees::{AllWorktrees, WorktreeDirs};
use crate::{hidden, worktrees};

/// Refs that keep what was put aside, whatever becomes of the stash.
pub const RESCUED: &str = "refs/comity/rescue/";
/// How a stash's message begins; then follow whose work it is, on what, in which worktree, and the ref.
const MESSAGE: &str = "Comity: work of ";
/// How deep in the stash ours is searched for: somebody else may stash at the same time.
const STASHES_MAX: &str = "50";
/// How many files a refusal names.
const FILES_NAMED_MAX: usize = 10;

/// Work that was put aside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RescuedWork {
    pub worktree: PathBuf,
    /// The ref that keeps it.
    pub name: String,
    /// For `git stash apply`.
    pub commit: String,
    pub files: Vec<String>,
}

/// What a ref of [`LeftWork::put_aside`] keeps, and whose work it was.
pub fn rescued(
    common_dir: &Path,
    name: &str,
    patience: Duration,
) -> Result<(String, RescuedWork), UnknownState> {
    let all = all(common_dir)?;
    let none = || UnknownState::new(format!("{name} is not there"));
    told(&Git::on(all.first().ok_or_else(none)?, Instant::now() + patience)?, name)
}

fn told(git: &Git<'_>, name: &str) -> Result<(String, RescuedWork), UnknownState> {
    let none = || UnknownState::new(format!("{name} is not there"));
    let output = git.call("log").args(["--max-count=1", "--format=%H %s", name]).done()?;
    let output = String::from_utf8_lossy(&output);
    let (commit, subject) = output.trim_end().split_once(' ').ok_or_else(none)?;
    let (_, told) = subject.split_once(MESSAGE).ok_or_else(none)?;
    let (by, told) = told.split_once(" on ").ok_or_else(none)?;
    let (told, _) = told.rsplit_once(" (").ok_or_else(none)?;
    let (_, worktree) = told.rsplit_once(" in ").ok_or_else(none)?;
    let files =
        git.call("stash").args(["show", "--include-untracked", "--name-only", "-z", commit]).done()?;
    let files = parts(&files);
    let kept = RescuedWork {
        worktree: worktree.into(),
        name: name.to_owned(),
        commit: commit.to_owned(),
        files: files.map(|file| String::from_utf8_lossy(file).into_owned()).collect(),
    };
    Ok((by.to_owned(), kept))
}

/// The work to put aside: under a pattern, in some worktrees of a project.
#[derive(Clone, Copy, Debug)]
pub struct LeftWork<'a> {
    pub common_dir: &'a Path,
    pub pattern: &'a PathPattern,
    pub case: CaseRule,
    /// The worktrees in which it is put aside.
    pub within: &'a WorktreeFilter,
    /// The worktrees where any work must be put aside.
    pub may_be_in: &'a WorktreeFilter,
}

/// A worktree, and the files in it with work that is meant.
type WorkByTree = Vec<(WorktreeDirs, Vec<StatusEntry>)>;

impl LeftWork<'_> {
    /// Checks that all of it can be put aside.
    ///
    /// Not what git hides, what is in the middle of a merge, what a filter would change, and what may be somebody
    /// else's.
    pub fn check(&self, patience: Duration) -> Result<(), UnknownState> {
        self.find(Instant::now() + patience).map(drop)
    }

    fn find(&self, deadline: Instant) -> Result<WorkByTree, UnknownState> {
        let look = |all: &AllWorktrees| self.find_in(&all.worktrees, deadline);
        worktrees::look_at_all(self.common_dir, look).map_err(|error| unreadable(self.common_dir, &error))?
    }

    fn find_in(&self, all: &[WorktreeDirs], deadline: Instant) -> Result<WorkByTree, UnknownState> {
        let meant = WorkQuery { pattern: self.pattern, case: self.case };
        let mut found = Vec::new();
        let is_meant = |root: &Path| self.within.holds(root) || self.may_be_in.holds(root);
        for worktree in all.iter().filter(|tree| is_meant(&tree.root)) {
            let git = Git::on(worktree, deadline)?;
            let files = work(&git, &meant)?;
            check(&git, &meant, &files)?;
            if files.is_empty() {
                continue;
            }
            if !self.within.holds(&worktree.root) {
                return Err(elsewhere(&worktree.root, &files));
            }
            found.push((worktree.clone(), files));
        }
        Ok(found)
    }

    /// Puts all of it aside, as the work of `by`: into `name`, and for further worktrees `name.2` and so on. Includes
    /// what a killed process has already put aside there.
    pub fn put_aside(
        &self,
        by: &str,
        name: &str,
        patience: Duration,
    ) -> Result<Vec<RescuedWork>, UnknownState> {
        let deadline = Instant::now() + patience;
        let turn = BetweenCommits::begin(self.common_dir, deadline)?;
        let mut rescued = finish(self.common_dir, name, deadline)?;
        // All are checked before the first is touched.
        for (worktree, files) in &self.find(deadline)? {
            let git = turn.git(worktree)?;
            let name = match rescued.len() {
                0 => name.to_owned(),
                others => format!("{name}.{}", others + 1),
            };
            let (on, root) = (self.pattern.readable(), worktree.root.display());
            let message = format!("{MESSAGE}{by} on {on} in {root} ({name})");
            rescued.push(stash(&turn, &git, files, name, &message)?);
        }
        Ok(rescued)
    }
}

/// The error that some work cannot be called the holder's, and what to do with it.
fn elsewhere(root: &Path, files: &[StatusEntry]) -> UnknownState {
    let names: Vec<String> = files.iter().take(FILES_NAMED_MAX).map(StatusEntry::name).collect();
    let more = match files.len().saturating_sub(FILES_NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let words: Vec<_> = names.iter().map(|name| shell_word(name)).collect();
    let root = root.display().to_string();
    UnknownState::new(format!(
        "{}{more} in {root} is not committed either, and that is not a worktree of its own, so it may be somebody \
         else's; commit it, or put it aside with: git -C {} stash push --include-untracked -- {}",
        names.join(", "),
        shell_word(&root),
        words.join(" "),
    ))
}

fn all(common_dir: &Path) -> Result<Vec<WorktreeDirs>, UnknownState> {
    Ok(worktrees::list(common_dir).map_err(|error| unreadable(common_dir, &error))?.worktrees)
}

fn unreadable(common_dir: &Path, error: &std::io::Error) -> UnknownState {
    UnknownState::new(format!("can't read {}: {error}", common_dir.display()))
}

/// What was put aside under this name; a stash whose maker was killed before it made the ref gets it now.
fn finish(common_dir: &Path, name: &str, deadline: Instant) -> Result<Vec<RescuedWork>, UnknownState> {
    let all = all(common_dir)?;
    let Some(first) = all.first() else { return Ok(vec![]) };
    let git = Git::on(first, deadline)?;
    let is_ours = |other: &str| {
        let rest = other
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('.').or(rest.is_empty().then_some("1")));
        rest.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    let mut names: BTreeSet<String> = refs(&git)?.into_iter().filter(|known| is_ours(known)).collect();
    for (commit, message) in stashes(&git)? {
        let of = message.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
        let Some((_, of)) = of.filter(|(text, of)| text.contains(MESSAGE) && is_ours(of)) else { continue };
        if names.insert(of.to_owned()) {
            git.call("update-ref").args([of, &*commit, ""]).done()?;
        }
    }
    names.iter().map(|name| Ok(told(&git, name)?.1)).collect()
}

fn refs(git: &Git<'_>) -> Result<Vec<String>, UnknownState> {
    let known = git.call("for-each-ref").args(["--format=%(refname)", RESCUED]).done()?;
    Ok(String::from_utf8_lossy(&known).lines().map(str::to_owned).collect())
}

/// The newest stashes: commit and message.
fn stashes(git: &Git<'_>) -> Result<Vec<(String, String)>, UnknownState> {
    if git.call("for-each-ref").args(["refs/stash"]).done()?.is_empty() {
        return Ok(vec![]);
    }
    let listed = ["--walk-reflogs", "--max-count", STASHES_MAX, "--format=%H %gs", "refs/stash"];
    let listed = git.call("log").args(listed).done()?;
    let listed = String::from_utf8_lossy(&listed);
    let split = |line: &str| line.split_once(' ').map(|(commit, message)| (commit.into(), message.into()));
    Ok(listed.lines().filter_map(split).collect())
}

/// A ref for the work of `by` that does not exist yet and is not promised to anybody: `ann`, `ann-2` and so on.
pub fn free_name(
    common_dir: &Path,
    by: &str,
    promised: &[Box<str>],
    patience: Duration,
) -> Result<String, UnknownState> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name = format!("{RESCUED}{}", by.chars().map(plain).collect::<String>());
    let all = all(common_dir)?;
    let Some(first) = all.first() else { return Ok(name) };
    let known = refs(&Git::on(first, Instant::now() + patience)?)?;
    let is_free = |name: &String| !known.contains(name) && promised.iter().all(|other| **other != **name);
    let further = (2_u32..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(further);
    names.find(is_free).ok_or_else(|| UnknownState::new("there are too many refs of what was put aside"))
}

fn check(git: &Git<'_>, meant: &WorkQuery<'_>, files: &[StatusEntry]) -> Result<(), UnknownState> {
    let root = git.worktree().root.display().to_string();
    let no = |problem: String| Err(UnknownState::new(problem));
    if hidden::has_hidden_work(git, meant)? {
        return no(format!("work in {root} is hidden by a flag of git's index; see: git ls-files -v"));
    }
    if let Some(file) = files.iter().find(|file| file.state == PathState::Unmerged) {
        return no(format!("{} in {root} is in the middle of a merge; finish that first", file.name()));
    }
    if files.is_empty() || !git.has_filters() {
        return Ok(());
    }
    let paths: Vec<PathBuf> = files.iter().map(StatusEntry::to_path).collect();
    match filtered(git, paths.iter().map(PathBuf::as_path))?.first() {
        Some((file, _)) => {
            let file = file.to_string_lossy();
            let word = shell_word(&file);
            no(format!("{file} in {root} goes through a filter; put it aside with: git stash push -- {word}"))
        }
        None => Ok(()),
    }
}

fn stash(
    turn: &BetweenCommits,
    git: &Git<'_>,
    files: &[StatusEntry],
    name: String,
    message: &str,
) -> Result<RescuedWork, UnknownState> {
    // Git does not find what is deleted only in the index.
    let deleted = list(files.iter().filter(|file| file.is_deleted_in_index()));
    if !deleted.is_empty() {
        turn.change(git, ("reset", &["--quiet"]), &deleted, || Ok(false))?;
    }
    let push = ["push", "--quiet", "--include-untracked", "--message", message];
    let is_made = || Ok(stashes(git)?.iter().any(|(_, output)| output.ends_with(message)));
    turn.change(git, ("stash", &push), &list(files), is_made)?;
    let ours = stashes(git)?.into_iter().find(|(_, output)| output.ends_with(message));
    let Some((commit, _)) = ours else {
        return Err(UnknownState::new(format!("git stash made no entry {message:?}; see: git stash list")));
    };
    git.call("update-ref").args([&*name, &*commit, ""]).done()?;
    let files = files.iter().map(StatusEntry::name).collect();
    Ok(RescuedWork { worktree: git.worktree().root.clone(), name, commit, files })
}

/// The paths of several files, each ended by NUL.
fn list<'a>(files: impl IntoIterator<Item = &'a StatusEntry>) -> Vec<u8> {
    files.into_iter().flat_map(|file| [&file.path[..], b"\0"].concat()).collect()
}
