//! The repository's hooks, for those who want them to run.

use std::io::{self, Read, Write};
use std::path::Path;

use super::commit_dir::CommitDir;
use super::not_committed::NotCommitted;
use super::request::MESSAGE_BYTES_MAX;
use crate::call::GitCall;
use crate::confiner::Confiner;
use crate::dot_git::open_plain;
use crate::git::Git;

/// Lets `pre-commit` check the index that will be committed, and change contents in it.
pub(super) fn pre_commit<'a>(
    git: &Git<'a>,
    confiner: Option<&'a Confiner>,
    index: &Path,
) -> Result<(), NotCommitted> {
    run("pre-commit", hook(git, confiner, index).arg("pre-commit"))
}

/// Lets `commit-msg` check the message, and returns what it made of it.
pub(super) fn commit_msg<'a>(
    git: &Git<'a>,
    confiner: Option<&'a Confiner>,
    commit_dir: &CommitDir,
    index: &Path,
    message: &str,
) -> Result<String, NotCommitted> {
    let file = commit_dir.passing("message")?;
    let fault = |error: io::Error| commit_dir.fault("message", &error);
    (&file.file).write_all(message.as_bytes()).map_err(fault)?;
    run("commit-msg", hook(git, confiner, index).args(["commit-msg", "--"]).arg(file.path()))?;
    let mut left = String::new();
    if let Some(open) = open_plain(file.path()).map_err(fault)? {
        open.take(MESSAGE_BYTES_MAX as u64).read_to_string(&mut left).map_err(fault)?;
    }
    if left.trim().is_empty() || left.contains('\0') {
        let problem = "the hook commit-msg left no message that can be committed".to_owned();
        return Err(NotCommitted::BadRequest { problem });
    }
    Ok(left)
}

fn hook<'a>(git: &Git<'a>, confiner: Option<&'a Confiner>, index: &Path) -> GitCall<'a> {
    // As git does for its hooks; the language is the user's again.
    let language = std::env::var_os("LC_ALL").unwrap_or_default();
    let git = git.with_hooks(confiner);
    let call = git.call("hook").index(index).env("GIT_EDITOR", ":").env("LC_ALL", language);
    call.args(["run", "--ignore-missing"])
}

fn run(hook: &'static str, mut call: GitCall<'_>) -> Result<(), NotCommitted> {
    let output = call.output()?;
    if output.status.success() {
        return Ok(());
    }
    let output = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(NotCommitted::HookRefused { hook, output })
}
