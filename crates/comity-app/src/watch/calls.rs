//! Which calls of agents run, as their hooks report: whoever writes without a lock is probably one of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use comity_core::AgentId;

/// Remembered calls of one agent; the oldest are dropped first.
const CALLS_MAX: usize = 32;
/// Remembered directories of one agent.
const PLACES_MAX: usize = 16;
/// A call whose end was not reported is taken for ended after this long.
const CALL_MAX: Duration = Duration::from_secs(3_600);
/// How long such a call counts as a sign of life: its program may have died during it.
const LIFE_MAX: Duration = Duration::from_secs(1_800);
/// How long after its end a call can still be the author of a write, which is noticed a little late.
const AFTER_END: Duration = Duration::from_millis(500);

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WriteReach {
    /// Anything: it runs commands.
    Anything,
    Files(Vec<PathBuf>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WritingCall {
    pub(crate) tool: Option<Box<str>>,
    pub(crate) reach: WriteReach,
}

/// Whether an agent was known to work in a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AgentDir {
    Known,
    New,
}

#[derive(Debug, Default)]
pub(super) struct Calls(Mutex<BTreeMap<AgentId, AgentCalls>>);

/// What was reported of one agent.
#[derive(Debug, Default)]
struct AgentCalls {
    running: VecDeque<RunningCall>,
    places: BTreeSet<PathBuf>,
    /// Whether its program said that it is about to end.
    has_said_goodbye: bool,
}

#[derive(Debug)]
struct RunningCall {
    call: WritingCall,
    cwd: PathBuf,
    began: Instant,
    ended: Option<Instant>,
}

impl Calls {
    /// An agent is about to make a call; of one that writes nothing, only where it is made is kept.
    pub(super) fn began(&self, agent: AgentId, cwd: &Path, call: Option<WritingCall>) -> AgentDir {
        let mut all = self.all();
        let heard = all.entry(agent).or_default();
        heard.has_said_goodbye = false;
        if let Some(call) = call {
            if heard.running.len() >= CALLS_MAX {
                heard.running.pop_front();
            }
            let cwd = cwd.to_owned();
            heard.running.push_back(RunningCall { call, cwd, began: Instant::now(), ended: None });
        }
        match heard.places.len() < PLACES_MAX && heard.places.insert(cwd.to_owned()) {
            true => AgentDir::New,
            false => AgentDir::Known,
        }
    }

    /// The oldest call of this tool is done.
    pub(super) fn ended(&self, agent: AgentId, tool: Option<&str>) {
        let (mut all, now) = (self.all(), Instant::now());
        let Some(heard) = all.get_mut(&agent) else { return };
        let is_it =
            |running: &&mut RunningCall| running.ended.is_none() && running.call.tool.as_deref() == tool;
        if let Some(running) = heard.running.iter_mut().find(is_it) {
            running.ended = Some(now);
        }
        heard.running.retain(|running| running.may_write(now));
    }

    pub(super) fn all_ended(&self, agent: AgentId) {
        let (mut all, now) = (self.all(), Instant::now());
        let Some(heard) = all.get_mut(&agent) else { return };
        heard.running.iter_mut().for_each(|running| running.ended = running.ended.or(Some(now)));
        heard.running.retain(|running| running.may_write(now));
    }

    /// The agent's program is about to end, or goes on after all.
    pub(super) fn set_goodbye(&self, agent: AgentId, is_said: bool) {
        let mut all = self.all();
        match is_said {
            true => all.entry(agent).or_default().has_said_goodbye = true,
            false => drop(all.get_mut(&agent).map(|heard| heard.has_said_goodbye = false)),
        }
    }

    /// Whether the agent's program said that it is about to end, and nothing was heard of it since.
    pub(super) fn has_said_goodbye(&self, agent: AgentId) -> bool {
        self.all().get(&agent).is_some_and(|heard| heard.has_said_goodbye)
    }

    /// Whether an agent's calls are reported at all.
    pub(super) fn are_heard(&self, agent: AgentId) -> bool {
        self.all().contains_key(&agent)
    }

    /// Whether a call of an agent runs, as far as that proves that it lives.
    pub(super) fn is_running(&self, agent: AgentId) -> bool {
        let now = Instant::now();
        self.all().get(&agent).is_some_and(|heard| heard.running.iter().any(|call| call.shows_life(now)))
    }

    /// The directories that an agent has made calls in.
    pub(super) fn places(&self, agent: AgentId) -> Vec<PathBuf> {
        self.all().get(&agent).map(|heard| heard.places.iter().cloned().collect()).unwrap_or_default()
    }

    /// The agents that may be writing to a file of a worktree: those that work in it, otherwise any.
    pub(super) fn may_write(&self, root: &Path, file: &Path) -> Vec<AgentId> {
        let (all, now) = (self.all(), Instant::now());
        let mut may: Vec<(AgentId, bool)> = Vec::new();
        for (agent, heard) in &*all {
            let running = heard.running.iter().filter(|running| running.may_write_to(file, now));
            let is_here = running.map(|running| running.cwd.starts_with(root)).max();
            may.extend(is_here.map(|is_here| (*agent, is_here)));
        }
        let any_here = may.iter().any(|(_, is_here)| *is_here);
        may.into_iter().filter(|(_, is_here)| *is_here || !any_here).map(|(agent, _)| agent).collect()
    }

    pub(super) fn forget_agents_but(&self, live: &BTreeSet<AgentId>) {
        self.all().retain(|agent, _| live.contains(agent));
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<AgentId, AgentCalls>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningCall {
    fn may_write(&self, now: Instant) -> bool {
        match self.ended {
            Some(ended) => now.duration_since(ended) < AFTER_END,
            None => now.duration_since(self.began) < CALL_MAX,
        }
    }

    fn shows_life(&self, now: Instant) -> bool {
        self.ended.is_none() && now.duration_since(self.began) < LIFE_MAX
    }

    fn may_write_to(&self, file: &Path, now: Instant) -> bool {
        self.may_write(now)
            && match &self.call.reach {
                WriteReach::Anything => true,
                WriteReach::Files(files) => files.iter().any(|named| named == file),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(number: u64) -> AgentId {
        AgentId::from_bits(number)
    }

    fn shell() -> Option<WritingCall> {
        Some(WritingCall { tool: Some("Bash".into()), reach: WriteReach::Anything })
    }

    #[test]
    fn who_runs_something_may_have_written() {
        let (root, file) = (Path::new("/repo"), Path::new("/repo/src/a.rs"));
        let calls = Calls::default();
        assert!(calls.may_write(root, file).is_empty());
        assert_eq!(calls.began(agent(1), Path::new("/elsewhere"), shell()), AgentDir::New);
        assert_eq!(calls.may_write(root, file), [agent(1)], "nobody works here, so it may be anybody");
        assert_eq!(calls.began(agent(2), Path::new("/repo/src"), shell()), AgentDir::New);
        assert_eq!(calls.began(agent(2), Path::new("/repo/src"), None), AgentDir::Known);
        assert_eq!(calls.may_write(root, file), [agent(2)], "who works here is likelier");
        let writes = WriteReach::Files(vec!["/repo/src/b.rs".into()]);
        calls.began(agent(3), root, Some(WritingCall { tool: Some("Write".into()), reach: writes }));
        assert_eq!(calls.may_write(root, file), [agent(2)], "a tool writes what it names");
        assert_eq!(calls.may_write(root, Path::new("/repo/src/b.rs")), [agent(2), agent(3)]);
        assert!(calls.are_heard(agent(3)) && !calls.are_heard(agent(4)));
        calls.forget_agents_but(&BTreeSet::from([agent(3)]));
        assert!(calls.may_write(root, file).is_empty() && !calls.are_heard(agent(2)));
    }

    #[test]
    fn a_call_that_has_ended_is_forgotten_a_moment_later() {
        let calls = Calls::default();
        calls.began(agent(1), Path::new("/repo"), shell());
        calls.began(agent(1), Path::new("/repo"), shell());
        calls.ended(agent(1), Some("Write"));
        calls.ended(agent(1), Some("Bash"));
        let ends = |calls: &Calls| {
            let all = calls.all();
            all[&agent(1)].running.iter().map(|running| running.ended.is_some()).collect::<Vec<bool>>()
        };
        assert_eq!(ends(&calls), [true, false], "one of two that run beside each other");
        assert!(calls.is_running(agent(1)) && !calls.is_running(agent(2)));
        calls.all_ended(agent(1));
        assert_eq!(ends(&calls), [true, true]);
        assert!(!calls.is_running(agent(1)));
        for running in &mut calls.all().get_mut(&agent(1)).expect("known").running {
            let ended = running.ended.expect("ended");
            assert!(running.may_write(ended + AFTER_END - Duration::from_millis(1)));
            assert!(!running.may_write(ended + AFTER_END));
            running.ended = None;
            assert!(running.shows_life(running.began + LIFE_MAX - Duration::from_millis(1)));
            assert!(!running.shows_life(running.began + LIFE_MAX), "its program may have died");
            assert!(!running.may_write(running.began + CALL_MAX), "its end was not heard");
        }
    }
}
