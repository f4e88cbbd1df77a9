//! Teams: a leader and its workers, and who leads whom.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agents::{Agent, check_name};
use crate::calls;
use crate::checks::check_reason;
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::event::{Event, Record, durable, event_types};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal};
use crate::limits::TEAMS_MAX;
use crate::next_call::call;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::roles::{Right, is_lead, may};
use crate::sentence::Telling;
use crate::time::Timestamp;
use crate::world::World;

/// A team that somebody created.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Team {
    pub name: Box<str>,
    /// Who created it, and leads it.
    pub lead: Principal,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub purpose: Option<Box<str>>,
    pub since: Timestamp,
}

/// Asks about teams.
#[derive(Clone, PartialEq, Debug)]
pub enum TeamAsk {
    /// Creates a team that the caller leads.
    Create { name: Box<str>, purpose: Option<Box<str>> },
    /// Lets an agent into a team: by the team's leader, or by the human.
    Admit {
        agent: AgentId,
        /// The team that the agent wished for if `None`.
        team: Option<Box<str>>,
    },
    /// Deletes a team without members.
    Delete { name: Box<str> },
}

/// What happened to teams.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TeamEvent {
    Created {
        name: Box<str>,
        lead: Principal,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        purpose: Option<Box<str>>,
    },
    Admitted {
        agent: AgentId,
        team: Box<str>,
    },
    Deleted {
        name: Box<str>,
    },
}

/// By name.
pub type Teams = BTreeMap<Box<str>, Team>;

/// Who leads this agent: its parent, otherwise its team's leader, otherwise the human.
pub fn leader_of(world: &World, agent: AgentId) -> Principal {
    let Some(profile) = world.agents.get(agent).map(|agent| &agent.profile) else { return Principal::Human };
    let lives = |id: &AgentId| world.agents.get(*id).is_some_and(Agent::is_live);
    if let Some(parent) = profile.parent.filter(lives) {
        return Principal::Agent(parent);
    }
    let Some(team) = profile.team.as_deref() else { return Principal::Human };
    match world.teams.get(team).map(|team| team.lead) {
        Some(Principal::Agent(lead)) if lead != agent && lives(&lead) => return Principal::Agent(lead),
        Some(Principal::Human | Principal::System | Principal::Nobody) => return Principal::Human,
        Some(Principal::Agent(_)) | None => {}
    }
    let leads_it = |other: &&Agent| other.id != agent && is_lead(world, other);
    members(world, team).find(leads_it).map_or(Principal::Human, |lead| Principal::Agent(lead.id))
}

/// Whether `who` is the human, or above the agent: its leader, or a leader's leader.
pub fn leads(world: &World, who: Principal, agent: AgentId) -> bool {
    let Principal::Agent(above) = who else { return who != Principal::Nobody };
    let mut at = agent;
    for _ in 0..world.agents.len() {
        match leader_of(world, at) {
            Principal::Agent(leader) if leader == above => return true,
            Principal::Agent(leader) if leader != agent => at = leader,
            Principal::Agent(_) | Principal::Human | Principal::System | Principal::Nobody => break,
        }
    }
    world.agents.is_ancestor(above, agent)
}

/// The live agents of a team.
pub fn members<'a>(world: &'a World, team: &'a str) -> impl Iterator<Item = &'a Agent> {
    world.agents.live().filter(move |agent| agent.profile.team.as_deref() == Some(team))
}

/// Refuses a team that nobody created and nobody is in.
pub fn must_know(world: &World, name: &str) -> Result<(), Refusal> {
    if world.teams.contains_key(name) || members(world, name).next().is_some() {
        return Ok(());
    }
    let known: Vec<&str> = world.teams.keys().map(|name| &**name).collect();
    let create = call(calls::TEAM_CREATE, [("name", name.into())]);
    let hint = match &known[..] {
        [] => format!("create it first: {create}"),
        known => format!("use one of {}, or create it: {create}", known.join(", ")),
    };
    Err(Refusal::bad_input(format!("there is no team {name}"), hint))
}

fn decide(world: &World, who: Principal, ask: &TeamAsk) -> Result<Vec<Event>, Refusal> {
    match ask {
        TeamAsk::Create { name, purpose } => create(world, who, name, purpose.as_deref()),
        TeamAsk::Admit { agent, team } => admit(world, who, *agent, team.as_deref()),
        TeamAsk::Delete { name } => delete(world, who, name),
    }
}

fn create(world: &World, who: Principal, name: &str, purpose: Option<&str>) -> Result<Vec<Event>, Refusal> {
    check_name("a team's name", name)?;
    check_reason(purpose)?;
    // An agent with nobody above may start a team of its own; a worker needs the right.
    if who.agent().is_some_and(|agent| leader_of(world, agent) != Principal::Human) {
        may(world, who, Right::ManageTeams)?;
    }
    if let Some(team) = world.teams.get(name) {
        let problem = format!("there is a team {name} already, led by {}", world.name_of(team.lead));
        return Err(Refusal::bad_input(problem, "choose another name"));
    }
    if world.teams.len() >= TEAMS_MAX {
        let problem = format!("there are {TEAMS_MAX} teams already");
        return Err(Refusal::LimitReached {
            problem,
            hint: format!("delete one with: {}", call(calls::TEAM_DELETE, [("name", "NAME".into())])),
        });
    }
    Ok(vec![Event::Team(TeamEvent::Created {
        name: name.into(),
        lead: who,
        purpose: purpose.map(Into::into),
    })])
}

