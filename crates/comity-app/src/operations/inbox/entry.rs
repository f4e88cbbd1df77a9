//! How each thing that waits is said, and the calls that answer it.

use comity_core::display::{counted, visible};
use comity_core::inbox::InboxItem;
use comity_core::next_call::{Argument, NextCall};
use comity_core::pools::PoolKind;
use comity_core::tasks::Task;
use comity_core::{Principal, Timestamp, World};
use serde_json::{Value, json};

use super::{InboxAnswer, InboxEntry};
use crate::catalog::name_of;
use crate::operation::Operation;
use crate::operations::control::{ApproveShutdown, RejectShutdown};
use crate::operations::decisions::{ConfirmDecision, RejectDecision};
use crate::operations::locks::{Adopt, Release, Rescue, named_from};
use crate::operations::mail::{Next, ReadMail};
use crate::operations::permissions::{AllowRequest, ApprovePlan, DenyRequest, RejectPlan};
use crate::operations::pools::LeaseGrant;
use crate::operations::tabs::GrantTabSpace;
use crate::operations::tasks::{
    TaskAccept, TaskAssign, TaskCancel, TaskClaim, TaskRetry, TaskSendBack, TaskSkip, TaskStart,
};
use crate::operations::teams::Admit;
use crate::projects::PathBase;

