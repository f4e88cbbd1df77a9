//! Branches that Comity moves: each move is written down before, and what came of it after.
//!
//! So whoever is killed in between leaves a move that is open. The next server looks where the branch is, and settles it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::commits::Commit;
use crate::event::Event;
use crate::ids::{AgentId, Fence, Key, Principal, ProjectId};
use crate::limits::OPEN_MOVES_MAX;
use crate::locks::{Hold, ReleaseCause};
use crate::refusal::Refusal;
use crate::world::World;

/// A branch that is about to move.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// In which project.
    pub project: ProjectId,
    /// The worktree that has it checked out, if files there belong to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub worktree: Option<Box<str>>,
    /// Its full name; none for a detached head.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Box<str>>,
    /// The commit that it is at; none for the first one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub old: Option<Box<str>>,
    /// The commit that it will be at.
    pub new: Box<str>,
    /// What for.
    pub act: Act,
    /// The idempotency key of the call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
}

/// What a branch moves for, with all that the ledger will say of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// What somebody had locked and changed is committed.
    Commit {
        /// The commit.
        commit: Commit,
        /// The hash of the message as it was given.
        message: Box<str>,
        /// Locks that go with it: those that the guard took.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        frees: Vec<Fence>,
    },
    /// The branch of a worktree is merged.
    Merge {
        /// The branch with the work.
        source: Box<str>,
        /// The branch that it is for.
        target: Box<str>,
        /// How many files the work changes.
        files_total: usize,
    },
}

/// A move of which nobody has written down yet what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenMove {
    /// The record that announced it.
    pub number: u64,
    /// Who moves the branch.
    pub by: Principal,
    /// The move.
    pub intended: Move,
}

/// The last commit that somebody made in a project.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastCommit {
    /// Its id.
    pub id: Box<str>,
    /// The branch as people call it.
    pub branch: Option<Box<str>>,
    /// Where it was made.
    pub worktree: Option<Box<str>>,
    /// The hash of the message as it was given.
    pub message: Box<str>,
    /// Whether a server ended since, perhaps before it could answer.
    pub is_untold: bool,
}

/// Moves that are open, and who committed what last.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moves {
    open: BTreeMap<u64, OpenMove>,
    #[serde(with = "crate::snapshot::pairs")]
    last: BTreeMap<(Principal, ProjectId), LastCommit>,
}

impl Moves {
    /// All that are open, the oldest first.
    pub fn open(&self) -> impl Iterator<Item = &OpenMove> {
        self.open.values()
    }

    /// The last commit of somebody in a project.
    pub fn last_of(&self, who: Principal, project: ProjectId) -> Option<&LastCommit> {
        self.last.get(&(who, project))
    }

    pub(crate) fn server_started(&mut self) {
        self.last.values_mut().for_each(|commit| commit.is_untold = true);
    }

    pub(crate) fn forget(&mut self, agent: AgentId) {
        self.last.retain(|(who, _), _| *who != Principal::Agent(agent));
    }

    pub(crate) fn intend(&mut self, number: u64, by: Principal, intended: &Move) {
        self.open.insert(number, OpenMove { number, by, intended: intended.clone() });
    }

    pub(crate) fn undo(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// A commit is recorded: its move is over.
    pub(crate) fn committed(&mut self, by: Principal, project: ProjectId, commit: &Commit, is_untold: bool) {
        let is_it = |open: &OpenMove| {
            open.by == by
                && open.intended.project == project
                && matches!(&open.intended.act, Act::Commit { commit: intended, .. } if intended.id == commit.id)
        };
        if let Some(Move { worktree, act: Act::Commit { message, .. }, .. }) =
            self.take(is_it).map(|open| open.intended)
        {
            let (id, branch) = (commit.id.clone(), commit.branch.clone());
            self.last.insert((by, project), LastCommit { id, branch, worktree, message, is_untold });
        }
    }

    /// A merge is recorded: its move is over.
    pub(crate) fn merged(&mut self, by: Principal, project: ProjectId, into: &str, commit: &str) {
        self.take(|open| {
            let is_same = |act: &Act| matches!(act, Act::Merge { target, .. } if **target == *into);
            open.by == by
                && open.intended.project == project
                && *open.intended.new == *commit
                && is_same(&open.intended.act)
        });
    }

    /// Closes all of these; the same commit made again has the same id, and is recorded once. Gives the last.
    fn take(&mut self, is_it: impl Fn(&OpenMove) -> bool) -> Option<OpenMove> {
        self.open.extract_if(.., |_, open| is_it(open)).map(|(_, open)| open).last()
    }
}

/// Announces that a branch is about to move.
pub(crate) fn intend(world: &World, intended: &Move) -> Result<Vec<Event>, Refusal> {
    if world.moves.open.len() >= OPEN_MOVES_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("{OPEN_MOVES_MAX} commits and merges are begun and not recorded"),
            hint: "nothing was changed; see what keeps them in the server's log".into(),
        });
    }
    Ok(vec![Event::MoveIntended(Box::new(intended.clone()))])
}

/// Says what came of a move. One that is over already stays as it is.
pub(crate) fn settle(
    world: &World,
    who: Principal,
    number: u64,
    has_moved: bool,
) -> Result<Vec<Event>, Refusal> {
    let Some(open) = world.moves.open.get(&number) else { return Ok(vec![]) };
    if who != open.by && who != Principal::System {
        let problem = "only who moves a branch says what came of it".into();
        return Err(Refusal::NotAllowed { problem, hint: "look at: comity log".into() });
    }
    let Move { project, branch, old, new, act, .. } = &open.intended;
    if !has_moved {
        let (number, commit, branch, of) = (number, new.clone(), branch.clone(), open.by);
        return Ok(vec![Event::MoveUndone { number, commit, branch, of }]);
    }
    let (project, recovered) = (*project, who == Principal::System);
    Ok(match act {
        Act::Commit { commit, frees, .. } => {
            let mut events = vec![Event::Committed { project, commit: commit.clone(), recovered }];
            let held = frees.iter().filter_map(|fence| world.locks.get(*fence));
            // What has lapsed is looked at anyway.
            let held = held.filter(|lock| lock.hold == Hold::Held);
            events.extend(held.map(|lock| lock.released(ReleaseCause::GivenBack)));
            events
        }
        Act::Merge { source, target, files_total } => vec![Event::BranchMerged {
            project,
            source: source.clone(),
            target: target.clone(),
            commit: new.clone(),
            files_total: *files_total,
            was: old.clone(),
            recovered,
        }],
    })
}

/// In whose name, and under which key, the ledger has what came of a move, whoever found it out.
pub(crate) fn maker(world: &World, number: u64, has_moved: bool) -> Option<(Principal, Option<&Key>)> {
    let open = world.moves.open.get(&number).filter(|_| has_moved)?;
    Some((open.by, open.intended.key.as_ref()))
}
