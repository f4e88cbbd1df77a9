//! Merges that somebody has to continue: made and not taken into their branch yet, or stopped by a conflict.
//!
//! Conflicts are in the world. Which merges wait is git's, so that is looked up and remembered.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use comity_core::display::shell_word;
use comity_core::worktrees::{MergeConflict, Worktree};
use comity_core::{Principal, ProjectId, World};
use comity_git::worktree::MERGED;

use crate::application::Application;
use crate::operations::worktrees::WaitingMerge;

/// Cached projects; others are looked at when somebody asks there.
const PROJECTS_MAX: usize = 256;
/// The merges that are open, by project.
#[derive(Default)]
pub(crate) struct OpenMerges(Mutex<BTreeMap<ProjectId, ProjectMerges>>);

#[derive(Default)]
struct ProjectMerges {
    waiting: Vec<(WaitingMerge, i64)>,
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
        let waits = |project: ProjectId, target: &str| {
            let mut waiting = projects.get(&project).into_iter().flat_map(|merges| &merges.waiting);
            waiting.any(|(merge, _)| merge.target == target)
        };
        let conflicts = world.worktrees.iter().filter(|tree| owner(world, tree) == who).filter_map(|tree| {
            let conflict = tree.conflict.as_ref()?;
            Some(in_conflict(tree, conflict, waits(tree.project, &conflict.target)))
        });
        let mut open: Vec<OpenMerge> = conflicts.collect();
        for (project, merges) in &*projects {
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

/// What to do about a conflict. What waits for the branch is merged first, too.
fn in_conflict(worktree: &Worktree, conflict: &MergeConflict, has_waiting: bool) -> OpenMerge {
    let MergeConflict { target, paths, more, since_ms } = conflict;
    let tree = &worktree.tree;
    let onto = if has_waiting { format!("{MERGED}/{target}") } else { target.to_string() };
    let more = if *more > 0 { format!(" and {more} more") } else { String::new() };
    OpenMerge {
        project: worktree.project,
        entry: format!("merge-{}", tree.slug),
        what: format!(
            "{} conflicts with {target} in {}{more}; in {}: git merge {}, resolve it, commit, and merge again",
            tree.branch,
            paths.join(", "),
            shell_word(&tree.path),
            shell_word(&onto)
        ),
        since_ms: *since_ms,
        again: Some(tree.slug.clone()),
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
