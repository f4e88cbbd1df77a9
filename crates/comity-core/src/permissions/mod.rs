//! Permissions: what an agent may do by itself, what it has to ask its leader for, and the one way to be allowed.
//!
//! Only an explicit allow for this exact input allows: a rule, the agent's mode, a proof that the call only reads, or
//! an answer from above to this very request, which is used once. Everything else is a no, with its reason.

mod answer;
mod apply;
mod authority;
mod badge;
mod call;
mod ending;
mod event;
mod feature;
mod invariants;
mod modes;
mod pattern;
mod plans;
mod refusal;
mod request;
mod rules;
mod table;
mod verdict;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::agents::AgentEvent;
use crate::event::Event;
use crate::ids::Principal;
use crate::refusal::Refusal;
use crate::world::World;

pub use answer::{Answer, KeptAnswer};
use apply::apply;
pub(crate) use apply::restore;
pub use authority::{answerer_of, may_answer};
pub use badge::{Colour, colour_of};
pub use call::{Commands, ProjectFile, ToolCall, ToolClass};
pub(crate) use ending::{run_out, with_agent};
pub use event::{PermissionAsk, PermissionEvent};
pub(crate) use feature::FOLLOW_UP;
pub use invariants::check;
pub use modes::mode_of;
pub(crate) use modes::mode_of_role;
pub use pattern::{Match, Pattern};
pub use plans::{PlanAnswer, PlanState, SubmittedPlan};
pub use refusal::CallDenied;
pub(crate) use request::WAIT_RULES;
pub use request::{AnswerDelivery, PermissionRequest, RequestState, is_answered, standing};
pub use rules::{Rule, RuleEffect, RuleId, RuleScope, applies};
pub(crate) use table::PermissionFacts;
pub use table::Permissions;
pub use verdict::{AllowedBy, Judgement, judge};

/// The number of a request or plan; it only grows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub u64);

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn decide(world: &World, who: Principal, ask: &PermissionAsk) -> Result<Vec<Event>, Refusal> {
    let events = match ask {
        PermissionAsk::Request { call, wait, hearing } => {
            request::request(world, who, call, *wait, *hearing)?
        }
        PermissionAsk::Use { call } => request::take(world, who, call)?,
        PermissionAsk::Withdraw { request } => request::withdraw(world, who, *request)?,
        PermissionAsk::Answer { request, tool, hash, answer } => {
            answer::answer(world, who, *request, (tool, *hash), answer)?
        }
        PermissionAsk::AddRule { scope, effect, tool, class, pattern } => {
            vec![rules::add(world, who, scope, *effect, (tool, *class), pattern.as_ref())?]
        }
        PermissionAsk::RemoveRule { rule } => vec![rules::remove(world, who, *rule)?],
        PermissionAsk::SetMode { agent, mode } => modes::set(world, who, *agent, *mode)?,
        PermissionAsk::SubmitPlan { file, content } => plans::submit(world, who, file, content)?,
        PermissionAsk::AnswerPlan { plan, answer } => plans::answer(world, who, *plan, answer)?,
    };
    Ok(events.into_iter().map(Event::Permission).collect())
}

/// Whether this may change what the rules say about a waiting request.
fn may_settle(event: &Event) -> bool {
    match event {
        Event::Permission(event) => matches!(
            event,
            PermissionEvent::RuleAdded { .. }
                | PermissionEvent::RuleRemoved { .. }
                | PermissionEvent::RulePassedOn { .. }
                | PermissionEvent::ModeSet { .. }
                | PermissionEvent::PlanApproved { .. }
        ),
        // There may be other leaders now.
        Event::Team(_)
        | Event::Agent(AgentEvent::Joined { .. } | AgentEvent::Named { .. } | AgentEvent::Ended { .. }) => {
            true
        }
        _ => false,
    }
}

/// Forgets the modes of agents that nobody knows any more.
pub(crate) fn forget_agents(world: &mut World) {
    let agents = &world.agents;
    world.permissions.forget(|agent| agents.get(agent).is_none());
}
