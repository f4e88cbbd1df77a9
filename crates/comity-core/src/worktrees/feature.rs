//! Asks and events of worktrees.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Worktree, WorktreeInfo};
use crate::commits::{found_later, short};
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::display::{counted, visible};
use crate::event::{Event, Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal, ProjectId};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

/// Asks about worktrees.
#[derive(Clone, PartialEq, Debug)]
pub enum WorktreeAsk {
    /// Records a worktree that was made, or brought back.
    Add { project: ProjectId, tree: Box<WorktreeInfo> },
    /// Lets a worktree go as soon as it is proven to hold no work.
    Release { project: ProjectId, slug: Box<str> },
    /// Records that a released worktree stays.
    Keep { project: ProjectId, slug: Box<str>, why: Box<str> },
    /// Records that a worktree was moved to the trash.
    Remove {
        project: ProjectId,
        slug: Box<str>,
        /// The ref that keeps its commits.
        rescue: Box<str>,
    },
    /// Records that a merge was not made: both sides changed the same; or, without paths, that it can be made.
    RecordConflict {
        project: ProjectId,
        /// The branch with the work.
        source: Box<str>,
        /// The branch that it was for.
        target: Box<str>,
        paths: Vec<Box<str>>,
    },
}

/// What happened to worktrees and their branches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum WorktreeEvent {
    /// A worktree was made, or brought back.
    #[serde(rename = "worktree_added")]
    Added { project: ProjectId, tree: WorktreeInfo },
    #[serde(rename = "worktree_released")]
    Released { project: ProjectId, slug: Box<str> },
    /// A released worktree stays: there may be work in it.
    #[serde(rename = "worktree_kept")]
    Kept { project: ProjectId, slug: Box<str>, why: Box<str> },
    /// A worktree was moved to the trash; nothing in it is lost.
    #[serde(rename = "worktree_removed")]
    Removed {
        project: ProjectId,
        slug: Box<str>,
        /// The ref that keeps its commits.
        rescue: Box<str>,
    },
    /// A worktree passed to the agent that replaces its owner.
    #[serde(rename = "worktree_passed_on")]
    PassedOn { project: ProjectId, slug: Box<str>, to: AgentId },
    BranchMerged {
        project: ProjectId,
        source: Box<str>,
        target: Box<str>,
        commit: Box<str>,
        files_total: usize,
        /// Where the target was before.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        was: Option<Box<str>>,
        /// Whether it was found in its target later, because its maker could not record it.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        recovered: bool,
    },
    /// A merge was not made: both sides changed the same. Without paths it conflicts no longer.
    MergeConflicted {
        project: ProjectId,
        /// The branch with the work.
        source: Box<str>,
        /// The branch that it was for.
        target: Box<str>,
        paths: Vec<Box<str>>,
    },
}

/// A notice about a worktree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum WorktreeTold {
    #[serde(rename = "worktree_kept")]
    Kept { slug: String, why: String },
}

impl fmt::Display for WorktreeTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorktreeTold::Kept { slug, why } = self;
        write!(f, "the worktree {slug} that you released is kept: {}", visible(why))
    }
}

impl FeatureAsk for WorktreeAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let events = match self {
            WorktreeAsk::Add { project, tree } => super::add(world, *project, tree)?,
            WorktreeAsk::Release { project, slug } => super::release(world, asker.who, *project, slug)?,
            WorktreeAsk::Keep { project, slug, why } => super::keep(world, *project, slug, why),
            WorktreeAsk::Remove { project, slug, rescue } => {
                let (project, slug, rescue) = (*project, slug.clone(), rescue.clone());
                vec![Event::Worktree(WorktreeEvent::Removed { project, slug, rescue })]
            }
            WorktreeAsk::RecordConflict { project, source, target, paths } => {
                super::record_conflict(world, *project, source, target, paths)
            }
        };
        Ok(events.into())
    }

    fn takes_presence(&self, world: &World) -> Option<&'static str> {
        let WorktreeAsk::Release { project, slug } = self else { return None };
        let owner = world.worktrees.get(*project, slug).map(|tree| tree.owner);
        owner.is_some_and(|owner| owner != Principal::Human).then_some("remove another's worktree")
    }

    fn is_work(&self) -> bool {
        match self {
            WorktreeAsk::Add { .. } | WorktreeAsk::Release { .. } | WorktreeAsk::RecordConflict { .. } => {
                true
            }
            WorktreeAsk::Keep { .. } | WorktreeAsk::Remove { .. } => false,
        }
    }
}

