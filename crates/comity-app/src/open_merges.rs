//! Merges that somebody has to continue: made and not taken into their branch yet, or stopped by a conflict.
//!
//! The branches are git's, so this is looked up and cached; a restart forgets conflicts, but not waiting merges.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use comity_core::display::shell_word;
use comity_core::worktrees::Worktree;
use comity_core::{Principal, ProjectId, World};

use crate::application::Application;
use crate::operations::worktrees::WaitingMerge;

/// Cached projects; others are looked at when somebody asks there.
const PROJECTS_MAX: usize = 256;
/// Cached conflicts of a project.
const CONFLICTS_MAX: usize = 64;

/// By project.
#[derive(Default)]
pub(crate) struct OpenMerges(Mutex<BTreeMap<ProjectId, ProjectMerges>>);

#[derive(Default)]
struct ProjectMerges {
    waiting: Vec<(WaitingMerge, i64)>,
    /// By the name of the worktree.
    conflicts: BTreeMap<Box<str>, OpenConflict>,
}

#[derive(Clone)]
struct OpenConflict {
    target: String,
    paths: Vec<String>,
    /// What is to be merged in the worktree to resolve it.
    onto: String,
    since_ms: i64,
}

/// A merge that waits for somebody.
pub(crate) struct OpenMerge {
    pub(crate) project: ProjectId,
    /// Its name in the inbox.
    pub(crate) entry: String,
    pub(crate) what: String,
    pub(crate) since_ms: i64,
    /// The worktree to merge again once its conflict is resolved.
    pub(crate) again: Option<Box<str>>,
}

impl OpenMerges {
    fn change<T>(&self, project: ProjectId, change: impl FnOnce(&mut ProjectMerges) -> T) -> T {
        let mut projects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if projects.len() >= PROJECTS_MAX && !projects.contains_key(&project) {
            projects.pop_first();
        }
        change(projects.entry(project).or_default())
    }

    /// A worktree conflicts with the branch that it was to be merged into.
    pub(crate) fn conflicted(&self, worktree: &Worktree, target: &str, onto: String, paths: Vec<String>) {
        let since_ms = crate::clock::wall_ms();
        let conflict = OpenConflict { target: target.to_owned(), paths, onto, since_ms };
        self.change(worktree.project, |merges| {
            if merges.conflicts.len() >= CONFLICTS_MAX && !merges.conflicts.contains_key(&worktree.tree.slug)
            {
                merges.conflicts.pop_first();
            }
            merges.conflicts.insert(worktree.tree.slug.clone(), conflict);
        });
    }

    /// A worktree can be merged.
    pub(crate) fn resolved(&self, worktree: &Worktree) {
        self.change(worktree.project, |merges| drop(merges.conflicts.remove(&worktree.tree.slug)));
    }

    fn wait(&self, project: ProjectId, waiting: Vec<WaitingMerge>) {
        let now = crate::clock::wall_ms();
        self.change(project, |merges| {
            let since = |merge: &WaitingMerge| {
                let before = merges.waiting.iter().find(|(known, _)| known == merge);
                before.map_or(now, |(_, since)| *since)
            };
            merges.waiting = waiting.into_iter().map(|merge| (merge.clone(), since(&merge))).collect();
        });
    }

    /// Whether some wait to be taken there.
    pub(crate) fn any_waits(&self, project: ProjectId) -> bool {
        let projects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        projects.get(&project).is_some_and(|merges| !merges.waiting.is_empty())
    }

    /// Those that wait for somebody: a conflict for the worktree's owner, and what is to be taken for the human.
    pub(crate) fn of(&self, who: Principal, world: &World) -> Vec<OpenMerge> {
        let projects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = vec![];
        for (project, merges) in &*projects {
            for (slug, conflict) in &merges.conflicts {
                let worktree = world.worktrees.get(*project, slug);
                let is_whose = |tree: &&Worktree| owner(world, tree) == who;
                open.extend(worktree.filter(is_whose).map(|tree| conflict.open(tree)));
            }
            let is_humans = who == Principal::Human;
            let waiting = merges.waiting.iter().filter(|_| is_humans);
            open.extend(waiting.map(|(merge, since_ms)| OpenMerge {
                project: *project,
                entry: format!("merge-{}", merge.target),
                what: format!(
                    "a merge waits to be taken into {}; take it with: {}",
                    merge.target, merge.command
                ),
                since_ms: *since_ms,
                again: None,
            }));
        }
        open
    }
}

impl OpenConflict {
    fn open(&self, worktree: &Worktree) -> OpenMerge {
        let OpenConflict { target, paths, onto, since_ms } = self;
        let tree = &worktree.tree;
        OpenMerge {
            project: worktree.project,
            entry: format!("merge-{}", tree.slug),
            what: format!(
                "{} conflicts with {target} in {}; in {}: git merge {}, resolve it, commit, and merge again",
                tree.branch,
                paths.join(", "),
                shell_word(&tree.path),
                shell_word(onto)
            ),
            since_ms: *since_ms,
            again: Some(tree.slug.clone()),
        }
    }
}

/// Who continues with a worktree: the human does for an agent that has ended.
fn owner(world: &World, worktree: &Worktree) -> Principal {
    let lives = |agent| world.agents.living(agent).is_ok();
    if worktree.owner.agent().is_some_and(lives) { worktree.owner } else { Principal::Human }
}

impl Application {
    /// Finds out which merges wait in a repository. If that fails, it is not worth an error.
    pub(crate) fn waiting_merges(&self, project: ProjectId, common_dir: &Path) -> Vec<WaitingMerge> {
        // Looking creates no directories.
        if !self.trees().has_any(self.config(), common_dir) {
            return vec![];
        }
        let driver = self.trees().driver(self.config(), common_dir);
        let waiting = driver.ok().and_then(|driver| driver.waiting_merges().ok()).unwrap_or_default();
        let waiting: Vec<WaitingMerge> = waiting.into_iter().map(WaitingMerge::of).collect();
        if !waiting.is_empty() || self.open_merges().any_waits(project) {
            self.open_merges().wait(project, waiting.clone());
        }
        waiting
    }
}
