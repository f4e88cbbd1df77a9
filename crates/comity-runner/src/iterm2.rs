//! Panes in iTerm2, by its program `it2`: the first one right of the leader, the others below each other.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::panes::{Pane, PaneCommand, PaneError};

const IT2: &str = "it2";
/// What it says before the name of a session that it made.
const CREATED: &str = "Created new pane: ";

/// One leader's session, and those that were split from it.
#[derive(Debug)]
pub(crate) struct Iterm2 {
    it2: PathBuf,
    leader: String,
    /// In the order in which they were made.
    workers: Vec<String>,
}

impl Iterm2 {
    pub(crate) fn new(it2: PathBuf, leader: String) -> Self {
        Self { it2, leader: session_of(&leader), workers: Vec::new() }
    }

    pub(crate) fn adopt(&mut self, pane: Pane) -> Pane {
        let id = session_of(&pane.id);
        self.workers.push(id.clone());
        Pane { id, ..pane }
    }

    /// Makes panes and starts a program in each.
    pub(crate) fn open(&mut self, commands: &[PaneCommand]) -> Result<Vec<Pane>, PaneError> {
        commands.iter().map(|command| self.open_one(command)).collect()
    }

    fn open_one(&mut self, command: &PaneCommand) -> Result<Pane, PaneError> {
        let session = self.split()?;
        self.workers.push(session.clone());
        // A new session has the user's shell in it, which gives way to the program.
        let line = command.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let directory = quoted(command.directory.as_os_str());
        self.run(&["session", "run", "--session", &session, &format!("cd {directory} && exec {line}")])?;
        Ok(Pane { id: session, pid: None })
    }

    /// Splits the last worker's session, or the leader's. One that has vanished is forgotten, and the one before is split:
    /// with N workers there are at most N + 1 tries.
    fn split(&mut self) -> Result<String, PaneError> {
        loop {
            let split = match self.workers.last() {
                Some(last) => self.run(&["session", "split", "--session", last]),
                None => self.run(&["session", "split", "--vertical", "--session", &self.leader]),
            };
            let problem = match split {
                Ok(says) => match says.lines().find_map(|line| line.trim().strip_prefix(CREATED)) {
                    Some(session) => return Ok(session.trim().to_owned()),
                    None => refused(format!("it made no session: {}", says.trim())),
                },
                Err(problem) => problem,
            };
            match self.workers.last() {
                Some(last) if !self.lists(last)? => drop(self.workers.pop()),
                Some(_) | None => return Err(problem),
            }
        }
    }

    fn lists(&self, session: &str) -> Result<bool, PaneError> {
        Ok(self.run(&["session", "list", "--json"])?.contains(session))
    }

    pub(crate) fn send(&self, pane: &Pane, text: &str) -> Result<(), PaneError> {
        self.run(&["session", "send", "--session", &pane.id, "--", text]).map(drop)
    }

    pub(crate) fn read(&self, pane: &Pane) -> Result<String, PaneError> {
        self.run(&["session", "read", "--session", &pane.id])
    }

    pub(crate) fn attach_command(&self, pane: &Pane) -> Vec<String> {
        let focus = ["session", "focus", &pane.id].map(str::to_owned);
        std::iter::once(self.it2.display().to_string()).chain(focus).collect()
    }

    fn run(&self, arguments: &[&str]) -> Result<String, PaneError> {
        let mut command = Command::new(&self.it2);
        let output = command.args(arguments).stdin(Stdio::null()).output();
        let output = output.map_err(|error| PaneError::NotStarted { program: IT2, error })?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(refused(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }
}

/// `ITERM_SESSION_ID` names a session with its window, tab and pane before it.
fn session_of(id: &str) -> String {
    id.rsplit(':').next().unwrap_or_default().to_owned()
}

fn refused(says: String) -> PaneError {
    PaneError::Refused { program: IT2, says }
}

/// A word for the user's shell.
fn quoted(word: &OsStr) -> String {
    let word: OsString = word.to_owned();
    format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))
}
