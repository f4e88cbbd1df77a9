//! Shell commands that run where what others hold is read-only: nothing gets through, and nothing else changes.

#[path = "confined/client_plans.rs"]
mod client_plans;
#[path = "confined/client_shells.rs"]
mod client_shells;
#[path = "confined/clients.rs"]
mod clients;
#[path = "confined/commands.rs"]
mod commands;
#[path = "confined/forbidden.rs"]
mod forbidden;
#[path = "confined/job_control.rs"]
mod job_control;
#[path = "confined/limits.rs"]
mod limits;
#[path = "support/nobody.rs"]
mod nobody;
#[path = "confined/on_behalf.rs"]
mod on_behalf;
#[path = "confined/own.rs"]
mod own;
#[path = "confined/plan.rs"]
mod plan;
#[path = "confined/prompts.rs"]
mod prompts;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[path = "support/ways.rs"]
mod ways;
#[path = "confined/window.rs"]
mod window;

use std::process::Command;

use support::{Agent, Place, beside};

/// A place where bob has locked the file that the ways write to.
fn place() -> (Place, Agent) {
    place_with("")
}

/// The same with settings.
fn place_with(settings: &str) -> (Place, Agent) {
    let place = Place::new();
    place.set(settings);
    ways::repository(&place.repo);
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", ways::FILE, "--reason", "fixing login", "--ttl", "30m"]);
    (place, bob)
}

/// A command line that an agent runs confined.
fn confined(place: &Place, agent: &Agent, line: &str) -> Command {
    confine(place, agent, &["-c", line])
}

/// `comity-confine` as it is shipped, with arguments, as an agent.
fn confine(place: &Place, agent: &Agent, words: &[&str]) -> Command {
    let mut command = place.program(beside("comity-confine"));
    command.args(words).env("COMITY_TOKEN", &agent.token);
    command
}
