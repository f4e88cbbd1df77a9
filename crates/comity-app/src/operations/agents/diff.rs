//! Shows what an agent has changed, or what was changed for a task.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use comity_core::commits::CommitEvent;
use comity_core::display::{counted, visible, visible_lines};
use comity_core::tasks::{Task, TaskEvent};
use comity_core::worktrees::Worktree;
use comity_core::{AgentId, Event, PathPattern, Principal, ProjectId, Record, World};
use comity_git::{BranchCommit, WorktreeFilter, branch_commits, commit_patch, dirty_worktrees};

use crate::lock_worktrees::{may_be_in, real};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::ledger::{is_join_of, known_agent, newest_records};

/// Commits that are shown.
const COMMITS_MAX: usize = 100;
/// Bytes of all patches together.
const PATCH_BYTES_MAX: usize = 512 * 1024;
/// How long git may take for each.
const PATIENCE: Duration = Duration::from_secs(8);

/// Show what an agent has changed, or what was changed for a task: its commits, and what is not committed under its locks and in its own worktrees.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Diff {
    /// An agent or a task; yourself if omitted
    pub of: Option<String>,
    /// Only the names of the files
    #[serde(default)]
    pub files: bool,
}

/// What was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WhatChanged {
    /// By whom, or for which task.
    pub of: String,
    /// The commits, the oldest first: those made with comity commit, and all others in its own worktrees.
    pub commits: Vec<CommitPatch>,
    /// What is not committed, worktree by worktree.
    pub uncommitted: Vec<DirtyPatch>,
    /// What could not be found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// What one commit changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CommitPatch {
    pub commit: String,
    /// The branch that it was made on; none for a detached head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The first line of its message.
    pub subject: String,
    /// Who made it.
    pub by: String,
    /// Its files; with very many, the first of them.
    pub files: Vec<String>,
    /// What it changed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub patch: String,
}

/// What is not committed in one worktree.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DirtyPatch {
    pub worktree: String,
    /// Its files; with very many, the first of them.
    pub files: Vec<String>,
    /// What is changed in them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub patch: String,
}

impl Operation for Diff {
    type Output = WhatChanged;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WhatChanged>, Failure> {
        let world = app.engine().world().clone();
        let bytes = if self.files { 0 } else { PATCH_BYTES_MAX };
        let place = app.projects().place(caller).ok();
        let is_agent = |name: &&str| world.agents.find(name).is_ok();
        let task = self.of.as_deref().filter(|name| !is_agent(name)).zip(place.as_ref());
        let task = task.and_then(|(id, place)| world.tasks.get(place.project(), id));
        let (of, records, holders) = match (&self.of, caller.who, task) {
            (_, _, Some(task)) => {
                (task.id.to_string(), commits_for(app, task)?, task.state.owner().into_iter().collect())
            }
            (None, Principal::Agent(agent), _) => by_agent(app, &world, agent)?,
            (None, who, None) => (world.name_of(who), vec![], vec![who]),
            (Some(name), _, None) => by_agent(app, &world, known_agent(app, name)?)?,
        };
        let mut changed = WhatChanged { of, commits: vec![], uncommitted: vec![], problems: vec![] };
        changed.add_commits(&world, &records, bytes);
        if task.is_none() {
            changed.add_plain_commits(&world, &holders, bytes);
        }
        changed.add_uncommitted(&world, &holders, bytes);
        Ok(Plan::Answer(changed))
    }
}

/// Whose commits, the commits, and under whose locks there may be more.
type ChangesOf = (String, Vec<Record>, Vec<Principal>);

fn by_agent(app: &Application, world: &World, agent: AgentId) -> Result<ChangesOf, Failure> {
    let who = Principal::Agent(agent);
    Ok((world.name_of(who), commits_of(app, agent)?, vec![who]))
}

