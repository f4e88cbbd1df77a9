//! The sentence for each thing that waits, and the calls that answer it.

use comity_core::display::{counted, visible};
use comity_core::inbox::InboxItem;
use comity_core::next_call::{Argument, NextCall};
use comity_core::pools::PoolKind;
use comity_core::{Principal, Timestamp, World};
use serde_json::{Value, json};

use super::about::{blocks, project};
use super::names::{name_in_list, names_in_list};
use super::{InboxAnswer, InboxEntry};
use crate::catalog::{entry_of, next_call};
use crate::open_merges::OpenMerge;
use crate::operation::Operation;
use crate::operations::control::{ApproveShutdown, RejectShutdown};
use crate::operations::decisions::{ConfirmDecision, RejectDecision};
use crate::operations::locks::{Adopt, Release, Rescue, named_from};
use crate::operations::mail::{Next, ReadMail};
use crate::operations::people::ShowNewPlaces;
use crate::operations::permissions::reading::is_cut;
use crate::operations::permissions::{AllowRequest, ApprovePlan, DenyRequest, ListPermissions, RejectPlan};
use crate::operations::pools::LeaseGrant;
use crate::operations::runs::{DismissRun, RestartRun};
use crate::operations::tabs::GrantTabSpace;
use crate::operations::tasks::{
    TaskAccept, TaskAssign, TaskCancel, TaskClaim, TaskRetry, TaskSendBack, TaskSkip, TaskStart,
};
use crate::operations::teams::Admit;
use crate::operations::worktrees::WorktreeMerge;
use crate::projects::PathBase;

