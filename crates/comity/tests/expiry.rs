//! Locks that run out: free at once over clean files, kept for a person over uncommitted work.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::{Agent, HUMAN, Place, eventually, kill, program};

/// The log shows the wall's time, which is not the clock that a TTL is measured with.
const ROUNDING_MS: i64 = 5;

/// Locks a file for a second without a sign of life, and waits until it has run out.
fn let_it_run_out(place: &Place, agent: &Agent, how: &str) {
    let mut log = place.follow_on();
    place.json_as(agent, &["lock", "src/a.rs", "--ttl", "1s", "--reason", "fixing login"]);
    let acquired = log.until_action("lock_acquired")["at_ms"].as_i64().expect("a time");
    let lapsed = log.until_action("lock_lapsed")["at_ms"].as_i64().expect("a time");
    assert!(lapsed - acquired >= 1_000 - ROUNDING_MS, "never early: {} ms", lapsed - acquired);
    log.until_action(how);
}

fn leave_work(place: &Place) {
    std::fs::write(place.repo.join("src/a.rs"), "fn main() { half() }\n").expect("written");
}

#[test]
fn a_lock_over_clean_files_expires() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let_it_run_out(&place, &ann, "lock_expired");
    let granted = place.json_as(&bob, &["lock", "src/a.rs"]);
    assert_eq!(granted["locks"][0]["holder"], "bob");
    let told = place.run_as(&ann, &["locks"]);
    let notes: Vec<&str> = told.err.lines().filter(|line| line.starts_with("note: ")).collect();
    assert_eq!(notes.len(), 1, "{told:?}");
    assert!(notes[0].contains("src/a.rs") && notes[0].contains("expired"), "{notes:?}");
    eventually("it is written down", || !place.log_of("notices_taken").is_empty());
    assert_eq!(place.run_as(&ann, &["locks"]).err, "", "it is told once");
    let refused = place.run_as(&ann, &["unlock", "src/a.rs", "--json"]).refusal();
    assert_eq!((&refused["code"], &refused["holders"][0]["holder"]), (&json!("not_held"), &json!("bob")));
}

#[test]
fn the_log_of_an_agent_shows_that_its_lock_ran_out() {
    let place = Place::new();
    let (ann, _bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let_it_run_out(&place, &ann, "lock_expired");
    let of = |agent: &str| {
        let page = place.json(&["log", "--all", "--agent", agent, "--limit", "1000"]);
        let entries = page["entries"].as_array().expect("entries").iter();
        let locks =
            entries.filter(|entry| entry["action"].as_str().is_some_and(|it| it.starts_with("lock_")));
        locks.map(|entry| entry["action"].as_str().expect("a word").to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(of("ann"), ["lock_acquired", "lock_lapsed", "lock_expired"]);
    assert_eq!(of("bob"), [""; 0], "it was none of bob's");
    // Over uncommitted work it is kept, which concerns her, too.
    leave_work(&place);
    let_it_run_out(&place, &ann, "lock_orphaned");
    assert_eq!(of("ann")[3..], ["lock_acquired", "lock_lapsed", "lock_orphaned"]);
}

#[test]
fn a_waiter_gets_what_expires() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "1s"]);
    let granted = place.json_as(&bob, &["lock", "src/a.rs", "--wait", "1m"]);
    assert_eq!(granted["locks"][0]["holder"], "bob");
    assert_eq!(place.log_of("lock_expired").len(), 1);
}

#[test]
fn an_expired_lock_is_announced_on_the_stream() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let_it_run_out(&place, &ann, "lock_expired");
    let expired = &place.log_of("lock_expired")[0];
    assert_eq!(expired["event"], "lock:expired");
    assert!(place.json(&["alerts"])["alerts"].as_array().is_some_and(Vec::is_empty));
}

#[test]
fn a_lock_over_uncommitted_work_is_kept() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    leave_work(&place);
    let_it_run_out(&place, &ann, "lock_orphaned");
    let refused = place.run_as(&bob, &["lock", "src/a.rs", "--json"]).refusal();
    assert_eq!(refused["holders"][0]["state"], "orphaned");
    assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("comity adopt src/a.rs")), "{refused}");
    assert_eq!(place.run_as(&bob, &["release", "src/a.rs", "--json"]).refusal()["code"], "not_allowed");
    let alerts = place.json(&["alerts"]);
    assert_eq!(alerts["alerts"][0]["type"], "orphaned_lock", "{alerts}");
    assert!(message(&alerts).contains("fixing login"), "{alerts}");
    let released = place.json(&["release", "src/a.rs", "--reason", "looked at it"]);
    assert_eq!(released["paths"], json!(["src/a.rs"]), "the human decides");
    assert_eq!(place.json_as(&bob, &["lock", "src/a.rs"])["locks"][0]["holder"], "bob");
    assert_eq!(place.json(&["alerts"])["alerts"], json!([]));
}

