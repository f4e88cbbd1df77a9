//! Joining: which name an agent may have, which process, and which team.

use super::{Agent, AgentEvent, AgentRefusal, Ending, Life, Process, Profile};
use crate::calls;
use crate::event::Event;
use crate::ids::{AgentId, Principal, TokenHash};
use crate::limits::{AGENTS_MAX, NAME_CHARS_MAX, PROFILE_BYTES_MAX, TOKENS_PER_AGENT_MAX};
use crate::mail::Recipient;
use crate::next_call::call;
use crate::people::Asker;
use crate::permissions::{PermissionEvent, mode_of, mode_of_role};
use crate::refusal::Refusal;
use crate::world::World;

/// Checks a name, role or team: letters, digits, `.`, `_` and `-`, beginning with a letter or digit.
pub fn check_name(what: &str, name: &str) -> Result<(), Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let good = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
        && name.len() <= NAME_CHARS_MAX;
    if good {
        return Ok(());
    }
    Err(Refusal::bad_input(
        format!("{name:?} can't be {what}"),
        format!(
            "use 1 to {NAME_CHARS_MAX} letters, digits, '.', '_' or '-', beginning with a letter or digit"
        ),
    ))
}

/// How many characters of a program's name go into its agent's name.
const WISHED_CHARS_MAX: usize = 40;
/// Names that would be mistaken for somebody else, besides the addresses that mail reserves.
const RESERVED_NAMES: [&str; 4] = ["you", "me", "nobody", "comity"];

/// Registers an agent with the profile that it gives. Only the human and the agent itself may say whose session it
/// continues.
pub(crate) fn join(
    world: &World,
    asker: &Asker,
    agent: AgentId,
    token: TokenHash,
    profile: &Profile,
) -> Result<Vec<Event>, Refusal> {
    check_session(world, asker, profile)?;
    profile.role.as_deref().map_or(Ok(()), |role| world.roles.must_know(role))?;
    come_in(world, asker, agent, token, profile)
}

/// Refuses the session of another agent: whoever has that takes its place.
fn check_session(world: &World, asker: &Asker, profile: &Profile) -> Result<(), Refusal> {
    let Some(session) = profile.session.as_deref().filter(|_| !asker.is_present_human()) else {
        return Ok(());
    };
    let has_it = |agent: &Agent| agent.profile.session.as_deref() == Some(session);
    let is_own = asker.who.agent().and_then(|agent| world.agents.get(agent)).is_some_and(has_it);
    match world.agents.iter().find(|agent| has_it(agent)) {
        Some(other) if !is_own => Err(Refusal::NotAllowed {
            problem: format!("this is the session of {}", other.profile.name),
            hint: "leave the session out; its own program goes on with it".into(),
        }),
        Some(_) | None => Ok(()),
    }
}

