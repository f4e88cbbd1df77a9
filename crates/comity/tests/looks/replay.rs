//! `log replay` shows everything that was so, and what is different at another moment.

use std::collections::BTreeSet;

use serde_json::Value;

use super::support::{Agent, Place};

/// All kinds of facts.
const KINDS: [&str; 12] = [
    "agent",
    "team",
    "lock",
    "wait",
    "task",
    "mail",
    "permission",
    "plan",
    "rule",
    "pool",
    "worktree",
    "decision",
];

fn head(place: &Place) -> String {
    place.json(&["status"])["head"].to_string()
}

fn named<'a>(facts: &'a Value, kind: &str, name: &str) -> Option<&'a Value> {
    let facts = facts.as_array().expect("facts");
    facts.iter().find(|fact| fact["kind"] == kind && fact["name"] == name)
}

#[test]
fn what_has_not_been_yet_is_not_shown() {
    let place = Place::new();
    place.join(&["ann"]);
    for (moment, problem) in
        [("99999", "there is no entry 99999 yet: the newest is"), ("2099-01-01T00:00", "is in the future")]
    {
        let refused = place.run(&["log", "replay", "--at", moment]);
        assert!(refused.code == 3 && refused.err.contains(problem), "{refused:?}");
        let refused = place.run(&["log", "replay", "--at", "1", "--diff", moment]);
        assert!(refused.code == 3 && refused.err.contains(problem), "{refused:?}");
    }
    assert_eq!(place.run(&["log", "replay", "--at", &head(&place)]).code, 0);
}

#[test]
fn everything_that_was_so_is_shown_and_compared() {
    let place = Place::new();
    place.set("[pools.gpu]\ncapacity = 2\n");
    let lead = place.join(&["lead", "--role", "lead"]);
    let join = |name: &str| Agent::of(&place.json_as(&lead, &["agent", "join", name]));
    let (ann, bob, cid) = (join("ann"), join("bob"), join("cid"));
    place.json(&["team", "create", "parsers"]);
    place.json_as(&ann, &["lease", "gpu"]);
    place.json_as(&ann, &["decide", "Use tabs"]);
    place.json_as(&ann, &["mail", "send", "lead", "-m", "hello"]);
    place.run_as(&ann, &["ask", "Bash", r#"{"command": "make"}"#, "--by-mail"]);
    place.json(&["permission", "rule", "add", "deny", "Bash", "rm *"]);
    place.json_as(&ann, &["worktree", "add", "login"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json_as(&lead, &["task", "add", "Write it", "--id", "parser"]);
    place.json(&["mode", "cid", "plan"]);
    place.json_as(&cid, &["plan", "submit", "plan.md", "--content", "1. read"]);
    let mut log = place.follow_on();
    let waits = place.start(&mut place.comity_as(&bob, &["lock", "src/a.rs", "--wait", "1h"]));
    log.until_action("wait_started");
    let then = head(&place);
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    assert_eq!(waits.finish().code, 0);
    place.json_as(&bob, &["task", "claim", "parser"]);
    place.json_as(&bob, &["lock", "src/b.rs"]);

    let past = place.json(&["log", "replay", "--at", &then]);
    let facts = past["facts"].as_array().expect("facts");
    let kinds: BTreeSet<&str> = facts.iter().filter_map(|fact| fact["kind"].as_str()).collect();
    assert_eq!(kinds, KINDS.into(), "{past}");
    for (kind, name, state) in [
        ("agent", "ann", "running"),
        ("lock", "src/a.rs", "ann in repo"),
        ("wait", "bob", "src/a.rs"),
        ("task", "parser", "ready, attempt 1 in repo"),
        ("mail", "lead", "1 letter unread"),
        ("plan", "3", "cid: plan.md, waiting for lead"),
        ("pool", "gpu", "1 of 2, ann"),
    ] {
        let fact = named(&past["facts"], kind, name).unwrap_or_else(|| panic!("{kind} {name}: {past}"));
        assert!(fact["state"].as_str().is_some_and(|is| is.starts_with(state)), "{state}: {fact}");
    }
    let diff = &place.json(&["log", "replay", "--at", &then, "--diff", &head(&place)])["diff"];
    assert!(named(&diff["added"], "lock", "src/b.rs").is_some(), "{diff}");
    assert!(named(&diff["removed"], "wait", "bob").is_some(), "{diff}");
    let changed = named(&diff["changed"], "lock", "src/a.rs").expect("its holder is another one");
    assert_eq!((&changed["before"], &changed["state"]), (&"ann in repo".into(), &"bob in repo".into()));
    let task = named(&diff["changed"], "task", "parser").expect("it is claimed");
    assert!(task["state"].as_str().is_some_and(|state| state.starts_with("ready, bob")), "{task}");
    assert!(named(&diff["changed"], "team", "parsers").is_none(), "what is the same is not there");
    let words = place.run(&["log", "replay", "--at", &then, "--diff", &head(&place)]).out;
    assert!(words.contains("src/b.rs") && words.contains("bob in repo"), "{words}");
}
