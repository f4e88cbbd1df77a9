//! Shows and changes modes.

use std::fmt;

use comity_core::permissions::{PermissionAsk, mode_of};
use comity_core::roles::Mode;
use comity_core::{AgentId, Ask, Event, Principal, Refusal, World};

use super::agent_meant;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};

/// Show or change an agent's mode: plan (read-only), ask, accept-edits or full. Nobody widens their own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetMode {
    /// The agent's name or id; yourself if omitted
    pub agent: Option<String>,
    /// plan, ask, accept-edits or full; shown if omitted
    pub mode: Option<String>,
}

/// The mode of an agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModeView {
    pub agent: String,
    /// plan, ask, accept-edits or full.
    pub mode: &'static str,
}

impl Operation for SetMode {
    type Output = ModeView;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<ModeView>, Failure> {
        let world = app.engine().world();
        let agent = agent_meant(&world, self.agent.as_deref(), caller.who)?;
        let Some(mode) = self.mode.as_deref().map(named).transpose()? else {
            return Ok(Plan::Answer(view(&world, agent)));
        };
        drop(world);
        let asks = vec![Ask::Permission(PermissionAsk::SetMode { agent, mode })];
        Ok(Plan::change(asks, move |_: &[Event], world: &World, _| view(world, agent)))
    }
}

pub(super) fn named(name: &str) -> Result<Mode, Refusal> {
    let modes = [Mode::Plan, Mode::Ask, Mode::AcceptEdits, Mode::Full];
    modes.into_iter().find(|mode| mode.word() == name).ok_or_else(|| {
        Refusal::bad_input(format!("there is no mode {name:?}"), "there are: plan, ask, accept-edits, full")
    })
}

fn view(world: &World, agent: AgentId) -> ModeView {
    ModeView { agent: world.name_of(Principal::Agent(agent)), mode: mode_of(world, agent).word() }
}

impl fmt::Display for ModeView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is in {} mode", self.agent, self.mode)
    }
}
