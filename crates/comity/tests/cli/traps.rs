//! What was easy to type wrong, and went wrong without a word.

use serde_json::Value;

use crate::support::Place;

#[test]
fn the_list_of_locks_is_no_path() {
    let place = Place::new();
    for words in [&["lock", "list"][..], &["lock", "ls"], &["locks"]] {
        assert_eq!(place.json(words)["total"], 0, "{words:?}");
    }
    place.json(&["lock", "./list"]);
    assert_eq!(place.json(&["locks"])["locks"][0]["path"], "list");
}

#[test]
fn a_path_that_is_not_there_is_locked_with_a_word() {
    let place = Place::new();
    for (path, missing) in [("src/nope.rs", "src/nope.rs"), ("srv/**/*.rs", "srv/**/*.rs")] {
        assert_eq!(place.json(&["lock", path])["missing"], serde_json::json!([missing]), "{path}");
    }
    let said = place.run(&["lock", "src/nope.rs"]);
    assert!(said.out.contains("note: src/nope.rs does not exist yet"), "{said:?}");
    for path in ["src/a.rs", "src", "src/*.rs", "{src,srv}/*.rs", "."] {
        assert_eq!(place.json(&["lock", path])["missing"], Value::Null, "{path}");
    }
}

#[test]
fn a_flag_takes_one_value_and_leaves_the_title() {
    let place = Place::new();
    for id in ["a", "b"] {
        place.json(&["task", "add", "First", "--id", id]);
    }
    let ran = place.run(&["task", "add", "--depends-on", "a", "b", "Then this", "--json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let task = place.json(&["task", "add", "--depends-on", "a", "--depends-on", "b", "Then this"]);
    let task = &task["tasks"][0];
    assert_eq!((&task["title"], &task["depends_on"]), (&"Then this".into(), &serde_json::json!(["a", "b"])));
}

#[test]
fn an_event_type_that_there_is_not_is_refused() {
    let place = Place::new();
    place.json(&["lock", "src/a.rs"]);
    let refused = place.run(&["log", "--type", "lock_aquired"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("there is no event type \"lock_aquired\""), "{refused:?}");
    assert!(refused.err.contains("lock_acquired"), "{refused:?}");
    for kind in ["lock_acquired", "lock:acquired", "lock"] {
        let entries = place.json(&["log", "--type", kind]);
        assert_eq!(entries["entries"].as_array().map(Vec::len), Some(1), "{kind}");
    }
}

#[test]
fn roles_and_teams_that_there_are_not_are_refused() {
    let place = Place::new();
    let refused = |arguments: &[&str], problem: &str, hint: &str| {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 3, "{ran:?}");
        assert!(ran.err.contains(problem) && ran.err.contains(hint), "{ran:?}");
    };
    let (role, team) = ("there is no role develper", "there is no team blue");
    refused(&["agent", "join", "ann", "--role", "develper"], role, "developer");
    refused(&["task", "add", "Test it", "--role", "develper"], role, "developer");
    refused(&["agent", "join", "ann", "--team", "blue"], team, "comity team create blue");
    refused(&["task", "add", "Test it", "--team", "blue"], team, "comity team create blue");
    place.json(&["team", "create", "blue"]);
    place.join(&["ann", "--team", "blue", "--role", "reviewer"]);
    place.json(&["task", "add", "Test it", "--team", "blue", "--role", "reviewer"]);
    // Whoever leads may begin one.
    place.join(&["lead", "--team", "red", "--role", "lead"]);
    place.join(&["bob", "--team", "red"]);
}

#[test]
fn a_summary_that_is_too_long_is_not_cut() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let words = "one two three four five six seven eight nine ten";
    let refused = place.run_as(&ann, &["idle", &format!("{words} eleven")]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("the summary has 11 words; 10 is the most"), "{refused:?}");
    assert_eq!(place.run_as(&ann, &["idle", words]).code, 0);
}

#[test]
fn a_lock_is_taken_only_from_whom_one_named() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let refused = place.run(&["release", "src/a.rs"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("comity release src/a.rs --from ann --reason WHY"), "{refused:?}");
    assert_eq!(place.run(&["release", "src/a.rs", "--from", "bob"]).code, 3);
    assert_eq!(place.run_as(&bob, &["release", "src/a.rs", "--from", "ann"]).code, 3, "bob leads nobody");
    place.json(&["release", "src/a.rs", "--from", "ann", "--reason", "urgent"]);
    // One's own need no name.
    place.json_as(&ann, &["lock", "src/b.rs"]);
    place.json_as(&ann, &["release", "src/b.rs"]);
    assert_eq!(place.json(&["locks"])["total"], 0);
}

#[test]
fn what_was_typed_wrong_is_told_as_json_too() {
    let place = Place::without_state();
    for arguments in
        [&["lock", "--json"][..], &["no-such-command", "--json"], &["--json", "log", "--limit", "many"]]
    {
        let ran = place.run(arguments);
        let error = &ran.document()["error"];
        assert_eq!((ran.code, &error["code"]), (2, &"bad_input".into()), "{ran:?}");
        assert!(error["message"].as_str().is_some_and(|message| !message.contains("error:")), "{ran:?}");
        assert!(ran.err.is_empty(), "{ran:?}");
    }
}

#[test]
fn the_log_hides_what_only_keeps_the_house() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    for _ in 0..3 {
        place.json_as(&ann, &["lock", "src/a.rs"]);
    }
    let actions = |arguments: &[&str]| -> Vec<String> {
        let log = place.json(arguments);
        let entries = log["entries"].as_array().expect("entries");
        entries.iter().filter_map(|entry| entry["action"].as_str().map(str::to_owned)).collect()
    };
    assert!(!actions(&["log"]).contains(&"lock_renewed".to_owned()));
    assert!(actions(&["log"]).contains(&"lock_acquired".to_owned()));
    assert!(actions(&["log", "--all"]).contains(&"lock_renewed".to_owned()));
    assert!(actions(&["log", "--after", "0"]).contains(&"lock_renewed".to_owned()), "a cursor goes over all");
    assert_eq!(actions(&["log", "--type", "lock_renewed"]).len(), 2);
}

