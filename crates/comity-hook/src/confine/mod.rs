//! `comity-confine`: what agent programs start their shell through. It asks what others hold, confines itself, and
//! becomes the command: no process stays in between, so exit codes, signals, terminals and job control are as before.

mod command;
mod globs;
mod held;
mod probe;

use std::ffi::OsString;
use std::path::PathBuf;

use comity_confine::{Confinement, Extent, NetworkAccess, ProblemKind, enter};
use comity_wire::Fault;
use command::{CommandOwner, Invocation};
use held::{ConfineRules, NoAnswer};

use crate::{failing, say};

/// The exit code of a shell that could not run its command.
const CANNOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

const USAGE: &str = "\
usage: comity-confine -- COMMAND [ARGUMENT]...   runs a command where what others hold is read-only
       comity-confine LINE                       the same for a line of shell
       comity-confine -c LINE                    as a shell
       comity-confine --probe                    says whether commands can be confined here";

/// Runs a command confined, given the words after the program's name; returns an exit code if that fails.
pub fn confine(words: Vec<OsString>) -> u8 {
    let command = match command::parse(words) {
        Some(Invocation::Command(command)) => command,
        Some(Invocation::Probe) => return probe::run(),
        None => {
            say(USAGE);
            return crate::BLOCKED;
        }
    };
    let confined = match command.kind {
        CommandOwner::Agents => confine_this(),
        CommandOwner::Servers => held::told().and_then(|answer| confine_to(&answer)),
        CommandOwner::Programs => Ok(()),
    };
    if let Err(why) = confined {
        say(&why);
        return CANNOT_RUN;
    }
    let error = command.program.exec();
    say(&format!("comity-confine: {}: {error}", command.program.file.display()));
    if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_RUN }
}

/// Confines this process, as far as necessary and possible; the error says why its command must not run.
fn confine_this() -> Result<(), String> {
    let answer = match held::ask() {
        Ok(answer) => answer,
        Err(_) if failing::confine_is("off") => return Ok(()),
        // As its hook does: an agent that has left, say, must not be freer than one that is here.
        Err(NoAnswer::Refused(Fault { message, hint, .. })) => {
            return Err(format!("Comity: this did not run: {message}\n  {hint}"));
        }
        Err(NoAnswer::Unreachable(_)) if failing::is_open() && !failing::confine_is("required") => {
            return Ok(());
        }
        // An agent's own sandbox restricts it all the same.
        Err(NoAnswer::Forbidden(_)) if !failing::confine_is("required") => return Ok(()),
        // Otherwise ending the server would free an agent, even in plan mode.
        Err(NoAnswer::Unreachable(problem) | NoAnswer::Forbidden(problem)) => {
            return Err(format!(
                "Comity: this did not run: the server could not be asked what others hold: {problem}\n  see what is wrong with: comity doctor"
            ));
        }
    };
    confine_to(&answer)
}

fn confine_to(answer: &ConfineRules) -> Result<(), String> {
    let Some(confinement) = confinement(answer) else { return Ok(()) };
    let Err(problem) = enter(&confinement) else { return Ok(()) };
    match () {
        () if answer.sealed => Err(format!(
            "Comity: this did not run: you are in plan mode, and commands can't be made read-only here: {problem}\n  look around with commands that are proven to only read, or submit your plan"
        )),
        () if answer.policy == "required" => Err(format!(
            "Comity: this did not run: guard.confine is \"required\", and commands can't be confined here: {problem}\n  see what is wrong with: comity doctor"
        )),
        () => match problem.kind {
            ProblemKind::Forbidden => Ok(()),
            // Otherwise using up a resource would free an agent.
            ProblemKind::Exhausted => Err(format!(
                "Comity: this did not run, for it could not be confined: {problem}\n  end what runs in the background, and try again"
            )),
            ProblemKind::Failed => Err(format!(
                "Comity: this did not run, for it could not be confined: {problem}\n  try again; see what is wrong with: comity doctor"
            )),
            ProblemKind::HalfDone => Err(format!("Comity: this did not run: {problem}")),
        },
    }
}

fn confinement(answer: &ConfineRules) -> Option<Confinement> {
    let network = if answer.network { NetworkAccess::Shared } else { NetworkAccess::None };
    let hidden = answer.hidden.clone();
    if answer.sealed {
        return Some(Confinement { extent: Extent::Everything { shown: in_sight(answer) }, network, hidden });
    }
    let mut held = answer.paths();
    held.extend(comity_confine::other_names(&answer.roots(), &held));
    held.extend(answer.own.iter().cloned());
    (!held.is_empty()).then_some(Confinement { extent: Extent::Held(held), network, hidden })
}

/// What a command needs to see although its /tmp is private.
fn in_sight(answer: &ConfineRules) -> Vec<PathBuf> {
    let state = comity_wire::Home::from_env().ok();
    let socket = state.as_ref().and_then(|home| home.socket().parent().map(PathBuf::from));
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let own = std::env::current_exe().ok().and_then(|own| own.parent().map(PathBuf::from));
    let places =
        [std::env::current_dir().ok(), variable("HOME"), state.map(|home| home.path().into()), socket, own];
    let places = places.into_iter().flatten().chain(answer.roots()).chain(answer.own.iter().cloned());
    places.filter_map(|place| place.canonicalize().ok()).collect()
}
