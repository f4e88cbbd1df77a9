//! Asks git about a worktree, so that nothing in the repository can make it run a program.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use crate::call::GitCall;
use crate::confiner::Confiner;
use crate::parse::{parts, to_path};
use crate::process::{ChildOutput, MayRun};
use crate::programs::git_program;
use crate::worktrees::WorktreeDirs;

/// Settings that override the repository's.
const SETTINGS: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.untrackedCache", "false"),
    ("core.safecrlf", "false"),
    ("commit.gpgSign", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// Settings of a filter driver, with values that leave the contents as they are.
const FILTER: &[(&str, &str)] = &[("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")];

/// The environment; all other variables that begin with `GIT_` are removed.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    // Whoever writes to the repository could have one object taken for another.
    // One that cannot be there: git warns of those that are.
    ("GIT_GRAFT_FILE", "/dev/null/none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // The user's settings, which agents may write, can name files for these.
    ("GIT_TRACE2", "0"),
    ("GIT_TRACE2_EVENT", "0"),
    ("GIT_TRACE2_PERF", "0"),
    ("LC_ALL", "C"),
];

/// It is not known whether there is work, so there may be.
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

/// Whether a commit exists. Only a definite answer counts: a git that was killed or complains has not said no.
pub(crate) fn is_there(git: &Git<'_>, name: &str) -> Result<bool, UnknownState> {
    let peeled = format!("{name}^{{commit}}");
    let mut call = git.call("rev-parse").args(["--quiet", "--verify", "--end-of-options", &peeled]);
    let output = call.output()?;
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) if output.stderr.is_empty() => Ok(false),
        _ => Err(call.failure(&output)),
    }
}

