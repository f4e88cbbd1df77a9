//! Roles: what an agent is for, and what it may do to others. The default is no.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agents::Agent;
use crate::ids::Principal;
use crate::refusal::Refusal;
use crate::world::World;

/// A right over others; one's own work needs none.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    ManageTeams,
    AssignTasks,
    ReviewTasks,
    AnswerPermissions,
    SetModes,
    StartAgents,
    EndAgents,
}

/// How much an agent may do before it has to ask.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// It only reads, until its plan is approved.
    Plan,
    /// It asks for everything that no rule allows.
    #[default]
    Ask,
    AcceptEdits,
    Full,
}

/// What an agent with this role is told, runs on, and may do.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Role {
    pub prompt: Box<str>,
    /// The model, unless another one is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Box<str>>,
    pub mode: Mode,
    pub rights: Vec<Right>,
}

/// All roles by name.
#[derive(Clone, PartialEq, Debug)]
pub struct Roles {
    by_name: BTreeMap<Box<str>, Role>,
}

pub const DEFAULT_ROLE: &str = "developer";

impl Mode {
    pub fn word(self) -> &'static str {
        match self {
            Mode::Plan => "plan",
            Mode::Ask => "ask",
            Mode::AcceptEdits => "accept-edits",
            Mode::Full => "full",
        }
    }
}

impl Right {
    fn words(self) -> &'static str {
        match self {
            Right::ManageTeams => "make or end teams",
            Right::AssignTasks => "change the tasks of others",
            Right::ReviewTasks => "say that the work of others is done",
            Right::AnswerPermissions => "answer permission requests",
            Right::SetModes => "change permission modes",
            Right::StartAgents => "start agents",
            Right::EndAgents => "ask others to end",
        }
    }
}

impl Default for Roles {
    fn default() -> Self {
        let role = |prompt: &str, mode: Mode, rights: &[Right]| Role {
            prompt: prompt.into(),
            model: None,
            mode,
            rights: rights.to_vec(),
        };
        let lead = [
            Right::ManageTeams,
            Right::AssignTasks,
            Right::ReviewTasks,
            Right::AnswerPermissions,
            Right::SetModes,
            Right::StartAgents,
            Right::EndAgents,
        ];
        let table = [
            (
                "lead",
                "You lead a team: you divide the work, answer its questions and join the results.",
                Mode::Ask,
                &lead[..],
            ),
            (
                "developer",
                "You change code. Lock what you edit, keep to your task, and say when it is done.",
                Mode::Ask,
                &[],
            ),
            (
                "architect",
                "You decide how it is built, and write the decisions down before others build on them.",
                Mode::Plan,
                &[],
            ),
            (
                "reviewer",
                "You read the work of others and say what must change before it is done.",
                Mode::Plan,
                &[Right::ReviewTasks],
            ),
            (
                "qa",
                "You try what was built, as a user would, and report what you saw.",
                Mode::Ask,
                &[Right::ReviewTasks],
            ),
            ("writer", "You write what users read, and keep it true.", Mode::Ask, &[]),
        ];
        let by_name =
            table.into_iter().map(|(name, prompt, mode, rights)| (name.into(), role(prompt, mode, rights)));
        Roles { by_name: by_name.collect() }
    }
}

impl Roles {
    /// The role with this name.
    pub fn get(&self, name: &str) -> Option<&Role> {
        self.by_name.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Role)> {
        self.by_name.iter().map(|(name, role)| (&**name, role))
    }

    /// Refuses an undefined role.
    pub(crate) fn must_know(&self, name: &str) -> Result<(), Refusal> {
        if self.get(name).is_some() {
            return Ok(());
        }
        let known: Vec<&str> = self.iter().map(|(name, _)| name).collect();
        let hint = format!("use one of {}, or define it in your settings, as [roles.NAME]", known.join(", "));
        Err(Refusal::bad_input(format!("there is no role {name}"), hint))
    }

    /// Adds a role, or changes a built-in one.
    pub fn define(&mut self, name: &str, role: Role) {
        self.by_name.insert(name.into(), role);
    }
}

/// Whether `who` may do this to others: its role allows it, and the roles of all that started it, up to the human.
/// The human may do everything; an undefined role allows nothing.
pub fn may(world: &World, who: Principal, right: Right) -> Result<(), Refusal> {
    let Principal::Agent(agent) = who else { return Ok(()) };
    let agent = world.agents.living(agent)?;
    if !allows(world, agent, right) {
        let name = agent.profile.role.as_deref().unwrap_or(DEFAULT_ROLE);
        return Err(Refusal::NotAllowed {
            problem: format!("a {name} may not {}", right.words()),
            hint: "ask your leader or the human, or give the role this right in the configuration".into(),
        });
    }
    // An agent cannot pass on what it does not have.
    match world.agents.started_by(agent.id).find(|above| !allows(world, above, right)) {
        None => Ok(()),
        Some(above) => Err(Refusal::NotAllowed {
            problem: format!(
                "{} was started by {}, which has no right to that",
                agent.profile.name, above.profile.name
            ),
            hint: "ask your leader or the human".into(),
        }),
    }
}

fn allows(world: &World, agent: &Agent, right: Right) -> bool {
    let name = agent.profile.role.as_deref().unwrap_or(DEFAULT_ROLE);
    world.roles.get(name).is_some_and(|role| role.rights.contains(&right))
}

/// Whether an agent is a leader by its role, and so is everybody who started it.
pub(crate) fn is_lead(world: &World, agent: &Agent) -> bool {
    let is_called_lead = |agent: &Agent| agent.profile.role.as_deref() == Some("lead");
    is_called_lead(agent) && world.agents.started_by(agent.id).all(is_called_lead)
}
