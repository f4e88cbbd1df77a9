//! Acts on tasks, and what the owner of one reports.

use super::assign::{seek, take};
use super::claim::{claim, claim_next, leader, must_own, not_to_be_had, own_in_review, start, unlock_events};
use super::declare::{check_text, declare, link};
use super::steer::{assign, review, steer};
use super::{ReturnCause, Task, TaskAct, TaskAsk, TaskEvent, TaskState};
use crate::calls;
use crate::event::Event;
use crate::ids::Principal;
use crate::limits::TASK_TEXT_BYTES_MAX;
use crate::next_call::call;
use crate::refusal::Refusal;
use crate::world::World;

pub(super) fn decide(world: &World, who: Principal, ask: &TaskAsk) -> Result<Vec<Event>, Refusal> {
    match ask {
        TaskAsk::Declare { project, tasks } => declare(world, who, *project, tasks),
        TaskAsk::Link { on, depends_on, change } => link(world, who, on, depends_on, change),
        TaskAsk::ClaimNext { project } => claim_next(world, who, *project),
        TaskAsk::Act { on, attempt, act } => self::act(world, who, world.tasks.find(on)?, *attempt, act),
        TaskAsk::Seek { project, wait } => seek(world, who, *project, *wait),
        TaskAsk::Take => Ok(take(world, who)),
    }
}

fn act(
    world: &World,
    who: Principal,
    task: &Task,
    attempt: Option<u32>,
    act: &TaskAct,
) -> Result<Vec<Event>, Refusal> {
    match act {
        TaskAct::Claim => claim(world, who, task),
        TaskAct::Start { ttl } => start(world, who, task, attempt, *ttl),
        TaskAct::Done { evidence } => done(world, who, task, attempt, evidence),
        TaskAct::Fail { reason } => fail(world, who, task, attempt, reason),
        TaskAct::GiveBack => give_back(world, who, task, attempt),
        TaskAct::Accept | TaskAct::SendBack { .. } => review(world, who, task, act),
        TaskAct::Assign { to } => assign(world, who, task, *to),
        TaskAct::Pause
        | TaskAct::Resume
        | TaskAct::Retry
        | TaskAct::Reopen
        | TaskAct::Skip
        | TaskAct::Cancel => steer(world, who, task, act),
    }
}

/// Done, by its owner: evidence is required, and with a review it is not done yet.
fn done(
    world: &World,
    who: Principal,
    task: &Task,
    attempt: Option<u32>,
    evidence: &str,
) -> Result<Vec<Event>, Refusal> {
    if let TaskState::InReview { .. } = task.state {
        return Err(own_in_review(who, task).unwrap_or_else(|| not_to_be_had(world, task)));
    }
    must_own(world, who, task, attempt)?;
    let TaskState::Running { by, .. } = task.state else {
        return Err(Refusal::NotAllowed {
            problem: format!("{} is {}: it was not started", task.id, task.status().word()),
            hint: format!("start it first with: {}", call(calls::TASK_START, [("id", (*task.id).into())])),
        });
    };
    let evidence = evidence.trim();
    if evidence.is_empty() {
        return Err(Refusal::bad_input(
            format!("nothing shows that {} is done", task.id),
            format!(
                "say what does, such as the commit and the tests that pass: {}",
                call(calls::TASK_DONE, [("id", (*task.id).into()), ("evidence", "TEXT".into())])
            ),
        ));
    }
    check_text("the evidence", evidence, TASK_TEXT_BYTES_MAX)?;
    let (on, attempt, evidence) = (task.name(), task.attempt, Box::from(evidence));
    let mut events = unlock_events(world, who, task);
    events.push(Event::Task(match task.brief.review {
        true => TaskEvent::Reported { on, by, attempt, evidence, tell: leader(world, task, by) },
        false => TaskEvent::Completed { on, by, attempt, evidence },
    }));
    Ok(events)
}

fn fail(
    world: &World,
    who: Principal,
    task: &Task,
    attempt: Option<u32>,
    reason: &str,
) -> Result<Vec<Event>, Refusal> {
    must_be_taken(world, who, task, attempt)?;
    if reason.trim().is_empty() {
        return Err(Refusal::bad_input(
            "a failure needs a reason",
            format!(
                "say what is in the way: {}",
                call(calls::TASK_FAIL, [("id", (*task.id).into()), ("reason", "TEXT".into())])
            ),
        ));
    }
    check_text("the reason", reason, TASK_TEXT_BYTES_MAX)?;
    let mut events = unlock_events(world, who, task);
    let (on, by, tell) = (task.name(), who, leader(world, task, who));
    let reason = reason.trim().into();
    events.push(Event::Task(TaskEvent::Failed { on, by, attempt: task.attempt, reason, tell }));
    Ok(events)
}

fn give_back(
    world: &World,
    who: Principal,
    task: &Task,
    attempt: Option<u32>,
) -> Result<Vec<Event>, Refusal> {
    must_be_taken(world, who, task, attempt)?;
    let mut events = unlock_events(world, who, task);
    let (on, attempt, cause) = (task.name(), task.attempt + 1, ReturnCause::GivenBack);
    events.push(Event::Task(TaskEvent::Returned { on, from: who, attempt, cause }));
    Ok(events)
}

/// Refuses unless `who` has it, and it is not paused.
fn must_be_taken(world: &World, who: Principal, task: &Task, attempt: Option<u32>) -> Result<(), Refusal> {
    must_own(world, who, task, attempt)?;
    match task.is_taken() {
        true => Ok(()),
        false => Err(not_to_be_had(world, task)),
    }
}
