//! The agents of the models, and the calls that they ask permission for.

use comity_core::agents::{AgentAsk, Process, Profile};
use comity_core::permissions::{ToolCall, ToolClass};
use comity_core::{AgentId, Ask, ContentHash, Principal, Timestamp, TokenHash, World, run};

/// The leader of all others.
pub(crate) const LEAD: u64 = 1;

pub(crate) fn agent(number: u64) -> Principal {
    Principal::Agent(AgentId::from_bits(number))
}

/// Lets an agent join the team, started by `by`.
pub(crate) fn join(world: &mut World, number: u64, name: &str, by: Principal) {
    let profile = Profile {
        name: name.into(),
        role: (number == LEAD).then(|| "lead".into()),
        team: Some("red".into()),
        process: Some(Process { pid: 1, start: number }),
        ..Profile::default()
    };
    let (id, token) = (AgentId::from_bits(number), TokenHash([number as u8; 32]));
    let ask = Ask::Agent(AgentAsk::Join { agent: id, token, profile: Box::new(profile) });
    run(world, by, &ask, None, Timestamp(0), 0).expect("joined");
}

/// A command, told apart from others by its input.
pub(crate) fn call(input: u8) -> Box<ToolCall> {
    Box::new(ToolCall {
        host: None,
        tool: "Bash".into(),
        class: ToolClass::Shell,
        hash: ContentHash([input; 32]),
        input: format!("{input}").into(),
        summary: "".into(),
        project: None,
        writes: vec![],
        reads: vec![],
        outside: vec![],
        is_all: true,
        commands: None,
        reads_only: false,
    })
}
