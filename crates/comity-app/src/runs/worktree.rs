//! A worktree for an agent that is about to start.

use std::path::PathBuf;

use comity_core::Principal;
use comity_core::runs::RunSpec;
use serde_json::{Value, json};

use super::{Placed, RunNews};
use crate::application::{Application, OperationCall, Responder};
use crate::catalog::name_of;
use crate::operation::{Caller, Failure, Rendered};
use crate::operations::worktrees::WorktreeAdd;

/// Makes it, and tells the reconciler when it is there. That may take long, so nothing waits for it.
pub(super) fn make(app: &Application, spec: &RunSpec, placed: Placed) {
    let caller = Caller::new(Principal::Agent(placed.agent), Some(PathBuf::from(&*spec.cwd)));
    let input = json!({ "slug": &*spec.name }).into();
    let call = OperationCall { op: name_of::<WorktreeAdd>(), input, ..OperationCall::default() };
    app.call(&caller, call, Box::new(AwaitedWorktree { app: app.clone(), placed }));
}

/// Hears what came of it.
struct AwaitedWorktree {
    app: Application,
    placed: Placed,
}

impl Responder for AwaitedWorktree {
    fn is_read(&self) -> bool {
        false
    }

    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, _: Vec<String>) {
        let AwaitedWorktree { app, placed } = *self;
        let directory = match output {
            Ok(made) => path_of(&made.json).ok_or_else(|| format!("no worktree is in {}", made.json)),
            Err(Failure::Refused(refusal)) => Err(format!("it has no worktree: {refusal}")),
            Err(Failure::Fault(problem)) => Err(format!("it has no worktree: {problem}")),
        };
        app.runs().tell(RunNews::Worktree(Placed { directory, ..placed }));
    }
}

fn path_of(json: &str) -> Option<PathBuf> {
    let made: Value = serde_json::from_str(json).ok()?;
    // Where none could be made, it is the shared directory, and its agent is to know that it is.
    made["fallback"].is_null().then(|| made["path"].as_str().map(PathBuf::from))?
}
