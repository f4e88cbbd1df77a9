//! What takes a person at a terminal, and what a terminal alone does not make.

use crate::support::{BINARY, Place, has_program, skip};
use crate::terminal::Terminal;

#[test]
fn tokens_are_listed_for_a_present_person_only() {
    if !has_program("tmux") {
        return skip("tokens_are_listed_for_a_present_person_only", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let said = terminal.types(&place, &format!("setsid -w {BINARY} token list"));
    assert!(said.contains("only a person at a terminal may list tokens"), "{said}");
    let said = terminal.types(&place, &format!("{BINARY} token list"));
    assert!(said.contains("made "), "{said}");
}

#[test]
fn a_limit_that_looks_like_a_mark_is_named() {
    if !has_program("tmux") || !has_program("prlimit") {
        return skip("a_limit_that_looks_like_a_mark_is_named", "no tmux or prlimit");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let said = terminal.types(&place, &format!("prlimit --locks=1000:1000 {BINARY} whoami"));
    assert!(said.starts_with("nobody"), "{said}");
    assert!(said.contains("its limit on file locks is 1000") && said.contains("unlimited"), "{said}");
    assert!(!said.contains("was started by an agent"), "{said}");
}
