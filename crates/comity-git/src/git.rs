//! Asks git about a worktree, such that nothing in the repository can make it run a program.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::process::Command;
use std::time::Instant;

use crate::process;
use crate::worktrees::Worktree;

/// Settings that win over those of the repository.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.safecrlf", "false"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// Settings of a filter driver, and what makes git leave the contents as they are.
const FILTER: &[(&str, &str)] = &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];

/// The environment; all other variables that begin with `GIT_` are taken away.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// It could not be found out whether there is work, so it has to be taken for work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownState {
    message: String,
}

impl UnknownState {
    pub(crate) fn new(message: impl Into<String>) -> UnknownState {
        UnknownState { message: message.into() }
    }
}

impl fmt::Display for UnknownState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnknownState {}

/// Git, ready to be asked about one worktree.
pub(crate) struct Git<'a> {
    worktree: &'a Worktree,
    settings: Vec<(OsString, &'static str)>,
    deadline: Instant,
}

impl<'a> Git<'a> {
    /// Finds the filters that the repository names, to switch them off: git would run them to compare contents.
    pub(crate) fn on(worktree: &'a Worktree, deadline: Instant) -> Result<Git<'a>, UnknownState> {
        let settings = SETTINGS.iter().map(|(key, value)| (OsString::from(key), *value)).collect();
        let mut git = Git { worktree, settings, deadline };
        let keys = git.ask("config", &["--list", "--name-only", "--includes", "-z"], &[])?;
        for driver in filters(&keys) {
            for (key, value) in FILTER {
                let key = [b"filter.", driver, b".", key.as_bytes()].concat();
                git.settings.push((OsString::from_vec(key), value));
            }
        }
        Ok(git)
    }

    /// The worktree that is asked about.
    pub(crate) fn worktree(&self) -> &Worktree {
        self.worktree
    }

    /// What git says. That it fails or complains is an error.
    pub(crate) fn ask(
        &self,
        verb: &str,
        options: &[&str],
        paths: &[OsString],
    ) -> Result<Vec<u8>, UnknownState> {
        let mut command = self.command();
        command.arg(verb).args(options);
        if !paths.is_empty() {
            command.arg("--").args(paths);
        }
        let problem =
            |problem: &str| format!("git {verb} in {}: {}", self.worktree.root.display(), problem.trim());
        let said = process::run(&mut command, self.deadline)
            .map_err(|error| UnknownState::new(problem(&error.to_string())))?;
        if !said.status.success() || !said.stderr.is_empty() {
            let complaint = format!("{} ({})", String::from_utf8_lossy(&said.stderr), said.status);
            return Err(UnknownState::new(problem(&complaint)));
        }
        Ok(said.stdout)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command.envs(ENVIRONMENT.iter().copied());
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (at, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        // The directories are given, so that no setting (`core.worktree`, `core.bare`) leads git elsewhere.
        command.arg("-C").arg(&self.worktree.root).args(["--no-optional-locks", "--no-pager"]);
        command.arg("--git-dir").arg(&self.worktree.git_dir).arg("--work-tree").arg(&self.worktree.root);
        command
    }
}

/// The names of the filter drivers in a list of settings.
fn filters(keys: &[u8]) -> Vec<&[u8]> {
    let driver = |key: &'_ [u8]| -> Option<std::ops::Range<usize>> {
        let from = key.starts_with(b"filter.").then_some(b"filter.".len())?;
        let to = key.iter().rposition(|byte| *byte == b'.')?;
        (from <= to).then_some(from..to)
    };
    let mut names: Vec<&[u8]> =
        keys.split(|byte| *byte == 0).filter_map(|key| driver(key).map(|name| &key[name])).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_drivers_by_name() {
        let keys = b"core.bare\0filter.lfs.clean\0filter.lfs.smudge\0filter.a.b=c.process\0filter.x\0";
        assert_eq!(filters(keys), [&b"a.b=c"[..], b"lfs"]);
    }
}