fn message(alerts: &Value) -> &str {
    alerts["alerts"][0]["message"].as_str().unwrap_or_default()
}

#[test]
fn orphaned_work_can_be_handed_over() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    leave_work(&place);
    let_it_run_out(&place, &ann, "lock_orphaned");
    place.json(&["handover", "src/a.rs", "--to", "bob", "--reason", "finish it"]);
    let lock = &place.json_as(&bob, &["locks"])["locks"][0];
    assert_eq!((&lock["holder"], &lock["state"]), (&json!("bob"), &json!("held")));
    let told = place.run_as(&ann, &["locks"]);
    assert!(told.err.contains("note: "), "the old holder is told: {told:?}");
}

#[test]
fn its_holder_can_take_up_orphaned_work_again() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    leave_work(&place);
    let_it_run_out(&place, &ann, "lock_orphaned");
    let again = place.json_as(&ann, &["lock", "src/a.rs"]);
    assert_eq!(again["locks"][0]["state"], "held", "{again}");
}

#[test]
fn a_sign_of_life_keeps_a_lock() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "1s"]);
    // Renewing is the strongest sign of life.
    for _ in 0..25 {
        place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "1s"]);
        std::thread::sleep(std::time::Duration::from_millis(100)); // sleeps: the time of a TTL is to pass
    }
    assert_eq!(place.run_as(&bob, &["lock", "src/a.rs", "--json"]).refusal()["code"], "locked");
    assert!(place.log_of("lock_lapsed").is_empty());
}

#[test]
fn a_restart_shortens_no_lock() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "2s"]);
    place.kill_server();
    place.json(&["up"]);
    let mut log = place.follow();
    let restarted = log.until_actions("server_started", 2)[1]["at_ms"].as_i64().expect("a time");
    let lapsed = log.until_action("lock_lapsed")["at_ms"].as_i64().expect("a time");
    assert!(
        lapsed - restarted >= 2_000 - ROUNDING_MS,
        "the time counts anew after a restart: {} ms",
        lapsed - restarted
    );
}

#[test]
fn work_of_a_dead_agent_is_kept_until_somebody_decides() {
    let place = Place::new();
    let (ann, process) = program::join(&place, HUMAN, "ann");
    let bob = place.join(&["bob"]);
    place.json_as(&ann, &["lock", "src/a.rs", "src/b.rs"]);
    leave_work(&place);
    let mut log = place.follow_on();
    kill(process.pid(), Signal::KILL);
    let orphaned = log.until_action("lock_orphaned");
    assert_eq!(orphaned["details"]["files"], json!(["src/a.rs"]), "{orphaned}");
    eventually("what is clean is free", || place.json(&["status"])["locks"] == 1);
    assert_eq!(place.run_as(&bob, &["lock", "src/a.rs", "--json"]).refusal()["code"], "locked");
    let alerts = place.json(&["alerts"]);
    assert!(
        alerts["alerts"][0]["action"].as_str().is_some_and(|next| next.contains("comity adopt src/a.rs"))
    );
    assert_eq!(place.run_as(&bob, &["adopt", "src/a.rs", "--json"]).refusal()["code"], "not_allowed");
    assert_eq!(place.json(&["adopt", "src/a.rs"])["paths"], json!(["src/a.rs"]));
    assert_eq!(place.json(&["locks"])["locks"][0]["holder"], "the human");
}

#[test]
fn the_list_shows_in_which_files_work_was_left() {
    let place = Place::new();
    let (ann, process) = program::join(&place, HUMAN, "ann");
    place.json_as(&ann, &["lock", "src/"]);
    leave_work(&place);
    let mut log = place.follow_on();
    kill(process.pid(), Signal::KILL);
    log.until_action("lock_orphaned");
    let locks = place.json(&["locks"]);
    let lock = &locks["locks"][0];
    assert_eq!((&lock["path"], &lock["state"]), (&json!("src/"), &json!("orphaned")), "{locks}");
    assert_eq!(lock["left"], json!(["src/a.rs"]), "{locks}");
    let shown = place.run(&["locks"]).out;
    assert!(shown.contains("work in src/a.rs"), "{shown}");
}

