//! One call of git: its arguments, its input, and what it said.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use crate::git::UnknownState;
use crate::patience::Bound;
use crate::process::{self, Input, MayRun, Said};
use crate::worktrees::Worktree;

/// A call of git that is being put together.
pub(crate) struct Call<'a> {
    command: Command,
    may_run: MayRun,
    verb: &'static str,
    worktree: &'a Worktree,
    input: Input,
    deadline: Instant,
}

impl<'a> Call<'a> {
    /// Begins with a command that is safe by its settings; only [`crate::git::Git`] makes those.
    pub(crate) fn new(
        mut command: Command,
        may_run: MayRun,
        verb: &'static str,
        worktree: &'a Worktree,
        deadline: Instant,
    ) -> Call<'a> {
        command.arg(verb);
        Call { command, may_run, verb, worktree, input: Input::Nothing(None), deadline }
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Call<'a> {
        self.command.arg(arg);
        self
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Call<'a> {
        self.command.args(args);
        self
    }

    /// Works with this index and not with the one of the worktree.
    pub(crate) fn index(self, index: &Path) -> Call<'a> {
        self.env("GIT_INDEX_FILE", index)
    }

    /// Sets a variable of the environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Call<'a> {
        self.command.env(name, value);
        self
    }

    /// Gives it something to read.
    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Call<'a> {
        self.input = Input::Bytes(input.into());
        self
    }

    /// Lets git hold a file open until it ends, even if it outlives us: so a lock on the file lasts that long.
    pub(crate) fn holding(mut self, file: File) -> Call<'a> {
        self.input = Input::Nothing(Some(file));
        self
    }

    /// What git said, however it ended.
    pub(crate) fn said(&mut self) -> Result<Said, UnknownState> {
        let input = std::mem::replace(&mut self.input, Input::Nothing(None));
        let bound = Bound::new(self.may_run.pace(self.verb), self.deadline);
        process::run(&mut self.command, self.may_run, input, bound)
            .map_err(|error| UnknownState::new(self.problem(&error.to_string())))
    }

    /// What git said. That it fails is an error; that it complains is not.
    pub(crate) fn done(mut self) -> Result<Vec<u8>, UnknownState> {
        let said = self.said()?;
        if said.status.success() { Ok(said.stdout) } else { Err(self.failure(&said)) }
    }

    /// Whether git says yes, for verbs that answer by ending with 0 or 1.
    pub(crate) fn agrees(mut self) -> Result<bool, UnknownState> {
        let said = self.said()?;
        match said.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.failure(&said)),
        }
    }

    /// The one word that git said, such as a hash.
    pub(crate) fn word(self) -> Result<String, UnknownState> {
        let said = self.done()?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    /// Says that git failed, in its own words.
    pub(crate) fn failure(&self, said: &Said) -> UnknownState {
        let complaint = format!("{} ({})", String::from_utf8_lossy(&said.stderr), said.status);
        UnknownState::new(self.problem(&complaint))
    }

    fn problem(&self, problem: &str) -> String {
        format!("git {} in {}: {}", self.verb, self.worktree.root.display(), problem.trim())
    }
}