/// Git, ready to be asked about one worktree.
#[derive(Clone, Debug)]
pub(crate) struct Git<'a> {
    worktree: &'a WorktreeDirs,
    settings: Vec<(OsString, &'static str)>,
    /// The keys of all settings that git sees here, each ended by NUL.
    keys: Vec<u8>,
    environment: Vec<(&'static str, OsString)>,
    deadline: Instant,
    may_run: MayRun,
    confiner: Option<&'a Confiner>,
    /// What git holds open while it runs.
    held: Option<&'a File>,
}

impl<'a> Git<'a> {
    /// Finds the repository's filters, to switch them off: git would run them to compare contents.
    pub(crate) fn on(worktree: &'a WorktreeDirs, deadline: Instant) -> Result<Git<'a>, UnknownState> {
        let mut git = Git::on_refs(worktree, deadline);
        let keys = git.ask("config", &["--list", "--name-only", "--includes", "-z"], &[])?;
        for driver in drivers(&keys, b"filter.") {
            for (key, value) in FILTER {
                let key = [b"filter.", driver, b".", key.as_bytes()].concat();
                git.settings.push((OsString::from_vec(key), value));
            }
        }
        // A merge that needs one of these is a conflict: the program `false` merges nothing.
        for driver in drivers(&keys, b"merge.") {
            git.settings.push((OsString::from_vec([b"merge.", driver, b".driver"].concat()), "false"));
        }
        git.keys = keys;
        Ok(git)
    }

    /// The same with another deadline.
    pub(crate) fn until(&self, deadline: Instant) -> Git<'a> {
        Git { deadline, ..self.clone() }
    }

    /// The same with one more setting, which overrides the others.
    pub(crate) fn with(&self, key: &str, value: &'static str) -> Git<'a> {
        let mut git = self.clone();
        git.settings.push((key.into(), value));
        git
    }

    /// The same, but hooks of the repository run, confined if need be: only for calls made to run one.
    pub(crate) fn with_hooks(&self, confiner: Option<&'a Confiner>) -> Git<'a> {
        let mut git = Git { may_run: MayRun::Everything, confiner, ..self.clone() };
        git.settings.retain(|(key, _)| key != "core.hooksPath");
        git
    }

    pub(crate) fn has_filters(&self) -> bool {
        !drivers(&self.keys, b"filter.").is_empty()
    }

    /// Whether a setting, in lower case, has a value here.
    pub(crate) fn has_setting(&self, key: &str) -> bool {
        self.keys.split(|byte| *byte == 0).any(|known| known == key.as_bytes())
    }

    /// Git for what needs no contents of files: refs, commits and names. Filters are not looked for.
    pub(crate) fn on_refs(worktree: &'a WorktreeDirs, deadline: Instant) -> Git<'a> {
        let settings = SETTINGS.iter().map(|(key, value)| (OsString::from(key), *value)).collect();
        Git {
            worktree,
            settings,
            keys: Vec::new(),
            environment: Vec::new(),
            deadline,
            may_run: MayRun::OnlyGit,
            confiner: None,
            held: None,
        }
    }

    /// The same with further settings that override the repository's.
    pub(crate) fn with_settings(mut self, settings: &[(&str, &'static str)]) -> Git<'a> {
        self.settings.extend(settings.iter().map(|(key, value)| (OsString::from(key), *value)));
        self
    }

    /// The same with one more environment variable.
    pub(crate) fn with_variable(mut self, name: &'static str, value: impl Into<OsString>) -> Git<'a> {
        self.environment.push((name, value.into()));
        self
    }

    /// The same, holding a file open while git runs, even if it outlives us: so a lock on the file lasts that long.
    pub(crate) fn holding(mut self, file: &'a File) -> Git<'a> {
        self.held = Some(file);
        self
    }

    /// The filters that were switched off.
    pub(crate) fn filters(&self) -> impl Iterator<Item = &str> {
        self.settings
            .iter()
            .filter_map(|(key, _)| key.to_str()?.strip_prefix("filter.")?.strip_suffix(".smudge"))
    }

    pub(crate) fn worktree(&self) -> &WorktreeDirs {
        self.worktree
    }

    /// Git's output. A failure or a warning is an error.
    pub(crate) fn ask(
        &self,
        verb: &str,
        options: &[&str],
        paths: &[OsString],
    ) -> Result<Vec<u8>, UnknownState> {
        let mut call = self.call(verb).args(options);
        if !paths.is_empty() {
            call = call.arg("--").args(paths);
        }
        let output = call.output()?;
        if output.status.success() && output.stderr.is_empty() {
            Ok(output.stdout)
        } else {
            Err(call.failure(&output))
        }
    }

    /// Which of these paths git ignores. A directory that may not exist ends with a slash.
    pub(crate) fn ignored<P: AsRef<OsStr>>(
        &self,
        options: &[&str],
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Vec<PathBuf>, UnknownState> {
        let nul = |path: P| [path.as_ref().as_bytes(), b"\0"].concat();
        let input: Vec<u8> = paths.into_iter().flat_map(nul).collect();
        if input.is_empty() {
            return Ok(Vec::new());
        }
        let mut call = self.call("check-ignore").args(["--stdin", "-z"]).args(options).input(input);
        let output = call.output()?;
        match output.status.code() {
            // 1 means none.
            Some(0 | 1) => Ok(parts(&output.stdout).map(to_path).collect()),
            _ => Err(call.failure(&output)),
        }
    }

    /// A call that may have input, an index of its own, or more environment.
    pub(crate) fn call(&self, verb: &str) -> GitCall<'a> {
        let call = GitCall::new(self.command(), self.may_run, verb, self.worktree, self.deadline);
        let call = match self.held.and_then(|file| file.try_clone().ok()) {
            Some(file) => call.holding(file),
            None => call,
        };
        if self.confiner.is_some() { call.input(Confiner::input(self.confiner, Vec::new())) } else { call }
    }

    /// Runs git on some input and returns output and exit status, whatever they are.
    pub(crate) fn run(&self, arguments: &[&str], input: &[u8]) -> Result<ChildOutput, UnknownState> {
        self.on_input(arguments, input).output()
    }

    /// Git's output for some input. A failure is an error; a warning is not.
    pub(crate) fn tell(&self, arguments: &[&str], input: &[u8]) -> Result<ChildOutput, UnknownState> {
        let mut call = self.on_input(arguments, input);
        let output = call.output()?;
        if output.status.success() { Ok(output) } else { Err(call.failure(&output)) }
    }

    fn on_input(&self, arguments: &[&str], input: &[u8]) -> GitCall<'a> {
        let (verb, options) = arguments.split_first().unwrap_or((&"", &[]));
        let call = self.call(verb).args(options);
        if input.is_empty() { call } else { call.input(input) }
    }

    fn command(&self) -> Command {
        let mut command = Confiner::command(self.confiner, git_program());
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command.envs(ENVIRONMENT.iter().copied());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.env("GIT_CONFIG_COUNT", self.settings.len().to_string());
        for (at, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{at}"), key).env(format!("GIT_CONFIG_VALUE_{at}"), value);
        }
        // The directories are explicit, so that no setting (`core.worktree`, `core.bare`) leads git elsewhere.
        command.arg("-C").arg(&self.worktree.root).args(["--no-optional-locks", "--no-pager"]);
        command.arg("--git-dir").arg(&self.worktree.git_dir).arg("--work-tree").arg(&self.worktree.root);
        command
    }
}

/// The names of the drivers in a list of settings, such as `lfs` in `filter.lfs.clean`.
fn drivers<'k>(keys: &'k [u8], section: &[u8]) -> Vec<&'k [u8]> {
    let driver = |key: &'_ [u8]| -> Option<std::ops::Range<usize>> {
        let from = key.starts_with(section).then_some(section.len())?;
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
    use std::time::Duration;

    use super::*;

    #[test]
    fn drivers_by_name() {
        let keys =
            b"core.bare\0filter.lfs.clean\0filter.lfs.smudge\0filter.a.b=c.process\0filter.x\0merge.ff\0";
        assert_eq!(drivers(keys, b"filter."), [&b"a.b=c"[..], b"lfs"]);
        assert!(drivers(keys, b"merge.").is_empty());
        assert_eq!(drivers(b"merge.union.driver\0merge.ff", b"merge."), [b"union"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_is_named_after_the_settings_were_read_does_not_run() {
        if crate::only_git::rules(&[]).is_none() {
            let test = "a_program_that_is_named_after_the_settings_were_read_does_not_run";
            return comity_skip::skip(test, "this kernel has no Landlock, or git is a script");
        }
        let dir = tempfile::tempdir().expect("a directory");
        let (root, ran) = (dir.path().canonicalize().expect("a path"), dir.path().join("ran"));
        let git = |words: &[&str]| {
            let done = Command::new("git").args(words).current_dir(&root).status().expect("git runs");
            assert!(done.success(), "{words:?}");
        };
        git(&["init", "--quiet", "--template="]);
        let worktree = WorktreeDirs { root: root.clone(), git_dir: root.join(".git") };
        let asked = Git::on(&worktree, Instant::now() + Duration::from_secs(60)).expect("git");
        std::fs::write(root.join(".gitattributes"), "* filter=late\n").expect("written");
        git(&["config", "filter.late.clean", &format!("touch '{}'; cat", ran.display())]);
        let hash = asked.call("hash-object").args(["--path", "a", "--stdin"]).input("text\n").word();
        assert_eq!(hash.expect("a hash"), "8e27be7d6154a1f68ea9160ef0e18691d20560dc");
        assert!(!ran.exists(), "the filter ran");
        // With hooks it may: that is what they are for.
        asked.with_hooks(None).call("hash-object").args(["--path", "a", "--stdin"]).word().expect("a hash");
        assert!(ran.exists());
    }
}