/// The commits of an agent, oldest first.
pub(super) fn commits_of(app: &Application, agent: AgentId) -> Result<Vec<Record>, Failure> {
    let is_own = |record: &Record| record.by == Principal::Agent(agent) && is_commit(record);
    let mut found = newest_records(app, COMMITS_MAX, is_own, |record| is_join_of(record, agent))?;
    found.reverse();
    Ok(found)
}

fn is_commit(record: &Record) -> bool {
    matches!(record.event, Event::Commit(CommitEvent::Made { .. }))
}

/// What was committed by those who worked on a task, while they did.
fn commits_for(app: &Application, task: &Task) -> Result<Vec<Record>, Failure> {
    let is_of_it = |record: &Record| match &record.event {
        Event::Task(event) => event.on().is_some_and(|on| *on == task.name()),
        _ => false,
    };
    let declares = |record: &Record| match &record.event {
        Event::Task(TaskEvent::Declared { project, tasks }) => {
            *project == task.project && tasks.iter().any(|new| new.number == task.number)
        }
        _ => false,
    };
    let wanted = |record: &Record| is_commit(record) || is_of_it(record);
    let mut records = newest_records(app, usize::MAX, wanted, declares)?;
    records.reverse();
    let mut worker = None;
    records.retain(|record| match &record.event {
        Event::Task(TaskEvent::Started { by, .. }) => {
            worker = Some(*by);
            false
        }
        // Its last commit came before it said so.
        Event::Task(TaskEvent::LooksLike { .. } | TaskEvent::Linked { .. }) => false,
        Event::Task(_) => {
            worker = None;
            false
        }
        _ => worker == Some(record.by),
    });
    Ok(records)
}

impl WhatChanged {
    fn add_commits(&mut self, world: &World, records: &[Record], bytes_max: usize) {
        let mut room = bytes_max;
        for record in records {
            let Event::Commit(CommitEvent::Made { project, commit, .. }) = &record.event else { continue };
            let patch = match (room, world.projects.get(project)) {
                (0, _) | (_, None) => String::new(),
                (room, Some(project)) => {
                    commit_patch(Path::new(&*project.common_dir), &commit.id, PATIENCE, room).unwrap_or_else(
                        |problem| {
                            self.problems.push(problem.to_string());
                            String::new()
                        },
                    )
                }
            };
            room = room.saturating_sub(patch.len());
            self.commits.push(CommitPatch {
                commit: commit.id.to_string(),
                branch: commit.branch.as_deref().map(str::to_owned),
                subject: commit.subject.to_string(),
                by: world.name_of(record.by),
                files: commit.files.iter().map(|file| file.path.to_string()).collect(),
                patch,
            });
        }
    }

    /// Adds commits made with plain git in their own worktrees.
    fn add_plain_commits(&mut self, world: &World, who: &[Principal], bytes_max: usize) {
        let known: usize = self.commits.iter().map(|commit| commit.patch.len()).sum();
        let mut room = bytes_max.saturating_sub(known);
        for (worktree, commits) in plain_commits(world, who, &mut self.problems) {
            let common_dir = world.projects.get(&worktree.project).map(|project| &*project.common_dir);
            for commit in commits {
                if self.commits.iter().any(|known| known.commit == commit.id) {
                    continue;
                }
                let patch = match (room, common_dir) {
                    (0, _) | (_, None) => String::new(),
                    (room, Some(common_dir)) => {
                        commit_patch(Path::new(common_dir), &commit.id, PATIENCE, room).unwrap_or_default()
                    }
                };
                room = room.saturating_sub(patch.len());
                self.commits.push(CommitPatch {
                    commit: commit.id,
                    branch: Some(worktree.tree.branch.to_string()),
                    subject: commit.subject,
                    by: world.name_of(worktree.owner),
                    files: commit.files,
                    patch,
                });
            }
        }
    }

    fn add_uncommitted(&mut self, world: &World, holders: &[Principal], bytes_max: usize) {
        match uncommitted(world, holders, bytes_max) {
            Ok(found) => self.uncommitted = found,
            Err(problem) => self.problems.push(problem),
        }
    }
}

