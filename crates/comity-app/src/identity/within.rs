//! Agents inside agents: agent programs that an agent starts, and sub-agents that share another's program.
//!
//! A program below an agent's own is known by the process tree. What a sub-agent does comes from its program's
//! process, so it is told apart by what the program's hook reported a moment before: which call, which command.

use std::collections::{HashMap, VecDeque};

use comity_core::agents::Process;
use comity_core::{AgentId, World};

use super::{lock, marks};
use crate::application::Application;
use crate::lineage::Lineage;
use crate::operation::Caller;
use crate::processes;

/// Remembered calls of sub-agents; the oldest are dropped first.
const CALLS_MAX: usize = 1_024;
/// Remembered processes of sub-agents' commands.
const COMMANDS_MAX: usize = 1_024;

/// A call reported by a hook, in a program with sub-agents.
#[derive(Debug)]
struct TracedCall {
    program: AgentId,
    by: AgentId,
    /// The program's id of it.
    id: Box<str>,
    /// Its shell's command line.
    command: Option<Box<str>>,
}

#[derive(Default)]
pub(super) struct SubAgents {
    calls: VecDeque<TracedCall>,
    /// The processes of their commands.
    commands: HashMap<Process, AgentId>,
}

impl SubAgents {
    fn began(&mut self, call: TracedCall) {
        while self.calls.len() >= CALLS_MAX {
            self.calls.pop_front();
        }
        self.calls.push_back(call);
    }

    fn ended(&mut self, program: AgentId, id: &str) {
        self.calls.retain(|call| call.program != program || *call.id != *id);
    }

    fn by_id(&self, program: AgentId, id: &str) -> Option<AgentId> {
        let same = |call: &&TracedCall| call.program == program && *call.id == *id;
        self.calls.iter().find(same).map(|call| call.by)
    }

    /// Which agent's command this line runs: the longest one in it, the oldest first. Each command runs once.
    fn take_command(&mut self, program: AgentId, line: &str) -> Option<AgentId> {
        let is_in =
            |command: &str| line.contains(command) || quoted(command).any(|text| line.contains(&*text));
        let candidates = self.calls.iter_mut().rev().filter(|call| call.program == program);
        let found = candidates.filter(|call| call.command.as_deref().is_some_and(is_in));
        let call = found.max_by_key(|call| call.command.as_ref().map(|command| command.len()))?;
        call.command = None;
        Some(call.by)
    }

    fn runs(&mut self, process: Process, agent: AgentId) {
        if self.commands.len() >= COMMANDS_MAX {
            self.commands.retain(|process, _| processes::is_alive(*process));
        }
        self.commands.insert(process, agent);
    }
}

/// A command as it stands within single quotes.
fn quoted(command: &str) -> impl Iterator<Item = String> {
    ["'\\''", "'\"'\"'"]
        .into_iter()
        .filter(|_| command.contains('\''))
        .map(|quote| command.replace('\'', quote))
}

impl Application {
    /// The agent program that the caller belongs to, if it runs below the agent's own.
    pub(crate) fn program_below(&self, agent: AgentId, caller: &Caller) -> Option<Process> {
        let lineage = caller.lineage.as_deref()?;
        let program = lineage.program()?.process;
        let at = lineage.links.iter().position(|link| link.process == program)?;
        let own = own_process(&self.engine().world(), agent);
        let end = match own {
            Some(own) if own == program => return None,
            // Somebody else's, or the same program above one of its commands.
            Some(own) => lineage.links.iter().position(|link| link.process == own).filter(|end| *end > at)?,
            None => lineage.links.len().checked_sub(1)?,
        };
        let is_agents = |at: usize| own.is_some() || self.has_token_of(lineage, at, agent);
        let is_above = |above: usize| is_client(lineage, above) && is_agents(above);
        (is_client(lineage, at) && (at + 1..=end).any(is_above)).then_some(program)
    }

    fn has_token_of(&self, lineage: &Lineage, at: usize, agent: AgentId) -> bool {
        let Some(token) = lineage.links.get(at).and_then(|link| marks::of(link).token) else { return false };
        let hash = crate::tokens::hash(&token);
        self.engine().world().agents.by_token(&hash).is_ok_and(|known| known.id == agent)
    }

    /// The agent whose program this one runs in: itself, unless it is a sub-agent.
    pub(crate) fn program_of(&self, agent: AgentId) -> AgentId {
        own_program(&self.engine().world(), agent)
    }

    /// Whether several agents share this one's program.
    pub(crate) fn has_sub_agents(&self, agent: AgentId) -> bool {
        program_with_sub_agents(&self.engine().world(), agent).is_some()
    }

    /// An agent begins a call, in a program with sub-agents.
    pub(crate) fn trace_call(&self, by: AgentId, id: &str, command: Option<&str>) {
        let program = own_program(&self.engine().world(), by);
        let (id, command) = (id.into(), command.map(Into::into));
        lock(&self.identities().sub_agents).began(TracedCall { program, by, id, command });
    }

