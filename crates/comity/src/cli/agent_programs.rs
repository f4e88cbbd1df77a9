//! What `comity doctor` says about the agent programs of this machine: which of them ask Comity before they write.

use comity_guard::Dialect;
use comity_wire::Home;

use super::doctor::{Finding, bad, good, short};
use crate::init::configured::Configured;
use crate::init::{User, found, obstacle, programs};

const WHAT: &str = "agent programs";

/// The programs that are on this machine.
pub(super) fn here(user: &User) -> Vec<Dialect> {
    Dialect::ALL.into_iter().filter(|dialect| found::is_here(*dialect, user)).collect()
}

/// Whether everything that `comity init` wrote is still there, unchanged.
pub(super) fn look_at_files(home: &Home) -> Finding {
    const WHAT: &str = "written by init";
    match crate::init::damage(home) {
        Ok(all) if all.found.is_empty() => good(WHAT, "in order"),
        Ok(all) => {
            let next = match all.is_for_hands {
                true => "fix what can't be read; then write it again with: comity init",
                false => "write it again with: comity init",
            };
            bad(WHAT, all.found.join("\n     "), next)
        }
        Err(problem) => bad(WHAT, problem, "move that file away, and run: comity init"),
    }
}

/// A connected program, and what it cannot do.
fn with_limits(dialect: Dialect, user: &User) -> String {
    let mut limits = Vec::new();
    if Configured::shares_server(dialect, user) {
        limits.push("one agent with all its windows");
    }
    if !dialect.tells_sub_agents() {
        limits.push("one agent with all its sub-agents");
    }
    if !dialect.wakes_idle() {
        limits.push("not woken while it is idle");
    }
    match limits.is_empty() {
        true => dialect.name().to_owned(),
        false => format!("{} ({})", dialect.name(), limits.join(", ")),
    }
}

pub(super) fn look(home: &Home) -> Finding {
    let (connection, user) = match (programs(home), User::from_env()) {
        (Ok(connection), Ok(user)) => (connection, user),
        (Err(problem), _) | (_, Err(problem)) => return short(WHAT, problem, ""),
    };
    let (mut connected, mut new, mut broken) = (Vec::new(), Vec::new(), Vec::new());
    let (mut inactive, mut obstacles) = (Vec::new(), Vec::new());
    for dialect in here(&user) {
        let configured = Configured::look(dialect, &user, &connection);
        match &configured.hook {
            Ok(_) => {
                connected.push(with_limits(dialect, &user));
                // A program found only by its settings may not be on the PATH, like editors.
                let is_here = found::program(dialect).is_some();
                inactive.extend(
                    configured
                        .active(dialect)
                        .err()
                        .filter(|_| is_here)
                        .map(|why| format!("{dialect}: {why}")),
                );
            }
            Err(_) if obstacle(dialect, &user, &connection).is_some() => {
                obstacles.extend(obstacle(dialect, &user, &connection));
            }
            Err(why) if Configured::has_traces(dialect, &user) => broken.push(format!("{dialect} ({why})")),
            Err(_) => new.push(dialect.name()),
        }
    }
    let connected = match connected.is_empty() {
        true => String::new(),
        false => format!("connected: {}; ", connected.join(", ")),
    };
    if !obstacles.is_empty() {
        let all: Vec<&str> =
            obstacles.iter().chain(&broken).map(String::as_str).chain(new.iter().copied()).collect();
        let found = format!("{connected}NOT connected: {}", all.join("; "));
        return bad(
            WHAT,
            found,
            "fix what can't be read, which comity init can't edit; then run: comity init",
        );
    }
    match (broken.is_empty(), new.is_empty()) {
        (true, _) if !inactive.is_empty() => bad(
            WHAT,
            format!("{connected}NOT ACTIVE: {}", inactive.join("; ")),
            "then look again with: comity doctor",
        ),
        (true, true) if connected.is_empty() => good(WHAT, "none found on this machine"),
        (true, true) => good(WHAT, connected.trim_end_matches("; ")),
        (true, false) => short(
            WHAT,
            format!("{connected}not connected: {}", new.join(", ")),
            "connect them with: comity init",
        ),
        (false, _) => {
            let all: Vec<&str> = broken.iter().map(String::as_str).chain(new).collect();
            bad(
                WHAT,
                format!("{connected}NOT connected: {}", all.join(", ")),
                "set them up again with: comity init",
            )
        }
    }
}
