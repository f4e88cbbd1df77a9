//! Branches that Comity moves: each move is written down before it is made, and its outcome after.
//!
//! If the server is killed in between, the move stays open. The next server looks where the branch is, and settles
//! it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::calls;
use crate::commits::{Commit, CommitEvent, short};
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::display::counted;
use crate::event::{Event, Record, durable, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Fence, Key, Principal, ProjectId};
use crate::limits::OPEN_MOVES_MAX;
use crate::locks::{Hold, ReleaseCause};
use crate::next_call::call;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::worktrees::WorktreeEvent;
use crate::world::World;

/// A branch move that was announced.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    pub project: ProjectId,
    /// The worktree that has the branch checked out, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worktree: Option<Box<str>>,
    /// Its full name; `None` for a detached head.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<str>>,
    /// Where the branch was; `None` for the first commit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub old: Option<Box<str>>,
    /// Where it will be.
    pub new: Box<str>,
    pub act: MoveCause,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
}

/// Why a branch moves, with all that the ledger will say of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MoveCause {
    Commit {
        commit: Commit,
        /// The hash of the message as given.
        message: Box<str>,
        /// Locks that the guard took, and that are released with the commit.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        frees: Vec<Fence>,
    },
    Merge {
        source: Box<str>,
        target: Box<str>,
        files_total: usize,
    },
}

/// Asks about branches that Comity moves.
#[derive(Clone, PartialEq, Debug)]
pub enum MoveAsk {
    Intend(Box<Move>),
    /// Records the outcome of a move.
    Settle {
        /// The record that announced it.
        number: u64,
        /// Whether the branch has moved.
        has_moved: bool,
    },
}

/// What happened to branches that Comity moves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MoveEvent {
    /// A commit or merge is about to be made, and its outcome is not known yet.
    #[serde(rename = "move_intended")]
    Intended(Box<Move>),
    #[serde(rename = "move_undone")]
    Undone {
        /// The record that announced it.
        number: u64,
        commit: Box<str>,
        /// Its full name; `None` for a detached head.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<Box<str>>,
        of: Principal,
    },
}

/// A move whose outcome is not recorded yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenMove {
    /// The record that announced it.
    pub number: u64,
    pub by: Principal,
    pub intended: Move,
}

/// The last commit that somebody made in a project.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastCommit {
    pub id: Box<str>,
    /// The branch's short name.
    pub branch: Option<Box<str>>,
    pub worktree: Option<Box<str>>,
    /// The hash of the message as given.
    pub message: Box<str>,
    /// Whether a server has ended since, perhaps before it could answer.
    pub is_untold: bool,
}

/// Open moves, and everybody's last commit.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moves {
    open: BTreeMap<u64, OpenMove>,
    #[serde(with = "crate::snapshot::pairs")]
    last: BTreeMap<(Principal, ProjectId), LastCommit>,
}

impl Moves {
    /// Oldest first.
    pub fn open(&self) -> impl Iterator<Item = &OpenMove> {
        self.open.values()
    }

    /// Somebody's last commit in a project.
    pub fn last_of(&self, who: Principal, project: ProjectId) -> Option<&LastCommit> {
        self.last.get(&(who, project))
    }

    pub(crate) fn server_started(&mut self) {
        self.last.values_mut().for_each(|commit| commit.is_untold = true);
    }

    pub(crate) fn forget(&mut self, agent: AgentId) {
        self.last.retain(|(who, _), _| *who != Principal::Agent(agent));
    }

    fn intend(&mut self, number: u64, by: Principal, intended: &Move) {
        self.open.insert(number, OpenMove { number, by, intended: intended.clone() });
    }

    fn undo(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// Closes the move of a recorded commit.
    pub(crate) fn committed(&mut self, by: Principal, project: ProjectId, commit: &Commit, is_untold: bool) {
        let is_it = |open: &OpenMove| {
            open.by == by
                && open.intended.project == project
                && matches!(&open.intended.act, MoveCause::Commit { commit: intended, .. } if intended.id == commit.id)
        };
        if let Some(Move { worktree, act: MoveCause::Commit { message, .. }, .. }) =
            self.take(is_it).map(|open| open.intended)
        {
            let (id, branch) = (commit.id.clone(), commit.branch.clone());
            self.last.insert((by, project), LastCommit { id, branch, worktree, message, is_untold });
        }
    }

    /// Closes the move of a recorded merge.
    pub(crate) fn merged(&mut self, by: Principal, project: ProjectId, into: &str, commit: &str) {
        self.take(|open| {
            let is_same =
                |act: &MoveCause| matches!(act, MoveCause::Merge { target, .. } if **target == *into);
            open.by == by
                && open.intended.project == project
                && *open.intended.new == *commit
                && is_same(&open.intended.act)
        });
    }

    /// Closes all matching moves, and returns the last: the same commit made again has the same id, and is recorded
    /// once.
    fn take(&mut self, is_it: impl Fn(&OpenMove) -> bool) -> Option<OpenMove> {
        self.open.extract_if(.., |_, open| is_it(open)).map(|(_, open)| open).last()
    }
}

fn intend(world: &World, intended: &Move) -> Result<Vec<Event>, Refusal> {
    if world.moves.open.len() >= OPEN_MOVES_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("{OPEN_MOVES_MAX} commits and merges are begun and not recorded"),
            hint: "nothing was changed; see what keeps them in the server's log".into(),
        });
    }
    Ok(vec![Event::Move(MoveEvent::Intended(Box::new(intended.clone())))])
}

