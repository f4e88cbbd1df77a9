//! Registers an agent.

use std::fmt;

use comity_core::agents::{AgentAsk, Process, Profile};
use comity_core::{Ask, Principal, Refusal, teams};

use crate::lineage::Lineage;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::processes::{ProcessMark, mark, since};

/// Register an agent and print its id and secret token. If an agent runs this, it becomes the new agent's parent.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// Its name; no other live agent may have it
    pub name: String,
    /// What it is for: lead, developer, reviewer, …
    pub role: Option<String>,
    /// The team it wants to join. You (at a terminal) or its leader add it; otherwise it asks to be let in
    pub team: Option<String>,
    /// The model it runs on
    pub model: Option<String>,
    /// Its process, above this command; when that ends, so does the agent
    pub pid: Option<u32>,
    /// The session id its program gave itself
    pub session: Option<String>,
}

/// The new agent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Joined {
    pub agent: String,
    pub name: String,
    /// Its secret: set COMITY_TOKEN to it. It is not shown again.
    pub token: String,
}

impl Operation for Join {
    type Output = Joined;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Joined>, Failure> {
        if let Some((agent, token)) = app.made_before(caller) {
            let process = app.engine().world().agents.get(agent).and_then(|agent| agent.profile.process);
            process.into_iter().for_each(|process| mark(process, ProcessMark::Agent));
            let (agent, token) = (agent.to_string(), token.reveal().to_owned());
            return Ok(Plan::Answer(Joined { agent, name: self.name, token }));
        }
        // A leader may start a team by joining it.
        if let Some(team) = self.team.as_deref().filter(|_| self.role.as_deref() != Some("lead")) {
            teams::must_know(&app.engine().world(), team)?;
        }
        let process = self.pid.map(|pid| own_process(app, caller, pid)).transpose()?;
        let (agent, token) = app.new_identity(caller)?;
        let boxed = |text: &Option<String>| text.as_deref().map(Into::into);
        let profile = Box::new(Profile {
            name: self.name.as_str().into(),
            role: boxed(&self.role),
            team: boxed(&self.team),
            wished_team: None,
            parent: None,
            model: boxed(&self.model),
            cwd: caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into()),
            process,
            session: boxed(&self.session),
            within: None,
            since: since(process, caller.lineage.as_deref()),
            after: app.predecessor(caller),
        });
        let asks = vec![Ask::Agent(AgentAsk::Join { agent, token: token.hash(), profile })];
        let name = self.name;
        let finish = move |_: &[_], _: &_, _| {
            // Only now: a marked process that has not joined is nobody.
            process.into_iter().for_each(|process| mark(process, ProcessMark::Agent));
            Joined { agent: agent.to_string(), name, token: token.reveal().to_owned() }
        };
        Ok(Plan::change(asks, finish))
    }
}

/// The process with this number, if the caller may give it: in its own lineage, and neither another agent's nor the
/// person's terminal.
fn own_process(app: &Application, caller: &Caller, pid: u32) -> Result<Process, Refusal> {
    let no = |problem: String, hint: &str| Refusal::NotAllowed { problem, hint: hint.into() };
    let given = caller.lineage.as_ref();
    let Some((lineage, link)) =
        given.and_then(|line| Some((line, line.links.iter().find(|link| link.process.pid == pid)?)))
    else {
        let hint = "run this from inside that process, or leave out pid";
        return Err(no(format!("process {pid} is not above this command"), hint));
    };
    if lineage.is_persons_own(pid) {
        let problem = format!("process {pid} ({}) is your own terminal's", link.name);
        return Err(no(problem, "start the agent's program, and run this from inside it"));
    }
    let world = app.engine().world();
    let others = world.agents.live().filter(|agent| Principal::Agent(agent.id) != caller.who);
    for other in others {
        let Some(theirs) = other.profile.process else { continue };
        let is_below = lineage.has(theirs);
        if is_below || Lineage::of(theirs.pid).has(link.process) {
            let name = &other.profile.name;
            let place = if is_below { "above" } else { "below" };
            let problem = format!("{name} (process {}) is {place} process {pid}", theirs.pid);
            return Err(no(problem, "an agent's process has no other agent above or below it"));
        }
    }
    Ok(link.process)
}

impl fmt::Display for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Joined { agent, name, token } = self;
        write!(f, "{name} is here as {agent}\nlet it call with: export COMITY_TOKEN={token}")
    }
}
