//! Branches that move, as the model sees it: what was announced and not said to be over is open, and nothing else is.

use comity_core::branch_moves::{Move, MoveCause, MoveEvent};
use comity_core::commits::CommitEvent;
use comity_core::locks::{Hold, LockEvent, ReleaseCause};
use comity_core::worktrees::WorktreeEvent;
use comity_core::{Event, Principal, Record, World};

use super::{Found, Oracle};

impl Oracle {
    pub(super) fn observe_move(&mut self, record: &Record) -> Found {
        let before = self.moves.len();
        match &record.event {
            Event::Move(MoveEvent::Intended(intended)) => {
                self.moves.insert(record.seq, (record.by, (**intended).clone()));
                return Ok(());
            }
            Event::Move(MoveEvent::Undone { number, of, .. }) => match self.moves.remove(number) {
                Some((by, _)) if by == *of => return Ok(()),
                Some(_) | None => return Err(format!("move {number} of {of} is over, but was not begun")),
            },
            Event::Commit(CommitEvent::Made { project, commit, .. }) => self.moves.retain(|_, (by, it)| {
                let is_same = matches!(&it.act, MoveCause::Commit { commit: known, .. } if known == commit);
                !(is_same && *by == record.by && it.project == *project)
            }),
            Event::Worktree(WorktreeEvent::BranchMerged { project, target: into, commit, .. }) => {
                self.moves.retain(|_, (by, it)| {
                    let is_same = matches!(&it.act, MoveCause::Merge { target, .. } if target == into);
                    !(is_same && *by == record.by && it.project == *project && it.new == *commit)
                });
            }
            _ => return Ok(()),
        }
        match self.moves.len() < before {
            true => Ok(()),
            false => Err(format!("record {} tells of a commit that nobody announced", record.seq)),
        }
    }

    /// What is said to have come of a move is what was announced, once.
    pub(super) fn move_is_right(&self, number: u64, has_moved: bool, answer: &[Event]) -> Found {
        let Some((_, Move { act, .. })) = self.moves.get(&number) else {
            let problem = format!("move {number} was over already");
            return if answer.is_empty() { Ok(()) } else { Err(problem) };
        };
        let is_right = match (answer, act) {
            ([Event::Move(MoveEvent::Undone { number: undone, .. })], _) => !has_moved && *undone == number,
            ([Event::Worktree(WorktreeEvent::BranchMerged { .. })], MoveCause::Merge { .. }) => has_moved,
            ([Event::Commit(CommitEvent::Made { .. }), freed @ ..], MoveCause::Commit { frees, .. }) => {
                let is_held = |fence| {
                    self.locks.get(fence).is_some_and(|lock: &super::ModelLock| lock.hold == Hold::Held)
                };
                let expected = frees.iter().filter(|fence| is_held(fence));
                let freed = freed.iter().map(|event| match event {
                    Event::Lock(LockEvent::Released { fence, cause: ReleaseCause::GivenBack, .. }) => {
                        Some(fence)
                    }
                    _ => None,
                });
                has_moved && freed.eq(expected.map(Some))
            }
            _ => false,
        };
        if is_right { Ok(()) } else { Err(format!("{answer:?} came of move {number}")) }
    }

    /// Whether `who` may say what came of a move.
    pub(super) fn may_settle(&self, who: Principal, number: u64) -> bool {
        who == Principal::System || self.moves.get(&number).is_none_or(|(by, _)| *by == who)
    }

    pub(super) fn agrees_on_moves(&self, world: &World) -> Found {
        let open = world.moves.open().map(|open| (&open.number, open.by));
        match open.eq(self.moves.iter().map(|(number, (by, _))| (number, *by))) {
            true => Ok(()),
            false => Err("other moves are open than the log says".into()),
        }
    }
}
