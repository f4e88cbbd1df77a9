//! What takes a present human, and what a person may do without being one.

use super::{Asker, CHANGES_TOKENS, Proof};
use crate::ask::Ask;
use crate::control::ControlAsk;
use crate::decisions::DecisionAsk;
use crate::ids::{Principal, ProjectId};
use crate::paths::PathPattern;
use crate::permissions::PermissionAsk;
use crate::pools::{PoolAsk, SlotId};
use crate::refusal::Refusal;
use crate::tasks::{Act, TaskAsk};
use crate::teams::TeamAsk;
use crate::world::World;

/// Whoever is nobody changes nothing, and a person who is not present decides nothing.
pub(crate) fn check(world: &World, asker: &Asker, ask: &Ask) -> Result<(), Refusal> {
    // An agent program that is not known yet may become known; the door judges whether it is one.
    let comes_in = matches!(ask, Ask::Join { .. } | Ask::Attach { .. });
    if asker.who == Principal::Nobody && !comes_in {
        return Err(Refusal::Unproven { why: "nothing proves who you are".into() });
    }
    let proof = asker.origin.as_ref().filter(|_| asker.who == Principal::Human).map(|origin| &origin.proof);
    match proof {
        Some(Proof::Lineage { lacks }) => match deciding(world, ask) {
            Some(act) => Err(Refusal::NotPresent { act, lacks: lacks.to_string() }),
            None => Ok(()),
        },
        Some(Proof::Terminal | Proof::Login | Proof::Token(_)) | None => Ok(()),
    }
}

/// What the human would decide by this ask, if it decides something.
fn deciding(world: &World, ask: &Ask) -> Option<&'static str> {
    match ask {
        Ask::LimitAgents { .. } => Some("change the limit on agents"),
        Ask::End { .. } => Some("end an agent"),
        Ask::Release { project, patterns, .. } => {
            is_others(world, *project, patterns).then_some("release another's lock")
        }
        Ask::Extend { project, patterns, .. } => {
            is_others(world, *project, patterns).then_some("extend another's lock")
        }
        Ask::HandOver { project, patterns, .. } => {
            is_others(world, *project, patterns).then_some("hand over another's lock")
        }
        Ask::Adopt { project, patterns, .. } => {
            is_others(world, *project, patterns).then_some("take over another's work")
        }
        Ask::ReleaseWorktree { project, slug } => {
            let owner = world.worktrees.get(*project, slug).map(|tree| tree.owner);
            owner.is_some_and(|owner| owner != Principal::Human).then_some("remove another's worktree")
        }
        Ask::Permission(ask) => permission(ask),
        Ask::Decision(DecisionAsk::Settle { .. }) => Some("confirm or reject a decision"),
        Ask::Control(ControlAsk::RequestShutdown { .. }) => Some("shut an agent down"),
        Ask::Team(TeamAsk::Delete { .. }) => Some("delete a team"),
        Ask::Team(TeamAsk::Admit { .. }) => Some("admit an agent to a team"),
        Ask::Task(TaskAsk::Act { act, .. }) => steering(act),
        Ask::Pool(PoolAsk::Admit { pool, context, .. }) => {
            let maker = world.pools.get(pool).and_then(|pool| pool.maker_of(context));
            maker.is_some_and(|maker| maker != Principal::Human).then_some("open another's context")
        }
        Ask::Pool(ask) => slot(ask).and_then(|(slot, act)| is_others_slot(world, slot).then_some(act)),
        Ask::Person(_) => Some(CHANGES_TOKENS),
        Ask::Start { .. }
        | Ask::AddProject { .. }
        | Ask::Join { .. }
        | Ask::Attach { .. }
        | Ask::AttachBeside { .. }
        | Ask::AddToken { .. }
        | Ask::NameAgent { .. }
        | Ask::NoteRefusedEntries { .. }
        | Ask::NoteReusedKey { .. }
        | Ask::KnowProcess { .. }
        | Ask::Seen { .. }
        | Ask::Idle { .. }
        | Ask::Disconnect { .. }
        | Ask::Lock { .. }
        | Ask::Unlock { .. }
        | Ask::UnlockAll
        | Ask::PutAside { .. }
        | Ask::CancelWait { .. }
        | Ask::Inspected { .. }
        | Ask::CheckFences { .. }
        | Ask::KnowFile { .. }
        | Ask::SawUnlockedWrite(_)
        | Ask::SawUnguardedCommit(_)
        | Ask::IntendMove(_)
        | Ask::SettleMove { .. }
        | Ask::AddWorktree { .. }
        | Ask::KeepWorktree { .. }
        | Ask::RemoveWorktree { .. }
        | Ask::RecordConflict { .. }
        | Ask::Mail(_)
        | Ask::Control(
            ControlAsk::ApproveShutdown { .. }
            | ControlAsk::RejectShutdown { .. }
            | ControlAsk::ReportIdle { .. },
        )
        | Ask::Decision(DecisionAsk::Decide { .. })
        | Ask::Team(TeamAsk::Create { .. })
        | Ask::Task(
            TaskAsk::Declare { .. }
            | TaskAsk::Link { .. }
            | TaskAsk::ClaimNext { .. }
            | TaskAsk::Seek { .. }
            | TaskAsk::Take,
        )
        | Ask::TakeNotices => None,
    }
}

