//! Whom a letter is addressed to: names, roles, teams, everybody.

use std::collections::BTreeSet;

use crate::agents::Agent;
use crate::ids::Principal;
use crate::refusal::Refusal;
use crate::teams::members;
use crate::world::World;

/// An addressee, as people write it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Recipient {
    Agent(Box<str>),
    Human,
    Role(Box<str>),
    /// Everybody in this team; in the sender's own if `None`.
    Team(Option<Box<str>>),
    All,
}

impl Recipient {
    /// Parses `ann`, `human`, `role:qa`, `team`, `team:red` or `all`.
    pub fn parse(text: &str) -> Recipient {
        match text.split_once(':') {
            Some(("role", role)) => Recipient::Role(role.into()),
            Some(("team", team)) => Recipient::Team(Some(team.into())),
            Some(_) | None => match text {
                "human" => Recipient::Human,
                "team" => Recipient::Team(None),
                "all" | "everyone" | "*" => Recipient::All,
                name => Recipient::Agent(name.into()),
            },
        }
    }
}

/// The receivers: each once, not the sender, and nobody who is not there.
pub(super) fn resolve(world: &World, who: Principal, to: &[Recipient]) -> Result<Vec<Principal>, Refusal> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for recipient in to {
        let group = match recipient {
            Recipient::Human => vec![Principal::Human],
            Recipient::Agent(name) => vec![Principal::Agent(world.agents.find(name)?.id)],
            Recipient::Role(role) => {
                let has_role = |agent: &&Agent| agent.profile.role.as_deref() == Some(role);
                others(who, world.agents.live().filter(has_role), || format!("has the role {role}"), world)?
            }
            Recipient::Team(named) => {
                let team = named.as_deref().map_or_else(|| own_team(world, who), Ok)?;
                others(who, members(world, team), || format!("is in the team {team}"), world)?
            }
            Recipient::All => others(who, world.agents.live(), || "is here".into(), world)?,
        };
        found.extend(group.into_iter().filter(|one| seen.insert(*one)));
    }
    match found.is_empty() {
        true => Err(Refusal::bad_input("nobody to send to", "name an agent, role:ROLE, team, all or human")),
        false => Ok(found),
    }
}

fn own_team(world: &World, who: Principal) -> Result<&str, Refusal> {
    let agent = who.agent().and_then(|id| world.agents.get(id));
    agent
        .and_then(|agent| agent.profile.team.as_deref())
        .ok_or_else(|| Refusal::bad_input("you are in no team", "name one, as team:NAME"))
}

fn others<'a>(
    who: Principal,
    group: impl Iterator<Item = &'a Agent>,
    what: impl Fn() -> String,
    world: &World,
) -> Result<Vec<Principal>, Refusal> {
    let found: Vec<Principal> =
        group.map(|agent| Principal::Agent(agent.id)).filter(|one| *one != who).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let live: Vec<&str> = world.agents.live().take(20).map(|agent| &*agent.profile.name).collect();
    let hint = match live.is_empty() {
        true => "no agent is here".into(),
        false => format!("the agents here: {}", live.join(", ")),
    };
    Err(Refusal::NotFound { problem: format!("nobody else {}", what()), hint })
}
