//! Looks for what is wrong, and says what to do.

use comity_app::catalog::name_of;
use comity_app::operations::ledger::Verify;
use comity_app::operations::people::Whoami;
use comity_app::operations::server::{ShowSettings, Status};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use comity_wire::{Client, Fault, Home, Request};
use serde_json::json;

use super::output::{self, OutputFormat};
use super::{agent_programs, confinement, project_settings, state_files, terminal};
use crate::serve::state_dir;
use crate::session::{Session, SessionError};
use crate::start;

/// How long a server may take to report its status.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// The finding for one that takes longer.
const SILENT: &str = "it doesn't answer";

/// The result of one check.
pub(super) struct Finding {
    what: &'static str,
    level: Level,
    pub(super) found: String,
    pub(super) next: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Good,
    /// It works, but something optional is missing.
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

/// Runs all checks and shows the results; the exit code says whether all is well.
pub(crate) fn run(home: &Home, form: OutputFormat) -> ExitCode {
    let directory = directory(home);
    let is_usable = directory.level != Level::Bad;
    let (disk, files) = (state_files::disk(home), state_files::look(home));
    let server = if is_usable { server(home) } else { good("server", "not looked at") };
    // A hanging server is not waited for again and again.
    let is_silent = server.found == SILENT;
    let connect = || start::connect_if_running(home).ok().flatten().filter(|_| !is_silent);
    let findings = [
        directory,
        disk,
        files,
        server,
        ledger(home, connect()),
        commits(home, connect()),
        watcher(connect()),
        agent_programs::look(home),
        agent_programs::look_at_files(home),
        confinement(home),
        confinement::look_at_terminals(),
        settings(home, connect()),
        project_settings::look(),
        git(),
        identity(home, connect()),
    ];
    let all_good = findings.iter().all(|finding| finding.level != Level::Bad);
    match form {
        OutputFormat::Json => {
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
        OutputFormat::Text => {
            for Finding { what, level, found, next } in &findings {
                let line = format!("{:<4} {what:<16} {found}", level.word());
                output::print(&terminal::wrapped(&line, 22));
                if !next.is_empty() {
                    output::print(&terminal::wrapped(&format!("     {next}"), 5));
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
    let shown = home.path().display();
    if std::fs::symlink_metadata(home.path()).is_err() && !comity_hook::is_read_only(home.path()) {
        return good("state directory", format!("{shown}: none yet; the first start makes it"));
    }
    let before = std::fs::symlink_metadata(home.path()).map(|found| found.permissions().mode() & 0o777);
    match (state_dir::prepare(home), before) {
        (Ok(()), Ok(mode)) if mode & 0o077 != 0 => short(
            "state directory",
            format!("{shown} was open to others (mode {mode:o}) and is closed now"),
            "look for what changed it: commands and hooks refuse to use it like that",
        ),
        (Ok(()), _) => good("state directory", shown.to_string()),
        (Err(problem), _) => {
            bad("state directory", problem, "set COMITY_HOME to a directory of your own on a local disk")
        }
    }
}

/// The server; it is started if none runs, since one that cannot start is the most common problem. A directory that
/// was never used gets none.
fn server(home: &Home) -> Finding {
    if matches!(start::connect_if_running(home), Ok(None)) {
        if crate::serve::read_config(home).is_err() {
            return bad("server", "can't start: the settings are wrong (see below)", "");
        }
        if comity_app::log::is_new(home.path()) {
            return good("server", "not started yet; the first command that needs it does, or: comity up");
        }
    }
    if let (false, Some(pid)) = (home.socket().exists(), state_dir::holder(home)) {
        return bad(
            "server",
            format!("process {pid} serves, but its socket {} is gone", home.socket().display()),
            format!("end it with: kill {pid}; the next command starts another"),
        );
    }
    let mut client = match start::connect(home) {
        Ok(client) => client,
        Err(problem) => {
            let next = match state_dir::holder(home) {
                Some(pid) => {
                    format!("process {pid} has the state directory; if it is stuck, end it with: kill {pid}")
                }
                None => format!("see {}", start::log_path(home).display()),
            };
            return bad("server", problem, next);
        }
    };
    let _waits_for_ever_else = client.set_timeout(Some(ANSWER_MAX));
    let status = client.ask(name_of::<Status>(), &json!({}));
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
            "restart it with: comity restart",
        ),
        None => {
            let end =
                state_dir::holder(home).map(|pid| format!("; if it is stuck, end it with: kill -9 {pid}"));
            let log = start::log_path(home);
            bad("server", SILENT, format!("see {}{}", log.display(), end.unwrap_or_default()))
        }
    }
}

fn ledger(home: &Home, client: Option<Client>) -> Finding {
    let Some(mut client) = client else {
        return match comity_app::log::check(home.path()) {
            Ok(()) => good("ledger", "not looked at"),
            Err(problem) => bad("ledger", problem, ""),
        };
    };
    match client.call(Request { op: name_of::<Verify>().into(), text: true, ..Request::empty() }) {
        Ok(reply) => match (reply.error, reply.text) {
            (None, Some(text)) => good("ledger", text.lines().next().unwrap_or_default()),
            (error, _) => bad(
                "ledger",
                error.map(|error| words(error.get())).unwrap_or_default(),
                "what comes after the named record can't be trusted; compare with a backup",
            ),
        },
        Err(error) => bad("ledger", error.to_string(), "try again"),
    }
}

/// Whether every branch that was moved is recorded.
fn commits(home: &Home, client: Option<Client>) -> Finding {
    const WHAT: &str = "commits";
    let Some(mut client) = client else {
        return good(WHAT, "not looked at");
    };
    let unsettled = client.ask(name_of::<Status>(), &json!({})).ok().and_then(|reply| {
        let status: serde_json::Value = serde_json::from_str(reply.ok?.get()).ok()?;
        status["unsettled"].as_u64()
    });
    match unsettled {
        Some(0) => good(WHAT, "all of them are recorded"),
        Some(count) => short(
            WHAT,
            format!(
                "{count} begun, and not known yet whether they were made; Comity keeps trying to find out"
            ),
            format!("see why in {}", start::log_path(home).display()),
        ),
        None => good(WHAT, "not known: the server is of another version"),
    }
}

/// An error's text, without what only programs need.
fn words(error: &str) -> String {
    serde_json::from_str(error).map_or_else(|_| error.to_owned(), |fault: Fault| fault.message)
}

/// The settings, and the browser that they name, which only those who use tabs need.
fn settings(home: &Home, client: Option<Client>) -> Finding {
    let config = match crate::serve::read_config(home) {
        Ok(config) => config,
        Err(problem) => {
            return bad("settings", problem, "fix it, and restart the server if one runs: comity restart");
        }
    };
    let waiting = client.map(waiting_settings).unwrap_or_default();
    if !waiting.is_empty() {
        return short(
            "settings",
            format!("changed since the server started, and not in force yet: {}", waiting.join(", ")),
            "restart the server with: comity restart",
        );
    }
    match comity_browser::find_firefox(config.browser.path.as_deref()) {
        Ok(path) => good("settings", format!("in order; tabs are opened with {}", path.display())),
        Err(error) if config.browser.path.is_some() => bad("settings", error.to_string(), "fix browser.path"),
        Err(_) => good("settings", "in order; no Firefox was found, so tabs can't be opened"),
    }
}

/// Settings whose values take effect with the server's next start.
fn waiting_settings(mut client: Client) -> Vec<String> {
    let answer = client.ask(name_of::<ShowSettings>(), &json!({})).ok().and_then(|reply| {
        let view: serde_json::Value = serde_json::from_str(reply.ok?.get()).ok()?;
        Some(view)
    });
    let settings = answer.as_ref().and_then(|view| view["settings"].as_array()).into_iter().flatten();
    let waiting = settings.filter(|setting| setting["next"].is_string());
    waiting.filter_map(|setting| setting["key"].as_str().map(str::to_owned)).collect()
}

fn watcher(client: Option<Client>) -> Finding {
    let Some(mut client) = client else {
        return good("watcher", "not looked at");
    };
    let status = client.ask(name_of::<Status>(), &json!({})).ok().and_then(|reply| {
        let status: serde_json::Value = serde_json::from_str(reply.ok?.get()).ok()?;
        Some(status)
    });
    let Some(watch) = status.as_ref().map(|status| &status["watch"]) else {
        return good("watcher", "not looked at");
    };
    let count = |name: &str, one: &str, many: &str| match watch[name].as_u64() {
        Some(1) => format!("1 {one}"),
        number => format!("{} {many}", number.unwrap_or_default()),
    };
    let (trees, directories) =
        (count("trees", "worktree", "worktrees"), count("directories", "directory", "directories"));
    let found = match watch["state"].as_str() {
        Some("on") => format!("{trees}, {directories}"),
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
    // Unreadable settings are a finding of their own.
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

fn identity(home: &Home, client: Option<Client>) -> Finding {
    // Agents' processes are marked by this limit. Everything below such a first process looks like one.
    if comity_app::processes::is_marked(1) {
        let found = "the limit on file locks is low for everything here, and Comity marks agents by it: nobody is you";
        return bad(
            "identity",
            found,
            "raise it where this container or session begins: ulimit -x unlimited",
        );
    }
    if client.is_none() {
        return good("identity", "not looked at");
    }
    match Session::from_env(home.clone()).ask(name_of::<Whoami>(), &json!({})) {
        Ok(answer) => good("identity", answer.text.lines().next().unwrap_or_default()),
        Err(SessionError::Refused { fault, .. }) => short("identity", fault.message, fault.hint),
        Err(SessionError::Fault(problem)) => bad("identity", problem, "try again"),
    }
}
