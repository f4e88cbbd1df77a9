//! Puts uncommitted work aside: into a stash of git's own, with a ref that keeps it, so that the files are as committed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comity_core::{CaseRule, PathPattern};

use crate::git::{Git, UnknownState};
use crate::uncommitted::{Meant, Work, work};
use crate::worktrees::Worktree;
use crate::{hidden, worktrees};

/// Where what was put aside is kept, whatever becomes of the stash.
pub const RESCUED: &str = "refs/comity/rescue/";
/// How the message of a stash begins: then come whose work it is, on what, in which worktree, and the ref.
const MESSAGE: &str = "Comity: work of ";
/// How far down in the stash ours is looked for: somebody else may stash at the same time.
const STASHES_MAX: &str = "50";

/// Work that was put aside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rescued {
    /// In which worktree it was.
    pub worktree: PathBuf,
    /// The ref that keeps it.
    pub name: String,
    /// The commit, as `git stash apply` takes it.
    pub commit: String,
    /// Its files.
    pub files: Vec<String>,
}

/// What a ref of [`put_aside`] keeps, and whose work it was.
pub fn rescued(common_dir: &Path, name: &str, deadline: Duration) -> Result<(String, Rescued), UnknownState> {
    let unreadable = |error| UnknownState::new(format!("cannot read {}: {error}", common_dir.display()));
    let all = worktrees::list(common_dir).map_err(unreadable)?.worktrees;
    let none = || UnknownState::new(format!("{name} is not there"));
    let git = Git::on(all.first().ok_or_else(none)?, Instant::now() + deadline)?;
    let said = git.call("log").args(["--max-count=1", "--format=%H %s", name]).done()?;
    let said = String::from_utf8_lossy(&said);
    let (commit, subject) = said.trim_end().split_once(' ').ok_or_else(none)?;
    let (_, told) = subject.split_once(MESSAGE).ok_or_else(none)?;
    let (by, told) = told.split_once(" on ").ok_or_else(none)?;
    let (told, _) = told.rsplit_once(" (").ok_or_else(none)?;
    let (_, worktree) = told.rsplit_once(" in ").ok_or_else(none)?;
    let files =
        git.call("stash").args(["show", "--include-untracked", "--name-only", "-z", commit]).done()?;
    let files = files.split(|byte| *byte == 0).filter(|file| !file.is_empty());
    let kept = Rescued {
        worktree: worktree.into(),
        name: name.to_owned(),
        commit: commit.to_owned(),
        files: files.map(|file| String::from_utf8_lossy(file).into_owned()).collect(),
    };
    Ok((by.to_owned(), kept))
}

/// Puts all uncommitted work under `pattern` aside, in every worktree of the project. `by` becomes a part of the refs'
/// names.
///
/// What git hides, what is in the middle of a merge, and what a filter would change is left alone: that is an error, and
/// what was put aside before stays so.
pub fn put_aside(
    common_dir: &Path,
    pattern: &PathPattern,
    case: CaseRule,
    deadline: Duration,
    by: &str,
) -> Result<Vec<Rescued>, UnknownState> {
    let unreadable = |error| UnknownState::new(format!("cannot read {}: {error}", common_dir.display()));
    let deadline = Instant::now() + deadline;
    let meant = Meant { pattern, case };
    let all = worktrees::list(common_dir).map_err(unreadable)?.worktrees;
    // All are looked at before the first is touched.
    let mut found: Vec<(&Worktree, Vec<Work>)> = Vec::new();
    for worktree in &all {
        let git = Git::on(worktree, deadline)?;
        let files = work(&git, &meant)?;
        check(&git, &meant, &files)?;
        if !files.is_empty() {
            found.push((worktree, files));
        }
    }
    let mut rescued = Vec::new();
    for (worktree, files) in &found {
        let git = Git::on(worktree, deadline)?;
        let name = free_name(&git, by)?;
        let message =
            format!("{MESSAGE}{by} on {} in {} ({name})", pattern.readable(), worktree.root.display());
        rescued.push(stash(&git, files, name, &message)?);
    }
    Ok(rescued)
}

/// A ref that is not there yet: `ann`, `ann-2` and so on.
fn free_name(git: &Git<'_>, by: &str) -> Result<String, UnknownState> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
    let name = format!("{RESCUED}{}", by.chars().map(plain).collect::<String>());
    let known = git.call("for-each-ref").args(["--format=%(refname)", RESCUED]).done()?;
    let known = String::from_utf8_lossy(&known);
    let is_free = |name: &String| known.lines().all(|line| line != name);
    let further = (2_u32..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.clone()).chain(further);
    names.find(is_free).ok_or_else(|| UnknownState::new("there are too many refs of what was put aside"))
}

fn check(git: &Git<'_>, meant: &Meant<'_>, files: &[Work]) -> Result<(), UnknownState> {
    let root = git.worktree().root.display().to_string();
    let no = |problem: String| Err(UnknownState::new(problem));
    if hidden::has_hidden_work(git, meant)? {
        return no(format!("work in {root} is hidden by a flag of git's index; see: git ls-files -v"));
    }
    if let Some(file) = files.iter().find(|file| file.is_unmerged()) {
        return no(format!("{} in {root} is in the middle of a merge; finish that first", file.name()));
    }
    if files.is_empty() || !git.has_filters() {
        return Ok(());
    }
    let said = git.call("check-attr").args(["-z", "--stdin", "filter"]).input(Work::list(files)).done()?;
    let fields: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let is_filtered = |field: &&[&[u8]]| field.len() == 3 && !matches!(field[2], b"unspecified" | b"unset");
    match fields.chunks(3).find(is_filtered) {
        Some(field) => {
            let file = String::from_utf8_lossy(field[0]);
            no(format!("{file} in {root} goes through a filter; put it aside with: git stash push -- {file}"))
        }
        None => Ok(()),
    }
}

fn stash(git: &Git<'_>, files: &[Work], name: String, message: &str) -> Result<Rescued, UnknownState> {
    // Git does not find what is deleted in the index alone.
    let deleted: Vec<Work> = files.iter().filter(|file| file.is_deleted_in_index()).cloned().collect();
    let from_input = ["--pathspec-from-file=-", "--pathspec-file-nul"];
    let paths = |files: &[Work], verb: &'static str| {
        git.call(verb).env("GIT_LITERAL_PATHSPECS", "1").input(Work::list(files))
    };
    if !deleted.is_empty() {
        paths(&deleted, "reset").args(["--quiet"]).args(from_input).done()?;
    }
    let push = ["push", "--quiet", "--include-untracked", "--message", message];
    paths(files, "stash").args(push).args(from_input).done()?;
    let listed = ["--walk-reflogs", "--max-count", STASHES_MAX, "--format=%H %gs", "refs/stash"];
    let listed = git.call("log").args(listed).done()?;
    let listed = String::from_utf8_lossy(&listed);
    let ours = listed.lines().find_map(|line| line.strip_suffix(message)?.split_once(' '));
    let Some((commit, _)) = ours else {
        return Err(UnknownState::new(format!("git stash made no entry {message:?}; see: git stash list")));
    };
    git.call("update-ref").args([&*name, commit, ""]).done()?;
    let files = files.iter().map(Work::name).collect();
    Ok(Rescued { worktree: git.worktree().root.clone(), name, commit: commit.to_owned(), files })
}
