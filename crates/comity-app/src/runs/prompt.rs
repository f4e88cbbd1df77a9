//! What an agent that Comity starts is told first: its role, and what it is asked to do.

use comity_core::World;
use comity_core::roles::Mode;
use comity_core::runs::{RunBackend, RunProgram, RunSpec};

use crate::catalog::next_call;
use crate::operations::mail::Next;
use crate::operations::permissions::submit_plan_first;
use crate::operations::tasks::{TaskGet, TaskStart};
use crate::wording::Wording;

/// What an agent is told by whoever goes on with its session.
const AGAIN: &str = "Comity has started you again: go on with what you were doing.";

/// What an agent is told.
pub(super) struct FirstPrompt {
    /// What holds all the time.
    pub(super) role: Option<String>,
    /// What it is to do.
    pub(super) work: Option<String>,
}

impl FirstPrompt {
    pub(super) fn of(world: &World, spec: &RunSpec, mode: Mode) -> FirstPrompt {
        let role =
            spec.role.as_deref().and_then(|role| world.roles.get(role)).map(|role| role.prompt.to_string());
        let task = spec.task.as_ref().map(|on| {
            let id = || [("id", (&*on.task).into())];
            let (show, start) = (next_call::<TaskGet>(id()), next_call::<TaskStart>(id()));
            let text = format!("Your task is {}: read it with `{show}`, and begin with `{start}`.", on.task);
            Wording::Commands.spell(&text).into_owned()
        });
        let plans = (mode == Mode::Plan).then(|| {
            let next = next_call::<Next>([("wait", "90s".into())]);
            let text = format!(
                "You are in plan mode, and change nothing yet: {}; `{next}` tells what comes of it.",
                submit_plan_first()
            );
            Wording::Commands.spell(&text).into_owned()
        });
        let work = joined([task, spec.prompt.as_deref().map(str::to_owned), plans]);
        // Over ACP it is prompted when something comes; elsewhere it would sit at an empty prompt for ever.
        let is_silent = matches!(spec.program, RunProgram::Client(_)) && spec.backend != RunBackend::Acp;
        let work = work.or_else(|| is_silent.then(|| seeks_work(&spec.name)));
        FirstPrompt { role: role.filter(|role| !role.is_empty()), work }
    }

    /// All of it, for those that cannot be told their role apart.
    pub(super) fn whole(&self) -> Option<String> {
        joined([self.role.clone(), self.work.clone()])
    }

    /// What comes first where the role was told already.
    pub(super) fn first(&self, session: Option<&str>) -> Option<String> {
        session.map_or_else(|| self.work.clone(), |_| Some(AGAIN.to_owned()))
    }

    /// What comes first where it was not.
    pub(super) fn first_with_role(&self, session: Option<&str>) -> Option<String> {
        session.map_or_else(|| self.whole(), |_| Some(AGAIN.to_owned()))
    }
}

/// What an agent is told that was given nothing.
fn seeks_work(name: &str) -> String {
    let next = next_call::<Next>([("wait", "90s".into())]);
    let text = format!(
        "You are {name}, an agent that Comity has started. Ask `{next}` for what to do, and again when that is done."
    );
    Wording::Commands.spell(&text).into_owned()
}

fn joined<const COUNT: usize>(parts: [Option<String>; COUNT]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(more: serde_json::Value) -> Option<String> {
        let mut spec = serde_json::json!({
            "name": "ann", "program": { "client": "claude" }, "cwd": "/", "backend": "process",
        });
        let fields = spec.as_object_mut().expect("an object");
        fields.extend(more.as_object().expect("an object").clone());
        let spec = serde_json::from_value(spec).expect("a spec");
        FirstPrompt::of(&World::default(), &spec, Mode::AcceptEdits).work
    }

    #[test]
    fn a_client_that_was_given_nothing_asks_for_work() {
        let told = work(serde_json::json!({})).expect("a prompt");
        assert!(told.starts_with("You are ann, ") && told.contains("`comity next --wait 90s`"), "{told}");
        assert_eq!(work(serde_json::json!({ "prompt": "hello" })).as_deref(), Some("hello"));
        assert_eq!(work(serde_json::json!({ "program": { "command": ["make"] } })), None);
        assert_eq!(work(serde_json::json!({ "backend": "acp" })), None);
    }
}
