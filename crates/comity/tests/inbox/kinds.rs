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
