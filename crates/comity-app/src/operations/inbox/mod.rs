//! The inbox: what waits for the caller, whatever feature it is of, and how each is answered.

mod answer;
mod list;

use std::fmt;

use comity_core::display::{counted, shell_word, visible};
use comity_core::inbox::InboxItem;
use comity_core::tasks::Task;
use comity_core::{Millis, Principal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::catalog::{CatalogEntry, GET, Group, POST, name_of};
use crate::operation::Operation;
use crate::operations::control::{ApproveShutdown, RejectShutdown};
use crate::operations::decisions::{ConfirmDecision, RejectDecision};
use crate::operations::locks::{Adopt, Release, Rescue, named_from};
use crate::operations::mail::{Next, ReadMail};
use crate::operations::permissions::{AllowRequest, ApprovePlan, DenyRequest, RejectPlan};
use crate::operations::tasks::{TaskAccept, TaskClaim, TaskRetry, TaskSendBack, TaskSkip, TaskStart};
use crate::operations::teams::Admit;
use crate::projects::PathBase;
pub use answer::AnswerInbox;
pub use list::ListInbox;

/// What the commands that begin with the same word are about.
pub(crate) const GROUPS: &[Group] = &[("inbox", "What is waiting for you, and how to answer it")];

/// The operations, in the order in which people read them.
#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<ListInbox>(  "inbox",        "inbox list",                             GET,  "/api/inbox").examples(&["inbox", "inbox p12 allow"]),
    CatalogEntry::of::<AnswerInbox>("inbox_answer", "inbox answer <entry> <answer> <reason>", POST, "/api/inbox/{entry}").changes().long().keeps_answer().for_agents().tool("answer"),
];

/// One thing that waits for the caller.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InboxEntry {
    /// Its name in the list, which stays the same while it waits.
    pub entry: String,
    /// shutdown, permission, plan, orphan, review, failed, decision, wish, mail, task (yours) or ready (nobody's).
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// What it is, in a sentence.
    pub what: String,
    /// For how long it has been waiting.
    pub age_ms: u64,
    /// What does not go on before it is answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<String>,
    /// The repository that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub answers: Vec<InboxAnswer>,
}

/// One answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InboxAnswer {
    pub answer: &'static str,
    pub command: String,
    pub operation: &'static str,
    /// What that operation is given.
    pub input: Value,
    /// The field of that input for a reason; empty if it takes none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub reason: &'static str,
}

/// An answer by an operation; `words` are the command's.
fn by<O: Operation>(answer: &'static str, words: impl Into<String>, input: Value) -> InboxAnswer {
    let command = format!("comity {}", words.into());
    InboxAnswer { answer, command, operation: name_of::<O>(), input, reason: "" }
}

