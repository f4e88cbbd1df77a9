//! What can be said to an agent that speaks ACP.

use super::acp_run::{AcpRun, refused};
use super::{Runner, RunnerError, failed, locked};
use crate::acp::AcpActivity;

impl Runner {
    /// Asks something of an agent, now or once its turn has ended.
    pub fn prompt(&self, key: &str, text: &str) -> Result<(), RunnerError> {
        self.with_session(key, |acp| acp.session.prompt(text))?.map_err(refused).map_err(failed("prompt it"))
    }

    /// Ends the turn of an agent; tells whether there was one.
    pub fn cancel(&self, key: &str) -> Result<bool, RunnerError> {
        self.with_session(key, |acp| acp.session.interrupt())
    }

    /// Answers whether an agent may make the tool call that it asked for. Who allowed or why not is shown with it.
    pub fn permit(&self, key: &str, ask: u64, allowed: bool, why: &str) -> Result<(), RunnerError> {
        let was_asked = self.with_session(key, |acp| acp.session.permit(ask, allowed, why))?;
        was_asked.then_some(()).ok_or_else(|| RunnerError::NotAsked(key.to_owned()))
    }

    /// Reads or writes the file that an agent asked for; what comes of that it is told.
    pub fn grant_file(&self, key: &str, ask: u64) -> Result<(), RunnerError> {
        let granted = self.with_session(key, |acp| Some((acp.session.grant(ask)?, acp.directory.clone())))?;
        let (granted, directory) = granted.ok_or_else(|| RunnerError::NotAsked(key.to_owned()))?;
        // Here, for a disk may be slow, and the runner's thread has others to hear.
        let result = granted.work.run(&directory);
        self.with_session(key, |acp| acp.session.granted(&granted, result))
    }

    /// Refuses an agent the file that it asked for.
    pub fn refuse_file(&self, key: &str, ask: u64, why: &str) -> Result<(), RunnerError> {
        let was_asked = self.with_session(key, |acp| acp.session.refuse(ask, why))?;
        was_asked.then_some(()).ok_or_else(|| RunnerError::NotAsked(key.to_owned()))
    }

    /// What an agent is doing and has used, as far as it tells.
    pub fn activity(&self, key: &str) -> Result<AcpActivity, RunnerError> {
        let state = locked(&self.state);
        let run = state.runs.get(key).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        let acp = run.acp.as_ref().ok_or_else(|| RunnerError::NoSession(key.to_owned()))?;
        Ok(acp.session.activity())
    }

    fn with_session<T>(&self, key: &str, act: impl FnOnce(&mut AcpRun) -> T) -> Result<T, RunnerError> {
        let mut state = locked(&self.state);
        let run = state.runs.get_mut(key).ok_or_else(|| RunnerError::NotRunning(key.to_owned()))?;
        let acp = run.acp.as_mut().ok_or_else(|| RunnerError::NoSession(key.to_owned()))?;
        let done = act(acp);
        drop(state);
        // What it says now is written by the runner's thread.
        self.wake();
        Ok(done)
    }
}