fn come_in(
    world: &World,
    asker: &Asker,
    agent: AgentId,
    token: TokenHash,
    profile: &Profile,
) -> Result<Vec<Event>, Refusal> {
    check_agent_name(world, &profile.name)?;
    profile.role.as_deref().map_or(Ok(()), |role| check_name("a role", role))?;
    profile.team.as_deref().map_or(Ok(()), |team| check_name("a team", team))?;
    for (what, text) in
        [("model", &profile.model), ("directory", &profile.cwd), ("session", &profile.session)]
    {
        if text.as_deref().is_some_and(|text| text.len() > PROFILE_BYTES_MAX) {
            let problem = format!("its {what} is longer than {PROFILE_BYTES_MAX} bytes");
            return Err(Refusal::bad_input(problem, "shorten it"));
        }
    }
    if world.agents.live_names.len() >= AGENTS_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("{AGENTS_MAX} agents are here already"),
            hint: format!(
                "end agents that are not needed with: {}",
                call(calls::AGENT_BYE, [("agent", "NAME".into())])
            ),
        });
    }
    if world.agents.by_id.contains_key(&agent) || world.agents.tokens.contains_key(&token) {
        return Err(Refusal::bad_input("this id was given out before", "ask again"));
    }
    check_process(world, asker.who, profile.process)?;
    let parent = match asker.who {
        Principal::Agent(parent) => Some(world.agents.living(parent)?.id),
        Principal::Human | Principal::System | Principal::Nobody => None,
    };
    // A team's rules reach only those whom its leader or the human has admitted.
    let (team, wished_team) = match may_bring_into(world, asker, profile.team.as_deref()) {
        true => (profile.team.clone(), None),
        false => (None, profile.team.clone()),
    };
    // A program that says goodbye and comes back has the same leader as before, and no wider mode.
    let before = earlier(world, profile.process).or_else(|| world.agents.get(profile.after?));
    if let Some(ended) = before.filter(|before| was_ended(before) && asker.who == Principal::Nobody) {
        return Err(Refusal::NotAllowed {
            problem: format!(
                "{} was ended by somebody else, and does not come back by itself",
                ended.profile.name
            ),
            hint: "start its program again".into(),
        });
    }
    let before = before.or_else(|| same_session(world, profile.session.as_deref()?));
    let leader =
        before.and_then(|before| world.agents.living(before.profile.parent?).ok()).map(|lead| lead.id);
    let parent = parent.or(leader);
    let mode = before.map(|before| mode_of(world, before.id));
    let narrower = mode.filter(|mode| *mode < mode_of_role(world, profile.role.as_deref()));
    let kept = narrower.map(|mode| PermissionEvent::ModeSet { agent, mode, by: Principal::System });
    let profile = Box::new(Profile { parent, team, wished_team, ..profile.clone() });
    let joined = Event::Agent(AgentEvent::Joined { agent, profile, token });
    Ok(std::iter::once(joined).chain(kept.map(Event::Permission)).collect())
}

/// Registers an agent under the name of its program, with a number added if that is taken.
pub(crate) fn attach(
    world: &World,
    asker: &Asker,
    agent: AgentId,
    token: TokenHash,
    profile: &Profile,
) -> Result<Vec<Event>, Refusal> {
    let named = Profile { name: free_name(world, &profile.name).into(), ..profile.clone() };
    come_in(world, asker, agent, token, &named)
}

/// The wished name, or one like it that is free.
fn free_name(world: &World, wished: &str) -> String {
    let plain: String = wished
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .skip_while(|c| !c.is_ascii_alphanumeric())
        .take(WISHED_CHARS_MAX)
        .collect();
    let plain = if plain.is_empty() { "agent".to_owned() } else { plain };
    let numbered = (2..=AGENTS_MAX + 1).map(|number| format!("{plain}-{number}"));
    let mut names = std::iter::once(plain.clone()).chain(numbered);
    names.find(|name| check_agent_name(world, name).is_ok()).unwrap_or(plain)
}

/// Whether somebody else ended it.
fn was_ended(agent: &Agent) -> bool {
    matches!(agent.life, Life::Ended { ending: Ending::Terminated, .. })
}

/// The newest agent that had this process.
fn earlier(world: &World, process: Option<Process>) -> Option<&Agent> {
    let process = process?;
    let same = world.agents.iter().filter(|agent| agent.profile.process == Some(process));
    same.max_by_key(|agent| (agent.joined, agent.id))
}

/// The newest ended agent with this session: its program was started again.
fn same_session<'a>(world: &'a World, session: &str) -> Option<&'a Agent> {
    let has_it = |agent: &&Agent| !agent.is_live() && agent.profile.session.as_deref() == Some(session);
    world.agents.iter().filter(has_it).max_by_key(|agent| (agent.joined, agent.id))
}

/// Registers another agent of the caller's program, with the same parent and no wider mode.
pub(crate) fn join_beside(
    world: &World,
    asker: &Asker,
    agent: AgentId,
    token: TokenHash,
    profile: &Profile,
) -> Result<Vec<Event>, Refusal> {
    let Principal::Agent(beside) = asker.who else { return attach(world, asker, agent, token, profile) };
    check_session(world, asker, profile)?;
    let parent = world.agents.living(beside)?.profile.parent;
    let mode = mode_of(world, beside);
    let mut events = attach(world, asker, agent, token, profile)?;
    for event in &mut events {
        if let Event::Agent(AgentEvent::Joined { profile, .. }) = event {
            profile.parent = parent;
        }
    }
    let set = PermissionEvent::ModeSet { agent, mode, by: Principal::System };
    events.push(Event::Permission(set));
    Ok(events)
}

