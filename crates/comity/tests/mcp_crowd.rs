//! Many `comity mcp` at once, none of which was given a name: all of them live.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::collections::BTreeSet;
use std::io::Write;

use serde_json::{Value, json};
use support::mcp::Mcp;
use support::{BINARY, Place};

/// Programs at once.
const CROWD: usize = 10;
/// How often: it takes two that come in at the same moment.
const ROUNDS: usize = 5;

/// Starts them such that they come in at the same moment, and gives what they say.
fn crowd(place: &Place, line: &str) -> (Vec<Mcp>, Vec<String>) {
    place.json(&["up"]);
    let gate = place.dir().join("gate");
    let made = place.program("mkfifo").arg(&gate).status().expect("mkfifo");
    assert!(made.success());
    // Each waits for a line: all go on in one moment.
    let mut lines = std::fs::File::options().read(true).write(true).open(&gate).expect("opened");
    let script = format!("read line <{}; {line}", gate.display());
    let start = |_| {
        let mut shell = place.program("sh");
        Mcp::start_later(shell.args(["-c", &script]).env("comity", BINARY))
    };
    let mut all: Vec<Mcp> = (0..CROWD).map(start).collect();
    lines.write_all("go\n".repeat(CROWD).as_bytes()).expect("written");
    all.iter_mut().for_each(Mcp::greet);
    let said = all.iter_mut().map(|mcp| mcp.call("status", &json!({})).text).collect();
    (all, said)
}

fn live(place: &Place) -> BTreeSet<String> {
    let list = place.json(&["agent", "list"]);
    let agents: &Vec<Value> = list["agents"].as_array().expect("agents");
    agents.iter().map(|agent| agent["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn programs_of_one_name_that_start_at_once_all_get_in() {
    for _ in 0..ROUNDS {
        let place = Place::new();
        // A program by another name than a shell's is taken for an agent's.
        let program = place.dir().join("builder");
        place.copy_program("/bin/sh", &program);
        let (all, said) = crowd(&place, &format!("exec {} -c '$comity mcp; :'", program.display()));
        let live = live(&place);
        assert_eq!(live.len(), CROWD, "{live:?}: {said:?}");
        assert!(live.iter().all(|name| name.starts_with("builder")), "{live:?}");
        drop(all);
    }
}

#[test]
fn a_client_that_only_a_runtime_shows_is_called_what_it_calls_itself() {
    let place = Place::new();
    let program = place.dir().join("node");
    place.copy_program("/bin/sh", &program);
    let mut node = place.program(&program);
    let mut mcp = Mcp::start(node.args(["-c", "$comity mcp; :"]).env("comity", BINARY));
    assert_eq!(live(&place), BTreeSet::from(["test".to_owned()]));
    assert!(!mcp.call("locks", &json!({})).is_error);
}

#[test]
fn several_of_one_program_that_start_at_once_are_one_agent() {
    for _ in 0..ROUNDS {
        let place = Place::new();
        let (all, said) = crowd(&place, "exec $comity mcp");
        assert_eq!(live(&place).len(), 1, "{said:?}");
        drop(all);
    }
}
