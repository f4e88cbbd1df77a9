//! Every kind of entry, through every door: the calls that answer it are in the words of that door alone.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::support::mcp::Mcp;
use super::support::{Agent, Place, eventually, http};

/// All kinds but `ready`, which is no part of the list.
const KINDS: [&str; 13] = [
    "shutdown",
    "permission",
    "plan",
    "orphan",
    "death",
    "gave_up",
    "review",
    "failed",
    "space",
    "decision",
    "wish",
    "mail",
    "task",
];

/// A place in which something of every kind waits for the leader or for the human.
fn place() -> (Place, Agent) {
    let place = Place::new();
    place.set("[pools.gpu]\ncapacity = 3\n");
    let lead = place.join(&["lead", "--role", "lead"]);
    let join = |words: &[&str]| Agent::of(&place.json_as(&lead, &[&["agent", "join"], words].concat()));
    let (ann, bob, dan) = (join(&["ann"]), join(&["bob"]), join(&["dan"]));
    place.run_as(&dan, &["ask", "Bash", r#"{"command": "make"}"#, "--by-mail"]);
    place.json(&["mode", "ann", "plan"]);
    place.json_as(&ann, &["plan", "submit", "plan.md", "--content", "1. read"]);
    place.json_as(&ann, &["decide", "Use tabs", "--needs-confirmation"]);
    place.json_as(&ann, &["mail", "send", "lead", "-m", "the build is red"]);
    for (id, ends) in [
        ("checked-one", &["done", "checked-one", "--evidence", "commit 1"][..]),
        ("lost", &["fail", "lost", "--reason", "no"]),
    ] {
        place.json_as(&lead, &["task", "add", "Write it", "--id", id, "--review"]);
        place.json_as(&bob, &["task", "claim", id]);
        place.json_as(&bob, &["task", "start", id]);
        place.json_as(&bob, &[&["task"], ends].concat());
    }
    place.json_as(&lead, &["task", "add", "Write it", "--id", "dropped"]);
    place.json_as(&bob, &["task", "start", "dropped"]);
    (0..3).for_each(|_| drop(place.json_as(&lead, &["lease", "gpu"])));
    place.json_as(&ann, &["lease", "request", "gpu"]);
    place.json(&["task", "add", "Yours", "--id", "yours"]);
    place.json(&["task", "assign", "yours", "lead"]);
    place.json(&["team", "create", "parsers"]);
    place.json_as(&lead, &["agent", "join", "cid", "--team", "parsers"]);
    place.json_as(&bob, &["lock", "src/left file.rs"]);
    fs::create_dir_all(place.repo.join("src")).expect("made");
    fs::write(place.repo.join("src/left file.rs"), "// half done\n").expect("written");
    place.json_as(&bob, &["agent", "bye"]);
    // An agent starts only such a command as a person has started.
    place.json(&["spawn", "developer", "--name", "hal", "--agent", "/no/such/program"]);
    place.json_as(&lead, &["spawn", "developer", "--name", "gus", "--agent", "/no/such/program"]);
    place.json(&["shutdown", "request", "lead", "--within", "1h"]);
    let is_left = |entry: &Value| entry["type"] == "orphan";
    let list = || place.json_as(&lead, &["inbox"]);
    eventually("the files were looked at", || {
        list()["entries"].as_array().is_some_and(|entries| entries.iter().any(is_left))
    });
    let gave_up = |entry: &Value| entry["type"] == "gave_up";
    eventually("the program was given up", || {
        list()["entries"].as_array().is_some_and(|entries| entries.iter().any(gave_up))
    });
    (place, lead)
}

/// The calls of all answers, each with the kind of its entry.
fn commands(list: &Value) -> Vec<(String, String)> {
    let mut found = vec![];
    for entry in list["entries"].as_array().expect("entries") {
        for answer in entry["answers"].as_array().expect("answers") {
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            found.push((text(&entry["type"]), text(&answer["command"])));
        }
    }
    found
}

#[test]
fn every_kind_is_answered_in_the_words_of_each_door() {
    let (place, lead) = place();
    let mut kinds = BTreeSet::new();
    for list in [place.json(&["inbox"]), place.json_as(&lead, &["inbox"])] {
        for (kind, command) in commands(&list) {
            kinds.insert(kind);
            assert!(command.starts_with("comity "), "{command}");
            // What a person is told to type exists.
            let words = command
                .trim_start_matches("comity ")
                .split(' ')
                .take_while(|word| word.starts_with(char::is_alphabetic) && !word.contains('/'));
            let words: Vec<&str> = words.take(2).collect();
            assert_eq!(place.run(&[&words[..], &["--help"]].concat()).code, 0, "{command}");
        }
    }
    assert_eq!(kinds, KINDS.map(str::to_owned).into());
    let by_name = |command: &str| place.json_as(&lead, &["inbox"]).to_string().contains(command);
    assert!(by_name("comity permission deny 1 --reason REASON"));
    assert!(by_name("comity plan reject 2 --reason REASON"));
    assert!(by_name("comity rescue 'src/left file.rs'") && by_name("comity task accept checked-one"));

    for token in [http::human_token(&place), lead.token.clone()] {
        let list = http::request(&place, Some(&token), "GET", "/api/inbox", None).json();
        for (_, command) in commands(&list) {
            assert!(command.starts_with("POST /api/"), "{command}");
        }
    }

    let mut mcp = Mcp::start(&mut place.comity_as(&lead, &["mcp"]));
    let read = mcp.ask("resources/read", &json!({ "uri": "comity://inbox" }));
    let text = read["contents"][0]["text"].as_str().expect("a text");
    assert!(!text.contains("comity ") && !text.contains("POST /"), "{text}");
    for answer in [
        r#"answer(entry="s-r1", answer="approve")"#,
        r#"answer(entry="p1", answer="deny", reason="REASON")"#,
        r#"answer(entry="plan2", answer="reject", reason="REASON")"#,
        r#"answer(entry="src/left file.rs", answer="adopt")"#,
        r#"answer(entry="checked-one", answer="accept")"#,
        r#"answer(entry="lost", answer="retry")"#,
        r#"answer(entry="dropped", answer="assign", reason="AGENT")"#,
        r#"answer(entry="space-gpu", answer="grant")"#,
        r#"answer(entry="d1", answer="confirm")"#,
        "next()",
    ] {
        assert!(text.contains(answer), "{answer}: {text}");
    }
}

#[test]
fn next_over_mcp_names_the_tool_that_answers() {
    let place = Place::new();
    let (lead, ann) = (place.join(&["lead", "--role", "lead"]), place.join(&["ann"]));
    place.json_as(&lead, &["task", "add", "Write it", "--id", "parser", "--review"]);
    let mcp = |agent: &Agent| {
        let mut mcp = Mcp::start(&mut place.comity_as(agent, &["mcp"]));
        mcp.call("next", &json!({})).text
    };
    let offered = mcp(&ann);
    assert!(offered.contains(r#"answer(entry="parser", answer="claim")"#), "{offered}");
    place.json_as(&ann, &["task", "start", "parser"]);
    place.json_as(&ann, &["task", "done", "parser", "--evidence", "commit 1"]);
    let review = mcp(&lead);
    assert!(review.contains(r#"answer(entry="parser", answer="send-back", reason="REASON")"#), "{review}");
    assert!(review.contains(r#"waits for a review: answer(entry="parser", answer="accept")"#), "{review}");
    assert!(!review.contains("comity "), "{review}");
    let mut mcp = Mcp::start(&mut place.comity_as(&lead, &["mcp"]));
    let told = mcp.call("answer", &json!({ "entry": "parser", "answer": "accept" }));
    assert!(!told.is_error, "{}", told.text);
}

#[test]
fn what_is_in_other_projects_is_named_in_the_words_of_the_door() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json(&["task", "add", "Here"]);
    let other = place.dir().join("other");
    fs::create_dir(&other).expect("made");
    assert!(place.program("git").arg("init").arg("-q").arg(&other).status().expect("git").success());
    let mut list = place.comity_as(&ann, &["task", "list"]);
    let listed = super::support::Ran::of(list.current_dir(&other).output().expect("it runs"));
    assert!(listed.out.contains("1 more in other projects: comity task list --all-projects"), "{listed:?}");
    let mut mcp = Mcp::start(place.comity_as(&ann, &["mcp"]).current_dir(&other));
    let told = mcp.call("TaskList", &json!({})).text;
    assert!(told.contains("1 more in other projects: TaskList(all_projects=true)"), "{told}");
}
