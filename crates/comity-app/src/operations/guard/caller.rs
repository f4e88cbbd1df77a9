//! Which agent a hook belongs to: the one that the door found, the one with the same session, or a new one.

use comity_core::agents::{AgentAsk, Process, Profile};
use comity_core::{Ask, Principal, Refusal, World};

use crate::application::Application;
use crate::engine::Failed;
use crate::identity::{WayIn, is_agent_program};
use crate::operation::{Caller, Failure};
use crate::processes::{ProcessMark, mark, since};

/// The agent that called its hook. An agent program that nobody has told us about becomes an agent by its first hook.
pub(super) fn agent(
    app: &Application,
    caller: &Caller,
    program: &str,
    session: Option<&str>,
) -> Result<Principal, Failure> {
    if let Principal::Agent(_) = caller.who {
        return Ok(caller.who);
    }
    if let Some(agent) = session.and_then(|session| by_session(&app.engine().world(), session)) {
        return Ok(agent);
    }
    if caller.who == Principal::Nobody && caller.way_in() != Some(WayIn::Join) {
        return Err(caller.unproven().into());
    }
    // A hook that a person runs by hand belongs to no program: there is nothing to register.
    let above = caller.lineage.as_ref().and_then(|line| Some((line, line.program()?.process)));
    let Some((lineage, process)) = above else {
        let hint = "agent programs run hooks; to try one by hand, set COMITY_TOKEN to an agent's token";
        return Err(Refusal::NotAllowed {
            problem: "no agent program runs this hook".into(),
            hint: hint.into(),
        }
        .into());
    };
    let (agent, token) = app.new_identity(caller)?;
    let profile = Box::new(Profile {
        name: program.into(),
        cwd: caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into()),
        process: Some(process),
        session: session.map(Into::into),
        since: since(Some(process), None),
        after: app.predecessor(caller),
        ..Profile::default()
    });
    let joined = app
        .engine()
        .ask(caller.asker(), Ask::Agent(AgentAsk::Attach { agent, token: token.hash(), profile }));
    match joined {
        Ok(_) => {
            // Only now: whoever is marked and has not joined is nobody.
            // What is not known to be an agent program may be a script that works with several.
            let is_known = is_agent_program(lineage, process);
            mark(process, if is_known { ProcessMark::Agent } else { ProcessMark::TokenUser });
            Ok(Principal::Agent(agent))
        }
        // Another hook of the same program may have come first.
        Err(Failed::Refused(refusal)) => by_process(&app.engine().world(), process).ok_or(refusal.into()),
        Err(Failed::Fault(problem)) => Err(Failure::Fault(problem)),
    }
}

fn by_process(world: &World, process: Process) -> Option<Principal> {
    let same = world.agents.live().find(|agent| agent.profile.process == Some(process));
    same.map(|agent| Principal::Agent(agent.id))
}

fn by_session(world: &World, session: &str) -> Option<Principal> {
    // An agent whose process is known is found by that: its session's id is no secret.
    let same = |profile: &Profile| profile.session.as_deref() == Some(session) && profile.process.is_none();
    world.agents.live().find(|agent| same(&agent.profile)).map(|agent| Principal::Agent(agent.id))
}
