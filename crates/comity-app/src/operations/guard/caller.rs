//! Which agent a hook belongs to: the one that the door found, or a new one.

use comity_core::agents::{AgentAsk, Process, Profile};
use comity_core::runs::{RunAsk, RunBackend};
use comity_core::{AgentId, Ask, Principal, Refusal, World};
use comity_guard::payload::{HookCall, HookEvent};

use crate::application::Application;
use crate::engine::Failed;
use crate::identity::{WayIn, is_agent_program};
use crate::operation::{Caller, Failure};
use crate::processes::{ProcessMark, mark, since};

/// Characters of a sub-agent's kind that become a part of its name.
const KIND_CHARS_MAX: usize = 24;
/// Bytes of the id that a program gives to a sub-agent.
const WITHIN_BYTES_MAX: usize = 128;

/// The agent that called its hook: the program's, or one of several within it.
pub(super) fn agent(app: &Application, caller: &Caller, call: &HookCall) -> Result<Principal, Failure> {
    let program = program(app, caller, call.dialect.name(), call.session.as_deref())?;
    match (program, call.agent_within.as_deref()) {
        (Principal::Agent(program), Some(within)) => sub_agent(app, caller, program, within, call),
        _ => Ok(program),
    }
}

/// The agent with this id within another's program. It joins with the first thing that it does.
fn sub_agent(
    app: &Application,
    caller: &Caller,
    program: AgentId,
    within: &str,
    call: &HookCall,
) -> Result<Principal, Failure> {
    if within.len() > WITHIN_BYTES_MAX {
        let problem = format!("the id of a sub-agent is longer than {WITHIN_BYTES_MAX} bytes");
        return Err(Refusal::bad_input(problem, "see: comity hook --help").into());
    }
    let known = |app: &Application| {
        app.engine().world().agents.within(program, within).map(|agent| Principal::Agent(agent.id))
    };
    if let Some(known) = known(app) {
        return Ok(known);
    }
    if call.event == HookEvent::SubagentStop {
        return Ok(Principal::Nobody);
    }
    let (agent, token) = app.new_identity(caller)?;
    let kind: String = call.agent_kind.as_deref().unwrap_or("agent").chars().take(KIND_CHARS_MAX).collect();
    let name = format!("{}.{kind}", app.engine().world().name_of(Principal::Agent(program)));
    let profile = Box::new(Profile {
        name: name.into(),
        cwd: caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into()),
        within: Some(within.into()),
        ..Profile::default()
    });
    let ask = Ask::Agent(AgentAsk::Attach { agent, token: token.hash(), profile });
    match app.engine().ask(Principal::Agent(program), ask) {
        Ok(_) => Ok(Principal::Agent(agent)),
        // Another hook of the same sub-agent may have come first.
        Err(Failed::Refused(refusal)) => known(app).ok_or(refusal.into()),
        Err(Failed::Fault(problem)) => Err(Failure::Fault(problem)),
    }
}

/// The agent whose program runs the hook. An unknown agent program becomes an agent by its first hook.
fn program(
    app: &Application,
    caller: &Caller,
    program: &str,
    session: Option<&str>,
) -> Result<Principal, Failure> {
    if let Principal::Agent(agent) = caller.who {
        // A client that an agent has started is an agent of its own, below that one.
        return match app.program_below(agent, caller) {
            Some(process) => join(app, caller, program, session, process),
            None => {
                note_session(app, agent, session);
                Ok(caller.who)
            }
        };
    }
    if caller.who == Principal::Nobody && caller.way_in() != Some(WayIn::Join) {
        return Err(caller.unproven().into());
    }
    // A hook that a person runs by hand belongs to no program: there is nothing to register.
    let above = caller.lineage.as_ref().and_then(|line| Some(line.program()?.process));
    let Some(process) = above else {
        let hint = "agent programs run hooks; to try one by hand, set COMITY_TOKEN to an agent's token";
        return Err(Refusal::NotAllowed {
            problem: "no agent program runs this hook".into(),
            hint: hint.into(),
        }
        .into());
    };
    join(app, caller, program, session, process)
}

/// Notes the conversation of an agent that Comity started: it goes on with that when it is started again.
fn note_session(app: &Application, agent: AgentId, session: Option<&str>) {
    let Some(session) = session else { return };
    let is_new = {
        let world = app.engine().world();
        let run = world.runs.of(agent);
        // Over ACP its name is that of its session there.
        run.filter(|run| run.spec.backend != RunBackend::Acp)
            .is_some_and(|run| run.session.as_deref() != Some(session))
    };
    if is_new {
        let know = RunAsk::KnowSession { agent, session: session.into() };
        // Without it, the program starts over.
        let _ = app.engine().ask(Principal::System, Ask::Run(know));
    }
}

fn join(
    app: &Application,
    caller: &Caller,
    program: &str,
    session: Option<&str>,
    process: Process,
) -> Result<Principal, Failure> {
    let (agent, token) = app.new_identity(caller)?;
    let profile = Box::new(Profile {
        name: program.into(),
        cwd: caller.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into()),
        process: Some(process),
        session: app.own_session(caller, session).map(Into::into),
        since: since(Some(process), None),
        after: app.predecessor(caller),
        ..Profile::default()
    });
    let joined = app
        .engine()
        .ask(caller.asker(), Ask::Agent(AgentAsk::Attach { agent, token: token.hash(), profile }));
    match joined {
        Ok(_) => {
            // Only now: a marked process that has not joined is nobody. What is not a known agent program may be a
            // script that works with several.
            let is_known = caller.lineage.as_deref().is_some_and(|line| is_agent_program(line, process));
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
