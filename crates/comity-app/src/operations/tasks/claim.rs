//! Claims a task.

use std::fmt;

use comity_core::limits::WAIT_MAX;
use comity_core::notices::{Notice, NoticeKind};
use comity_core::tasks::{Task, TaskAct, TaskAsk, TaskRef, TaskStatus, TaskTold};
use comity_core::{Event, Millis, Principal, Refusal, World};

use super::{advisories, introduced, prompt};
use crate::catalog::next_call;
use crate::engine::When;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::span::Span;

/// Claim a task, or the one most worth doing for you; with wait, as soon as there is one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskClaim {
    /// Which one; the best one for you if omitted
    pub id: Option<String>,
    /// Wait for work this long, such as 30s
    pub wait: Option<Span>,
}

/// The task that the caller has now, if there was one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskTaken {
    pub id: Option<String>,
    /// The number of this claim.
    pub attempt: Option<u32>,
    pub prompt: Option<String>,
    /// Tasks that look like the same work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub looks_like: Vec<String>,
}

impl Operation for TaskClaim {
    type Output = TaskTaken;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<TaskTaken>, Failure> {
        if self.id.is_some() && self.wait.is_some() {
            let problem = "only the next task can be waited for";
            return Err(Refusal::bad_input(problem, "leave out the id, or the wait").into());
        }
        let place = app.projects().place(caller)?;
        let (project, who) = (place.project(), caller.who);
        if let Some(wait) = self.wait.map(|span| span.0).filter(|wait| *wait > Millis(0)) {
            let seek = introduced(app, &place, TaskAsk::Seek { project, wait });
            return wait_for_work(app, caller, seek, wait);
        }
        let ask = match &self.id {
            Some(id) => {
                let on = TaskRef { project, task: id.as_str().into() };
                TaskAsk::Act { on, attempt: None, act: TaskAct::Claim }
            }
            None => TaskAsk::ClaimNext { project },
        };
        let asks = introduced(app, &place, ask);
        let id = self.id;
        let finish = move |events: &[_], world: &World, _| {
            let task = match &id {
                Some(id) => world.tasks.get(project, id),
                None => newest_of(world, who),
            };
            TaskTaken::of(task, events, world)
        };
        Ok(Plan::change(asks, finish))
    }
}

/// From now on the agent is known to wait for work; it is answered in the batch that gives it some.
fn wait_for_work(
    app: &Application,
    caller: &Caller,
    seek: Vec<comity_core::Ask>,
    wait: Millis,
) -> Result<Plan<TaskTaken>, Failure> {
    let who = caller.who;
    if who.agent().is_none() {
        let hint =
            format!("name the task: {}, or do not wait", next_call::<TaskClaim>([("id", "ID".into())]));
        return Err(Refusal::bad_input("only agents can wait for work", hint).into());
    }
    if wait > WAIT_MAX {
        let hint = format!("wait at most {WAIT_MAX}");
        return Err(Refusal::bad_input("the wait is too long", hint).into());
    }
    // A wait that could never end is refused; if that turns out later, the agent is told.
    for ask in &seek {
        comity_core::decide(&app.engine().world(), &caller.asker(), ask)?;
    }
    app.engine().tell(who, seek);
    let is_hopeless = |notice: &Notice| matches!(notice.what, NoticeKind::Task(TaskTold::NoWork { .. }));
    let agent = who.agent();
    let when = When {
        ready: Box::new(move |world| {
            let told = agent.and_then(|agent| world.agents.get(agent)).map(|agent| &agent.notices[..]);
            world.tasks.owned_by(who).any(is_work) || told.unwrap_or_default().iter().any(is_hopeless)
        }),
        until: app.engine().now().plus(wait),
    };
    let asks = vec![comity_core::Ask::Task(TaskAsk::Take)];
    let finish = move |events: &[_], world: &World, _| TaskTaken::of(newest_of(world, who), events, world);
    Ok(Plan::change(asks, finish).when(when))
}

/// Whether whoever has it can work on it: one that was given early has to wait for others.
fn is_work(task: &Task) -> bool {
    task.is_taken() && !matches!(task.status(), TaskStatus::Pending | TaskStatus::Blocked)
}

/// What somebody took last and has not finished.
fn newest_of(world: &World, who: Principal) -> Option<&Task> {
    let claimed_at = |task: &&Task| task.state.claim().map(|claim| claim.since);
    world.tasks.owned_by(who).filter(|task| is_work(task)).max_by_key(claimed_at)
}

impl TaskTaken {
    /// The task that was assigned to somebody and is not started.
    pub(in crate::operations) fn given(world: &World, who: Principal) -> Option<TaskTaken> {
        let is_given = |task: &&Task| task.state.claim().is_some() && is_work(task);
        let mut given = world.tasks.owned_by(who).filter(is_given);
        given.next().map(|task| TaskTaken::of(Some(task), &[], world))
    }

    fn of(task: Option<&Task>, events: &[Event], world: &World) -> TaskTaken {
        TaskTaken {
            id: task.map(|task| task.id.to_string()),
            attempt: task.map(|task| task.attempt),
            prompt: task.map(|task| prompt(task, world)),
            looks_like: advisories(events),
        }
    }
}

impl fmt::Display for TaskTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = self.prompt.as_deref().unwrap_or("no task is ready for you; ask again to go on waiting");
        f.write_str(said)?;
        self.looks_like.iter().try_for_each(|advisory| write!(f, "\nnote: {advisory}"))
    }
}
