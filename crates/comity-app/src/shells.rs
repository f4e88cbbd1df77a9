//! Which agents' commands really start through `comity-confine`: by observation, not by what somebody says.
//!
//! A configured program may start another shell all the same. So a command that its hook has let pass has to come
//! back, by its own text, when `comity-confine` asks what to confine it to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use comity_core::AgentId;

/// Bytes of a process's command line that are read; the kernel allows about as many.
pub(crate) const WORDS_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Concurrent commands of an agent; with more than one, it is not clear whose shell asks anyway.
const RUNNING_MAX: usize = 2;

/// Expected commands of an agent; the oldest are dropped first.
const AWAITED_MAX: usize = 32;

/// What is known of agents' shells.
#[derive(Default)]
pub(crate) struct Shells(Mutex<BTreeMap<AgentId, AgentShell>>);

#[derive(Default)]
struct AgentShell {
    /// Commands that its hook has let pass and that have not ended.
    running: Vec<String>,
    confined: Option<WriteAccess>,
    /// Commands that its hook has let pass since, and that `comity-confine` has not asked about.
    awaited: VecDeque<String>,
}

/// What an agent's commands could write when they were last observed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WriteAccess {
    /// What nobody else holds.
    Unheld,
    /// Nothing: it was in plan mode.
    Nothing,
}

impl Shells {
    /// A command is about to run. Also forgets agents that are gone.
    pub(crate) fn began(&self, agent: AgentId, command: &str, is_live: impl Fn(AgentId) -> bool) {
        let mut all = self.all();
        if !all.contains_key(&agent) {
            all.retain(|agent, _| is_live(*agent));
        }
        let running = &mut all.entry(agent).or_default().running;
        // Some programs ask twice about one call.
        let command = plain(command);
        if running.len() < RUNNING_MAX && !running.contains(&command) {
            running.push(command);
        }
    }

    /// A command is about to run in an observed shell, and has to come back.
    pub(crate) fn awaits(&self, agent: AgentId, command: &str) {
        let mut all = self.all();
        let Some(awaited) = all.get_mut(&agent).map(|shell| &mut shell.awaited) else { return };
        let command = plain(command);
        if !awaited.contains(&command) {
            if awaited.len() >= AWAITED_MAX {
                awaited.pop_front();
            }
            awaited.push_back(command);
        }
    }

    /// A command has ended. Those that still run prove nothing. If one in plan mode never came back, it ran in
    /// another way, such as in a sandbox that cannot reach us: earlier observations no longer count.
    pub(crate) fn ended(&self, agent: AgentId, command: &str) {
        let mut all = self.all();
        let Some(shell) = all.get_mut(&agent) else { return };
        shell.running.clear();
        let command = plain(command);
        if let Some(at) = shell.awaited.iter().position(|awaited| *awaited == command) {
            shell.awaited.remove(at);
            shell.confined = shell.confined.filter(|reach| *reach != WriteAccess::Nothing);
        }
    }

    /// No command runs any more. What was let pass and not asked about may never have run.
    pub(crate) fn all_ended(&self, agent: AgentId) {
        if let Some(shell) = self.all().get_mut(&agent) {
            shell.running.clear();
            shell.awaited.clear();
        }
    }

    /// `comity-confine` asks for an agent, about to become what these words run, with this much access.
    pub(crate) fn started(&self, agent: AgentId, reach: WriteAccess, words: impl FnOnce() -> Vec<String>) {
        let mut all = self.all();
        let Some(shell) = all.get_mut(&agent) else { return };
        if shell.awaited.len() == 1 {
            shell.awaited.clear();
        }
        if shell.confined == Some(reach) && shell.awaited.is_empty() {
            return;
        }
        let words: Vec<String> = words().iter().map(|word| plain(word)).collect();
        let is_it = |command: &str| !command.is_empty() && words.iter().any(|word| word.contains(command));
        if !shell.awaited.is_empty() {
            // If none has this text, it is the oldest, spelled differently.
            let at = shell.awaited.iter().position(|awaited| is_it(awaited)).unwrap_or(0);
            shell.awaited.remove(at);
        }
        if matches!(&shell.running[..], [command] if is_it(command)) {
            shell.confined = Some(reach);
        }
    }

