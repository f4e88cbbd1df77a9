//! Programs in panes: they are started together, read and shown.

use std::time::Instant;

use super::run::Run;
use super::{CONNECT_WAIT, Launch, Runner, RunnerError, State, locked};
use crate::panes::{Pane, PaneCommand, PaneHost, PanePlace};

impl State {
    pub(super) fn pane(&self, key: &str) -> Option<(&PaneHost, &Pane)> {
        let (place, pane) = self.runs.get(key)?.pane.as_ref()?;
        Some((self.hosts.get(place)?, pane))
    }
}

impl Runner {
    pub(super) fn launch_panes(
        &self,
        state: &mut State,
        place: PanePlace,
        launches: Vec<Launch>,
    ) -> Result<(), RunnerError> {
        let commands: Vec<PaneCommand> = launches.iter().map(|launch| self.pane_command(launch)).collect();
        let host = state.hosts.entry(place.clone()).or_insert_with(|| PaneHost::new(place.clone()));
        let panes = host.open(&commands).map_err(RunnerError::Pane)?;
        for (mut launch, pane) in launches.into_iter().zip(panes) {
            launch.program.terminal = None;
            let due = Instant::now() + CONNECT_WAIT;
            let run = Run::launched(launch.program, pane.pid, due).with_pane(place.clone(), pane);
            state.runs.insert(launch.key, run);
        }
        Ok(())
    }

    fn pane_command(&self, launch: &Launch) -> PaneCommand {
        PaneCommand {
            command: self.guardian_command(&launch.key),
            directory: launch.program.directory.clone(),
        }
    }

    /// What stands in a program's pane, if it is in one.
    pub fn read_pane(&self, key: &str) -> Option<String> {
        let state = locked(&self.state);
        let (host, pane) = state.pane(key)?;
        host.read(pane).ok()
    }

    /// The command that shows a program in its pane to a person.
    pub fn attach_command(&self, key: &str) -> Option<Vec<String>> {
        let state = locked(&self.state);
        let (host, pane) = state.pane(key)?;
        Some(host.attach_command(pane))
    }
}