/// Records the outcome of a move. One that is already settled stays as it is.
fn settle(world: &World, who: Principal, number: u64, has_moved: bool) -> Result<Vec<Event>, Refusal> {
    let Some(open) = world.moves.open.get(&number) else { return Ok(vec![]) };
    if who != open.by && who != Principal::System {
        let problem = "only who moves a branch says what came of it".into();
        return Err(Refusal::NotAllowed { problem, hint: format!("look at: {}", call(calls::LOG, [])) });
    }
    let Move { project, branch, old, new, act, .. } = &open.intended;
    if !has_moved {
        let (number, commit, branch, of) = (number, new.clone(), branch.clone(), open.by);
        return Ok(vec![Event::Move(MoveEvent::Undone { number, commit, branch, of })]);
    }
    let (project, recovered) = (*project, who == Principal::System);
    Ok(match act {
        MoveCause::Commit { commit, frees, .. } => {
            let mut events =
                vec![Event::Commit(CommitEvent::Made { project, commit: commit.clone(), recovered })];
            let held = frees.iter().filter_map(|fence| world.locks.get(*fence));
            // Files of a lapsed lock are looked at anyway.
            let held = held.filter(|lock| lock.hold == Hold::Held);
            events.extend(held.map(|lock| lock.released(ReleaseCause::GivenBack)));
            events
        }
        MoveCause::Merge { source, target, files_total } => {
            vec![Event::Worktree(WorktreeEvent::BranchMerged {
                project,
                source: source.clone(),
                target: target.clone(),
                commit: new.clone(),
                files_total: *files_total,
                was: old.clone(),
                recovered,
            })]
        }
    })
}

impl FeatureAsk for MoveAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        let events = match self {
            MoveAsk::Intend(intended) => intend(world, intended)?,
            MoveAsk::Settle { number, has_moved } => settle(world, asker.who, *number, *has_moved)?,
        };
        Ok(events.into())
    }

    fn is_work(&self) -> bool {
        matches!(self, MoveAsk::Intend(_))
    }

    /// A move's outcome is recorded in its maker's name, whoever found it out.
    fn maker<'w>(&self, world: &'w World) -> Option<(Principal, Option<&'w Key>)> {
        let MoveAsk::Settle { number, has_moved: true } = self else { return None };
        let open = world.moves.open.get(number)?;
        Some((open.by, open.intended.key.as_ref()))
    }
}

event_types!(MoveEvent {
    // On the disk before the branch moves: otherwise a power cut could leave a commit that nobody knows of.
    MoveEvent::Intended(_) => durable("move_intended", "branch:intended").housekeeping(),
    MoveEvent::Undone { .. } => live("move_undone", "branch:undone").housekeeping(),
});

impl FeatureEvent for MoveEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        match self {
            MoveEvent::Intended(intended) => world.moves.intend(record.seq, record.by, intended),
            MoveEvent::Undone { number, .. } => world.moves.undo(*number),
        }
    }

    fn concerns(&self, _: Option<&World>) -> Vec<AgentId> {
        match self {
            // Its outcome says whom it concerns.
            MoveEvent::Intended(_) => vec![],
            MoveEvent::Undone { of, .. } => agents([*of]),
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let name = |branch: &str| branch.strip_prefix("refs/heads/").unwrap_or(branch).to_owned();
        match self {
            MoveEvent::Intended(intended) => {
                let by = telling.does(telling.record.by, "is", "are");
                let id = short(&intended.new);
                match &intended.act {
                    MoveCause::Commit { commit, .. } => {
                        let on = intended.branch.as_deref().map(|branch| format!(" on {}", name(branch)));
                        let (on, files) = (on.unwrap_or_default(), counted(commit.files_total, "file"));
                        format!("{by} about to commit {files} as {id}{on}: {}", commit.subject)
                    }
                    MoveCause::Merge { source, target, .. } => {
                        format!("{by} about to merge {source} into {target} as {id}")
                    }
                }
            }
            MoveEvent::Undone { commit, branch, of, .. } => {
                let branch = branch.as_deref().map_or_else(|| "HEAD".into(), name);
                format!("{} did not move {branch} to {} after all", telling.name(*of), short(commit))
            }
        }
    }
}