#[test]
fn orphaned_work_can_be_put_aside() {
    let place = Place::new();
    let (ann, process) = program::join(&place, HUMAN, "ann");
    let (bob, carl) = (place.join(&["bob"]), place.join(&["carl"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json_as(&carl, &["lock", "src/b.rs"]);
    let before = std::fs::read_to_string(place.repo.join("src/a.rs")).expect("a file");
    leave_work(&place);
    let half_done = std::fs::read_to_string(place.repo.join("src/a.rs")).expect("a file");
    let mut log = place.follow_on();
    kill(process.pid(), Signal::KILL);
    log.until_action("lock_orphaned");
    assert_eq!(place.run_as(&bob, &["rescue", "src/a.rs", "--json"]).refusal()["code"], "not_allowed");
    assert_eq!(place.run(&["rescue", "src/b.rs", "--json"]).refusal()["code"], "bad_input");
    let rescued = place.json(&["rescue", "src/a.rs"]);
    assert_eq!(rescued["paths"], json!(["src/a.rs"]));
    assert_eq!(rescued["rescued"][0]["files"], json!(["src/a.rs"]));
    let kept = rescued["rescued"][0]["ref"].as_str().expect("a ref");
    assert_eq!(kept, "refs/comity/rescue/ann");
    let now = || std::fs::read_to_string(place.repo.join("src/a.rs")).expect("a file");
    assert_eq!(now(), before);
    let released = log.until_action("lock_released");
    assert!(released["summary"].as_str().is_some_and(|text| text.contains(kept)), "{released}");
    place.json_as(&bob, &["lock", "src/a.rs"]);
    place.git(&["stash", "apply", "-q", kept]);
    assert_eq!(now(), half_done);
}

#[test]
fn orphaned_work_that_becomes_clean_is_free_by_itself() {
    let place = Place::new();
    let (ann, process) = program::join(&place, HUMAN, "ann");
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let before = std::fs::read(place.repo.join("src/a.rs")).expect("a file");
    leave_work(&place);
    let mut log = place.follow_on();
    kill(process.pid(), Signal::KILL);
    log.until_action("lock_orphaned");
    std::fs::write(place.repo.join("src/a.rs"), before).expect("written");
    let released = log.until_action("lock_released");
    assert_eq!(released["details"]["cause"], "holder_ended", "{released}");
}

#[test]
fn a_living_agent_keeps_a_short_lock() {
    let place = Place::new();
    let (ann, _process) = program::join(&place, HUMAN, "ann");
    let bob = place.join(&["bob"]);
    place.json_as(&ann, &["lock", "src/a.rs", "--ttl", "1s"]);
    // Another one's lock lasts as long, and is let run out meanwhile.
    let mut log = place.follow_on();
    place.json_as(&bob, &["lock", "src/b.rs", "--ttl", "2s"]);
    log.until_action("lock_expired");
    let locks = place.json(&["locks"]);
    assert_eq!(locks["locks"].as_array().map(Vec::len), Some(1), "{locks}");
    assert_eq!(locks["locks"][0]["holder"], "ann");
}

#[test]
fn a_refused_command_tells_what_waited_too() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json(&["release", "src/a.rs", "--from", "ann", "--reason", "needed elsewhere"]);
    let refused = place.run_as(&ann, &["unlock", "src/a.rs"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("note: ") && refused.err.contains("needed elsewhere"), "{refused:?}");
}

#[test]
fn who_commits_after_its_lock_has_run_out_is_told_that_nothing_was_committed() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    leave_work(&place);
    let_it_run_out(&place, &ann, "lock_orphaned");
    let commit = || place.run_as(&ann, &["commit", "--message", "Fix login"]);
    for what in ["it has no other lock", "it has another one"] {
        let refused = commit();
        assert_ne!(refused.code, 0, "{what}: {refused:?}");
        let parts = ["nothing was committed", "your lock on src/a.rs has expired", "comity lock src/a.rs"];
        assert!(parts.iter().all(|part| refused.err.contains(part)), "{what}: {refused:?}");
        place.json_as(&ann, &["lock", "src/b.rs"]);
    }
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let made = commit();
    assert_eq!(made.code, 0, "{made:?}");
}

#[test]
fn who_waits_for_a_lock_learns_that_its_holder_left_work_in_it() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let mut log = place.follow_on();
    leave_work(&place);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| place.run_as(&bob, &["lock", "src/a.rs", "--wait", "30m"]));
        log.until_action("wait_started");
        place.json(&["agent", "bye", "ann", "--reason", "it died"]);
        let told = waits.join().expect("an answer");
        assert_eq!(told.code, 3, "{told:?}");
        let parts =
            ["src/a.rs is orphaned: ann", "left uncommitted work", "comity adopt src/a.rs", "comity rescue"];
        assert!(parts.iter().all(|part| told.err.contains(part)), "{told:?}");
    });
}
