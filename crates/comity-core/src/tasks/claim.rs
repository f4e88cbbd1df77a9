//! Who has a task: claiming it, starting it with its files locked, and losing its owner.

use std::collections::BTreeSet;

use super::{Readiness, ReturnCause, Task, TaskEvent, TaskRefusal, TaskState, similar};
use crate::calls;
use crate::event::Event;
use crate::ids::{AgentId, Principal, ProjectId};
use crate::limits::TASK_ATTEMPTS_MAX;
use crate::locks::{self, Hold, LockMode, ReleaseCause, Wanted};
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::teams::leader_of;
use crate::time::Millis;
use crate::world::World;

/// Claims a task that is ready and nobody's.
pub(super) fn claim(world: &World, who: Principal, task: &Task) -> Result<Vec<Event>, Refusal> {
    // Asking again for what one has changes nothing.
    if task.is_taken() && task.state.owner() == Some(who) {
        return Ok(vec![]);
    }
    if !matches!(task.state, TaskState::Open { claim: None }) {
        return Err(not_to_be_had(world, task));
    }
    must_be_ready(world, task)?;
    let claimed = TaskEvent::Claimed { on: task.name(), by: who, attempt: task.attempt };
    Ok(std::iter::once(Event::Task(claimed)).chain(similar::among_taken(world, who, task)).collect())
}

/// Claims the task that is most worth doing for `who`.
pub(super) fn claim_next(world: &World, who: Principal, project: ProjectId) -> Result<Vec<Event>, Refusal> {
    if world.tasks.owned_by(who).any(Task::is_taken) {
        return Ok(vec![]);
    }
    match super::assign::best_for(world, who, project) {
        Some(task) => claim(world, who, task),
        None => Err(Refusal::NotFound {
            problem: "no task is ready for you".into(),
            hint: format!(
                "wait for one: {}; or see: {}",
                call(calls::NEXT, [("wait", "60s".into())]),
                call(calls::TASK_LIST, [])
            ),
        }),
    }
}

/// Begins to work: claim, locks and start are one step.
pub(super) fn start(
    world: &World,
    who: Principal,
    task: &Task,
    attempt: Option<u32>,
    ttl: Millis,
) -> Result<Vec<Event>, Refusal> {
    let is_free = matches!(task.state, TaskState::Open { claim: None });
    if !is_free || attempt.is_some_and(|attempt| attempt != task.attempt) {
        must_own(world, who, task, attempt)?;
    }
    if matches!(task.state, TaskState::Running { .. }) {
        return Ok(vec![]);
    }
    if !matches!(task.state, TaskState::Open { .. }) {
        return Err(not_to_be_had(world, task));
    }
    let mut events = if is_free { claim(world, who, task)? } else { vec![] };
    must_be_ready(world, task)?;
    let reason: Box<str> = format!("task {}: {}", task.id, task.brief.title).into();
    let wants: Vec<Wanted> = task
        .brief
        .files
        .iter()
        .map(|pattern| Wanted {
            project: task.project,
            pattern: pattern.clone(),
            mode: LockMode::Exclusive,
            ttl,
            reason: Some(reason.clone()),
            with_children: false,
            worktree: None,
        })
        .collect();
    let locks = if wants.is_empty() { vec![] } else { locks::lock_at_once(world, who, &wants)? };
    // Giving up a lock early, or having two tasks, is no way around this.
    let runs =
        |other: &&Task| matches!(other.state, TaskState::Running { .. }) && other.shares_files_with(task);
    if let Some(other) = world.tasks.owned().find(runs) {
        let owner = other.state.owner().map(|owner| world.name_of(owner)).unwrap_or_default();
        return Err(Refusal::NotAllowed {
            problem: format!("{} is running ({owner}), and both would change the same files", other.id),
            hint: "start it when the other one is done".into(),
        });
    }
    events.extend(locks);
    events.push(Event::Task(TaskEvent::Started { on: task.name(), by: who, attempt: task.attempt }));
    Ok(events)
}

/// Releases the locks of the owner of a running task; `who` ends the work.
pub(super) fn unlock_events(world: &World, who: Principal, task: &Task) -> Vec<Event> {
    let TaskState::Running { by: owner, .. } = task.state else { return vec![] };
    let cause = || match who == owner {
        true => ReleaseCause::GivenBack,
        false => ReleaseCause::TakenAway { reason: Some(format!("the task {} was stopped", task.id).into()) },
    };
    let held = task.brief.files.iter().filter_map(|pattern| world.locks.own(owner, task.project, pattern));
    // A task may list the same file twice.
    let mut seen = BTreeSet::new();
    held.filter(|lock| lock.hold == Hold::Held && seen.insert(lock.fence))
        .map(|lock| lock.released(cause()))
        .collect()
}

