//! The forms in which agent programs start us, and the program that each stands for.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use comity_confine::ExecTarget;

/// The file that `BASH_ENV` names if bash should restart itself through us.
pub(crate) const BASH_ENV_FILE: &str = "comity-confine.sh";
/// The variable with the directory of zsh's files, which is ours if zsh should do the same.
const ZDOTDIR: &str = "ZDOTDIR";
const ZSH_DIR: &str = "comity-zsh";
/// The user's shell, if we are configured in its place.
const USERS_SHELL: &str = "COMITY_SHELL";
const DEFAULT_SHELL: &str = "bash";

pub(super) enum Invocation {
    Command(ConfinedCommand),
    Probe,
}

pub(super) struct ConfinedCommand {
    pub(super) kind: CommandOwner,
    pub(super) program: ExecTarget,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CommandOwner {
    Agents,
    /// The agent program's own: a hook or an MCP server, which its user has set up.
    Programs,
    /// A program that the server runs for an agent; what to confine it to is on its standard input.
    Servers,
}

pub(super) fn parse(words: Vec<OsString>) -> Option<Invocation> {
    let mut words = words.into_iter();
    let first = words.next()?;
    let rest: Vec<OsString> = words.collect();
    let mut kind = CommandOwner::Agents;
    let (file, args) = match (first.as_bytes(), &rest[..]) {
        (b"--probe", []) => return Some(Invocation::Probe),
        (b"--", [program, ..]) => (PathBuf::from(program), rest),
        (b"--told", [dashes, _, ..]) if dashes == "--" => {
            kind = CommandOwner::Servers;
            (PathBuf::from(&rest[1]), rest[1..].to_vec())
        }
        // bash restarted itself: its path, and its arguments.
        (b"--again", [shell, _, ..]) => (PathBuf::from(shell), rest[1..].to_vec()),
        (flag, _) if flag.starts_with(b"-") && !flag.starts_with(b"--") => {
            let shell = std::env::var_os(USERS_SHELL).unwrap_or_else(|| DEFAULT_SHELL.into());
            let args = [shell.clone(), first].into_iter().chain(rest);
            (PathBuf::from(&shell), args.collect())
        }
        (line, []) if !line.starts_with(b"-") => {
            // Only in this form: a variable that an agent sets for a program that it starts means nothing.
            if is_programs_own() {
                kind = CommandOwner::Programs;
            }
            let shell =
                if kind == CommandOwner::Programs { OsString::from("/bin/sh") } else { shell_for(&first) };
            (PathBuf::from(&shell), vec![shell, "-c".into(), first])
        }
        _ => return None,
    };
    Some(Invocation::Command(ConfinedCommand { kind, program: ExecTarget { file, args, env: env() } }))
}

/// Claude Code runs its hooks and servers through the same prefix, and marks them.
fn is_programs_own() -> bool {
    std::env::var_os("AI_AGENT").is_some_and(|agent| agent.as_bytes().ends_with(b"_harness"))
}

/// The shell that Claude Code wrote a line for: it has kept the user's settings for that one.
fn shell_for(line: &OsStr) -> OsString {
    let says = |text: &[u8]| line.as_bytes().windows(text.len()).any(|part| part == text);
    if says(b"/snapshot-zsh-") {
        return named("zsh");
    }
    if says(b"/snapshot-bash-") {
        return named("bash");
    }
    let known = |shell: &OsString| {
        matches!(Path::new(shell).file_name().map(OsStr::as_bytes), Some(b"bash" | b"zsh"))
    };
    let users = ["CLAUDE_CODE_SHELL", "SHELL"].into_iter().filter_map(std::env::var_os).find(known);
    users.unwrap_or_else(|| DEFAULT_SHELL.into())
}

/// A shell by its name, where the user has it.
fn named(name: &str) -> OsString {
    let is_it = |shell: &OsString| Path::new(shell).file_name() == Some(OsStr::new(name));
    let users = ["CLAUDE_CODE_SHELL", "SHELL"].into_iter().filter_map(std::env::var_os).find(is_it);
    users.unwrap_or_else(|| name.into())
}

/// Shells below the command are confined with it: they need not restart, and zsh reads what it would have read.
fn env() -> Vec<(&'static str, Option<OsString>)> {
    let is_ours = |value: &OsStr, name: &str| Path::new(value).file_name() == Some(OsStr::new(name));
    let set_to_ours = |variable, name| std::env::var_os(variable).is_some_and(|value| is_ours(&value, name));
    let mut changed = Vec::new();
    if set_to_ours("BASH_ENV", BASH_ENV_FILE) {
        changed.push(("BASH_ENV", None));
    }
    if set_to_ours(ZDOTDIR, ZSH_DIR) {
        changed.push((ZDOTDIR, users_zdotdir().filter(|dir| !is_ours(dir, ZSH_DIR))));
    }
    changed
}

/// What the agent program was started with.
fn users_zdotdir() -> Option<OsString> {
    let program = std::os::unix::process::parent_id();
    let environment = std::fs::read(format!("/proc/{program}/environ")).ok()?;
    let start = format!("{ZDOTDIR}=");
    let value =
        environment.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(start.as_bytes()))?;
    Some(OsStr::from_bytes(value).to_owned())
}
