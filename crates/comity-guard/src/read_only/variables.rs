//! Which variables a command may set without changing what other programs do.

use super::doubt::{Doubt, Proven, shown};
use super::words::Argument;

/// Names in capitals that nothing but a script reads.
const PLAIN: [&str; 10] =
    ["FILE", "FILES", "DIR", "DIRS", "NAME", "LINE", "NO_COLOR", "CLICOLOR", "COLUMNS", "FORCE_COLOR"];
/// Names whose value chooses a language or a time zone, and should look like one.
const LOCAL: [&str; 10] = [
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "LC_MONETARY",
];
/// Names in small letters that mean something to zsh: `path` is its `PATH`.
const TAKEN: [&str; 30] = [
    "path",
    "cdpath",
    "fpath",
    "manpath",
    "module_path",
    "mailpath",
    "fignore",
    "psvar",
    "watch",
    "argv",
    "status",
    "prompt",
    "histchars",
    "signals",
    "pipestatus",
    "options",
    "aliases",
    "galiases",
    "saliases",
    "functions",
    "commands",
    "builtins",
    "modules",
    "parameters",
    "reswords",
    "nameddirs",
    "userdirs",
    "history",
    "keymaps",
    "widgets",
];

/// Whether a name is made of letters, digits and `_` alone.
pub(super) fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Doubts that a variable may be set to something that nobody knows.
pub(super) fn may_be_set(name: &str) -> Proven {
    let is_small =
        name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let is_own = is_small && is_name(name) && !name.trim_matches('_').is_empty() && !means_something(name);
    match is_own || PLAIN.contains(&name) {
        true => Ok(()),
        false => Err(doubt(name)),
    }
}

/// Doubts that a variable may be set to a value.
pub(super) fn may_be_set_to(name: &str, value: &Argument) -> Proven {
    if !LOCAL.contains(&name) {
        return may_be_set(name);
    }
    let is_local = |value: &str| {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-/+@".contains(&byte);
        value.bytes().all(is_part) && !value.starts_with(['/', '.']) && !value.contains("..")
    };
    match value.known().is_some_and(is_local) {
        true => Ok(()),
        false => Err(doubt(name)),
    }
}

fn means_something(name: &str) -> bool {
    TAKEN.contains(&name) || name.starts_with("dis_") || name.ends_with("_proxy") || name.starts_with("zsh_")
}

fn doubt(name: &str) -> Doubt {
    let name = shown(name);
    Doubt::because(format!("setting `{name}` may change what programs do; a name in small letters would not"))
}