fn permission(ask: &PermissionAsk) -> Option<&'static str> {
    match ask {
        PermissionAsk::Answer { .. } => Some("answer a permission request"),
        PermissionAsk::AddRule { .. } | PermissionAsk::RemoveRule { .. } => Some("change rules"),
        PermissionAsk::SetMode { .. } => Some("change a mode"),
        PermissionAsk::AnswerPlan { .. } => Some("answer a plan"),
        PermissionAsk::Request { .. }
        | PermissionAsk::Use { .. }
        | PermissionAsk::Withdraw { .. }
        | PermissionAsk::SubmitPlan { .. } => None,
    }
}

fn steering(act: &Act) -> Option<&'static str> {
    match act {
        Act::Accept | Act::SendBack { .. } => Some("review a task"),
        Act::Assign { .. }
        | Act::Pause
        | Act::Resume
        | Act::Retry
        | Act::Reopen
        | Act::Skip
        | Act::Cancel => Some("steer a task"),
        Act::Claim | Act::Start { .. } | Act::Done { .. } | Act::Fail { .. } | Act::GiveBack => None,
    }
}

fn slot(ask: &PoolAsk) -> Option<(SlotId, &'static str)> {
    match ask {
        PoolAsk::Free { slot, .. } => Some((*slot, "take another's slot")),
        PoolAsk::Extend { slot, .. } => Some((*slot, "extend another's lease")),
        PoolAsk::HandOver { slot, .. } => Some((*slot, "hand over another's slot")),
        PoolAsk::Share { slot, .. } | PoolAsk::Unshare { slot, .. } => Some((*slot, "share another's tab")),
        PoolAsk::Configure { .. }
        | PoolAsk::Take(_)
        | PoolAsk::EnterContext { .. }
        | PoolAsk::Admit { .. }
        | PoolAsk::MarkOpened { .. }
        | PoolAsk::Note { .. }
        | PoolAsk::Lose { .. }
        | PoolAsk::Request { .. }
        | PoolAsk::CancelRequest { .. }
        | PoolAsk::Grant { .. }
        | PoolAsk::Reclaim { .. } => None,
    }
}

fn is_others_slot(world: &World, slot: SlotId) -> bool {
    world.pools.slot(slot).is_some_and(|(_, slot)| slot.owner != Principal::Human)
}

fn is_others(world: &World, project: ProjectId, patterns: &[PathPattern]) -> bool {
    patterns.iter().any(|pattern| {
        world.locks.overlapping(project, pattern).iter().any(|lock| lock.holder != Principal::Human)
    })
}