    /// What an agent's commands can write, if they were observed.
    pub(crate) fn reach(&self, agent: AgentId) -> Option<WriteAccess> {
        self.all().get(&agent).and_then(|shell| shell.confined)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<AgentId, AgentShell>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text without what quoting adds to it.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '"' | '\\')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(bits: u64) -> AgentId {
        AgentId::from_bits(bits)
    }

    /// What is known of a shell after these commands were let pass, and these words came.
    fn check(commands: &[&str], words: &[&str], expected: Option<WriteAccess>) {
        let shells = Shells::default();
        commands.iter().for_each(|command| shells.began(id(1), command, |_| true));
        shells.started(id(1), WriteAccess::Unheld, || words.iter().map(|word| (*word).to_owned()).collect());
        assert_eq!(shells.reach(id(1)), expected, "{commands:?}: {words:?}");
    }

    #[test]
    fn a_command_that_comes_back_is_seen() {
        let seen = Some(WriteAccess::Unheld);
        check(&["pwd"], &["--again", "/bin/bash", "bash", "-lc", "pwd"], seen);
        check(&["echo 'a b'"], &["source x; eval 'echo '\\''a b'\\''' < /dev/null && pwd -P"], seen);
        check(&[], &["--again", "/bin/bash", "bash", "-c", "pwd"], None);
        check(&[" "], &["--again", "/bin/bash", "bash", "-c", "pwd"], None);
        check(&["bash -c pwd"], &["--again", "/bin/bash", "bash", "-c", "pwd"], None);
        check(&["pwd", "bash -c pwd"], &["--again", "/bin/bash", "bash", "-c", "pwd"], None);
        check(&["pwd", "ls", "bash -c pwd"], &["--again", "/bin/bash", "bash", "-c", "pwd"], None);
    }

    #[test]
    fn what_was_seen_is_of_its_mode() {
        let shells = Shells::default();
        let again = || vec!["pwd".to_owned()];
        shells.began(id(1), "pwd", |_| true);
        shells.started(id(1), WriteAccess::Unheld, again);
        shells.all_ended(id(1));
        shells.started(id(1), WriteAccess::Nothing, again);
        assert_eq!(shells.reach(id(1)), Some(WriteAccess::Unheld), "nothing ran");
        shells.began(id(1), "pwd", |_| true);
        shells.started(id(1), WriteAccess::Nothing, again);
        assert_eq!(shells.reach(id(1)), Some(WriteAccess::Nothing));
        shells.began(id(2), "pwd", |agent| agent != id(1));
        assert_eq!(shells.reach(id(1)), None, "it has left");
    }

    #[test]
    fn a_sealed_shell_is_forgotten_when_a_command_does_not_come_back() {
        let seen = |reach: WriteAccess| {
            let shells = Shells::default();
            shells.began(id(1), "pwd", |_| true);
            shells.started(id(1), reach, || vec!["pwd".to_owned()]);
            shells.ended(id(1), "pwd");
            shells
        };
        let again = |shells: &Shells, words: &str| {
            shells.started(id(1), WriteAccess::Nothing, || vec![words.to_owned()]);
        };
        let shells = seen(WriteAccess::Nothing);
        // Two at once, in any order, one of them spelled in another way.
        shells.awaits(id(1), "make x");
        shells.awaits(id(1), "make y");
        again(&shells, "eval 'make y'");
        shells.ended(id(1), "make y");
        again(&shells, "eval \"$(base64 -d)\"");
        shells.ended(id(1), "make x");
        assert_eq!(shells.reach(id(1)), Some(WriteAccess::Nothing));
        // Refused by the person after all.
        shells.awaits(id(1), "make z");
        shells.all_ended(id(1));
        assert_eq!(shells.reach(id(1)), Some(WriteAccess::Nothing));
        shells.awaits(id(1), "make x");
        shells.ended(id(1), "make y");
        assert_eq!(shells.reach(id(1)), Some(WriteAccess::Nothing), "another one");
        shells.ended(id(1), "make x");
        assert_eq!(shells.reach(id(1)), None);
        let shells = seen(WriteAccess::Unheld);
        shells.awaits(id(1), "make x");
        shells.ended(id(1), "make x");
        assert_eq!(shells.reach(id(1)), Some(WriteAccess::Unheld), "not in plan mode");
    }
}
