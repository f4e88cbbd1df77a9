//! Programs that run here on behalf of somebody else: git hooks, and hooks that make and remove worktrees. Whoever
//! can write them could have them do what its own commands cannot, so they are confined like those.

use std::path::Path;

use comity_core::{Principal, Refusal};
use comity_git::Confiner;

use super::confine::confines;
use crate::application::Application;
use crate::config::ConfinePolicy;
use crate::operation::Failure;

/// The confiner for such a program; `None` if it may write everywhere.
///
/// The worktree that it is to remove does not count as held.
pub(crate) fn confiner(
    app: &Application,
    who: Principal,
    removed: Option<&Path>,
) -> Result<Option<Confiner>, Failure> {
    // An ended agent may have written what it left behind.
    let who = if who == Principal::System { Principal::Nobody } else { who };
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