/// Whether an answer is given with a reason.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReasonField {
    None,
    /// It may be, in this field.
    May(&'static str),
    /// It is always, in this field.
    Must(&'static str),
}

/// An answer by an operation that is given this.
struct AnswerBy {
    answer: &'static str,
    operation: &'static str,
    input: Value,
    reason: ReasonField,
}

fn by<O: Operation>(answer: &'static str, input: Value, reason: ReasonField) -> AnswerBy {
    AnswerBy { answer, operation: name_of::<O>(), input, reason }
}

impl AnswerBy {
    fn of_entry(self, entry: &str) -> InboxAnswer {
        let AnswerBy { answer, operation, input, reason } = self;
        let given = input.as_object().into_iter().flatten();
        let mut arguments: Vec<(&str, Argument)> =
            given.map(|(field, value)| (field.as_str(), argument(value))).collect();
        let (reason, is_needed) = match reason {
            ReasonField::None => ("", false),
            ReasonField::May(field) => (field, false),
            ReasonField::Must(field) => (field, true),
        };
        let placeholder = if reason == "to" { "AGENT" } else { "REASON" };
        arguments.extend(is_needed.then(|| (reason, placeholder.into())));
        let command = NextCall::of(operation, arguments).answering(entry, answer).to_string();
        InboxAnswer { answer, command, operation, input, reason }
    }
}

fn argument(value: &Value) -> Argument {
    match value {
        Value::String(text) => text.as_str().into(),
        Value::Array(items) => {
            Argument::List(items.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        Value::Number(number) => Argument::Number(number.as_u64().unwrap_or_default()),
        Value::Bool(_) | Value::Null | Value::Object(_) => Argument::Yes,
    }
}

impl InboxEntry {
    pub(crate) fn of(
        item: &InboxItem<'_>,
        world: &World,
        (who, place): (Principal, Option<&PathBase>),
        now: Timestamp,
    ) -> InboxEntry {
        let name = |who: Principal| visible(&world.name_of(who)).into_owned();
        let (entry, kind, what, answers) = match item {
            InboxItem::Shutdown(shutdown) => {
                let request = who.agent().and_then(|agent| world.shutdowns.of(agent));
                let id = request.map(|(id, _)| id.to_string()).unwrap_or_default();
                (
                    format!("s-{id}"),
                    "shutdown",
                    format!("{} asks you to end", name(shutdown.by)),
                    vec![
                        by::<ApproveShutdown>("approve", json!({ "request": id }), ReasonField::None),
                        by::<RejectShutdown>("reject", json!({ "request": id }), ReasonField::Must("reason")),
                    ],
                )
            }
            InboxItem::Permission(request) => {
                let id = request.id.0;
                let asker = name(Principal::Agent(request.asker));
                (
                    format!("p{id}"),
                    "permission",
                    format!(
                        "{asker} asks for {}: {}",
                        visible(&request.call.tool),
                        visible(&request.call.summary)
                    ),
                    vec![
                        by::<AllowRequest>("allow", json!({ "id": id }), ReasonField::None),
                        by::<DenyRequest>("deny", json!({ "id": id }), ReasonField::Must("reason")),
                    ],
                )
            }
            InboxItem::Plan(plan) => {
                let id = plan.id.0;
                (
                    format!("plan{id}"),
                    "plan",
                    format!("{} submitted {}", name(Principal::Agent(plan.asker)), visible(&plan.file)),
                    vec![
                        by::<ApprovePlan>("approve", json!({ "id": id }), ReasonField::May("feedback")),
                        by::<RejectPlan>("reject", json!({ "id": id }), ReasonField::Must("feedback")),
                    ],
                )
            }
            InboxItem::Orphan(lock) => {
                let path = lock.wanted.pattern.to_string();
                let named = named_from(place, world, lock.wanted.project, &lock.wanted.pattern);
                let files = match &lock.left[..] {
                    [] => "here".to_owned(),
                    [only] if **only == *path => "here".to_owned(),
                    files => format!("in {}", files.join(", ")),
                };
                let what = format!("{} left uncommitted work {files}", world.name_of(lock.holder));
                let input = json!({ "paths": [named] });
                (
                    visible(&path).into_owned(),
                    "orphan",
                    visible(&what).into_owned(),
                    vec![
                        by::<Adopt>("adopt", input.clone(), ReasonField::May("reason")),
                        by::<Rescue>("rescue", input.clone(), ReasonField::None),
                        by::<Release>("release", input, ReasonField::May("reason")),
                    ],
                )
            }
            InboxItem::Death(task) => {
                let id = &*task.id;
                let worker = task.left().map(|last| name(last.by)).unwrap_or_default();
                (
                    format!("task{}", task.number),
                    "death",
                    format!(
                        "{worker} ended over {}, and nobody has it: {}",
                        visible(id),
                        visible(&task.brief.title)
                    ),
                    vec![
                        by::<TaskAssign>("assign", json!({ "id": id }), ReasonField::Must("to")),
                        by::<TaskCancel>("cancel", json!({ "id": id }), ReasonField::None),
                    ],
                )
            }
            InboxItem::Review(task) => {
                let id = &*task.id;
                (
                    format!("task{}", task.number),
                    "review",
                    format!("{} waits for review: {}", visible(id), visible(&task.brief.title)),
                    vec![
                        by::<TaskAccept>("accept", json!({ "id": id }), ReasonField::None),
                        by::<TaskSendBack>("send-back", json!({ "id": id }), ReasonField::Must("reason")),
                    ],
                )
            }
            InboxItem::Failed(task) => {
                let id = &*task.id;
                (
                    format!("task{}", task.number),
                    "failed",
                    format!("{} failed: {}", visible(id), visible(&task.brief.title)),
                    vec![
                        by::<TaskRetry>("retry", json!({ "id": id }), ReasonField::None),
                        by::<TaskSkip>("skip", json!({ "id": id }), ReasonField::None),
                    ],
                )
            }
            InboxItem::Space { pool, first } => {
                let (noun, own) = (pool.kind.noun(), counted(pool.slots_of(who).count(), pool.kind.noun()));
                let of = match pool.kind {
                    PoolKind::Tabs => String::new(),
                    PoolKind::Lease => format!(" of {}", visible(&pool.name)),
                };
                let grant = match pool.kind {
                    PoolKind::Tabs => by::<GrantTabSpace>("grant", json!({}), ReasonField::None),
                    PoolKind::Lease => {
                        by::<LeaseGrant>("grant", json!({ "pool": &*pool.name }), ReasonField::None)
                    }
                };
                (
                    format!("space-{}", visible(&pool.name)),
                    "space",
                    format!("{} needs a {noun}{of}; you have {own}", name(first.who)),
                    vec![grant],
                )
            }
            InboxItem::Decision(decision) => {
                let id = decision.id.to_string();
                (
                    id.clone(),
                    "decision",
                    format!("{} decided: {}", name(decision.by), visible(&decision.title)),
                    vec![
                        by::<ConfirmDecision>("confirm", json!({ "id": id }), ReasonField::None),
                        by::<RejectDecision>("reject", json!({ "id": id }), ReasonField::Must("reason")),
                    ],
                )
            }
            InboxItem::Wish(agent) => {
                let (agent, team) =
                    (&*agent.profile.name, agent.profile.wished_team.as_deref().unwrap_or_default());
                (
                    format!("join-{}", visible(agent)),
                    "wish",
                    format!("{} would like to join the team {}", visible(agent), visible(team)),
                    vec![by::<Admit>("admit", json!({ "agent": agent, "team": team }), ReasonField::None)],
                )
            }
            InboxItem::Mail { letters, answers, .. } => {
                let counts =
                    [(*letters, "letter"), (*answers, "answer")].into_iter().filter(|(count, _)| *count > 0);
                let counts: Vec<String> = counts.map(|(count, what)| counted(count, what)).collect();
                let read = match who.agent() {
                    Some(_) => by::<Next>("read", json!({}), ReasonField::None),
                    None => by::<ReadMail>("read", json!({}), ReasonField::None),
                };
                ("mail".to_owned(), "mail", format!("{} unread", counts.join(" and ")), vec![read])
            }
            InboxItem::Task(task) => {
                let id = &*task.id;
                (
                    format!("task{}", task.number),
                    "task",
                    format!("{} is yours: {}", visible(id), visible(&task.brief.title)),
                    vec![by::<TaskStart>("start", json!({ "id": id }), ReasonField::None)],
                )
            }
            InboxItem::Ready(task) => {
                let id = &*task.id;
                (
                    format!("task{}", task.number),
                    "ready",
                    format!("{} is ready and nobody's: {}", visible(id), visible(&task.brief.title)),
                    vec![
                        by::<TaskClaim>("claim", json!({ "id": id }), ReasonField::None),
                        by::<TaskStart>("start", json!({ "id": id }), ReasonField::None),
                    ],
                )
            }
        };
        let answers = answers.into_iter().map(|answer: AnswerBy| answer.of_entry(&entry)).collect();
        let (blocks, project) = (blocks(item, world), project(item, world));
        InboxEntry { entry, kind, what, age_ms: now.since(item.since()).0, blocks, project, answers }
    }
}

/// What waits for the answer.
fn blocks(item: &InboxItem<'_>, world: &World) -> Option<String> {
    let behind = |task: &Task| match world.tasks.after(task).count() {
        0 => None,
        waiting => Some(counted(waiting, "task")),
    };
    match item {
        InboxItem::Permission(request) => Some(world.name_of(Principal::Agent(request.asker))),
        InboxItem::Plan(plan) => Some(world.name_of(Principal::Agent(plan.asker))),
        InboxItem::Orphan(lock) => {
            match world.locks.waits_overlapping(lock.wanted.project, &lock.wanted.pattern).len() {
                0 => None,
                waiting => Some(format!("{waiting} waiting")),
            }
        }
        InboxItem::Review(task) | InboxItem::Failed(task) | InboxItem::Death(task) => behind(task),
        InboxItem::Space { first, .. } => Some(world.name_of(first.who)),
        InboxItem::Shutdown(_)
        | InboxItem::Decision(_)
        | InboxItem::Wish(_)
        | InboxItem::Mail { .. }
        | InboxItem::Task(_)
        | InboxItem::Ready(_) => None,
    }
}

fn project(item: &InboxItem<'_>, world: &World) -> Option<String> {
    let id = match item {
        InboxItem::Orphan(lock) => lock.wanted.project,
        InboxItem::Review(task)
        | InboxItem::Failed(task)
        | InboxItem::Death(task)
        | InboxItem::Task(task)
        | InboxItem::Ready(task) => task.project,
        _ => return None,
    };
    world.projects.get(&id).map(|project| project.name().to_owned())
}
