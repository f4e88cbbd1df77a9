//! Submits a plan.

use std::fmt;
use std::io::Read;

use comity_core::limits::PLAN_BYTES_MAX;
use comity_core::permissions::{PermissionAsk, PermissionEvent};
use comity_core::redact::redact;
use comity_core::{Ask, Event, Refusal, World};

use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::plain_file;

/// Submit your plan to your leader, to be let out of plan mode.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitPlan {
    /// The file the plan is in
    pub file: String,
    /// The plan itself; read from the file if omitted
    pub content: Option<String>,
}

/// What an agent in plan mode does before it changes anything.
pub(crate) fn submit_plan_first() -> String {
    let plan = [("file", "plan.md".into()), ("content", "TEXT".into())];
    format!("look around, then submit your plan: {}", next_call::<SubmitPlan>(plan))
}

/// The plan is with the leader.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Submitted {
    pub id: u64,
    pub to: String,
}

impl Operation for SubmitPlan {
    type Output = Submitted;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Submitted>, Failure> {
        let content = match self.content {
            Some(content) => content,
            None => read(app, caller, &self.file)?,
        };
        let (file, content) = (self.file.into(), redact(&content).into());
        let asks = vec![Ask::Permission(PermissionAsk::SubmitPlan { file, content })];
        Ok(Plan::change(asks, move |events: &[Event], world: &World, _| submitted(events, world)))
    }
}

/// The plan in a file of the repository.
fn read(app: &Application, caller: &Caller, file: &str) -> Result<String, Failure> {
    let place = app.projects().place(caller)?;
    place.resolve_file(file)?;
    let path = caller.cwd.as_deref().unwrap_or(place.repository().root()).join(file);
    let refused =
        |problem: String| Failure::from(Refusal::bad_input(problem, "name a file of text in the repository"));
    let open = plain_file::open(&path).map_err(|error| refused(format!("{}: {error}", path.display())))?;
    let mut content = String::new();
    let most = PLAN_BYTES_MAX as u64 + 1;
    let read = open.take(most).read_to_string(&mut content);
    read.map_err(|error| refused(format!("{}: {error}", path.display())))?;
    Ok(content)
}

fn submitted(events: &[Event], world: &World) -> Submitted {
    let plan = events.iter().find_map(|event| match event {
        Event::Permission(PermissionEvent::PlanSubmitted { plan, to, .. }) => {
            Some((plan.0, world.name_of(*to)))
        }
        _ => None,
    });
    let (id, to) = plan.unwrap_or_default();
    Submitted { id, to }
}

impl fmt::Display for Submitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plan {} is with {}; you are told what comes of it", self.id, self.to)
    }
}