event_types!(WorktreeEvent {
    WorktreeEvent::Added { .. } => durable("worktree_added", "worktree:added"),
    // If a power cut loses this, the worktree stays as if it had never been released.
    WorktreeEvent::Released { .. } => live("worktree_released", "worktree:released"),
    WorktreeEvent::Kept { .. } => live("worktree_kept", "worktree:kept").housekeeping(),
    WorktreeEvent::Removed { .. } => durable("worktree_removed", "worktree:removed"),
    WorktreeEvent::PassedOn { .. } => live("worktree_passed_on", "worktree:passed_on"),
    WorktreeEvent::BranchMerged { .. } => durable("branch_merged", "worktree:merged"),
    WorktreeEvent::MergeConflicted { .. } => durable("merge_conflicted", "worktree:conflict"),
});

impl FeatureEvent for WorktreeEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        match self {
            WorktreeEvent::Added { project, tree } => {
                let (project, owner, since) = (*project, record.by, world.now);
                let (tree, added) = (tree.clone(), record.seq);
                let (released, kept, conflict) = (None, None, None);
                let tree = Worktree { project, tree, owner, since, added, released, kept, conflict };
                world.worktrees.insert(tree);
            }
            WorktreeEvent::Released { project, slug } => world.worktrees.release(*project, slug, record.by),
            WorktreeEvent::Kept { project, slug, why } => {
                if let Some(by) = world.worktrees.keep(*project, slug, why) {
                    let (slug, why) = (slug.to_string(), why.to_string());
                    world.tell(by, record.seq, WorktreeTold::Kept { slug, why });
                }
            }
            WorktreeEvent::Removed { project, slug, .. } => world.worktrees.remove(*project, slug),
            WorktreeEvent::PassedOn { project, slug, to } => {
                world.worktrees.pass_on(*project, slug, Principal::Agent(*to));
            }
            WorktreeEvent::BranchMerged { project, source, target, commit, .. } => {
                world.worktrees.conflict(*project, source, target, (&[], record.wall_ms));
                world.moves.merged(record.by, *project, target, commit);
            }
            WorktreeEvent::MergeConflicted { project, source, target, paths } => {
                world.worktrees.conflict(*project, source, target, (paths, record.wall_ms));
            }
        }
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        match self {
            // It concerns only whoever acted.
            WorktreeEvent::Added { .. } => vec![],
            WorktreeEvent::Released { project, slug }
            | WorktreeEvent::Kept { project, slug, .. }
            | WorktreeEvent::Removed { project, slug, .. } => {
                let tree = before.and_then(|world| world.worktrees.get(*project, slug));
                agents(tree.into_iter().flat_map(|tree| [Some(tree.owner), tree.released]).flatten())
            }
            WorktreeEvent::PassedOn { project, slug, to } => {
                let tree = before.and_then(|world| world.worktrees.get(*project, slug));
                std::iter::once(*to).chain(agents(tree.map(|tree| tree.owner))).collect()
            }
            WorktreeEvent::BranchMerged { project, source, .. }
            | WorktreeEvent::MergeConflicted { project, source, .. } => {
                let trees = before.into_iter().flat_map(|world| world.worktrees.of(*project));
                agents(trees.filter(|tree| tree.tree.branch == *source).map(|tree| tree.owner))
            }
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let by = telling.by();
        match self {
            WorktreeEvent::Added { tree, .. } => {
                format!("{by} works in the worktree {} on {}", tree.slug, tree.branch)
            }
            WorktreeEvent::Released { slug, .. } => format!("{by} released the worktree {slug}"),
            WorktreeEvent::Kept { slug, why, .. } => format!("the worktree {slug} is kept: {why}"),
            WorktreeEvent::Removed { slug, rescue, .. } => {
                format!("{by} put the worktree {slug} into the trash; {rescue} keeps its commits")
            }
            WorktreeEvent::PassedOn { slug, to, .. } => {
                format!("{} continues in the worktree {slug}", telling.world.name_of(Principal::Agent(*to)))
            }
            WorktreeEvent::BranchMerged { source, target, commit, files_total, recovered, .. } => {
                let (id, later) = (short(commit), found_later(*recovered));
                let files = counted(*files_total, "file");
                format!("{by} merged {source} into {target} as {id}: {files}{later}")
            }
            WorktreeEvent::MergeConflicted { source, target, paths, .. } if paths.is_empty() => {
                format!("{source} no longer conflicts with {target}")
            }
            WorktreeEvent::MergeConflicted { source, target, paths, .. } => {
                format!("{source} and {target} both changed {}", paths.join(", "))
            }
        }
    }
}
