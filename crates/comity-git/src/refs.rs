//! Where the branches of a project are, and which commits are new on them: by git's own word, however it stores refs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::checkout::Checkout;
use crate::git::{Git, UnknownState};
use crate::parse::{parts, to_path};
use crate::worktree_list::{LIST, listed_worktrees};

/// Commits that are looked at one by one; beyond that, only what they changed together.
const COMMITS_MAX: usize = 50;

/// What each branch, and each detached HEAD, points at.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct BranchHeads(BTreeMap<String, String>);

/// What is new on the branches of a project.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewCommits {
    pub commits: Vec<NewCommit>,
    /// The tips whose commits could not be read, and why: their objects may still be arriving.
    pub unread: BTreeMap<String, String>,
}

/// A commit that was not reachable before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCommit {
    pub id: String,
    /// As [`BranchHeads`] names it.
    tip: String,
    /// `None` for a detached HEAD.
    pub branch: Option<String>,
    /// For a merge, what differs from all its parents.
    pub paths: Vec<PathBuf>,
}

impl BranchHeads {
    /// The same, but with `earlier`'s values for these.
    #[must_use]
    pub fn but<'n>(mut self, names: impl Iterator<Item = &'n String>, earlier: &BranchHeads) -> BranchHeads {
        for name in names {
            match earlier.0.get(name) {
                Some(id) => self.0.insert(name.clone(), id.clone()),
                None => self.0.remove(name),
            };
        }
        self
    }
}

impl NewCommit {
    /// Whether it was found on one of these tips.
    pub fn is_on(&self, names: &BTreeMap<String, String>) -> bool {
        names.contains_key(&self.tip)
    }
}

impl Checkout {
    /// All branches of the project, and its worktrees' HEADs.
    pub fn tips(&self, patience: Duration) -> Result<BranchHeads, UnknownState> {
        let git = Git::on_refs(self.worktree(), Instant::now() + patience);
        let format = "--format=%(objectname) %(refname)";
        let branches = git.call("for-each-ref").args([format, "refs/heads"]).done()?;
        let branches = String::from_utf8_lossy(&branches).into_owned();
        let mut tips: BTreeMap<String, String> = branches
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(id, name)| (name.to_owned(), id.to_owned()))
            .collect();
        let worktrees = listed_worktrees(&git.call(LIST[0]).args(&LIST[1..]).done()?);
        for (at, tree) in worktrees.into_iter().enumerate().filter(|(_, tree)| tree.branch.is_none()) {
            tips.extend(tree.head.map(|head| (format!("HEAD {at}"), head)));
        }
        Ok(BranchHeads(tips))
    }

    /// The commits that `now` reaches and `before` did not.
    pub fn new_commits(&self, before: &BranchHeads, now: &BranchHeads, patience: Duration) -> NewCommits {
        let known: BTreeSet<&str> = before.0.values().map(String::as_str).collect();
        let git = Git::on_refs(self.worktree(), Instant::now() + patience);
        let (mut new, mut seen) = (NewCommits::default(), BTreeSet::new());
        for (name, tip) in now.0.iter().filter(|(_, tip)| !known.contains(tip.as_str())) {
            match commits_of(&git, (name, tip), before.0.get(name), &known) {
                Ok(found) => {
                    new.commits.extend(found.into_iter().filter(|commit| seen.insert(commit.id.clone())));
                }
                Err(unknown) => drop(new.unread.insert(name.clone(), unknown.to_string())),
            }
        }
        new
    }
}

/// The commits that one tip reaches and nothing known does.
fn commits_of(
    git: &Git<'_>,
    (name, tip): (&String, &String),
    before: Option<&String>,
    known: &BTreeSet<&str>,
) -> Result<Vec<NewCommit>, UnknownState> {
    // Among the excluded ones, `--ignore-missing` would ignore this one, too.
    git.call("cat-file").args(["-e", &format!("{tip}^{{commit}}")]).done()?;
    let mut input = format!("{tip}\n");
    known.iter().for_each(|id| input += &format!("^{id}\n"));
    let count = format!("--max-count={}", COMMITS_MAX + 1);
    // Where a branch was before may no longer exist.
    let options = [&count, "--ignore-missing", "--stdin"];
    let ids = git.call("rev-list").args(options).input(input).done()?;
    let ids = String::from_utf8_lossy(&ids).into_owned();
    let branch = name.strip_prefix("refs/heads/").map(str::to_owned);
    let commit =
        |id: &str, paths| NewCommit { id: id.to_owned(), tip: name.clone(), branch: branch.clone(), paths };
    match (ids.lines().count() > COMMITS_MAX, before) {
        (true, Some(old)) => Ok(vec![commit(tip, changed(git, &[old, tip])?)]),
        (_, _) => ids.lines().take(COMMITS_MAX).map(|id| Ok(commit(id, changed(git, &[id])?))).collect(),
    }
}

/// What a commit changed, or what differs between two.
fn changed(git: &Git<'_>, commits: &[&str]) -> Result<Vec<PathBuf>, UnknownState> {
    let options = ["-r", "-c", "--root", "--no-commit-id", "--name-only", "--no-renames", "-z"];
    let output = git.call("diff-tree").args(options).args(commits).done()?;
    Ok(parts(&output).map(to_path).collect())
}
