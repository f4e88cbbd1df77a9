//! Mail without a server: left in files, read from files, taken over by the next server exactly once.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::wire::Wire;
use support::{Place, eventually, kill};

fn texts(inbox: &Value) -> Vec<&str> {
    inbox["messages"].as_array().expect("messages").iter().filter_map(|one| one["text"].as_str()).collect()
}

#[test]
fn files_need_no_server() {
    let place = Place::new();
    assert_eq!(place.json(&["mail", "spooled", "ann"])["messages"], json!([]), "a missing box is empty");
    assert!(!place.home.join("teams").exists(), "and reading it makes nothing");
    for text in ["one", "two"] {
        place.json(&["mail", "spool", "ann", "-m", text, "--from", "bob"]);
    }
    let read = place.json(&["mail", "spooled", "ann"]);
    assert_eq!(texts(&read), ["one", "two"]);
    assert_eq!(read["messages"][0]["from"], "bob");
    assert_eq!(texts(&place.json(&["mail", "spooled", "ann"])), [""; 0], "they are marked read");
    assert_eq!(
        place.run(&["mail", "spool", "../ann", "-m", "x"]).code,
        1,
        "a name that leaves the directory"
    );
    assert!(place.server().is_none(), "nobody started a server");
}

#[test]
fn what_was_spooled_is_taken_over_once_when_its_receiver_is_here() {
    let place = Place::new();
    for text in ["one", "two"] {
        place.json(&["mail", "spool", "ann", "-m", text, "--from", "the leader"]);
    }
    place.json(&["up"]);
    let ann = place.join(&["ann"]);
    let first = place.json_as(&ann, &["next", "--wait", "20s"]);
    assert_eq!(texts(&first), ["one", "two"]);
    let message = &first["messages"][0];
    assert_eq!((&message["from"], &message["unverified"]), (&json!("the leader"), &json!(true)));
    place.json(&["mail", "spool", "ann", "-m", "three"]);
    let second = place.json_as(&ann, &["next", "--wait", "20s"]);
    assert_eq!(texts(&second), ["three"], "a server that runs is told");
    kill(place.server().expect("a server"), Signal::KILL);
    place.json(&["up"]);
    assert_eq!(place.json(&["mail", "take-over"])["letters"], 0);
    assert_eq!(texts(&place.json_as(&ann, &["next"])), [""; 0], "nothing comes twice");
}

#[test]
fn a_server_killed_while_it_takes_over_takes_over_once() {
    const LETTERS: usize = 40;
    let place = Place::new();
    place.json(&["up"]);
    let ann = place.join(&["ann"]);
    kill(place.server().expect("a server"), Signal::KILL);
    for n in 0..LETTERS {
        place.json(&["mail", "spool", "ann", "-m", &format!("letter {n}")]);
    }
    // Each server is killed a little further on its way.
    for letters in [1, 5, 12, 20, 33] {
        let mut server = place.start(place.comity(&["serve"]).stdout(Stdio::null()).stderr(Stdio::null()));
        eventually("some letters are taken over", || {
            let Some(mut wire) = Wire::try_connect(&place) else { return false };
            let boxes = wire.ask("mailboxes", json!({})).unwrap_or_default();
            boxes["boxes"][0]["letters"].as_u64().is_some_and(|taken| taken >= letters)
        });
        kill(server.pid(), Signal::KILL);
        let _ = server.0.wait();
    }
    place.json(&["up"]);
    place.json(&["mail", "take-over"]);
    let inbox = place.json_as(&ann, &["next"]);
    let expected: Vec<String> = (0..LETTERS).map(|n| format!("letter {n}")).collect();
    assert_eq!(texts(&inbox), expected, "each once, in order");
}

#[test]
fn a_letter_that_no_server_takes_is_left_in_a_file() {
    let place = Place::new();
    // A state directory whose log cannot be opened: no server starts on it.
    std::fs::create_dir_all(place.home.join("log.db")).expect("a directory in its place");
    let sent = place.run(&["mail", "send", "ann", "-m", "hello", "--json"]);
    assert_eq!(sent.code, 0, "{sent:?}");
    assert_eq!(sent.document()["spooled"][0]["box"], "default/ann");
    assert!(sent.err.contains("no server could be asked"), "{sent:?}");
    let refused = place.run(&["mail", "send", "team", "-m", "hello"]);
    assert_eq!(refused.code, 1, "who is in a team is known to a server only: {refused:?}");
    assert_eq!(texts(&place.json(&["mail", "spooled", "ann"])), ["hello"]);
}
