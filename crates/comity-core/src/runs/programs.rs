//! What may be started: clients, and commands that a person has started before.

use super::{RunBackend, RunProgram, RunSpec};
use crate::ids::Principal;
use crate::limits::{PROFILE_BYTES_MAX, RUN_TEXT_BYTES_MAX};
use crate::refusal::Refusal;
use crate::world::World;

/// Clients ask before they write. A command asks nobody, so an agent starts none that a person has not started before.
pub(super) fn may_start(world: &World, who: Principal, program: &RunProgram) -> Result<(), Refusal> {
    let is_known = || world.runs.iter().any(|run| run.by == Principal::Human && run.spec.program == *program);
    match (who, program) {
        (Principal::Agent(_), RunProgram::Command(_)) if !is_known() => Err(Refusal::NotAllowed {
            problem: "an agent may start clients by name, and only those commands that a person has started"
                .into(),
            hint: "name a client, such as claude or codex, or ask the person to start the command".into(),
        }),
        (
            Principal::Agent(_) | Principal::Human | Principal::System | Principal::Nobody,
            RunProgram::Client(_) | RunProgram::Command(_),
        ) => Ok(()),
    }
}

pub(super) fn check(spec: &RunSpec) -> Result<(), Refusal> {
    let is_empty = match &spec.program {
        RunProgram::Client(name) => name.is_empty(),
        RunProgram::Command(words) => words.first().is_none_or(|word| word.is_empty()),
    };
    if is_empty {
        return Err(Refusal::bad_input("there is no program to start", "name a client or a command"));
    }
    if spec.text_commands && (spec.survives || spec.backend != RunBackend::Process) {
        return Err(Refusal::bad_input(
            "commands are read only from the output of a program that the server runs itself",
            "use the backend process, and do not let it survive",
        ));
    }
    if spec.leader.is_some() || spec.staffed {
        return Err(Refusal::bad_input("only Comity says who leads it", "leave that out"));
    }
    let words = match &spec.program {
        RunProgram::Client(name) => name.len(),
        RunProgram::Command(words) => words.iter().map(|word| word.len() + 1).sum(),
    };
    let texts = [
        ("command", words, RUN_TEXT_BYTES_MAX),
        ("prompt", spec.prompt.as_deref().map_or(0, str::len), RUN_TEXT_BYTES_MAX),
        ("directory", spec.cwd.len(), PROFILE_BYTES_MAX),
        ("model", spec.model.as_deref().map_or(0, str::len), PROFILE_BYTES_MAX),
    ];
    match texts.into_iter().find(|(_, bytes, max)| bytes > max) {
        Some((what, _, max)) => {
            Err(Refusal::bad_input(format!("the {what} is longer than {max} bytes"), "shorten it"))
        }
        None => Ok(()),
    }
}