#[test]
fn a_typo_in_a_file_of_tasks_is_named_with_its_place() {
    let place = Place::new();
    let refused = |name: &str, text: &str, code: i32, problems: &[&str]| {
        std::fs::write(place.repo.join(name), text).expect("written");
        let ran = place.run(&["task", "declare", name]);
        assert_eq!(ran.code, code, "{ran:?}");
        problems.iter().for_each(|problem| assert!(ran.err.contains(problem), "{problem}: {ran:?}"));
    };
    let typo = "unknown field `titel`; did you mean `title`?";
    refused("plan.toml", "[[tasks]]\ntitel = \"One\"\n", 2, &[&format!("plan.toml:2:1: {typo}")]);
    refused("plan.json", "[\n  {\"titel\": \"One\"}\n]\n", 2, &[&format!("plan.json:2:4: {typo}")]);
    refused("plan.toml", "[[tasks]]\ntitle = \"One\n", 2, &["plan.toml:2:"]);
    refused("plan.json", "[\n  {\"title\": \"One\",}\n]\n", 2, &["plan.json:2:"]);
    // What only the server knows.
    let unknown = "[[tasks]]\ntitle = \"One\"\nid = \"parser\"\n\n[[tasks]]\ntitle = \"Two\"\ndepends_on = [\"parsr\"]\n";
    refused(
        "plan.toml",
        unknown,
        3,
        &["there is no task \"parsr\"", "plan.toml:7:15: did you mean \"parser\"?"],
    );
    refused(
        "plan.toml",
        "[[tasks]]\ntitle = \"One\"\nrole = \"develper\"\n",
        3,
        &["plan.toml:3:8", "developer"],
    );
    assert_eq!(place.json(&["task", "list"])["total"], 0);
}
