//! Worktrees: who works in a copy of its own, on which branch, from which commit.

mod feature;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calls;
use crate::event::Event;
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::{CONFLICT_PATHS_MAX, KEPT_CHARS_MAX, WORKTREES_MAX};
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::time::Timestamp;
use crate::world::World;

pub use feature::{WorktreeAsk, WorktreeEvent, WorktreeTold};

/// A worktree as it was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorktreeInfo {
    pub slug: Box<str>,
    pub path: Box<str>,
    pub branch: Box<str>,
    /// The commit that it started from.
    pub base: Box<str>,
}

/// A worktree, and whose it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worktree {
    pub project: ProjectId,
    pub tree: WorktreeInfo,
    pub owner: Principal,
    pub since: Timestamp,
    /// The record that added it: what its owner locked comes later.
    pub added: u64,
    /// Who has released it, while it is not known yet whether it can go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Principal>,
    /// Why it was kept when it was last released.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Box<str>>,
    /// What its branch conflicts with, since somebody last wanted to merge it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict: Option<MergeConflict>,
}

/// A merge that was not made: both sides changed the same.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MergeConflict {
    /// The branch that it was for.
    pub target: Box<str>,
    /// The first of what both sides changed.
    pub paths: Vec<Box<str>>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more: usize,
    /// Since when, on the wall.
    pub since_ms: i64,
}

fn is_none(more: &usize) -> bool {
    *more == 0
}

/// All worktrees in use.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Worktrees {
    by_slug: BTreeMap<(ProjectId, Box<str>), Worktree>,
    releases: usize,
}

impl Worktrees {
    /// The worktree with this name.
    pub fn get(&self, project: ProjectId, slug: &str) -> Option<&Worktree> {
        self.by_slug.get(&(project, slug.into()))
    }

