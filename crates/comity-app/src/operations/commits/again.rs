//! Whoever asks for a commit again, because a server ended before it could answer, gets the commit that was made.

use std::time::Duration;

use comity_core::Event;
use comity_core::commits::CommitEvent;
use comity_git::commit::recall;

use super::commit::{CommitMade, FileMade};
use crate::application::Application;
use crate::operation::Caller;
use crate::projects::PathBase;

/// How long git may take to say what is in a commit.
const PATIENCE: Duration = Duration::from_secs(30);
/// Hex digits of a message's hash: nobody gains anything by a collision.
const DIGITS: usize = 16;

/// The hash by which a message is recognized.
pub(super) fn hash(message: &str) -> Box<str> {
    blake3::hash(message.as_bytes()).to_hex()[..DIGITS].into()
}

/// The commit that the same call, by its key, has already made.
pub(super) fn made_before(app: &Application, caller: &Caller, place: &PathBase) -> Option<CommitMade> {
    let commit = app.answered(caller)?.into_iter().find_map(|event| match event {
        Event::Commit(CommitEvent::Made { commit, .. }) => Some(commit),
        _ => None,
    })?;
    Some(recalled(place, &commit.id, commit.branch.as_deref()))
}

/// The caller's last commit here, if nothing else was to be committed since, the message is the same, and a server
/// has ended since, perhaps before it could answer.
pub(super) fn perhaps_untold(
    app: &Application,
    caller: &Caller,
    place: &PathBase,
    message: &str,
) -> Option<CommitMade> {
    let last = app.engine().world().moves.last_of(caller.who, place.project()).cloned()?;
    let here = place.repository().root().to_string_lossy();
    let is_it =
        last.is_untold && last.message == hash(message) && last.worktree.as_deref() == Some(here.as_ref());
    is_it.then(|| {
        let mut made = recalled(place, &last.id, last.branch.as_deref());
        made.warnings.insert(0, "this is your last commit; you have changed nothing since".into());
        made
    })
}

fn recalled(place: &PathBase, id: &str, branch: Option<&str>) -> CommitMade {
    let mut made = CommitMade {
        commit: Some(id.to_owned()),
        branch: branch.map(str::to_owned),
        ..CommitMade::default()
    };
    match recall(place.repository(), id, PATIENCE) {
        Ok(found) => {
            made.files = found.changes.iter().map(FileMade::of).collect();
            made.tell_dirty(found.dirty);
        }
        Err(no) => made.warnings.push(format!("what is in it could not be found out: {no}")),
    }
    made
}
