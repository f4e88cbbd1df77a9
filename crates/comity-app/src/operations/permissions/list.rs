//! Lists permission requests.

use std::fmt;

use comity_core::display::visible_lines;
use comity_core::permissions::{
    PermissionRequest, PlanState, SubmittedPlan as CorePlan, colour_of, may_answer,
};
use comity_core::table::table;
use comity_core::{AgentId, Principal, Timestamp, World};

use super::RequestView;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// List who is asking for permission, for what exactly, and which plans are waiting: yours, and those of agents you lead.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPermissions {
    /// Only the request with this number, settled or not
    pub id: Option<u64>,
    /// Include those settled lately
    #[serde(default)]
    pub all: bool,
}

/// Who asks for what.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PermissionList {
    /// The requests, the oldest first.
    pub requests: Vec<RequestView>,
    /// The plans, the oldest first.
    pub plans: Vec<PlanView>,
}

/// One plan, as it is shown.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanView {
    pub id: u64,
    pub asker: String,
    /// The colour of its author.
    pub colour: &'static str,
    pub file: String,
    /// What is in it, while it waits.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// waiting, approved, rejected or withdrawn.
    pub state: &'static str,
    /// Since it was submitted.
    pub age_ms: u64,
}

impl Operation for ListPermissions {
    type Output = PermissionList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<PermissionList>, Failure> {
        let (now, world) = (app.engine().now(), app.engine().world());
        let is_seen = |asker: AgentId| {
            let started_it = |agent| agent == asker || world.agents.is_ancestor(agent, asker);
            caller.who.agent().is_some_and(started_it) || may_answer(&world, caller.who, asker).is_ok()
        };
        let requests = world.permissions.requests().filter(|request| is_seen(request.asker));
        let is_meant = |request: &&PermissionRequest| match self.id {
            Some(id) => request.id.0 == id,
            None => self.all || !request.state.is_settled(),
        };
        let requests = requests.filter(is_meant);
        let plans = world.permissions.plans().filter(|plan| is_seen(plan.asker));
        let is_open = |plan: &&CorePlan| self.all || matches!(plan.state, PlanState::Waiting { .. });
        let plans = plans.filter(|plan| self.id.is_none() && is_open(plan));
        Ok(Plan::Answer(PermissionList {
            requests: requests
                .map(|request| {
                    let view = RequestView::of(request, &world, now);
                    let by = Some(world.name_of(caller.who));
                    RequestView { is_you: view.by.is_some() && view.by == by, ..view }
                })
                .collect(),
            plans: plans.map(|plan| plan_view(plan, &world, now)).collect(),
        }))
    }
}

pub(super) fn plan_view(plan: &CorePlan, world: &World, now: Timestamp) -> PlanView {
    PlanView {
        id: plan.id.0,
        asker: world.name_of(Principal::Agent(plan.asker)),
        colour: colour_of(plan.asker).word(),
        file: plan.file.to_string(),
        content: visible_lines(&plan.content).into(),
        state: plan.state.word(),
        age_ms: now.since(plan.since).0,
    }
}

/// `plan 3  ann (blue)  plan.md  waiting`, and below it what is in it.
impl fmt::Display for PlanView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "plan {}  {} ({})  {}  {}", self.id, self.asker, self.colour, self.file, self.state)?;
        self.content.lines().try_for_each(|line| write!(f, "\n    {line}"))
    }
}

impl fmt::Display for PermissionList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        if !self.requests.is_empty() {
            let rows: Vec<Vec<String>> = self.requests.iter().map(RequestView::row).collect();
            lines.push(table(&["ID", "ASKER", "ASKS FOR", "STATE"], &rows));
        }
        let whole = self.requests.iter().filter(|request| !request.input.is_empty());
        lines.extend(whole.map(|request| format!("{} in full: {}", request.id, request.input)));
        lines.extend(self.plans.iter().map(ToString::to_string));
        match lines.is_empty() {
            true => f.write_str("nobody asks for anything"),
            false => f.write_str(&lines.join("\n")),
        }
    }
}
