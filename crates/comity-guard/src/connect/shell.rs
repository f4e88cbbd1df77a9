//! How agent programs start their shell through us: no command is rewritten, so their own rules, prompts and history
//! see what the model wrote.

use super::json::Document;
use super::line::{HookLines, shell_word};
use super::piece::Piece;
use super::scan::Type;
use super::{EditProblem, HOME_VARIABLE, ProgramPaths};
use crate::dialect::Dialect;

/// Our program that starts the shell; its name identifies our settings.
const CONFINE_PROGRAM: &str = "comity-confine";
/// The file that `BASH_ENV` names.
pub const BASH_ENV_FILE: &str = "comity-confine.sh";
pub(super) const BASH_ENV: &str = "BASH_ENV";
/// The directory that `ZDOTDIR` names.
const ZSH_DIR: &str = "comity-zsh";
pub(super) const ZDOTDIR: &str = "ZDOTDIR";
/// The file that every zsh reads.
const ZSHENV: &str = ".zshenv";
/// Members of Claude Code's settings: its variables, and the prefix of its shell commands.
pub(super) const ENV: &str = "env";
pub(super) const SHELL_PREFIX: &str = "CLAUDE_CODE_SHELL_PREFIX";

/// Without the paths of the programs.
const SCRIPT: &str = include_str!("comity-confine.sh");
/// Without the paths of the programs.
const ZSHENV_SCRIPT: &str = include_str!("comity-confine.zsh");

impl ProgramPaths {
    pub fn confine(&self) -> String {
        beside(&self.hook, CONFINE_PROGRAM)
    }

    /// The contents of the file that `BASH_ENV` names.
    pub fn bash_env_script(&self) -> String {
        let lines = HookLines::of(self, Dialect::CopilotCli);
        self.filled(SCRIPT)
            .replace("@HOOK_LINE@", &shell_word(&lines.plain))
            .replace("@GATE_LINE@", &shell_word(&lines.gate))
    }

    pub fn zsh_dir(&self) -> String {
        beside(&self.bash_env, ZSH_DIR)
    }

    /// The file in it, with its contents.
    pub fn zshenv(&self) -> (String, String) {
        (format!("{}/{ZSHENV}", self.zsh_dir()), self.filled(ZSHENV_SCRIPT))
    }

    fn filled(&self, script: &str) -> String {
        let home =
            self.home.as_deref().map(|home| format!("  export {HOME_VARIABLE}={}\n", shell_word(home)));
        script
            .replace("@CONFINE@", &shell_word(&self.confine()))
            .replace("@HOME_LINE@\n", &home.unwrap_or_default())
    }
}

/// Whether a text is what we write into the startup files of bash and zsh, whatever the paths of the programs.
pub fn is_shell_start_script(text: &str) -> bool {
    [SCRIPT, ZSHENV_SCRIPT].iter().any(|script| text.lines().next() == script.lines().next())
}

fn beside(program: &str, name: &str) -> String {
    let dir = program.rsplit_once('/').map_or("", |(dir, _)| dir);
    format!("{dir}/{name}")
}

pub(super) fn is_our_bash_env(value: &str) -> bool {
    value.rsplit('/').next() == Some(BASH_ENV_FILE)
}

pub(super) fn is_our_zsh_dir(value: &str) -> bool {
    value.rsplit('/').next() == Some(ZSH_DIR)
}

/// Sets the prefix of Claude Code's shell commands, unless the user has one.
pub(super) fn connect_claude(document: &mut Document, connection: &ProgramPaths) -> Result<(), EditProblem> {
    let prefix = Piece::text(&connection.confine());
    let root = document.root();
    let Some(env_at) = root.position(ENV)? else {
        document.append(&root, Some(ENV), &Piece::Members(vec![(SHELL_PREFIX, prefix)]));
        return Ok(());
    };
    if document.type_of(&root.items[env_at]) != Type::Object {
        return Err(EditProblem::wrong_type(ENV, "an object"));
    }
    let env = document.inside(&root.items[env_at]);
    match env.position(SHELL_PREFIX)?.map(|at| &env.items[at]) {
        Some(item) if document.value(item) == Some(prefix.value()) => {}
        Some(item) if is_our_prefix(document.raw(item)) => document.replace(item, &prefix),
        Some(_) => {}
        None => document.append(&env, Some(SHELL_PREFIX), &prefix),
    }
    Ok(())
}

pub(super) fn disconnect_claude(document: &mut Document) -> Result<(), EditProblem> {
    if document.is_gone() {
        return Ok(());
    }
    let root = document.root();
    let Some(env_at) = root.position(ENV)? else { return Ok(()) };
    if document.type_of(&root.items[env_at]) != Type::Object {
        return Ok(());
    }
    let env = document.inside(&root.items[env_at]);
    let ours = env.position(SHELL_PREFIX)?.filter(|at| is_our_prefix(document.raw(&env.items[*at])));
    if let Some(at) = ours {
        document.remove(&[env_at, at]);
    }
    Ok(())
}

pub(super) fn is_our_prefix(raw: &str) -> bool {
    raw.trim_end_matches('"').rsplit('/').next() == Some(CONFINE_PROGRAM)
}

/// Adds our variable to a file of variables, such as Gemini CLI's `.env`. The user's own stays.
pub(super) fn connect_variables(text: &str, connection: &ProgramPaths) -> String {
    let wanted = format!("{BASH_ENV}={}", variable_word(&connection.bash_env));
    if let Some(line) = text.lines().find(|line| value_of(line).is_some()) {
        return match value_of(line).is_some_and(is_our_bash_env) {
            true => text.replacen(line, &wanted, 1),
            false => text.to_owned(),
        };
    }
    match text.is_empty() || text.ends_with('\n') {
        true => format!("{text}{wanted}\n"),
        // Keeps a last line without a line break.
        false => format!("{text}\n{wanted}"),
    }
}

/// Removes our variable; `None` if nothing else is in the file.
pub(super) fn disconnect_variables(text: &str) -> Option<String> {
    let ours = |line: &&str| value_of(line).is_some_and(is_our_bash_env);
    let Some(line) = text.lines().find(ours) else { return Some(text.to_owned()) };
    let left = match text.strip_suffix(line) {
        Some(before) => before.strip_suffix('\n').unwrap_or(before).to_owned(),
        None => text.replacen(&format!("{line}\n"), "", 1),
    };
    (!left.is_empty()).then_some(left)
}

/// Quotes a value for a file of variables, where `#` would begin a comment.
fn variable_word(value: &str) -> String {
    match value.contains(['#', ' ']) {
        true => format!("\"{value}\""),
        false => value.to_owned(),
    }
}

/// The value if a line sets `BASH_ENV`.
pub(super) fn value_of(line: &str) -> Option<&str> {
    let (name, value) = line.trim().split_once('=')?;
    let name = name.trim().strip_prefix("export ").unwrap_or(name).trim();
    (name == BASH_ENV).then(|| value.trim().trim_matches(['"', '\'']))
}