/// Somebody's worktrees, with what was committed in each since it began.
pub(super) fn plain_commits<'w>(
    world: &'w World,
    who: &[Principal],
    problems: &mut Vec<String>,
) -> Vec<(&'w Worktree, Vec<BranchCommit>)> {
    let own = world.worktrees.iter().filter(|worktree| who.contains(&worktree.owner));
    let mut all = Vec::new();
    for worktree in own {
        let Some(project) = world.projects.get(&worktree.project) else { continue };
        let (common_dir, tree) = (Path::new(&*project.common_dir), &worktree.tree);
        match branch_commits(common_dir, &real(&tree.path), &tree.base, PATIENCE) {
            Ok(commits) => all.push((worktree, commits)),
            Err(problem) => problems.push(problem.to_string()),
        }
    }
    all
}

/// What is uncommitted under somebody's locks, and in their own worktrees.
pub(super) fn uncommitted(
    world: &World,
    holders: &[Principal],
    bytes_max: usize,
) -> Result<Vec<DirtyPatch>, String> {
    let locks = || holders.iter().flat_map(move |holder| world.locks.of(*holder));
    let own = || world.worktrees.iter().filter(|worktree| holders.contains(&worktree.owner));
    let locked = locks().map(|lock| lock.wanted.project);
    let projects: BTreeSet<ProjectId> = locked.chain(own().map(|worktree| worktree.project)).collect();
    let (mut all, mut room) = (Vec::new(), bytes_max);
    for id in projects {
        let Some(project) = world.projects.get(&id) else { continue };
        let of_it = locks().filter(|lock| lock.wanted.project == id);
        let locked = of_it.map(|lock| (lock.wanted.pattern.clone(), may_be_in(world, lock)));
        let mut meant: Vec<_> = locked.collect();
        let roots: BTreeSet<_> =
            own().filter(|tree| tree.project == id).map(|tree| real(&tree.tree.path)).collect();
        if let Ok(everything) = PathPattern::parse("**", project.case)
            && !roots.is_empty()
        {
            meant.push((everything, WorktreeFilter::Only(roots)));
        }
        let at = Path::new(&*project.common_dir);
        let found = dirty_worktrees(at, &meant, project.case, PATIENCE, room);
        for dirty in found.map_err(|problem| problem.to_string())? {
            room = room.saturating_sub(dirty.patch.len());
            let worktree = dirty.root.to_string_lossy().into_owned();
            all.push(DirtyPatch { worktree, files: dirty.files, patch: dirty.patch });
        }
    }
    Ok(all)
}

impl fmt::Display for WhatChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.commits.iter().map(ToString::to_string).collect();
        parts.extend(self.uncommitted.iter().map(ToString::to_string));
        parts.extend(
            self.problems.iter().map(|problem| format!("can't tell everything: {}", visible(problem))),
        );
        match parts.is_empty() {
            true => write!(
                f,
                "{}: no commits through Comity or in worktrees of its own, and nothing uncommitted there or under its locks",
                visible(&self.of)
            ),
            false => f.write_str(&parts.join("\n")),
        }
    }
}

fn files(f: &mut fmt::Formatter<'_>, files: &[String], patch: &str) -> fmt::Result {
    match patch.is_empty() {
        true => files.iter().try_for_each(|file| write!(f, "\n  {}", visible(file))),
        false => write!(f, "\n{}", visible_lines(patch).trim_end_matches('\n')),
    }
}

impl fmt::Display for CommitPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let commit = &self.commit[..self.commit.floor_char_boundary(10)];
        write!(f, "commit {commit}")?;
        if let Some(branch) = &self.branch {
            write!(f, " on {}", visible(branch))?;
        }
        let count = counted(self.files.len(), "file");
        write!(f, " by {}: {} ({count})", visible(&self.by), visible(&self.subject))?;
        files(f, &self.files, &self.patch)
    }
}

impl fmt::Display for DirtyPatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = counted(self.files.len(), "file");
        write!(f, "not committed in {} ({count})", visible(&self.worktree))?;
        files(f, &self.files, &self.patch)
    }
}
