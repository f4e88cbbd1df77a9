//! Explains "Read-only file system" after a confined command: its agent is told who holds the file.

use std::collections::BTreeMap;

use comity_core::locks::LockRefusal;
use comity_core::permissions::mode_of;
use comity_core::roles::Mode;
use comity_core::{Principal, ProjectId, limits};

use super::confine::{LOCKS_MAX, locks_of_others};
use super::program_settings;
use super::tool::{Judged, words_of};

/// What programs say when a held path stopped them, in lower case.
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
    let mut explained: Vec<String> = program_settings::explanation(judged.app, &told).into_iter().collect();
    let mut of_projects: BTreeMap<ProjectId, usize> = BTreeMap::new();
    for lock in locks_of_others(&world, judged.who, now) {
        let (project, path) = (lock.wanted.project, lock.wanted.pattern.readable());
        *of_projects.entry(project).or_default() += 1;
        if explained.len() < limits::HOLDERS_SHOWN_MAX && is_named(&told, &path) {
            let holders = vec![lock.view(&world, now)];
            let waiting = world.locks.waits_overlapping(project, &lock.wanted.pattern).len();
            explained.push(words_of(&LockRefusal::locked(path, holders, waiting)));
        }
    }
    let is_crowded = |project: &ProjectId| of_projects.get(project).is_some_and(|locks| *locks > LOCKS_MAX);
    let mut crowd: Vec<String> = locks_of_others(&world, judged.who, now)
        .filter(|lock| is_crowded(&lock.wanted.project))
        .map(|lock| world.name_of(lock.holder).to_string())
        .collect();
    crowd.sort();
    crowd.dedup();
    if !crowd.is_empty() {
        explained.push(format!(
            "there are more than {LOCKS_MAX} locks, so whole directories are held for {}; ask for fewer locks, on directories",
            crowd.join(", ")
        ));
    }
    (!explained.is_empty()).then(|| {
        format!(
            "Comity: this is not a fault of the disk. These files are read-only for your commands:\n{}",
            explained.join("\n")
        )
    })
}

/// Whether a message may be about a path: it contains the path's last plain name.
fn is_named(told: &str, path: &str) -> bool {
    let is_plain = |name: &&str| !name.is_empty() && !name.contains(['*', '?', '[', '{']);
    match path.split('/').rfind(is_plain) {
        Some(name) => told.contains(&name.to_lowercase()),
        // A glob without any name matches whatever it was.
        None => true,
    }
}
