//! Damage to the sealed part of a log.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::wire::Wire;
use crate::support::{Place, eventually};
use crate::{head, is_noticed, is_recovered};

/// Fills the log until a part of it is sealed.
pub(crate) fn seal(place: &Place) {
    place.join(&["filler"]);
    let mut wire = Wire::connect(place);
    let paths: Vec<String> = (0..100).map(|number| format!("src/{number}.rs")).collect();
    for _ in 0..160 {
        wire.ask("lock", json!({ "paths": paths })).expect("granted");
        wire.ask("unlock", json!({ "all": true })).expect("given back");
    }
    eventually("two parts of the log are sealed", || sealed(place).len() == 2);
}

pub(crate) fn sealed(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.home.join("ledger")).into_iter().flatten().flatten();
    let mut worlds: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "world"))
        .collect();
    worlds.sort();
    worlds
}

#[test]
fn a_log_without_its_newest_part_and_a_changed_snapshot_are_noticed() {
    let place = Place::new();
    seal(&place);
    let last = head(&place);
    place.json(&["down"]);
    let newest = sealed(&place).pop().expect("a world");

    let text = fs::read_to_string(&newest).expect("read");
    let changed = text.replace("\"filler\"", "\"killer\"");
    assert_ne!(text, changed);
    fs::write(&newest, changed).expect("changed");
    is_noticed(&place, "a snapshot");
    assert_eq!(is_recovered(&place, "a snapshot", last), last, "its records are there: nothing is lost");
    assert_eq!(fs::read_to_string(&newest).expect("read"), text, "and it is as it was");

    let verified = place.json(&["log", "verify"]);
    let last = verified["records"].as_u64().expect("a number");
    place.json(&["down"]);
    let log = place.home.join("log.db");
    let whole = fs::read(&log).expect("read");
    fs::remove_file(&log).expect("deleted");
    is_noticed(&place, "no log beside its sealed parts");
    // The witness is lost, too.
    let witness = place.home.join("log.witness");
    let said = fs::read(&witness).expect("read");
    fs::remove_file(&witness).expect("deleted");
    is_noticed(&place, "nothing beside the sealed parts");
    fs::write(&witness, said).expect("put back");
    fs::write(&log, whole).expect("put back");
    assert_eq!(place.json(&["log", "verify"])["records"], last + 1, "put back, it goes on");
    place.json(&["down"]);

    fs::remove_file(&log).expect("deleted");
    assert_eq!(is_recovered(&place, "no log", last + 1), 20_000, "what is sealed is kept");
}

/// A sealed world with another name in it, and these words for its hash.
fn edited(text: &str, check: impl Fn(&str, &str) -> String) -> String {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let chain = file["chain"].as_str().expect("a text");
    let (_, world) = text.split_once("\"world\":").expect("a world");
    let world = world.strip_suffix('}').expect("its end").replace("\"filler\"", "\"killer\"");
    format!("{{\"chain\":\"{chain}\",{}\"world\":{world}}}", check(chain, &world))
}

#[test]
fn a_snapshot_that_was_edited_with_its_hash_is_found_by_verify() {
    let place = Place::new();
    seal(&place);
    place.json(&["down"]);
    let newest = sealed(&place).pop().expect("a world");
    let text = fs::read_to_string(&newest).expect("read");

    let last = place.json(&["log", "verify"])["records"].as_u64().expect("a number");
    place.json(&["down"]);
    fs::write(&newest, edited(&text, |_, _| String::new())).expect("changed");
    is_noticed(&place, "its hash is gone");
    assert_eq!(is_recovered(&place, "its hash is gone", last), last, "its records are there");
    assert_eq!(fs::read_to_string(&newest).expect("read"), text, "and it is as it was");

    place.json(&["down"]);
    let anew = |chain: &str, world: &str| {
        let hash = comity_app::tokens::hash(&format!("{chain}{world}"));
        format!("\"check\":\"{hash}\",")
    };
    fs::write(&newest, edited(&text, anew)).expect("changed");
    let found = |arguments: &[&str]| {
        let ran = place.run(arguments);
        assert_ne!(ran.code, 0, "{arguments:?}: {ran:?}");
        assert!(
            format!("{}{}", ran.out, ran.err).contains("the world after record 20000"),
            "{arguments:?}: {ran:?}"
        );
    };
    found(&["log", "verify"]);
    found(&["doctor"]);
    let file = place.dir().join("backup");
    found(&["backup", file.to_str().expect("a text")]);
    place.json(&["down"]);
    let done = crate::recover(&place, &["--json"]).json();
    assert_eq!(done["rebuilt"], json!([20_000]), "{done}");
    assert_eq!(fs::read_to_string(&newest).expect("read"), text, "it is as it was");
    place.json(&["log", "verify"]);
}
