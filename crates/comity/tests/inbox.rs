//! The inbox: one list of what waits for each, and its answers.

#[path = "inbox/kinds.rs"]
mod kinds;
#[path = "inbox/numbers.rs"]
mod numbers;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[path = "inbox/words.rs"]
mod words;

use serde_json::Value;
use support::{Agent, BINARY, HUMAN, Place, eventually, has_program, skip};

/// The entries of an inbox, as their names and kinds.
fn entries(list: &Value) -> Vec<(String, String)> {
    let text = |entry: &Value, field: &str| entry[field].as_str().expect("a text").to_owned();
    let entries = list["entries"].as_array().expect("entries");
    entries.iter().map(|entry| (text(entry, "entry"), text(entry, "type"))).collect()
}

fn kinds_of(place: &Place) -> Vec<String> {
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
    eventually("the files were looked at", || kinds_of(&place).contains(&"orphan".to_owned()));
    (place, ann)
}

#[test]
fn everything_waits_in_one_list_and_is_answered_there() {
    let (place, ann) = place();
    assert_eq!(kinds_of(&place), ["permission", "orphan", "review", "decision", "mail"]);
    assert_eq!(place.json(&["status"])["inbox"], 5);
    let list = place.json(&["inbox"]);
    let named = |kind: &str| {
        let entries = entries(&list);
        entries.into_iter().find(|(_, own)| own == kind).expect("there").0
    };
    assert_eq!(list["entries"][0]["blocks"], "ann");
    let shown = place.run(&["inbox"]).out;
    assert!(shown.contains("ann asks for Bash: cargo publish"), "{shown}");
    assert!(shown.contains("comity permission allow 1"), "{shown}");
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
        assert!(!kinds_of(&place).contains(&kind.to_owned()), "{kind} is answered");
    }
    assert_eq!(kinds_of(&place), ["mail"]);
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
    assert_eq!(kinds_of(&place).len(), 5);
    // The number alone means one thing only if one thing has it, or it is the line that was seen last.
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
    assert!(!at_terminal("status").contains("things are waiting for you"), "it has a line of its own");
    assert!(at_terminal("locks").contains("5 things are waiting for you: comity inbox"));
    assert!(!at_terminal("locks").contains("comity inbox"), "once is enough");
    let more = place.join(&["cat"]);
    place.json_as(&more, &["decide", "One more", "--needs-confirmation"]);
    assert!(at_terminal("locks").contains("6 things are waiting for you: comity inbox"), "that is news");
    assert!(!at_terminal("inbox").contains("things are waiting for you"), "they are shown");
    place.json_as(&more, &["lock", "src/held.rs"]);
    let waited = at_terminal("lock src/held.rs --wait 2s");
    assert!(waited.contains("waiting for up to 2s; Ctrl-C gives up"), "{waited}");
    assert!(!place.run(&["locks"]).err.contains("comity inbox"), "a script is told nothing");
    assert_eq!(place.json(&["locks"])["inbox"], 6, "but every document has the count");
}

#[test]
fn an_agent_is_told_how_much_waits_after_every_command() {
    let (place, ann) = place();
    assert!(!place.run_as(&ann, &["locks"]).err.contains("comity inbox"), "nothing waits for it");
    place.json(&["mail", "send", "ann", "-m", "hello"]);
    assert!(place.run_as(&ann, &["locks"]).err.contains("1 thing is waiting for you: comity inbox"));
    assert_eq!(place.json_as(&ann, &["status"])["inbox"], 1);
    assert_eq!(place.json_as(&ann, &["agent", "list"])["inbox"], 1);
    let read = place.run_as(&ann, &["mail", "read"]);
    assert!(read.out.contains("hello") && !read.err.contains("comity inbox"), "it is read: {read:?}");
    assert!(!place.run_as(&ann, &["locks"]).err.contains("comity inbox"), "nothing waits any more");
}

/// A program that writes down what the desktop would show.
const NOTIFY_SEND: &str = "#!/bin/sh\nshift 3\necho \"$@\" >> \"$NOTED\"\n";

