//! Looks for what is wrong, and says what to do.

use std::process::{Command, ExitCode};

use comity_wire::{Home, Request};
use serde_json::json;

use super::output::{self, Form};
use super::{agent_programs, confinement};
use crate::serve::state_dir;
use crate::start;

/// One thing that was looked at.
pub(super) struct Finding {
    what: &'static str,
    level: Level,
    found: String,
    next: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Good,
    /// It works, and something is missing that one may want.
    Short,
    Bad,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Good => "ok",
            Level::Short => "warn",
            Level::Bad => "BAD",
        }
    }
}

/// Looks at everything and shows what it found; the exit code says whether all is well.
pub(crate) fn run(home: &Home, form: Form) -> ExitCode {
    let findings = [
        directory(home),
        server(home),
        ledger(home),
        watcher(home),
        agent_programs::look(home),
        confinement(home),
        settings(home),
        git(),
        terminal(),
    ];
    let all_good = findings.iter().all(|finding| finding.level != Level::Bad);
    match form {
        Form::Json => {
            let findings: Vec<_> = findings
                .iter()
                .map(|f| {
                    let level = f.level.word().to_lowercase();
                    json!({
                        "what": f.what, "ok": f.level != Level::Bad, "level": level, "found": f.found, "next": f.next,
                    })
                })
                .collect();
            output::print(&json!({"ok": all_good, "findings": findings}).to_string());
        }
        Form::Text => {
            for Finding { what, level, found, next } in &findings {
                output::print(&format!("{:<4} {what:<16} {found}", level.word()));
                if !next.is_empty() {
                    output::print(&format!("     {next}"));
                }
            }
        }
    }
    if all_good { ExitCode::SUCCESS } else { ExitCode::from(output::FAULT) }
}

pub(super) fn good(what: &'static str, found: impl Into<String>) -> Finding {
    Finding { what, level: Level::Good, found: found.into(), next: String::new() }
}

pub(super) fn short(what: &'static str, found: impl Into<String>, next: impl Into<String>) -> Finding {
    Finding { what, level: Level::Short, found: found.into(), next: next.into() }
}

pub(super) fn bad(what: &'static str, found: impl Into<String>, next: impl Into<String>) -> Finding {
    Finding { what, level: Level::Bad, found: found.into(), next: next.into() }
}

fn directory(home: &Home) -> Finding {
    match state_dir::prepare(home) {
        Ok(()) => good("state directory", home.path().display().to_string()),
        Err(problem) => {
            bad("state directory", problem, "set COMITY_HOME to a directory of your own on a local disk")
        }
    }
}

fn server(home: &Home) -> Finding {
    let mut client = match start::connect_if_running(home) {
        Ok(Some(client)) => client,
        Ok(None) => return good("server", "does not run; it starts with the first command"),
        Err(problem) => return bad("server", problem, "stop it with: comity down"),
    };
    let status = client.ask("status", &json!({}));
    let version = status.ok().and_then(|reply| {
        let status: serde_json::Value = serde_json::from_str(reply.ok?.get()).ok()?;
        Some((status["version"].as_str()?.to_owned(), status["pid"].as_u64()?))
    });
    let own = env!("CARGO_PKG_VERSION");
    match version {
        Some((version, pid)) if version == own => good("server", format!("{version}, process {pid}")),
        Some((version, _)) => bad(
            "server",
            format!("it is {version}, this program is {own}"),
            "restart it with: comity down && comity up",
        ),
        None => bad("server", "it does not answer", format!("see {}", start::log_path(home).display())),
    }
}

fn ledger(home: &Home) -> Finding {
    let Ok(Some(mut client)) = start::connect_if_running(home) else {
        return good("ledger", "not looked at");
    };
    match client.call(Request { op: "log_verify".into(), text: true, ..Request::empty() }) {
        Ok(reply) => match (reply.error, reply.text) {
            (None, Some(text)) => good("ledger", text.lines().next().unwrap_or_default()),
            (error, _) => bad(
                "ledger",
                error.map(|error| error.get().to_owned()).unwrap_or_default(),
                "what comes after the named record cannot be trusted; compare with a backup",
            ),
        },
        Err(error) => bad("ledger", error.to_string(), "try again"),
    }
}

/// The settings, and the browser that they name: only who uses tabs needs one.
fn settings(home: &Home) -> Finding {
    let config = match crate::serve::read_config(home) {
        Ok(config) => config,
        Err(problem) => return bad("settings", problem, "mend the file that it names"),
    };
    match comity_browser::find_firefox(config.browser.path.as_deref()) {
        Ok(path) => good("settings", format!("in order; tabs are opened with {}", path.display())),
        Err(error) if config.browser.path.is_some() => {
            bad("settings", error.to_string(), "mend browser.path")
        }
        Err(_) => good("settings", "in order; there is no Firefox, so that tabs cannot be opened"),
    }
}

fn watcher(home: &Home) -> Finding {
    let Ok(Some(mut client)) = start::connect_if_running(home) else {
        return good("watcher", "not looked at");
    };
    let status = client.ask("status", &json!({})).ok().and_then(|reply| {
        let status: serde_json::Value = serde_json::from_str(reply.ok?.get()).ok()?;
        Some(status)
    });
    let Some(watch) = status.as_ref().map(|status| &status["watch"]) else {
        return good("watcher", "not looked at");
    };
    let (trees, directories) = (&watch["trees"], &watch["directories"]);
    let found = match watch["state"].as_str() {
        Some("on") => format!("{trees} worktrees, {directories} directories"),
        Some("off") => "off by guard.watch: writes without a lock are not reported".to_owned(),
        _ => "not available: writes without a lock are not reported".to_owned(),
    };
    let problems: Vec<&str> =
        watch["problems"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
    match problems.is_empty() {
        true => good("watcher", found),
        false => bad("watcher", found, problems.join("\n    ")),
    }
}

fn confinement(home: &Home) -> Finding {
    // Settings that cannot be read are a finding of their own.
    let policy = crate::serve::read_config(home).unwrap_or_default().guard.confine;
    confinement::look(home, policy)
}

fn git() -> Finding {
    let version = Command::new("git").arg("--version").output();
    match version.ok().filter(|output| output.status.success()) {
        Some(output) => good("git", String::from_utf8_lossy(&output.stdout).trim().to_owned()),
        None => bad(
            "git",
            "not found",
            "install git 2.38 or newer: without it every lock that runs out is kept for you to decide",
        ),
    }
}

fn terminal() -> Finding {
    match std::env::var("COMITY_TOKEN") {
        Ok(token) if !token.is_empty() => good("identity", "COMITY_TOKEN is set: you act as an agent"),
        _ => good("identity", "you act as yourself, unless an agent's program started this shell"),
    }
}
