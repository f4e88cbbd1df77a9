//! Which agent a hook belongs to: the one that the door found, the one with the same session, or a new one.

use comity_core::agents::Profile;
use comity_core::{Ask, Principal, World};

use crate::application::Application;
use crate::engine::Failed;
use crate::operation::{Caller, Failure};
use crate::operations::agents::free_name;
use crate::processes;

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
    let process = caller.process.and_then(|process| processes::program_above(process.pid));
    let (agent, token) = app.new_identity(caller)?;
    let profile = Box::new(Profile {
        name: free_name(&app.engine().world(), program).into(),
        cwd: caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into()),
        process,
        session: session.map(Into::into),
        ..Profile::default()
    });
    let joined = app.engine().ask(caller.who, Ask::Attach { agent, token: token.hash(), profile });
    match joined {
        Ok(_) => Ok(Principal::Agent(agent)),
        Err(Failed::Refused(refusal)) => Err(refusal.into()),
        Err(Failed::Fault(problem)) => Err(Failure::Fault(problem)),
    }
}

fn by_session(world: &World, session: &str) -> Option<Principal> {
    let same = |profile: &Profile| profile.session.as_deref() == Some(session);
    world.agents.live().find(|agent| same(&agent.profile)).map(|agent| Principal::Agent(agent.id))
}