    pub(crate) fn call_traced(&self, by: AgentId, id: &str) {
        let program = own_program(&self.engine().world(), by);
        lock(&self.identities().sub_agents).ended(program, id);
    }

    /// Which agent of a program makes a call, as the program's hook reported.
    pub fn caller_within(&self, program: AgentId, call: &str) -> AgentId {
        let by = lock(&self.identities().sub_agents).by_id(program, call);
        by.filter(|by| self.engine().world().agents.living(*by).is_ok()).unwrap_or(program)
    }

    /// Which agent of a program runs a shell line; from now on the process and everything below belong to that agent.
    pub(crate) fn command_within(
        &self,
        agent: AgentId,
        line: impl FnOnce() -> Option<String>,
        process: Option<Process>,
    ) -> AgentId {
        // A known sub-agent stays one, whatever line it makes up.
        if program_with_sub_agents(&self.engine().world(), agent) != Some(agent) {
            return agent;
        }
        let Some(line) = line() else { return agent };
        let mut sub_agents = lock(&self.identities().sub_agents);
        let Some(by) = sub_agents.take_command(agent, &line).filter(|by| *by != agent) else { return agent };
        if let Some(process) = process {
            sub_agents.runs(process, by);
        }
        by
    }

    /// The live agent whose process, or whose command, is nearest in the lineage.
    pub(super) fn registered(&self, lineage: &Lineage) -> Option<AgentId> {
        self.registered_in(&self.engine().world(), lineage)
    }

    /// The same for callers that are already looking at the world: a second look would wait for a writer, which waits
    /// for the first.
    pub(super) fn registered_in(&self, world: &World, lineage: &Lineage) -> Option<AgentId> {
        let commands = &lock(&self.identities().sub_agents).commands;
        let of_command =
            |process| commands.get(&process).copied().filter(|by| world.agents.living(*by).is_ok());
        let mut nearest = lineage.links.iter().map(|link| link.process);
        nearest.find_map(|process| of_command(process).or_else(|| world.agents.by_process(process)))
    }
}

/// The agent whose program an agent runs in.
fn own_program(world: &World, agent: AgentId) -> AgentId {
    let profile = world.agents.get(agent).map(|agent| &agent.profile);
    profile.filter(|profile| profile.within.is_some()).and_then(|profile| profile.parent).unwrap_or(agent)
}

fn own_process(world: &World, agent: AgentId) -> Option<Process> {
    world.agents.get(own_program(world, agent))?.profile.process
}

/// The agent whose program this one runs in, if several share it.
fn program_with_sub_agents(world: &World, agent: AgentId) -> Option<AgentId> {
    let program = own_program(world, agent);
    (program != agent || world.agents.has_sub_agents(program)).then_some(program)
}

/// Whether a process is itself an agent program, not only run by one: by its name, or by what it sets for what it
/// runs.
fn is_client(lineage: &Lineage, at: usize) -> bool {
    let Some(link) = lineage.links.get(at) else { return false };
    if marks::client(&link.name).is_some() {
        return true;
    }
    let Some(child) = at.checked_sub(1).and_then(|below| lineage.links.get(below)) else { return false };
    let (own, set) = (marks::variables(link), marks::variables(child));
    set.iter().any(|variable| !own.contains(variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(number: u64) -> AgentId {
        AgentId::from_bits(number)
    }

    fn traced(by: u64, id: &str, command: &str) -> TracedCall {
        TracedCall { program: agent(1), by: agent(by), id: id.into(), command: Some(command.into()) }
    }

    #[test]
    fn a_line_belongs_to_the_longest_command_in_it_once() {
        let mut sub_agents = SubAgents::default();
        for call in [traced(2, "a", "echo"), traced(3, "b", "echo 'it'"), traced(4, "c", "echo")] {
            sub_agents.began(call);
        }
        let mut whose = |program: u64, line: &str| sub_agents.take_command(agent(program), line);
        assert_eq!(whose(9, "eval 'echo'"), None, "of another program");
        assert_eq!(whose(1, r"eval 'echo '\''it'\''' </dev/null"), Some(agent(3)));
        assert_eq!(whose(1, "eval 'echo'"), Some(agent(2)));
        assert_eq!(whose(1, "eval 'echo'"), Some(agent(4)));
        assert_eq!(whose(1, "eval 'echo'"), None);
    }

    #[test]
    fn a_call_is_known_until_it_ends() {
        let mut sub_agents = SubAgents::default();
        sub_agents.began(traced(2, "a", "echo"));
        let program = agent(1);
        assert_eq!(sub_agents.by_id(program, "a"), Some(agent(2)));
        assert_eq!(sub_agents.by_id(agent(7), "a"), None);
        sub_agents.ended(program, "a");
        assert_eq!(sub_agents.by_id(program, "a"), None);
        (0..=CALLS_MAX).for_each(|number| sub_agents.began(traced(2, &number.to_string(), "x")));
        assert_eq!(sub_agents.calls.len(), CALLS_MAX);
    }
}
