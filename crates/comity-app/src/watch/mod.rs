//! Watches the worktrees that agents work in, and reports writes without a lock.

mod calls;
mod commits;
mod observation;
mod own;
mod recent_reports;
mod roots;
mod tips;
mod unlocked_writes;
mod wakes;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use comity_core::{AgentId, Fence, Principal, ProjectId};
use comity_watch::{Bounds, WatchState, Watcher};
use schemars::JsonSchema;
use serde::Serialize;

use crate::application::Application;
use calls::Calls;
pub(crate) use calls::{WriteReach, WritingCall};
use own::{Own, OwnMove};
use unlocked_writes::UnlockedWrites;

/// Called with an error message; it must not block.
pub type OnTrouble = Box<dyn Fn(&str) + Send>;

/// What is watched, and what agents are known to be doing.
#[derive(Debug, Default)]
pub struct Watch {
    calls: Calls,
    own: Own,
    /// Why a project's commits cannot be judged, by its common git directory.
    blind: Mutex<BTreeMap<PathBuf, String>>,
    now: Mutex<Now>,
    watcher: OnceLock<Arc<Watcher>>,
}

#[derive(Debug, Default)]
enum Now {
    /// Not enabled.
    #[default]
    Off,
    /// Not possible here.
    Unavailable(String),
    On(WatchState),
}

/// The watcher of files, as it is shown.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct WatchView {
    /// on, off (guard.watch) or unavailable.
    pub state: &'static str,
    pub trees: usize,
    pub directories: usize,
    /// Why writes may go unnoticed.
    pub problems: Vec<String>,
}

/// Starts to watch, if enabled; the server goes on without it if that is not possible.
pub fn run(app: &Application, on_trouble: OnTrouble) {
    if !app.config().guard.watch.unwrap_or(true) {
        return;
    }
    let watch = app.watch();
    watch.set(Now::On(WatchState::default()));
    let writes = UnlockedWrites::new(app.clone(), on_trouble);
    match Watcher::start(writes, Bounds::default()) {
        Ok(watcher) => {
            let watcher = Arc::new(watcher);
            wakes::wake_by(app.engine(), &watcher);
            let _ = watch.watcher.set(watcher);
        }
        Err(error) => watch.set(Now::Unavailable(error.to_string())),
    }
}

impl fmt::Display for WatchView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WatchView { state, trees, directories, problems } = self;
        match *state {
            "on" => write!(f, "{trees} worktrees, {directories} directories")?,
            "off" => f.write_str("nothing; guard.watch is off")?,
            _ => f.write_str("nothing")?,
        }
        problems.iter().try_for_each(|problem| write!(f, "; {problem}"))
    }
}

impl Watch {
    pub fn view(&self) -> WatchView {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let (state, seen, mut problems) = match &*now {
            Now::Off => ("off", &WatchState::default(), vec![]),
            Now::Unavailable(problem) => ("unavailable", &WatchState::default(), vec![problem.clone()]),
            Now::On(seen) => ("on", seen, seen.troubles.iter().map(ToString::to_string).collect()),
        };
        let blind = self.blind.lock().unwrap_or_else(PoisonError::into_inner);
        let blind = blind
            .iter()
            .map(|(at, why)| format!("commits in {} may go past the guard unnoticed: {why}", at.display()));
        problems.extend(blind);
        WatchView { state, trees: seen.trees, directories: seen.directories, problems }
    }

    pub(crate) fn call_began(&self, agent: AgentId, cwd: &Path, call: Option<WritingCall>) {
        if self.calls.began(agent, cwd, call) == calls::AgentDir::New
            && let Some(watcher) = self.watcher.get()
        {
            watcher.wake();
        }
    }

    /// The directories that an agent has made calls in.
    pub(crate) fn places_of(&self, agent: AgentId) -> Vec<PathBuf> {
        self.calls.places(agent)
    }

    /// Whether a call of an agent runs that proves that it lives.
    pub(crate) fn has_call_of(&self, agent: AgentId) -> bool {
        self.calls.is_running(agent)
    }

    pub(crate) fn call_ended(&self, agent: AgentId, tool: Option<&str>) {
        self.calls.ended(agent, tool);
    }

    pub(crate) fn calls_ended(&self, agent: AgentId) {
        self.calls.all_ended(agent);
    }

    /// Marks that Comity itself moves branches, until the result is dropped.
    pub(crate) fn moving(&self) -> OwnMove<'_> {
        self.own.moving()
    }

    /// Comity has made this commit.
    pub(crate) fn made(&self, commit: &str) {
        self.own.made(commit);
    }

    /// The guard has let a commit of these files pass, considering locks up to the newest.
    pub(crate) fn judged(&self, project: ProjectId, by: Principal, paths: &[String], newest: Fence) {
        self.own.judged(project, by, paths, newest);
    }

    /// An agent's program said that it is about to end: its end is no crash.
    pub fn said_goodbye(&self, agent: AgentId) {
        self.calls.set_goodbye(agent, true);
    }

    /// The program of an agent goes on after all.
    pub fn goes_on(&self, agent: AgentId) {
        self.calls.set_goodbye(agent, false);
    }

    /// Whether the program of an agent said that it is about to end.
    pub fn has_said_goodbye(&self, agent: AgentId) -> bool {
        self.calls.has_said_goodbye(agent)
    }

    fn forget_agents_but(&self, live: &BTreeSet<AgentId>) {
        self.calls.forget_agents_but(live);
    }

    /// Sets whether a project's commits can be judged; returns whether that is new.
    fn set_blind(&self, common_dir: &Path, problem: Option<&str>) -> bool {
        let mut blind = self.blind.lock().unwrap_or_else(PoisonError::into_inner);
        match problem {
            None => blind.remove(common_dir).is_some(),
            Some(why) => blind.insert(common_dir.to_owned(), why.to_owned()).as_deref() != Some(why),
        }
    }

    fn set(&self, now: Now) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }
}