/// Refuses unless `who` has the task, by this claim.
pub(super) fn must_own(
    world: &World,
    who: Principal,
    task: &Task,
    attempt: Option<u32>,
) -> Result<(), Refusal> {
    let owner = task.state.owner();
    if owner == Some(who) && attempt.is_none_or(|attempt| attempt == task.attempt) {
        return Ok(());
    }
    if let Some(refusal) = own_in_review(who, task) {
        return Err(refusal);
    }
    Err(Refusal::Task(TaskRefusal::StaleAttempt {
        task: task.id.to_string(),
        owner: owner.map(|owner| if owner == who { "you".into() } else { world.name_of(owner) }),
        attempt: task.attempt,
    }))
}

fn must_be_ready(world: &World, task: &Task) -> Result<(), Refusal> {
    let awaited: Vec<String> = world
        .tasks
        .before(task)
        .filter(|before| !matches!(before.state, TaskState::Done { .. } | TaskState::Skipped { .. }))
        .map(|before| format!("{} ({})", before.id, before.status().word()))
        .collect();
    let hint = match task.standing {
        Readiness::Ready => return Ok(()),
        Readiness::Pending => "work on something else until then",
        Readiness::Blocked => "retry, reopen or skip what is in the way",
    };
    let problem = format!("{} has to wait for {}", task.id, awaited.join(", "));
    Err(Refusal::NotAllowed { problem, hint: hint.into() })
}

/// Why nobody can take it now.
pub(super) fn not_to_be_had(world: &World, task: &Task) -> Refusal {
    let whose = task.state.worker().map(|who| format!(", {}'s", world.name_of(who))).unwrap_or_default();
    Refusal::NotAllowed {
        problem: format!("the task {} is {}{whose}", task.id, task.status().word()),
        hint: format!("see: {}", call(calls::TASK_GET, [("id", (*task.id).into())])),
    }
}

/// Whoever did the work waits for its review.
pub(super) fn own_in_review(who: Principal, task: &Task) -> Option<Refusal> {
    matches!(task.state, TaskState::InReview { by, .. } if by == who).then(|| Refusal::NotAllowed {
        problem: format!("{} is in review; it is yours again if it is sent back", task.id),
        hint: format!("see: {}", call(calls::TASK_GET, [("id", (*task.id).into())])),
    })
}

/// What becomes of an ending agent's tasks: others may try, but not for ever.
pub(crate) fn ended_events(world: &World, agent: AgentId) -> Vec<Event> {
    let from = Principal::Agent(agent);
    let lost = world.tasks.owned_by(from).map(|task| {
        let (on, attempt) = (task.name(), task.attempt);
        let is_paused = matches!(task.state, TaskState::Paused { .. });
        if task.lost + 1 >= TASK_ATTEMPTS_MAX && !is_paused {
            let reason = format!("{TASK_ATTEMPTS_MAX} agents ended over it").into();
            return TaskEvent::Failed { on, by: from, attempt, reason, tell: leader(world, task, from) };
        }
        TaskEvent::Returned { on, from, attempt: attempt + 1, cause: ReturnCause::OwnerEnded }
    });
    lost.map(Event::Task).collect()
}

/// An automatically assigned task that was not started in time goes to somebody else.
pub(crate) fn unstarted_events(world: &World, number: u64) -> Vec<Event> {
    let Some(task) = world.tasks.by_number(number) else { return vec![] };
    let Some(claim) = task.state.claim() else { return vec![] };
    let (from, attempt, cause) = (claim.by, task.attempt + 1, ReturnCause::NotStarted);
    vec![Event::Task(TaskEvent::Returned { on: task.name(), from, attempt, cause })]
}

/// Who has to know how `owner`'s work went: its leader, otherwise the agent that declared the task.
pub(super) fn leader(world: &World, task: &Task, owner: Principal) -> Option<AgentId> {
    let leader = owner.agent().and_then(|agent| leader_of(world, agent).agent());
    leader.or_else(|| task.creator.agent().filter(|creator| Principal::Agent(*creator) != owner))
}
