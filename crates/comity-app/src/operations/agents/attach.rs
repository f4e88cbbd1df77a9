//! Connects a process to the agent program that it belongs to.

use std::fmt;

use comity_core::agents::{AgentAsk, AgentEvent, Process, Profile};
use comity_core::{AgentId, Ask, Event, Principal, World};

use crate::identity::is_agent_program;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::processes::{ProcessMark, mark, since};

/// Connect a process of an agent program to its agent, registering it if it is new: what comity mcp does when it starts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attach {
    /// The name it would like, such as claude; a number is added if somebody has it
    pub name: String,
    /// Whether the name was asked for, and not made from the program's
    #[serde(default)]
    pub named: bool,
    /// The agent program's process: an ancestor of the caller
    pub pid: Option<u32>,
    /// The session id that the program gave itself
    pub session: Option<String>,
    /// Register only a program below the agent whose token this is, which has inherited that token; no other gets a new one
    #[serde(default)]
    pub only_below: bool,
}

/// The agent that the process belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Attached {
    pub agent: String,
    pub name: String,
    /// A token for this process; empty if it keeps the one that it has.
    pub token: String,
    /// Whether the agent was registered just now.
    pub new: bool,
}

impl Operation for Attach {
    type Output = Attached;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Attached>, Failure> {
        let (new_agent, token) = app.new_identity(caller)?;
        let after = app.predecessor(caller);
        let below = caller.who.agent().and_then(|agent| app.program_below(agent, caller));
        let world = app.engine().world();
        if let (true, None, Principal::Agent(agent)) = (self.only_below, below, caller.who) {
            let (agent, name) = (agent.to_string(), world.name_of(caller.who));
            return Ok(Plan::Answer(Attached { agent, name, token: String::new(), new: false }));
        }
        let (asks, agent, name) = match caller.who {
            // A client that an agent has started is an agent of its own, below that one.
            Principal::Agent(_) if below.is_some() => {
                let profile = Box::new(self.profile(app, caller, below, after));
                let ask = AgentAsk::Attach { agent: new_agent, token: token.hash(), profile };
                (vec![Ask::Agent(ask)], new_agent, self.name)
            }
            // The door has found the agent by its token or by the process tree: this is one more process of it.
            Principal::Agent(agent) => match self.meant(app, &world, agent) {
                AttachTarget::Same => (
                    vec![Ask::Agent(AgentAsk::AddToken { agent, token: token.hash() })],
                    agent,
                    world.name_of(caller.who),
                ),
                AttachTarget::Renamed => {
                    let name = self.name.as_str().into();
                    let named = Ask::Agent(AgentAsk::Name { agent, name });
                    (
                        vec![named, Ask::Agent(AgentAsk::AddToken { agent, token: token.hash() })],
                        agent,
                        self.name,
                    )
                }
                AttachTarget::Another => {
                    let profile = Box::new(self.profile(app, caller, caller.process(), None));
                    let asks = vec![Ask::Agent(AgentAsk::AttachBeside {
                        agent: new_agent,
                        token: token.hash(),
                        profile,
                    })];
                    (asks, new_agent, self.name)
                }
            },
            Principal::Human | Principal::System | Principal::Nobody => {
                let agent = new_agent;
                // Only what is above the caller can be the program that it belongs to, and never a person's terminal.
                let program = self.pid.and_then(|pid| {
                    let lineage = caller.lineage.as_ref().filter(|line| !line.is_persons_own(pid))?;
                    lineage.links.iter().find(|link| link.process.pid == pid).map(|link| link.process)
                });
                let profile = Box::new(self.profile(app, caller, program, after));
                (vec![Ask::Agent(AgentAsk::Attach { agent, token: token.hash(), profile })], agent, self.name)
            }
        };
        drop(world);
        let program = asks.iter().find_map(|ask| program_of(caller, ask));
        app.identities().attached(agent);
        let new = agent == new_agent;
        let finish = move |events: &[Event], _: &_, _| {
            let given = events.iter().find_map(|event| match event {
                Event::Agent(AgentEvent::Joined { profile, .. }) => Some(profile.name.to_string()),
                _ => None,
            });
            let name = given.unwrap_or(name);
            // Only now: a marked process that has not joined is nobody.
            program.into_iter().for_each(|(process, how)| mark(process, how));
            Attached { new, agent: agent.to_string(), name, token: token.reveal().to_owned() }
        };
        Ok(Plan::change(asks, finish))
    }
}

/// The process that becomes an agent's, and how it is marked: what starts `comity mcp` and is not a known agent
/// program may be a script that works with several.
fn program_of(caller: &Caller, ask: &Ask) -> Option<(Process, ProcessMark)> {
    let (Ask::Agent(AgentAsk::Attach { profile, .. }) | Ask::Agent(AgentAsk::AttachBeside { profile, .. })) =
        ask
    else {
        return None;
    };
    let (lineage, process) = (caller.lineage.as_ref()?, profile.process?);
    let is_known = is_agent_program(lineage, process);
    Some((process, if is_known { ProcessMark::Agent } else { ProcessMark::TokenUser }))
}

/// Which agent is meant by a process that attaches below a known one.
enum AttachTarget {
    Same,
    /// The known one, which has no name of its own yet.
    Renamed,
    /// A new one, beside the known one.
    Another,
}

impl Attach {
    /// A program's one `comity mcp` and its hooks are one agent; several named ones are an agent each.
    fn meant(&self, app: &Application, world: &World, known: AgentId) -> AttachTarget {
        let is_known_by_that = world.agents.get(known).is_some_and(|agent| *agent.profile.name == *self.name);
        match (self.named && !is_known_by_that, app.identities().is_attached(known)) {
            (false, _) => AttachTarget::Same,
            (true, false) => AttachTarget::Renamed,
            (true, true) => AttachTarget::Another,
        }
    }

    fn profile(
        &self,
        app: &Application,
        caller: &Caller,
        process: Option<Process>,
        after: Option<AgentId>,
    ) -> Profile {
        Profile {
            name: self.name.as_str().into(),
            cwd: caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into()),
            process,
            session: app.own_session(caller, self.session.as_deref()).map(Into::into),
            since: since(process, caller.lineage.as_deref()),
            after,
            ..Profile::default()
        }
    }
}

impl fmt::Display for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.agent)
    }
}
