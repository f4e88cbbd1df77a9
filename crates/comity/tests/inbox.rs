//! The inbox: one list of what waits for each, and its answers.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use serde_json::Value;
use support::{Agent, BINARY, HUMAN, Place, eventually, has_program, skip};

/// The entries of an inbox, as their names and kinds.
fn entries(list: &Value) -> Vec<(String, String)> {
    let text = |entry: &Value, field: &str| entry[field].as_str().expect("a text").to_owned();
    let entries = list["entries"].as_array().expect("entries");
    entries.iter().map(|entry| (text(entry, "entry"), text(entry, "type"))).collect()
}

fn kinds(place: &Place) -> Vec<String> {
    entries(&place.json(&["inbox"])).into_iter().map(|(_, kind)| kind).collect()
}

/// A place in which one thing of each kind waits for the human.
fn place() -> (Place, Agent) {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["decide", "Use tabs", "--needs-confirmation"]);
    place.json_as(&ann, &["mail", "send", "human", "-m", "the build is red"]);
    place.json_as(&ann, &["task", "add", "Write the parser", "--id", "parser", "--review"]);
    place.json_as(&ann, &["task", "claim", "parser"]);
    place.json_as(&ann, &["task", "start", "parser"]);
    place.json_as(&ann, &["task", "done", "parser", "--evidence", "commit 1"]);
    let asked = place.run_as(&ann, &["ask", "Bash", "{\"command\": \"cargo publish\"}", "--by-mail"]);
    assert_eq!(asked.code, 3, "the answer comes by mail: {asked:?}");
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/left.rs"]);
    std::fs::create_dir_all(place.repo.join("src")).expect("made");
    std::fs::write(place.repo.join("src/left.rs"), "// half done\n").expect("written");
    place.json_as(&bob, &["agent", "bye"]);
    eventually("the files were looked at", || kinds(&place).contains(&"orphan".to_owned()));
    (place, ann)
}

#[test]
fn everything_waits_in_one_list_and_is_answered_there() {
    let (place, ann) = place();
    assert_eq!(kinds(&place), ["permission", "orphan", "review", "decision", "mail"]);
    assert_eq!(place.json(&["status"])["inbox"], 5);
    let list = place.json(&["inbox"]);
    let named = |kind: &str| {
        let entries = entries(&list);
        entries.into_iter().find(|(_, own)| own == kind).expect("there").0
    };
    assert_eq!(list["entries"][0]["blocks"], "ann");
    let shown = place.run(&["inbox"]).out;
    assert!(shown.contains("ann asks for Bash: cargo publish"), "{shown}");
    assert!(shown.contains("comity permissions allow 1"), "{shown}");
    assert!(shown.contains("src/left.rs  bob left uncommitted work here"), "{shown}");
    for (kind, words) in [
        ("permission", &["allow"][..]),
        ("orphan", &["adopt"]),
        ("review", &["accept"]),
        ("decision", &["reject", "no"]),
    ] {
        let entry = named(kind);
        let ran = place.run(&[&["inbox", &entry], words].concat());
        assert_eq!(ran.code, 0, "{kind}: {ran:?}");
        assert!(!kinds(&place).contains(&kind.to_owned()), "{kind} is answered");
    }
    assert_eq!(kinds(&place), ["mail"]);
    let rejected = &place.json(&["decisions"])["decisions"][0];
    assert!(rejected.to_string().contains("\"no\""), "with its reason: {rejected}");
    assert_eq!(place.json_as(&ann, &["inbox"])["count"], 1, "an agent has an inbox of its own");
}

#[test]
fn an_answer_that_cannot_be_meant_changes_nothing() {
    let (place, ann) = place();
    let refused = |words: &[&str]| place.run(words).refusal()["code"].as_str().expect("a code").to_owned();
    assert_eq!(refused(&["inbox", "p1", "perhaps", "--json"]), "bad_input");
    assert_eq!(refused(&["inbox", "p99", "allow", "--json"]), "not_found");
    let own = place.run_as(&ann, &["inbox", "p1", "allow", "--json"]);
    assert_eq!(own.refusal()["code"], "not_found", "it waits for somebody else");
    assert_eq!(kinds(&place).len(), 5);
    // The number alone means one thing only if one thing has it.
    assert_eq!(refused(&["inbox", "1", "allow", "--json"]), "bad_input");
}

#[test]
fn a_person_at_a_terminal_is_told_how_much_waits() {
    let test = "a_person_at_a_terminal_is_told_how_much_waits";
    if !has_program("script") {
        return skip(test, "there is no script");
    }
    let (place, _ann) = place();
    let at_terminal = |words: &str| {
        let mut script = place.program("script");
        script.args(["-qec", &format!("'{BINARY}' {words}"), "/dev/null"]).env("COMITY_TOKEN", HUMAN);
        String::from_utf8_lossy(&script.output().expect("it runs").stdout).into_owned()
    };
    assert!(at_terminal("locks").contains("5 things wait for you: comity inbox"));
    assert!(!at_terminal("inbox").contains("things wait for you"), "they are shown");
    assert!(!place.run(&["locks"]).err.contains("comity inbox"), "a script is told nothing");
}

#[test]
fn whoever_leads_is_told_which_files_were_left() {
    let place = Place::new();
    let lead = place.join(&["lead", "--role", "lead"]);
    let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann"]));
    std::fs::create_dir_all(place.repo.join("src")).expect("made");
    place.json_as(&ann, &["lock", "src/"]);
    std::fs::write(place.repo.join("src/left.rs"), "// half done\n").expect("written");
    place.json_as(&ann, &["agent", "bye"]);
    let alert = || place.json(&["alerts"])["alerts"][0]["message"].as_str().unwrap_or_default().to_owned();
    eventually("the files were looked at", || alert().contains("src/left.rs"));
    let noted = place.run_as(&lead, &["locks"]).err;
    assert!(noted.contains("ann left uncommitted work in src/ (src/left.rs)"), "{noted}");
    let waits = place.json_as(&lead, &["inbox"]);
    assert_eq!(waits["entries"][0]["what"], "ann left uncommitted work in src/left.rs", "{waits}");
    assert_eq!(place.json(&["inbox"])["count"], 0, "it waits for its leader");
    let status = place.run(&["status"]).out;
    assert!(status.contains("1 orphaned lock of uncommitted work"), "{status}");
}
