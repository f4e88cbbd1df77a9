//! What the kernel's "Read-only file system" means: after a confined command, its agent is told who holds the file.

use comity_core::permissions::mode_of;
use comity_core::roles::Mode;
use comity_core::{Principal, Refusal, limits};

use super::confine::locks_of_others;
use super::tool::{Judged, words_of};
use crate::operations::locks::keeps_out;

/// What programs say when a held path stopped them, in small letters.
const EVIDENCE: [&str; 4] =
    ["read-only file system", "erofs", "device or resource busy", "invalid cross-device link"];

/// Who holds what a command ran into, if it did.
pub(super) fn explanation(judged: &Judged<'_>, payload: &str) -> Option<String> {
    let Principal::Agent(agent) = judged.who else { return None };
    let told = payload.to_ascii_lowercase();
    if !EVIDENCE.iter().any(|evidence| told.contains(evidence)) {
        return None;
    }
    let (world, now) = (judged.app.engine().world(), judged.app.engine().now());
    if mode_of(&world, agent) == Mode::Plan {
        return Some("Comity: you are in plan mode, so everything is read-only for your commands, and /tmp is private. Submit your plan first.".into());
    }
    let mut explained = Vec::new();
    for project in world.projects.keys() {
        for lock in locks_of_others(&world, judged.who, *project) {
            let path = lock.wanted.pattern.readable();
            if keeps_out(lock, &world, now) && is_named(&told, &path) {
                let holders = vec![lock.view(&world, now)];
                let waiting = world.locks.waits_overlapping(*project, &lock.wanted.pattern).len();
                explained.push(words_of(&Refusal::Locked { path, holders, waiting }));
            }
        }
    }
    explained.truncate(limits::HOLDERS_SHOWN_MAX);
    (!explained.is_empty()).then(|| {
        format!(
            "Comity: this is not a fault of the disk. Files that others hold are read-only for your commands:\n{}",
            explained.join("\n")
        )
    })
}

/// Whether what was told may be about a path: its last plain name is in it.
fn is_named(told: &str, path: &str) -> bool {
    let is_plain = |name: &&str| !name.is_empty() && !name.contains(['*', '?', '[', '{']);
    match path.split('/').rfind(is_plain) {
        Some(name) => told.contains(&name.to_lowercase()),
        // A glob without any name holds whatever it was.
        None => true,
    }
}