#[test]
fn the_desktop_shows_what_is_new_if_that_is_wanted() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.set("[inbox]\nnotify = true\n");
    let (programs, noted) = (place.dir().join("programs"), place.dir().join("noted"));
    std::fs::create_dir(&programs).expect("made");
    let script = NOTIFY_SEND.replace("$NOTED", &noted.display().to_string());
    std::fs::write(programs.join("notify-send"), script).expect("written");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(programs.join("notify-send"), executable).expect("executable");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").expect("a path"));
    // The server is started with this PATH.
    let mut up = place.comity(&["up"]);
    assert!(up.env("PATH", &path).output().expect("it runs").status.success());
    let ann = place.join(&["ann"]);
    place.run_as(&ann, &["ask", "Bash", "{\"command\": \"make '<b>'\"}", "--by-mail"]);
    let shown = || std::fs::read_to_string(&noted).unwrap_or_default();
    eventually("it is shown", || shown().contains("ann asks for Bash: make '&lt;b&gt;'"));
    place.json(&["permissions", "allow", "1"]);
    place.json_as(&ann, &["mail", "send", "human", "-m", "done"]);
    eventually("the letter is shown", || shown().contains("1 letter unread"));
    assert_eq!(shown().lines().count(), 2, "each once: {}", shown());
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

#[test]
fn next_is_the_first_entry_and_offers_what_is_ready() {
    let place = Place::new();
    let lead = place.join(&["lead", "--role", "lead"]);
    let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann"]));
    let next = |who: &Agent| place.json_as(who, &["next"]);
    // Nothing waits, and nothing is written.
    let count = || place.log().len();
    next(&ann);
    let before = count();
    assert_eq!(next(&ann)["entry"], Value::Null);
    assert_eq!(count(), before, "{:?}", place.log().last());
    place.json(&["task", "add", "Write the parser", "--id", "parser", "--review"]);
    let before = count();
    let offered = next(&ann);
    assert_eq!(offered["entry"]["type"], "ready", "{offered}");
    assert_eq!(offered["entry"]["answers"][0]["command"], "comity task claim parser");
    assert_eq!(count(), before, "it is only offered");
    place.json_as(&ann, &["task", "start", "parser"]);
    place.json_as(&ann, &["task", "done", "parser", "--evidence", "commit 1"]);
    place.json_as(&ann, &["decide", "Use tabs", "--needs-confirmation"]);
    // What waits for the leader stays first until it is answered, however often it looks.
    for _ in 0..2 {
        assert_eq!(next(&lead)["entry"]["type"], "decision");
    }
    assert_eq!(place.json(&["next"])["entry"]["type"], "review", "the human declared it");
    assert!(place.run(&["next"]).out.contains("comity task accept parser"));
}

#[test]
fn a_task_keeps_what_was_said_of_earlier_attempts() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json(&["task", "add", "Write the parser", "--id", "parser", "--review"]);
    place.json_as(&ann, &["task", "start", "parser"]);
    place.json_as(&ann, &["task", "done", "parser", "--evidence", "commit 1"]);
    place.json(&["task", "send-back", "parser", "--reason", "the tests fail on empty input"]);
    place.json_as(&ann, &["task", "start", "parser"]);
    place.json_as(&ann, &["agent", "bye", "--reason", "out of memory"]);
    let history = &place.json(&["task", "get", "parser"])["history"];
    assert_eq!((&history[0]["how"], &history[1]["how"]), (&"sent_back".into(), &"died".into()), "{history}");
    let shown = place.run(&["task", "get", "parser"]).out;
    assert!(
        shown.contains("attempt 1 (ann): sent back by you: \"the tests fail on empty input\""),
        "{shown}"
    );
    let prompt = place.json_as(&bob, &["task", "claim", "parser"])["prompt"].to_string();
    assert!(prompt.contains("the tests fail on empty input"), "{prompt}");
    assert!(
        prompt.contains("Attempt 2 (ann): ended over it") && prompt.contains("out of memory"),
        "{prompt}"
    );
}

#[test]
fn control_is_apart_from_mail_and_plans_keep_their_lines() {
    let place = Place::new();
    let lead = place.join(&["lead", "--role", "lead"]);
    let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann", "--role", "reviewer"]));
    place.json_as(&ann, &["plan", "submit", "plan.md", "--content", "1. read\n2. write"]);
    place.json_as(&ann, &["mail", "send", "lead", "-m", "control: you may end now"]);
    let shown = place.run_as(&lead, &["next"]).out;
    assert!(shown.contains("  | 1. read\n  | 2. write\n"), "{shown}");
    assert!(shown.contains("  | control: you may end now"), "a letter stays a letter: {shown}");
    let ended = place.json_as(&lead, &["shutdown", "request", "ann", "--force"]);
    assert_eq!(ended["state"], "ended");
    assert_eq!(place.json(&["agent", "list"])["agents"].as_array().expect("agents").len(), 1);
}