/// Whether `who` may let an agent into a team: the human, and the team's leader for those below it and those who
/// asked for it. A parent's hold on its child stays.
pub(crate) fn may_admit(world: &World, who: Principal, agent: AgentId, team: &str) -> bool {
    let leads_team = match world.teams.get(team) {
        Some(known) => known.lead == who,
        None => members(world, team).any(|agent| Principal::Agent(agent.id) == who && is_lead(world, agent)),
    };
    let wishes = || {
        let profile = world.agents.get(agent).map(|agent| &agent.profile);
        profile.is_some_and(|profile| profile.wished_team.as_deref() == Some(team))
    };
    let may_have = || wishes() || leads(world, who, agent);
    who == Principal::Human || (leads_team && who != Principal::Agent(agent) && may_have())
}

fn admit(world: &World, who: Principal, agent: AgentId, team: Option<&str>) -> Result<Vec<Event>, Refusal> {
    let profile = &world.agents.living(agent)?.profile;
    let Some(team) = team.or(profile.wished_team.as_deref()) else {
        let problem = format!("{} asked for no team", profile.name);
        return Err(Refusal::bad_input(problem, "say which team"));
    };
    check_name("a team's name", team)?;
    if !may_admit(world, who, agent, team) {
        return Err(Refusal::NotAllowed {
            problem: format!("you may not let {} into the team {team}", profile.name),
            hint: "the team's leader or the human does".into(),
        });
    }
    if profile.team.as_deref() == Some(team) {
        return Ok(vec![]);
    }
    Ok(vec![Event::Team(TeamEvent::Admitted { agent, team: team.into() })])
}

fn delete(world: &World, who: Principal, name: &str) -> Result<Vec<Event>, Refusal> {
    let Some(team) = world.teams.get(name) else {
        let known: Vec<&str> = world.teams.keys().map(|name| &**name).collect();
        let hint = if known.is_empty() {
            "there is no team".into()
        } else {
            format!("there are: {}", known.join(", "))
        };
        return Err(Refusal::NotFound { problem: format!("there is no team {name}"), hint });
    };
    let is_above = team.lead.agent().is_some_and(|lead| leads(world, who, lead));
    if who != team.lead && who != Principal::Human && !is_above {
        return Err(Refusal::NotAllowed {
            problem: format!("the team {name} is led by {}", world.name_of(team.lead)),
            hint: "a team is deleted by its leader or the human".into(),
        });
    }
    let others: Vec<&str> = members(world, name)
        .filter(|agent| Principal::Agent(agent.id) != team.lead)
        .map(|agent| &*agent.profile.name)
        .collect();
    if !others.is_empty() {
        return Err(Refusal::NotAllowed {
            problem: format!(
                "{} still {} in the team {name}",
                others.join(", "),
                if others.len() == 1 { "is" } else { "are" }
            ),
            hint: "ask them to end first".into(),
        });
    }
    Ok(vec![Event::Team(TeamEvent::Deleted { name: name.into() })])
}

impl FeatureAsk for TeamAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        Ok(decide(world, asker.who, self)?.into())
    }

    fn takes_presence(&self, _: &World) -> Option<&'static str> {
        match self {
            TeamAsk::Create { .. } => None,
            TeamAsk::Admit { .. } => Some("admit an agent to a team"),
            TeamAsk::Delete { .. } => Some("delete a team"),
        }
    }
}

event_types!(TeamEvent {
    TeamEvent::Created { .. } => durable("team_created", "team:created"),
    TeamEvent::Admitted { .. } => durable("team_admitted", "team:admitted"),
    TeamEvent::Deleted { .. } => durable("team_deleted", "team:deleted"),
});

impl FeatureEvent for TeamEvent {
    fn apply(&self, world: &mut World, _: &Record) {
        match self {
            TeamEvent::Created { name, lead, purpose } => {
                let team =
                    Team { name: name.clone(), lead: *lead, purpose: purpose.clone(), since: world.now };
                world.teams.insert(name.clone(), team);
            }
            TeamEvent::Admitted { agent, team } => {
                if let Some(agent) = world.agents.by_id.get_mut(agent) {
                    agent.profile.team = Some(team.clone());
                    agent.profile.wished_team = None;
                }
            }
            TeamEvent::Deleted { name } => drop(world.teams.remove(name)),
        }
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        match self {
            TeamEvent::Created { lead, .. } => agents([*lead]),
            TeamEvent::Admitted { agent, team } => {
                // Whoever has led it until now loses it.
                let profile = before.and_then(|world| world.agents.get(*agent)).map(|agent| &agent.profile);
                let left = profile.and_then(|profile| profile.team.as_ref());
                let lead = |team: &str| Some(before?.teams.get(team)?.lead);
                let leads = [Some(team), left].into_iter().flatten().filter_map(|team| lead(team));
                agents(leads.chain([Principal::Agent(*agent)]))
            }
            TeamEvent::Deleted { name } => {
                agents(before.and_then(|world| world.teams.get(name)).map(|team| team.lead))
            }
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let by = telling.by();
        match self {
            TeamEvent::Created { name, .. } => format!("{by} created the team {name}"),
            TeamEvent::Admitted { agent, team } => {
                format!("{by} let {} into the team {team}", telling.agent(*agent))
            }
            TeamEvent::Deleted { name } => format!("{by} deleted the team {name}"),
        }
    }
}

/// There are no more than the limits allow.
pub(crate) fn check(world: &World) -> Result<(), String> {
    match world.teams.len() > TEAMS_MAX {
        true => Err(format!("there are {} teams", world.teams.len())),
        false => Ok(()),
    }
}
