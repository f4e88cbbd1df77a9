//! Which files a command line changes: tables of commands, real shells, and generated text.

mod bounds;
mod guesses;
mod in_place;
mod moving;
mod parts;
mod places;
mod redirections;
mod running;
mod vcs;

use comity_guard::programs::{CallDirs, effects};

/// Where `~` leads in these tests.
const HOME: &str = "/srv/ann";

/// What a command line changes, in one line.
fn seen(command: &str) -> String {
    let found = effects(command, &CallDirs { home: Some(HOME.to_owned()), ..CallDirs::default() });
    let mut seen: Vec<String> = found.writes.iter().map(ToString::to_string).collect();
    seen.extend(found.unknown.map(|why| format!("? {why}")));
    seen.join("; ")
}

/// Compares each command of a table with what it is known to change.
#[track_caller]
fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .map(|(command, expected)| (command, expected, seen(command)))
        .filter(|(_, expected, seen)| seen != *expected)
        .map(|(command, expected, seen)| format!("{command}\n   expected: {expected}\n       seen: {seen}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}