/// Whether an answer has a reason.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReasonField {
    None,
    /// Optional, in this field.
    May(&'static str),
    /// Required, in this field.
    Must(&'static str),
}

/// The operation that gives an answer, with its input.
struct AnswerBy {
    answer: &'static str,
    operation: &'static str,
    input: Value,
    reason: ReasonField,
}

fn by<O: Operation>(answer: &'static str, input: Value, reason: ReasonField) -> AnswerBy {
    let entry = entry_of::<O>();
    debug_assert!(entry.answers.is_none_or(|(_, word)| word == answer), "the catalog has another word");
    AnswerBy { answer, operation: entry.name, input, reason }
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
        InboxAnswer { answer, command, operation, input, reason, needs_reason: is_needed }
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
    /// The first entries of a list; what is not shown counts, too, when two have the same name.
    pub(crate) fn first(
        (items, limit): (&[InboxItem<'_>], usize),
        is_shown: impl Fn(&InboxItem<'_>) -> bool,
        world: &World,
        (who, place): (Principal, Option<&PathBase>),
        now: Timestamp,
    ) -> Vec<InboxEntry> {
        let names = names_in_list(items, world, who);
        let named = items.iter().zip(names).filter(|(item, _)| is_shown(item)).take(limit);
        named.map(|(item, name)| InboxEntry::named(name, item, world, (who, place), now)).collect()
    }

    pub(crate) fn of(
        item: &InboxItem<'_>,
        world: &World,
        (who, place): (Principal, Option<&PathBase>),
        now: Timestamp,
    ) -> InboxEntry {
        InboxEntry::named(name_in_list(item, world, who), item, world, (who, place), now)
    }

    /// A merge that has to be continued.
    pub(crate) fn of_merge(merge: &OpenMerge, world: &World) -> InboxEntry {
        let entry = visible(&merge.entry).into_owned();
        let again = merge.again.as_ref();
        let again =
            again.map(|slug| by::<WorktreeMerge>("merge", json!({ "slug": slug }), ReasonField::None));
        InboxEntry {
            number: None,
            kind: "merge",
            what: visible(&merge.what).into_owned(),
            age_ms: u64::try_from(crate::clock::wall_ms() - merge.since_ms).unwrap_or(0),
            blocks: None,
            project: world.projects.get(&merge.project).map(|project| project.name().to_owned()),
            answers: again.into_iter().map(|answer| answer.of_entry(&entry)).collect(),
            entry,
        }
    }

    fn named(
        entry: String,
        item: &InboxItem<'_>,
        world: &World,
        (who, place): (Principal, Option<&PathBase>),
        now: Timestamp,
    ) -> InboxEntry {
        let name = |who: Principal| visible(&world.name_of(who)).into_owned();
        let (kind, what, answers) = match item {
            InboxItem::Shutdown(shutdown) => {
                let request = who.agent().and_then(|agent| world.shutdowns.of(agent));
                let id = request.map(|(id, _)| id.to_string()).unwrap_or_default();
                (
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
                let (tool, summary) = (visible(&request.call.tool), visible(&request.call.summary));
                let rest = match is_cut(&summary) {
                    true => format!("; all of it: {}", next_call::<ListPermissions>([])),
                    false => String::new(),
                };
                (
                    "permission",
                    format!("{asker} asks for {tool}: {summary}{rest}"),
                    vec![
                        by::<AllowRequest>("allow", json!({ "id": id }), ReasonField::None),
                        by::<DenyRequest>("deny", json!({ "id": id }), ReasonField::Must("reason")),
                    ],
                )
            }
            InboxItem::Plan(plan) => {
                let id = plan.id.0;
                (
                    "plan",
                    format!("{} submitted {}", name(Principal::Agent(plan.asker)), visible(&plan.file)),
                    vec![
                        by::<ApprovePlan>("approve", json!({ "id": id }), ReasonField::May("feedback")),
                        by::<RejectPlan>("reject", json!({ "id": id }), ReasonField::Must("feedback")),
                    ],
                )
            }
            InboxItem::NewPlaces { acts, last } => (
                "places",
                match acts {
                    1 => format!(
                        "somebody acted as you from a new place ({}); was it you?",
                        last.origin.lineage
                    ),
                    _ => format!("{acts} things were done as you from new places; was it you?"),
                },
                vec![by::<ShowNewPlaces>("look", json!({}), ReasonField::None)],
            ),
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
                    "orphan",
                    visible(&what).into_owned(),
                    vec![
                        by::<Adopt>("adopt", input.clone(), ReasonField::May("reason")),
                        by::<Rescue>("rescue", input.clone(), ReasonField::None),
                        by::<Release>("release", input, ReasonField::May("reason")),
                    ],
                )
            }
            InboxItem::LockWanted { lock, by: waiter } => {
                let named = named_from(place, world, lock.wanted.project, &lock.wanted.pattern);
                let what =
                    format!("{} waits for your lock on {}", world.name_of(waiter.who), lock.wanted.pattern);
                let input = json!({ "paths": [named] });
                (
                    "lock_wanted",
                    visible(&what).into_owned(),
                    vec![by::<Release>("release", input, ReasonField::None)],
                )
            }
            InboxItem::Death(task) => {
                let id = &*task.id;
                let worker = task.left().map(|last| name(last.by)).unwrap_or_default();
                (
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
            InboxItem::GaveUp(run) => (
                "gave_up",
                format!("{}: {}", visible(&run.spec.name), visible(&run.state.to_string())),
                vec![
                    by::<RestartRun>("restart", json!({ "agent": run.id.to_string() }), ReasonField::None),
                    by::<DismissRun>("dismiss", json!({ "agent": run.id.to_string() }), ReasonField::None),
                ],
            ),
            InboxItem::Review(task) => {
                let id = &*task.id;
                (
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
                ("space", format!("{} needs a {noun}{of}; you have {own}", name(first.who)), vec![grant])
            }
            InboxItem::Decision(decision) => {
                let id = decision.id.to_string();
                (
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
                ("mail", format!("{} unread", counts.join(" and ")), vec![read])
            }
            InboxItem::Task(task) => {
                let id = &*task.id;
                (
                    "task",
                    format!("{} is yours: {}", visible(id), visible(&task.brief.title)),
                    vec![by::<TaskStart>("start", json!({ "id": id }), ReasonField::None)],
                )
            }
            InboxItem::Ready(task) => {
                let id = &*task.id;
                (
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
        let age_ms = match item {
            InboxItem::NewPlaces { last, .. } => {
                u64::try_from(crate::clock::wall_ms() - last.wall_ms).unwrap_or(0)
            }
            _ => now.since(item.since()).0,
        };
        let number = match item {
            InboxItem::Death(task)
            | InboxItem::Review(task)
            | InboxItem::Failed(task)
            | InboxItem::Task(task)
            | InboxItem::Ready(task) => Some(format!("task{}", task.number)),
            _ => None,
        };
        InboxEntry { entry, number, kind, what, age_ms, blocks, project, answers }
    }
}
