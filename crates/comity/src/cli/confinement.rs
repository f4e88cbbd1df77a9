//! What `comity doctor` says about confinement: whether it works here, and for which agent programs.

use std::fs;
use std::path::PathBuf;

use comity_app::config::ConfinePolicy;
use comity_guard::Dialect;
use comity_guard::connect::{Connected, Connection, Kind, is_connected, places};

use crate::init::{programs, shells};

/// What was found: in order or not, in words, and what to do.
pub(super) fn look(policy: ConfinePolicy) -> Result<String, (String, String)> {
    if policy == ConfinePolicy::Off {
        return Ok("off by guard.confine: shell commands are judged by hooks alone".into());
    }
    let connection = match programs() {
        Ok(connection) => connection,
        Err(problem) => return judged(policy, problem, "cargo xtask build"),
    };
    if let Err(problem) = shells::probe(&connection.confine()) {
        let problem = format!("not possible here: {problem}; shell commands are judged by hooks alone");
        return judged(policy, problem, shells::advice());
    }
    let (with, without): (Vec<Dialect>, Vec<Dialect>) =
        set_up().into_iter().partition(|dialect| starts_through_us(*dialect, &connection));
    let names = |dialects: &[Dialect]| dialects.iter().map(|it| it.name()).collect::<Vec<&str>>().join(", ");
    match (with.is_empty(), without.is_empty()) {
        (true, true) => Ok("works here; comity init sets up agent programs for it".into()),
        (false, true) => Ok(format!("works here, for {}", names(&with))),
        (_, false) => {
            let found = match with.is_empty() {
                true => format!("works here, but not for {}", names(&without)),
                false => format!("works here, for {}, but not for {}", names(&with), names(&without)),
            };
            judged(policy, found, "set them up with: comity init; what is left to do by hand is shown there")
        }
    }
}

/// Where confinement is only wanted if possible, what is missing is told and is no fault.
fn judged(policy: ConfinePolicy, found: String, next: &str) -> Result<String, (String, String)> {
    match policy {
        ConfinePolicy::Required => Err((found, next.to_owned())),
        ConfinePolicy::Auto | ConfinePolicy::Off => Ok(format!("{found} ({next})")),
    }
}

/// The programs that have our hooks.
fn set_up() -> Vec<Dialect> {
    let has_hooks = |dialect: &Dialect| {
        places(*dialect).iter().any(|place| match place.kind {
            Kind::Hooks | Kind::HooksAndMcp | Kind::Plugin => {
                text_of(place.file(&home(), variable)).contains("comity-hook")
            }
            Kind::Mcp | Kind::Variables => false,
        })
    };
    Dialect::ALL.into_iter().filter(has_hooks).collect()
}

/// Whether a program starts its shell through us, as far as its settings say.
fn starts_through_us(dialect: Dialect, connection: &Connection) -> bool {
    let has = |kind: Kind, name: &str| {
        places(dialect).iter().filter(|place| place.kind == kind).any(|place| {
            let text = text_of(place.file(&home(), variable));
            text.contains(name) && is_connected(dialect, kind, &text, connection) == Connected::Yes
        })
    };
    match dialect {
        Dialect::ClaudeCode => has(Kind::Hooks, &connection.confine()),
        Dialect::Codex => has(Kind::Mcp, &connection.bash_env()),
        Dialect::GeminiCli => has(Kind::Variables, &connection.bash_env()),
        Dialect::OpenCode => has(Kind::Plugin, &connection.bash_env()),
        // It has no setting for it: only its own environment tells.
        Dialect::CopilotCli | Dialect::Cursor => false,
    }
}

fn text_of(file: PathBuf) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

fn home() -> PathBuf {
    variable("HOME").unwrap_or_default()
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}
