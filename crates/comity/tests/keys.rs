//! An idempotency key is for one call of one caller: a repeat of that call gets its answer, and anything else a no.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use serde_json::{Value, json};
use support::wire::{No, Wire};
use support::{Agent, Place};

const KEY: &str = "one key for everything";

fn refused(answer: Result<Value, No>, what: &str) {
    let Err(No::Refused(error)) = answer else { panic!("{what} is not refused: {answer:?}") };
    assert_eq!(error["code"], "key_reused", "{what}: {error}");
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("new key")), "{what}: {error}");
}

fn ask(place: &Place, who: &Agent, op: &str, input: Value) -> Result<Value, No> {
    Wire::connect(place).asking_as(who).ask_with_key(op, input, Some(KEY))
}

#[test]
fn a_key_is_for_one_operation_with_one_input() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let lock = json!({ "paths": ["src/a.rs"], "reason": "login" });
    let first = ask(&place, &ann, "lock", lock.clone()).expect("granted");
    refused(ask(&place, &ann, "lock", json!({ "paths": ["src/b.rs"], "reason": "login" })), "another input");
    refused(ask(&place, &ann, "unlock", json!({ "paths": ["src/a.rs"] })), "another operation");
    refused(ask(&place, &ann, "tab_open", json!({ "url": "about:blank" })), "an act in the browser");
    let again = ask(&place, &ann, "lock", json!({ "reason": "login", "paths": ["src/a.rs"] }));
    assert_eq!(again.expect("the same call")["locks"][0]["fence"], first["locks"][0]["fence"]);
    // Whoever else has the same key has another one.
    ask(&place, &bob, "lock", json!({ "paths": ["src/c.rs"] })).expect("granted");
    place.kill_server();
    refused(ask(&place, &ann, "unlock", json!({ "paths": ["src/a.rs"] })), "after a restart");
    let again = ask(&place, &ann, "lock", lock).expect("the same call after a restart");
    assert_eq!(again["locks"][0]["fence"], first["locks"][0]["fence"]);
    assert_eq!(place.json(&["locks"])["total"], 2, "nothing was done by a key of something else");
}

#[test]
fn a_repeat_that_comes_after_the_end_of_what_it_got_says_so() {
    let place = Place::new();
    place.set("[pools.build]\ncapacity = 1\n");
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let ask = |who: &Agent, op: &str, input: Value, key: Option<&str>| {
        Wire::connect(&place).asking_as(who).ask_with_key(op, input, key)
    };
    let lock = json!({ "paths": ["src/a.rs"] });
    let lease = json!({ "pool": "build" });
    let gone = |op: &str, input: &Value, code: &str, words: &str| {
        let answer = ask(&ann, op, input.clone(), Some(op));
        let Err(No::Refused(error)) = answer else { panic!("{op}: {answer:?}") };
        assert_eq!(error["code"], code, "{error}");
        assert!(error["message"].as_str().is_some_and(|said| said.contains(words)), "{words}: {error}");
    };
    ask(&ann, "lock", lock.clone(), Some("lock")).expect("granted");
    let taken = ask(&ann, "lease", lease.clone(), Some("lease")).expect("granted");
    ask(&ann, "unlock", lock.clone(), None).expect("given back");
    let id = taken["lease"]["id"].as_u64().expect("a number").to_string();
    ask(&ann, "lease_free", json!({ "lease": id }), None).expect("given back");
    gone("lock", &lock, "stale_fence", "your lock on src/a.rs is no longer held");
    gone("lease", &lease, "not_found", "is over already");
    ask(&bob, "lock", lock.clone(), None).expect("granted");
    place.kill_server();
    gone("lock", &lock, "stale_fence", "bob");
    gone("lease", &lease, "not_found", "is over already");
    assert_eq!(place.json(&["locks"])["total"], 1, "nothing was taken by the repeats");
}

#[test]
fn the_ledger_tells_of_it_and_has_no_key() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    ask(&place, &ann, "lock", json!({ "paths": ["src/a.rs"] })).expect("granted");
    refused(ask(&place, &ann, "unlock", json!({ "paths": ["src/a.rs"] })), "another operation");
    let told = place.log_of("key_reused");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0]["summary"].as_str().is_some_and(|said| said.contains("ann asked for unlock")),
        "{told:?}"
    );
    place.json(&["down"]);
    for entry in
        std::fs::read_dir(&place.home).expect("a directory").flatten().filter(|entry| entry.path().is_file())
    {
        let bytes = std::fs::read(entry.path()).expect("a file");
        let has_key = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!has_key, "{} has the key", entry.path().display());
    }
}
