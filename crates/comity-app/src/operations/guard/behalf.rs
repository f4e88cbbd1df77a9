//! Programs that run here on behalf of somebody else: git hooks, and what makes and removes worktrees. Whoever can write to
//! them could have them do what its own commands cannot, so they are confined as those are.

use std::path::Path;

use comity_core::runs::is_sandboxed;
use comity_core::{Principal, Refusal};
use comity_git::Confiner;

use super::confine::confines;
use crate::application::Application;
use crate::config::ConfinePolicy;
use crate::operation::Failure;

/// What is run instead of what would see more than who asks for it.
const OUTSIDE: &str = "echo 'Comity: this program would run outside of your sandbox, so it did not run; run it yourself, such as by git \
                       commit in your worktree' >&2; exit 1";

/// What a program of this kind is run by; nothing, if it may write to everything.
///
/// Of a worktree that it is there to remove nothing is held.
pub(crate) fn confiner(
    app: &Application,
    who: Principal,
    removed: Option<&Path>,
) -> Result<Option<Confiner>, Failure> {
    // What an agent has left behind may have been written by it.
    let who = if who == Principal::System { Principal::Nobody } else { who };
    if is_sandboxed(&app.engine().world(), who) {
        let argv = ["/bin/sh", "-c", OUTSIDE, "sh"].map(Into::into).to_vec();
        return Ok(Some(Confiner { argv, told: Vec::new() }));
    }
    let mut confines = confines(app, who, None)?;
    if let Some(removed) = removed {
        confines.held.iter_mut().for_each(|project| project.roots.retain(|root| Path::new(root) != removed));
        let real = removed.canonicalize().unwrap_or_else(|_| removed.to_owned());
        confines.own.retain(|path| !Path::new(path).starts_with(&real));
    }
    if confines.is_nothing() {
        return Ok(None);
    }
    let argv = app.server().confine.clone();
    if argv.is_empty() {
        return match confines.policy {
            ConfinePolicy::Auto if !confines.sealed => Ok(None),
            ConfinePolicy::Auto | ConfinePolicy::Required | ConfinePolicy::Off => Err(Refusal::bad_input(
                "this runs a program that can't be confined here",
                "see what is wrong with: comity doctor",
            )
            .into()),
        };
    }
    let answer = serde_json::to_vec(&confines).map_err(Failure::fault)?;
    let told = [format!("{}\n", answer.len()).as_bytes(), &answer].concat();
    Ok(Some(Confiner { argv, told }))
}
