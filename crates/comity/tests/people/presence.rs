//! What takes a person at a terminal, and what a terminal alone does not make.

use serde_json::json;

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

#[test]
fn a_hook_that_a_person_runs_by_hand_makes_no_agent() {
    if !has_program("tmux") {
        return skip("a_hook_that_a_person_runs_by_hand_makes_no_agent", "there is no tmux");
    }
    let place = Place::new();
    place.json(&["up"]);
    let terminal = Terminal::open(&place);
    let call = json!({
        "session_id": "s1", "cwd": place.repo, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": place.repo.join("src/a.rs"), "content": "x" },
    });
    let payload = place.dir().join("call.json");
    std::fs::write(&payload, call.to_string()).expect("written");
    let hook = std::path::Path::new(BINARY).with_file_name("comity-hook").display().to_string();
    let payload = payload.display();
    for line in [
        format!("{hook} claude <{payload}"),
        format!("cat {payload} | {hook}"),
        format!("bash -c '{hook} claude <{payload}; exit $?'"),
        format!("{BINARY} hook claude <{payload}"),
    ] {
        let said = terminal.types(&place, &format!("{{ {line}; echo exit $?; }}"));
        assert!(
            said.contains("no agent program runs this hook") && said.contains("exit 2"),
            "{line}: {said}"
        );
    }
    let said = terminal.types(&place, &format!("{BINARY} whoami"));
    assert!(said.starts_with("you, present"), "{said}");
    assert_eq!(place.json(&["agent", "list", "--all"])["agents"], json!([]));
    assert_eq!(place.json(&["locks"])["total"], 0);
}