impl InboxAnswer {
    fn reasoned(self, reason: &'static str) -> InboxAnswer {
        InboxAnswer { reason, ..self }
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
                        by::<ApproveShutdown>(
                            "approve",
                            format!("shutdown approve {id}"),
                            json!({ "request": id }),
                        ),
                        by::<RejectShutdown>(
                            "reject",
                            format!("shutdown reject {id} --reason REASON"),
                            json!({ "request": id }),
                        )
                        .reasoned("reason"),
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
                        by::<AllowRequest>("allow", format!("permissions allow {id}"), json!({ "id": id })),
                        by::<DenyRequest>(
                            "deny",
                            format!("permissions deny {id} --reason REASON"),
                            json!({ "id": id }),
                        )
                        .reasoned("reason"),
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
                        by::<ApprovePlan>("approve", format!("plan approve {id}"), json!({ "id": id }))
                            .reasoned("feedback"),
                        by::<RejectPlan>(
                            "reject",
                            format!("plan reject {id} --feedback TEXT"),
                            json!({ "id": id }),
                        )
                        .reasoned("feedback"),
                    ],
                )
            }
            InboxItem::Orphan(lock) => {
                let path = lock.wanted.pattern.to_string();
                let named = named_from(place, world, lock.wanted.project, &lock.wanted.pattern);
                let word = shell_word(&named).into_owned();
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
                        by::<Adopt>("adopt", format!("adopt {word}"), input.clone()).reasoned("reason"),
                        by::<Rescue>("rescue", format!("rescue {word}"), input.clone()),
                        by::<Release>("release", format!("release {word}"), input).reasoned("reason"),
                    ],
                )
            }
            InboxItem::Review(task) => {
                let (id, word) = (&*task.id, shell_word(&task.id).into_owned());
                (
                    format!("task{}", task.number),
                    "review",
                    format!("{} waits for review: {}", visible(id), visible(&task.brief.title)),
                    vec![
                        by::<TaskAccept>("accept", format!("task accept {word}"), json!({ "id": id })),
                        by::<TaskSendBack>(
                            "send-back",
                            format!("task send-back {word} --reason REASON"),
                            json!({ "id": id }),
                        )
                        .reasoned("reason"),
                    ],
                )
            }
            InboxItem::Failed(task) => {
                let (id, word) = (&*task.id, shell_word(&task.id).into_owned());
                (
                    format!("task{}", task.number),
                    "failed",
                    format!("{} failed: {}", visible(id), visible(&task.brief.title)),
                    vec![
                        by::<TaskRetry>("retry", format!("task retry {word}"), json!({ "id": id })),
                        by::<TaskSkip>("skip", format!("task skip {word}"), json!({ "id": id })),
                    ],
                )
            }
            InboxItem::Decision(decision) => {
                let id = decision.id.to_string();
                (
                    id.clone(),
                    "decision",
                    format!("{} decided: {}", name(decision.by), visible(&decision.title)),
                    vec![
                        by::<ConfirmDecision>(
                            "confirm",
                            format!("decision confirm {id}"),
                            json!({ "id": id }),
                        ),
                        by::<RejectDecision>(
                            "reject",
                            format!("decision reject {id} --reason REASON"),
                            json!({ "id": id }),
                        )
                        .reasoned("reason"),
                    ],
                )
            }
            InboxItem::Wish(agent) => {
                let (agent, team) =
                    (&*agent.profile.name, agent.profile.wished_team.as_deref().unwrap_or_default());
                let words = format!("team admit {} {}", shell_word(agent), shell_word(team));
                (
                    format!("join-{}", visible(agent)),
                    "wish",
                    format!("{} would like to join the team {}", visible(agent), visible(team)),
                    vec![by::<Admit>("admit", words, json!({ "agent": agent, "team": team }))],
                )
            }
            InboxItem::Mail { letters, answers, .. } => {
                let counts =
                    [(*letters, "letter"), (*answers, "answer")].into_iter().filter(|(count, _)| *count > 0);
                let counts: Vec<String> = counts.map(|(count, what)| counted(count, what)).collect();
                let read = match who.agent() {
                    Some(_) => by::<Next>("read", "next", json!({})),
                    None => by::<ReadMail>("read", "mail read", json!({})),
                };
                ("mail".to_owned(), "mail", format!("{} unread", counts.join(" and ")), vec![read])
            }
            InboxItem::Task(task) => {
                let (id, word) = (&*task.id, shell_word(&task.id).into_owned());
                (
                    format!("task{}", task.number),
                    "task",
                    format!("{} is yours: {}", visible(id), visible(&task.brief.title)),
                    vec![by::<TaskStart>("start", format!("task start {word}"), json!({ "id": id }))],
                )
            }
            InboxItem::Ready(task) => {
                let (id, word) = (&*task.id, shell_word(&task.id).into_owned());
                (
                    format!("task{}", task.number),
                    "ready",
                    format!("{} is ready and nobody's: {}", visible(id), visible(&task.brief.title)),
                    vec![
                        by::<TaskClaim>("claim", format!("task claim {word}"), json!({ "id": id })),
                        by::<TaskStart>("start", format!("task start {word}"), json!({ "id": id })),
                    ],
                )
            }
        };
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
        InboxItem::Review(task) | InboxItem::Failed(task) => behind(task),
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
        | InboxItem::Task(task)
        | InboxItem::Ready(task) => task.project,
        _ => return None,
    };
    world.projects.get(&id).map(|project| project.name().to_owned())
}

/// `p12  2m  ann asks for Bash: cargo publish  (blocks ann)`, and below it the answers.
impl fmt::Display for InboxEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}  {}", self.entry, self.what)?;
        if let Some(project) = &self.project {
            write!(f, "  in {}", visible(project))?;
        }
        write!(f, "  ({} ago", Millis(self.age_ms))?;
        if let Some(blocks) = &self.blocks {
            write!(f, ", blocks {}", visible(blocks))?;
        }
        f.write_str(")")?;
        self.answers.iter().try_for_each(|answer| write!(f, "\n    {}", answer.command))
    }
}
