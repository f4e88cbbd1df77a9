//! The command line that runs our hook, and how it is known again.

use super::{HOME_VARIABLE, ProgramPaths};
use crate::dialect::Dialect;

/// The file name of the hook program, by which our entries are known.
pub(super) const HOOK_PROGRAM: &str = "comity-hook";

/// The lines for a shell; `exec` spares it a process.
pub(super) struct HookLines {
    /// Before a call. Most programs let it pass when a hook is missing, so the line itself says no then.
    pub(super) gate: String,
    /// On any other event.
    pub(super) plain: String,
    /// In the background, while the agent is idle.
    pub(super) wait: String,
}

impl HookLines {
    pub(super) fn of(connection: &ProgramPaths, dialect: Dialect) -> HookLines {
        if connection.is_by_name() {
            let line = |more: &str| {
                format!(
                    "command -v {HOOK_PROGRAM} >/dev/null 2>&1 || exit 0; exec {HOOK_PROGRAM} {dialect}{more} --project"
                )
            };
            return HookLines { gate: line(""), plain: line(""), wait: line(" --wait") };
        }
        let hook = &connection.hook;
        let (program, name) = (shell_word(hook), dialect.name());
        let plain = match &connection.home {
            None => format!("exec {program} {name}"),
            Some(home) => format!("exec env {HOME_VARIABLE}={} {program} {name}", shell_word(home)),
        };
        let gone = shell_word(&format!(
            "Comity: {hook} is gone, so nothing judges this call, and it is blocked. Install Comity again, or take the hooks \
             that name {HOOK_PROGRAM} out of the settings."
        ));
        HookLines {
            gate: format!("test -x {program} && {plain}; echo {gone} >&2; exit 2"),
            wait: format!("{plain} --wait"),
            plain,
        }
    }
}

/// A text as one word of a shell's line.
pub(super) fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

pub(super) fn is_hook_line(line: &str) -> bool {
    let mut words = Words(line);
    let first = words.next();
    let program = match first.as_deref() {
        Some("exec") => match words.next() {
            Some(word) if word == "env" => words.find(|word| !is_assignment(word)),
            word => word,
        },
        Some("test" | "command") => words.nth(1),
        _ => first,
    };
    program.is_some_and(|program| is_our_program(&program))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| !name.contains('/'))
}

/// Whether a path is that of our hook.
pub(super) fn is_our_program(path: &str) -> bool {
    path.rsplit('/').next() == Some(HOOK_PROGRAM)
}

/// The words of a line, as far as a shell's quotes go.
struct Words<'a>(&'a str);

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0 = self.0.trim_start();
        if self.0.is_empty() {
            return None;
        }
        let mut word = String::new();
        let mut quote = None;
        let mut chars = self.0.char_indices();
        while let Some((at, c)) = chars.next() {
            match (quote, c) {
                (None, c) if c.is_whitespace() => {
                    self.0 = &self.0[at..];
                    return Some(word);
                }
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if c == open => quote = None,
                (None | Some('"'), '\\') => word.extend(chars.next().map(|(_, escaped)| escaped)),
                (_, c) => word.push(c),
            }
        }
        self.0 = "";
        Some(word)
    }
}
