//! Mail without a server: left in files, read from files, taken over by the next server exactly once.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::wire::Wire;
use support::{Place, Ran, eventually, kill};

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
fn an_agent_reads_no_box_but_its_own_while_a_server_can_tell_it() {
    let place = Place::new();
    place.json(&["mail", "spool", "carl", "-m", "the code is xyzzy", "--from", "the leader"]);
    let ann = place.join(&["ann"]);
    let ran = place.run_as(&ann, &["mail", "spooled", "carl"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!ran.out.contains("xyzzy") && ran.err.contains("you are ann"), "{ran:?}");
    let mut nobody = place.comity_as_whoever(&["mail", "spooled", "carl"]);
    let ran = Ran::of(nobody.env("CLAUDECODE", "1").output().expect("comity runs"));
    assert!(ran.code == 3 && ran.err.contains("you are nobody"), "{ran:?}");
    assert_eq!(texts(&place.json_as(&ann, &["mail", "spooled", "ann"])), [""; 0], "its own it does");
    let read = place.json(&["mail", "spooled", "carl"]);
    assert_eq!(texts(&read), ["the code is xyzzy"], "it was not marked as read, and a person reads it");
}

#[test]
fn what_was_spooled_is_taken_over_once_when_its_receiver_is_here() {
    let place = Place::new();
    for text in ["one", "two"] {
        place.json(&["mail", "spool", "ann", "-m", text, "--from", "the leader"]);
    }
    place.json(&["up"]);
    let ann = place.join(&["ann"]);
    // They are taken over one after the other: the second may come with the next look.
    let (mut read, mut message) = (Vec::new(), Value::Null);
    while read.len() < 2 {
        let inbox = place.json_as(&ann, &["next", "--wait", "20s"]);
        read.extend(texts(&inbox).into_iter().map(str::to_owned));
        message = inbox["messages"][0].clone();
    }
    assert_eq!(read, ["one", "two"]);
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
