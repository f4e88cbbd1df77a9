//! One call of git: its arguments, input and output.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::git::UnknownState;
use crate::git_dir_links;
use crate::process::{self, ChildInput, ChildOutput, MayRun};
use crate::time_limits::TimeLeft;
use crate::worktrees::WorktreeDirs;

/// How often git is retried when it met a worktree entry that another git was just creating.
const HALF_MADE_TRIES: u32 = 5;
/// How long to wait before that: the other git is done in a moment.
const HALF_MADE_PAUSE: Duration = Duration::from_millis(10);

/// What writes nowhere but into git directories.
const WRITES_NO_FILES: [&str; 20] = [
    "branch",
    "cat-file",
    "commit-tree",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "hash-object",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "merge-tree",
    "mktree",
    "rev-list",
    "rev-parse",
    "show-ref",
    "status",
    "symbolic-ref",
    "update-index",
    "update-ref",
];

/// A call of git that is being put together.
pub(crate) struct GitCall<'a> {
    command: Command,
    may_run: MayRun,
    verb: String,
    worktree: &'a WorktreeDirs,
    input: ChildInput,
    deadline: Instant,
}

impl<'a> GitCall<'a> {
    /// Begins with a command whose settings make it safe; only [`crate::git::Git`] makes those.
    pub(crate) fn new(
        mut command: Command,
        may_run: MayRun,
        verb: &str,
        worktree: &'a WorktreeDirs,
        deadline: Instant,
    ) -> GitCall<'a> {
        command.arg(verb);
        GitCall {
            command,
            may_run,
            verb: verb.to_owned(),
            worktree,
            input: ChildInput::Nothing(None),
            deadline,
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> GitCall<'a> {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> GitCall<'a> {
        self.command.args(args);
        self
    }

    /// Uses this index in place of the worktree's.
    pub(crate) fn index(self, index: &Path) -> GitCall<'a> {
        self.env("GIT_INDEX_FILE", index)
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> GitCall<'a> {
        self.command.env(name, value);
        self
    }

    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> GitCall<'a> {
        self.input = ChildInput::Bytes(input.into());
        self
    }

    /// Lets git hold a file open until it exits, even if it outlives us: so a lock on the file lasts that long.
    pub(crate) fn holding(mut self, file: File) -> GitCall<'a> {
        self.input = ChildInput::Nothing(Some(file));
        self
    }

    /// The output, however git exited.
    pub(crate) fn output(&mut self) -> Result<ChildOutput, UnknownState> {
        let mut output = self.said_once()?;
        for _ in 0..HALF_MADE_TRIES {
            let may_ask_again = self.may_run == MayRun::OnlyGit && !output.status.success();
            if !may_ask_again || !is_about_half_made(&String::from_utf8_lossy(&output.stderr)) {
                break;
            }
            std::thread::sleep(HALF_MADE_PAUSE);
            output = self.said_once()?;
        }
        Ok(output)
    }

    fn said_once(&mut self) -> Result<ChildOutput, UnknownState> {
        let input = match &self.input {
            ChildInput::Nothing(held) => {
                ChildInput::Nothing(held.as_ref().and_then(|file| file.try_clone().ok()))
            }
            ChildInput::Bytes(bytes) => ChildInput::Bytes(bytes.clone()),
        };
        let bound = TimeLeft::new(self.may_run.pace(&self.verb), self.deadline);
        let said = git_dir_links::places(&self.worktree.git_dir).and_then(|places| {
            let writes = if WRITES_NO_FILES.contains(&&*self.verb) { &places[..] } else { &[] };
            process::run(&mut self.command, self.may_run, writes, input, bound)
        });
        said.map_err(|error| UnknownState::new(self.problem(&error.to_string())))
    }

    /// The output. A failure is an error; a warning is not.
    pub(crate) fn done(mut self) -> Result<Vec<u8>, UnknownState> {
        let output = self.output()?;
        if output.status.success() { Ok(output.stdout) } else { Err(self.failure(&output)) }
    }

    /// For commands that answer by exiting with 0 or 1.
    pub(crate) fn agrees(mut self) -> Result<bool, UnknownState> {
        let output = self.output()?;
        match output.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(self.failure(&output)),
        }
    }

    /// The one word that git printed, such as a hash.
    pub(crate) fn word(self) -> Result<String, UnknownState> {
        let output = self.done()?;
        Ok(String::from_utf8_lossy(&output).trim().to_owned())
    }

    /// An error with git's own message.
    pub(crate) fn failure(&self, output: &ChildOutput) -> UnknownState {
        let complaint = format!("{} ({})", String::from_utf8_lossy(&output.stderr), output.status);
        UnknownState::new(self.problem(&complaint))
    }

    fn problem(&self, problem: &str) -> String {
        format!("git {} in {}: {}", self.verb, self.worktree.root.display(), problem.trim())
    }
}

/// Whether git gave up at another worktree's entry that is only half there.
fn is_about_half_made(complaint: &str) -> bool {
    complaint.contains("failed to read") && complaint.contains("/worktrees/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_come_and_go() {
        let about =
            |file: &str| format!("fatal: failed to read '/repo/.git/worktrees/pool-1/{file}': Success");
        assert!(is_about_half_made(&about("commondir")) && is_about_half_made(&about("locked")));
        assert!(!is_about_half_made("fatal: failed to read '/repo/.git/index': Permission denied"));
    }
}
