//! What an agent that Comity starts is told first: its role, and what it is asked to do.

use comity_core::World;
use comity_core::roles::Mode;
use comity_core::runs::RunSpec;

use crate::catalog::next_call;
use crate::operations::mail::Next;
use crate::operations::permissions::submit_plan_first;
use crate::operations::tasks::{TaskGet, TaskStart};
use crate::wording::Wording;

/// What an agent is told by whoever goes on with its session.
const AGAIN: &str = "Comity restarted you: continue what you were doing.";

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

fn joined<const COUNT: usize>(parts: [Option<String>; COUNT]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}