    /// A project's worktrees, by name.
    pub fn of(&self, project: ProjectId) -> impl Iterator<Item = &Worktree> {
        self.iter().filter(move |worktree| worktree.project == project)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Worktree> {
        self.by_slug.values()
    }

    pub fn len(&self) -> usize {
        self.by_slug.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_slug.is_empty()
    }

    /// Those that were released and still exist.
    pub fn released(&self) -> impl Iterator<Item = &Worktree> {
        self.iter().filter(|worktree| worktree.released.is_some())
    }

    /// Grows with every release, so that a new one is noticed without looking at all.
    pub fn releases(&self) -> usize {
        self.releases
    }

    pub(crate) fn insert(&mut self, worktree: Worktree) {
        self.by_slug.insert((worktree.project, worktree.tree.slug.clone()), worktree);
    }

    pub(crate) fn remove(&mut self, project: ProjectId, slug: &str) {
        self.by_slug.remove(&(project, slug.into()));
    }

    pub(crate) fn release(&mut self, project: ProjectId, slug: &str, by: Principal) {
        if let Some(worktree) = self.by_slug.get_mut(&(project, slug.into())) {
            self.releases += 1;
            (worktree.released, worktree.kept) = (Some(by), None);
        }
    }

    pub(crate) fn pass_on(&mut self, project: ProjectId, slug: &str, to: Principal) {
        if let Some(worktree) = self.by_slug.get_mut(&(project, slug.into())) {
            worktree.owner = to;
        }
    }

    /// The merge of a branch conflicts in these paths; in none, it can be made.
    pub(crate) fn conflict(
        &mut self,
        project: ProjectId,
        source: &str,
        target: &str,
        (paths, at_ms): (&[Box<str>], i64),
    ) {
        let trees = self.by_slug.values_mut();
        for tree in trees.filter(|tree| tree.project == project && *tree.tree.branch == *source) {
            let before = tree.conflict.take().filter(|before| *before.target == *target);
            tree.conflict = (!paths.is_empty()).then(|| MergeConflict {
                target: target.into(),
                paths: paths.iter().take(CONFLICT_PATHS_MAX).cloned().collect(),
                more: paths.len().saturating_sub(CONFLICT_PATHS_MAX),
                since_ms: before.map_or(at_ms, |before| before.since_ms),
            });
        }
    }

    /// Notes why it is kept, and says who had released it.
    pub(crate) fn keep(&mut self, project: ProjectId, slug: &str, why: &str) -> Option<Principal> {
        let worktree = self.by_slug.get_mut(&(project, slug.into()))?;
        worktree.kept = Some(why.into());
        worktree.released.take()
    }
}

fn add(world: &World, project: ProjectId, tree: &WorktreeInfo) -> Result<Vec<Event>, Refusal> {
    if world.worktrees.get(project, &tree.slug).is_some() {
        let problem = format!("there is a worktree {} already", tree.slug);
        return Err(Refusal::bad_input(problem, "choose another name, or remove it first"));
    }
    if world.worktrees.by_slug.len() >= WORKTREES_MAX {
        let problem = format!("there are {WORKTREES_MAX} worktrees already");
        return Err(Refusal::LimitReached {
            problem,
            hint: format!("remove some with: {}", call(calls::WORKTREE_REMOVE, [("slug", "SLUG".into())])),
        });
    }
    Ok(vec![Event::Worktree(WorktreeEvent::Added { project, tree: tree.clone() })])
}

/// Releases a worktree: it goes as soon as it is proven to hold no work. One that is released already is not released
/// again.
fn release(world: &World, who: Principal, project: ProjectId, slug: &str) -> Result<Vec<Event>, Refusal> {
    let worktree = world.worktrees.get(project, slug).ok_or_else(|| Refusal::NotFound {
        problem: format!("there is no worktree {slug:?}"),
        hint: format!("see which there are with: {}", call(calls::WORKTREE_LIST, [])),
    })?;
    may_change(world, who, worktree)?;
    match worktree.released {
        Some(_) => Ok(vec![]),
        None => Ok(vec![Event::Worktree(WorktreeEvent::Released { project, slug: slug.into() })]),
    }
}

/// Keeps a released worktree. It is no error if nobody waits for that any more.
fn keep(world: &World, project: ProjectId, slug: &str, why: &str) -> Vec<Event> {
    match world.worktrees.get(project, slug) {
        Some(Worktree { released: Some(_), .. }) => {
            let why: String = why.chars().take(KEPT_CHARS_MAX).collect();
            vec![Event::Worktree(WorktreeEvent::Kept { project, slug: slug.into(), why: why.into() })]
        }
        Some(Worktree { released: None, .. }) | None => vec![],
    }
}

/// A merge conflicts, or conflicts no longer.
fn record_conflict(
    world: &World,
    project: ProjectId,
    source: &str,
    target: &str,
    paths: &[Box<str>],
) -> Vec<Event> {
    let known = || world.worktrees.of(project).filter(|tree| *tree.tree.branch == *source);
    if paths.is_empty() && known().all(|tree| tree.conflict.is_none()) {
        return vec![];
    }
    let (source, target, paths) = (source.into(), target.into(), paths.into());
    vec![Event::Worktree(WorktreeEvent::MergeConflicted { project, source, target, paths })]
}

/// What passes the worktrees of an agent that has ended on to the one that was started in its place.
pub(crate) fn passed_on(world: &World, from: AgentId, to: AgentId) -> impl Iterator<Item = Event> {
    let theirs = move |tree: &&Worktree| tree.owner == Principal::Agent(from) && tree.released.is_none();
    world.worktrees.iter().filter(theirs).map(move |tree| {
        let (project, slug) = (tree.project, tree.tree.slug.clone());
        Event::Worktree(WorktreeEvent::PassedOn { project, slug, to })
    })
}

/// Whether `who` may merge or remove the worktree: its owner, those above the owner, and the human.
pub fn may_change(world: &World, who: Principal, worktree: &Worktree) -> Result<(), Refusal> {
    let is_above = |who: Principal| match (who.agent(), worktree.owner.agent()) {
        (Some(above), Some(below)) => world.agents.is_ancestor(above, below),
        _ => false,
    };
    match who {
        Principal::Human | Principal::System => Ok(()),
        Principal::Agent(_) if who == worktree.owner || is_above(who) => Ok(()),
        Principal::Agent(_) | Principal::Nobody => Err(Refusal::NotAllowed {
            problem: format!("the worktree {} is {}'s", worktree.tree.slug, world.name_of(worktree.owner)),
            hint: "ask its owner, a leader or the human".into(),
        }),
    }
}
