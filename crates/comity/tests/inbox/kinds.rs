//! What nobody would find otherwise: an agent that ended over its work, somebody who needs a slot, and what alerts say.

use serde_json::json;

use super::kinds_of;
use super::support::{Place, eventually};

#[test]
fn the_task_of_an_agent_that_ended_waits_for_who_declared_it() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json(&["task", "add", "Write the parser", "--id", "parser"]);
    place.json_as(&ann, &["task", "start", "parser"]);
    assert!(kinds_of(&place).is_empty(), "somebody has it");
    place.json_as(&ann, &["agent", "bye"]);
    let list = place.json(&["inbox"]);
    assert_eq!(list["entries"][0]["type"], "death", "{list}");
    assert_eq!(list["entries"][0]["what"], "ann ended over parser, and nobody has it: Write the parser");
    assert_eq!(list["entries"][0]["answers"][0]["command"], "comity task assign parser AGENT");
    let refused = place.run(&["inbox", "task1", "assign", "--json"]).refusal();
    assert_eq!(
        (&refused["code"], &refused["hint"]),
        (&json!("bad_input"), &json!("comity task assign parser AGENT"))
    );
    place.json(&["inbox", "task1", "assign", "bob"]);
    assert!(kinds_of(&place).is_empty());
    assert_eq!(place.json_as(&bob, &["inbox"])["entries"][0]["type"], "task");
}

#[test]
fn who_can_spare_a_slot_is_asked_for_it() {
    let place = Place::new();
    place.set("[pools.gpu]\ncapacity = 3\n");
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    (0..3).for_each(|_| drop(place.json_as(&ann, &["lease", "gpu"])));
    assert_eq!(place.json_as(&ann, &["inbox"])["count"], 0, "nobody needs one");
    place.json_as(&bob, &["lease", "request", "gpu"]);
    let entry = &place.json_as(&ann, &["inbox"])["entries"][0];
    assert_eq!(entry["what"], "bob needs a lease of gpu; you have 3 leases", "{entry}");
    assert_eq!(
        (&entry["blocks"], &entry["answers"][0]["command"]),
        (&json!("bob"), &json!("comity lease grant gpu"))
    );
    place.json_as(&ann, &["inbox", "space-gpu", "grant"]);
    assert_eq!(place.json_as(&ann, &["inbox"])["count"], 0);
    assert_eq!(place.json_as(&bob, &["lease", "gpu"])["lease"]["pool"], "gpu", "it is kept for bob");
}

#[test]
fn alerts_show_whatever_has_to_be_decided() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    assert_eq!(place.run(&["alerts"]).out.trim_end(), "nothing needs a decision");
    place.json_as(&ann, &["mail", "send", "human", "-m", "hello"]);
    let shown = place.run(&["alerts"]).out;
    assert_eq!(shown.trim_end(), "nothing needs a decision; 1 thing is waiting for you: comity inbox list");
    place.run_as(&ann, &["ask", "Bash", r#"{"command": "make"}"#, "--by-mail"]);
    let alert = &place.json(&["alerts"])["alerts"][0];
    assert_eq!(
        (&alert["type"], &alert["message"]),
        (&json!("permission"), &json!("ann asks for Bash: make"))
    );
    let shown = place.run(&["alerts"]).out;
    assert!(
        shown.contains("comity permission allow 1, or comity permission deny 1 --reason REASON"),
        "{shown}"
    );
    place.json_as(&ann, &["task", "add", "Write it", "--id", "parser"]);
    place.json_as(&ann, &["task", "start", "parser"]);
    place.json_as(&ann, &["agent", "bye"]);
    eventually("what it left is the human's to decide", || {
        place.json(&["alerts"])["alerts"]
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["type"] == "death"))
    });
}

#[test]
fn whoever_waits_for_your_lock_is_an_entry_with_what_to_do() {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json(&["lock", "src/a.rs"]);
    let mut waiting =
        place.comity_as(&bob, &["lock", "src/a.rs", "--wait", "60s"]).spawn().expect("it waits");
    eventually("bob waits", || kinds_of(&place).contains(&"lock_wanted".to_owned()));
    let entry = &place.json(&["inbox"])["entries"][0];
    assert_eq!(entry["what"], "bob waits for your lock on src/a.rs", "{entry}");
    assert_eq!(entry["blocks"], "bob");
    place.json(&["inbox", "lock-src/a.rs", "release"]);
    assert!(waiting.wait().expect("it ends").success(), "bob has it");
    assert!(kinds_of(&place).is_empty());
}

#[test]
fn a_task_is_called_by_its_id_and_what_is_offered_can_be_done() {
    let place = Place::new();
    place.json(&["task", "add", "Write the parser", "--id", "parser", "--review"]);
    place.json(&["task", "start", "parser"]);
    place.json(&["task", "done", "parser", "--evidence", "commit 1"]);
    let entry = &place.json(&["inbox"])["entries"][0];
    assert_eq!((&entry["entry"], &entry["type"]), (&json!("parser"), &json!("review")), "{entry}");
    let refused = place.run(&["inbox", "parser", "send-back", "--json"]).refusal();
    assert_eq!(
        (&refused["message"], &refused["hint"]),
        (&json!("send-back needs a reason"), &json!("say it: comity task send-back parser --reason REASON"))
    );
    place.json(&["inbox", "parser", "accept"]);
    assert!(kinds_of(&place).is_empty(), "your own work is yours to accept: nobody is above you");
}

#[test]
fn two_that_are_called_the_same_are_told_apart_by_their_repository() {
    let place = Place::new();
    let other = place.dir().join("api");
    place.git(&["init", "--quiet", &other.display().to_string()]);
    let ann = place.join(&["ann"]);
    let add = ["task", "add", "Fix it", "--id", "fix", "--review"];
    let steps: [&[&str]; 3] =
        [&add, &["task", "start", "fix"], &["task", "done", "fix", "--evidence", "done"]];
    for dir in [&place.repo, &other] {
        for step in steps {
            let ran = place.comity_as(&ann, step).current_dir(dir).output().expect("it runs");
            assert!(ran.status.success(), "{ran:?}");
        }
    }
    let list = place.json(&["inbox", "--all-projects"]);
    let names: Vec<&str> = list["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| entry["entry"].as_str().expect("a name"))
        .collect();
    assert!(names.contains(&"api:fix") && names.len() == 2, "{list}");
    let here = place.json(&["inbox"]);
    let (entry, elsewhere) = (&here["entries"][0]["entry"], &here["elsewhere"]);
    assert_eq!((entry, elsewhere), (&json!("repo:fix"), &json!(1)), "as it is answered: {here}");
    let answered =
        place.comity(&["inbox", "api:fix", "accept"]).current_dir(&other).output().expect("it runs");
    assert!(answered.status.success(), "{answered:?}");
    assert_eq!(place.json(&["inbox"])["entries"][0]["entry"], "fix", "alone, it has its plain name again");
}

#[test]
fn a_request_shows_its_lines_and_its_end() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let long = format!("echo {}; rm -rf ~", "a".repeat(3_000));
    for command in [&*long, "git log\n\nrm   -rf x"] {
        place.run_as(&ann, &["ask", "Bash", &json!({ "command": command }).to_string(), "--by-mail"]);
    }
    let shown = place.run(&["inbox"]).out;
    let parts = ["rm -rf ~", " more bytes…]", "all of it: comity permission list", "git log ⏎ rm -rf x"];
    parts.iter().for_each(|part| assert!(shown.contains(part), "{part}: {shown}"));
}