/// Registers the agent of a program that Comity starts for `by`, as a child of `by`.
pub(crate) fn join_below(
    world: &World,
    by: Principal,
    agent: AgentId,
    token: TokenHash,
    profile: &Profile,
) -> Result<Vec<Event>, Refusal> {
    let mut events = come_in(world, &Asker::from(Principal::System), agent, token, profile)?;
    for event in &mut events {
        if let Event::Agent(AgentEvent::Joined { profile, .. }) = event {
            profile.parent = by.agent();
        }
    }
    Ok(events)
}

/// Whether `asker` may put a new agent into a team: the present human, the team's leader, or a member for its own
/// child.
pub(crate) fn may_bring_into(world: &World, asker: &Asker, team: Option<&str>) -> bool {
    let Some(team) = team else { return true };
    match asker.who {
        Principal::Human => asker.is_present_human(),
        Principal::System => true,
        Principal::Nobody => false,
        Principal::Agent(parent) => {
            world.teams.get(team).is_some_and(|team| team.lead == asker.who)
                || world.agents.get(parent).is_some_and(|parent| parent.profile.team.as_deref() == Some(team))
        }
    }
}

/// Refuses a process that belongs to another agent: a process has one agent.
fn check_process(world: &World, who: Principal, process: Option<Process>) -> Result<(), Refusal> {
    let Some(process) = process else { return Ok(()) };
    let owner = world.agents.live().find(|agent| agent.profile.process == Some(process));
    match owner {
        Some(owner) if Principal::Agent(owner.id) != who => Err(Refusal::NotAllowed {
            problem: format!("process {} is {}'s", process.pid, owner.profile.name),
            hint: "give a process of its own, or leave it out".into(),
        }),
        // The caller's process stays the caller's; the new agent is known by its token.
        Some(owner) => Err(Refusal::NotAllowed {
            problem: format!("process {} is your own ({})", process.pid, owner.profile.name),
            hint: "give the process of the new agent, or leave it out".into(),
        }),
        None => Ok(()),
    }
}

pub(crate) fn check_agent_name(world: &World, name: &str) -> Result<(), Refusal> {
    check_name("an agent's name", name)?;
    let lower = name.to_ascii_lowercase();
    let is_address = !matches!(Recipient::parse(&lower), Recipient::Agent(_));
    if is_address || RESERVED_NAMES.contains(&&*lower) || lower.starts_with("agent_") {
        return Err(Refusal::bad_input(format!("{name:?} is a reserved name"), "choose another name"));
    }
    match world.agents.live_names.get(name) {
        Some(taken) => Err(Refusal::Agent(AgentRefusal::NameTaken { name: name.into(), agent: *taken })),
        None => Ok(()),
    }
}

/// Gives an agent that was named after its program the name that its program was asked to have.
pub(crate) fn rename(
    world: &World,
    who: Principal,
    agent: AgentId,
    name: &str,
) -> Result<Vec<Event>, Refusal> {
    if who != Principal::Agent(agent) {
        let problem = "an agent is named by its own program".into();
        return Err(Refusal::NotAllowed { problem, hint: "leave the name as it is".into() });
    }
    if &*world.agents.living(agent)?.profile.name == name {
        return Ok(vec![]);
    }
    check_agent_name(world, name)?;
    Ok(vec![Event::Agent(AgentEvent::Named { agent, name: name.into() })])
}

pub(crate) fn add_token(world: &World, agent: AgentId, token: TokenHash) -> Result<Vec<Event>, Refusal> {
    if world.agents.living(agent)?.tokens.len() >= TOKENS_PER_AGENT_MAX {
        return Err(Refusal::LimitReached {
            problem: format!("this agent has {TOKENS_PER_AGENT_MAX} tokens already"),
            hint: "give its token to its processes in COMITY_TOKEN".into(),
        });
    }
    if world.agents.tokens.contains_key(&token) {
        return Err(Refusal::bad_input("this token was given out before", "ask again"));
    }
    Ok(vec![Event::Agent(AgentEvent::TokenAdded { agent, token })])
}
