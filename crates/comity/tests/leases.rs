//! Leases of scarce things: one at a time, in order, and never left behind.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use rustix::process::Signal;
use serde_json::Value;
use support::wire::Follower;
use support::{Agent, Place, Running, kill};

const SETTINGS: &str = "[pools.build]\ncapacity = 1\n[pools.gpu]\ncapacity = 2\n";

/// A place with a build of which there is one, and GPUs of which there are two.
fn place() -> Place {
    let place = Place::new();
    place.set(SETTINGS);
    place
}

fn pool(place: &Place, name: &str) -> Value {
    place.json(&["leases", name])["pools"][0].clone()
}

fn holders(place: &Place, name: &str) -> Vec<String> {
    let leases = pool(place, name)["leases"].as_array().cloned().unwrap_or_default();
    leases.iter().filter_map(|lease| lease["holder"].as_str().map(str::to_owned)).collect()
}

fn queue(place: &Place, name: &str) -> Vec<String> {
    let queue = pool(place, name)["queue"].as_array().cloned().unwrap_or_default();
    queue.iter().map(|one| format!("{} {}", one["who"], one["state"]).replace('"', "")).collect()
}

/// Starts a command that waits for the build, and gives it back once it is in the queue.
fn wait_in_line(place: &Place, log: &mut Follower, agent: &Agent) -> Running {
    let waiter = place.start(&mut place.comity_as(agent, &["lease", "build", "--wait", "5m", "--json"]));
    log.until_action("slot_queued");
    waiter
}

#[test]
fn of_two_that_race_for_one_only_one_has_it() {
    let place = place();
    let agents = [place.join(&["ann"]), place.join(&["bob"])];
    let racing = agents
        .each_ref()
        .map(|agent| place.start(&mut place.comity_as(agent, &["lease", "build", "--json"])));
    let codes = racing.map(|one| one.finish());
    let mut found: Vec<i32> = codes.iter().map(|ran| ran.code).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 3], "{codes:?}");
    let refused = codes.iter().find(|ran| ran.code == 3).expect("one is refused").refusal();
    assert_eq!(refused["code"], "pool_full");
    assert_eq!(refused["message"], "POOL_FULL: Pool \"build\" is full (1/1)");
    assert_eq!((&refused["full"]["own"], &refused["full"]["others"]), (&0.into(), &1.into()), "{refused}");
    assert_eq!(holders(&place, "build").len(), 1);
}

#[test]
fn a_waiter_gets_the_lease_by_a_push_and_in_order() {
    let place = place();
    let (ann, bob, cat) = (place.join(&["ann"]), place.join(&["bob"]), place.join(&["cat"]));
    let lease = place.json_as(&ann, &["lease", "build", "--reason", "a release"])["lease"].clone();
    assert_eq!((&lease["pool"], &lease["reason"]), (&"build".into(), &"a release".into()));
    let mut log = place.follow_on();
    let bob_waits = wait_in_line(&place, &mut log, &bob);
    let cat_waits = wait_in_line(&place, &mut log, &cat);
    assert_eq!(queue(&place, "build"), ["bob waiting", "cat waiting"]);
    assert_eq!(
        place.run_as(&bob, &["lease", "free", &lease["id"].to_string(), "--json"]).refusal()["code"],
        "ownership"
    );
    place.json_as(&ann, &["lease", "free", "build"]);
    assert_eq!(bob_waits.finish().json()["lease"]["holder"], "bob");
    assert_eq!(holders(&place, "build"), ["bob"]);
    // The human may take it away; its holder is told.
    let id = pool(&place, "build")["leases"][0]["id"].to_string();
    place.json(&["lease", "free", &id, "--reason", "urgent"]);
    assert_eq!(cat_waits.finish().json()["lease"]["holder"], "cat");
    let told = place.run_as(&bob, &["locks"]);
    assert!(told.err.contains("was taken away by the human (\"urgent\")"), "{told:?}");
}

#[test]
fn a_wait_in_vain_says_who_has_it() {
    let place = place();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lease", "build"]);
    let refused = place.run_as(&bob, &["lease", "build", "--wait", "50ms", "--json"]).refusal();
    assert_eq!(refused["code"], "pool_full");
    assert_eq!(refused["full"]["holders"][0], "ann");
    assert!(refused["full"]["waited_ms"].as_u64().is_some_and(|waited| waited >= 50), "{refused}");
    assert_eq!(queue(&place, "build"), [""; 0]);
}

#[test]
fn a_killed_waiter_leaves_the_queue() {
    let place = place();
    let (ann, bob, cat) = (place.join(&["ann"]), place.join(&["bob"]), place.join(&["cat"]));
    place.json_as(&ann, &["lease", "build"]);
    let mut log = place.follow_on();
    let bob_waits = wait_in_line(&place, &mut log, &bob);
    let cat_waits = wait_in_line(&place, &mut log, &cat);
    kill(bob_waits.pid(), Signal::KILL);
    let left = log.until_action("slot_place_left");
    assert_eq!(left["details"]["ending"], "cancelled", "{left}");
    place.json_as(&ann, &["agent", "bye"]);
    assert_eq!(cat_waits.finish().json()["lease"]["holder"], "cat", "who ends gives back what it has");
}

#[test]
fn a_killed_server_loses_neither_leases_nor_the_queue() {
    let place = place();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let id = place.json_as(&ann, &["lease", "build"])["lease"]["id"].clone();
    place.json_as(&ann, &["lease", "gpu"]);
    let mut log = place.follow_on();
    let waiter = wait_in_line(&place, &mut log, &bob);
    place.kill_server();
    assert_eq!(pool(&place, "build")["leases"][0]["id"], id);
    assert_eq!(holders(&place, "gpu"), ["ann"]);
    support::eventually("bob is back in line", || queue(&place, "build") == ["bob waiting"]);
    place.json_as(&ann, &["lease", "free", "build"]);
    assert_eq!(waiter.finish().json()["lease"]["holder"], "bob");
}

#[test]
fn a_command_has_the_lease_as_long_as_it_runs() {
    let place = place();
    let ann = place.join(&["ann"]);
    for (script, code) in [("exit 0", 0), ("exit 7", 7)] {
        let ran = place.run_as(&ann, &["lease", "run", "build", "--", "sh", "-c", script]);
        assert_eq!(ran.code, code, "{ran:?}");
        support::eventually("the lease is free", || holders(&place, "build").is_empty());
    }
    let number = place.run(&["lease", "run", "gpu", "--", "sh", "-c", "echo lease $COMITY_LEASE"]);
    assert!(number.out.starts_with("lease ") && number.out.trim().len() > 6, "{number:?}");
    let missing = place.run(&["lease", "run", "build", "--", "no-such-program"]);
    assert_eq!(missing.code, 127, "{missing:?}");
    support::eventually("the lease is free", || holders(&place, "build").is_empty());
}

/// Starts `sleep` with the build as a human's command.
fn hold(place: &Place, log: &mut Follower) -> Running {
    let running = place.start(&mut place.comity(&["lease", "run", "build", "--", "sleep", "600"]));
    log.until_action("slot_taken");
    running
}

#[test]
fn whatever_ends_the_command_frees_the_lease() {
    let place = place();
    place.json(&["up"]);
    let mut log = place.follow_on();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        let running = hold(&place, &mut log);
        let waiter =
            place.start(&mut place.comity(&["lease", "run", "build", "--wait", "5m", "--", "echo", "mine"]));
        log.until_action("slot_queued");
        kill(running.pid(), signal);
        let freed = log.until_action("slot_freed");
        assert_eq!(freed["details"]["cause"]["lost"]["loss"], "process_ended", "{signal:?}: {freed}");
        let ran = waiter.finish();
        assert_eq!((ran.code, ran.out.trim()), (0, "mine"), "{signal:?}: {ran:?}");
        assert!(ran.err.contains("waiting for build"), "{ran:?}");
        log.until_action("slot_freed");
    }
}

#[test]
fn a_command_that_ended_while_no_server_ran_has_no_lease_left() {
    let place = place();
    place.json(&["up"]);
    let mut log = place.follow_on();
    let running = hold(&place, &mut log);
    place.kill_server();
    kill(running.pid(), Signal::KILL);
    running.finish();
    support::eventually("the lease is free", || holders(&place, "build").is_empty());
}

#[test]
fn a_command_outlives_the_server_with_its_lease() {
    let place = place();
    place.json(&["up"]);
    let mut log = place.follow_on();
    let running = hold(&place, &mut log);
    place.kill_server();
    let lease = pool(&place, "build")["leases"][0].clone();
    assert_eq!(lease["pid"], running.pid(), "{lease}");
    let refused = place.run(&["lease", "run", "build", "--", "true"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("POOL_FULL: Pool \"build\" is full (1/1)"), "{refused:?}");
}

#[test]
fn space_is_asked_for_and_granted() {
    let place = place();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lease", "gpu"]);
    assert_eq!(place.run_as(&bob, &["lease", "request", "gpu", "--json"]).refusal()["code"], "not_allowed");
    place.json_as(&ann, &["lease", "gpu"]);
    assert_eq!(place.json_as(&bob, &["lease", "request", "gpu"])["position"], 1);
    let asked = place.run_as(&ann, &["locks"]);
    assert!(
        asked.err.contains("bob waits for a slot of gpu; you have 2, and 1 would be your share"),
        "{asked:?}"
    );
    assert_eq!(place.json_as(&ann, &["lease", "grant", "gpu"])["granted"], true);
    let again = place.json_as(&ann, &["lease", "grant", "gpu"]);
    assert_eq!(again["granted"], false, "{again}");
    assert!(place.run_as(&bob, &["locks"]).err.contains("is reserved for you"));
    assert_eq!(place.json_as(&bob, &["lease", "gpu"])["lease"]["holder"], "bob");
    assert_eq!(queue(&place, "gpu"), [""; 0]);
}

#[test]
fn an_unknown_pool_names_those_that_exist() {
    let place = place();
    for arguments in [&["lease", "port"][..], &["leases", "port"], &["lease", "run", "port", "--", "true"]] {
        let refused = place.run(arguments);
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(refused.err.contains("there is no pool \"port\""), "{refused:?}");
        assert!(refused.err.contains("there are: build, gpu"), "{refused:?}");
    }
}

#[test]
fn tabs_are_not_leased() {
    let place = place();
    let refused = place.run(&["lease", "tabs"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.err.contains("tabs are not leased"), "{refused:?}");
    assert!(!place.run(&["leases"]).out.contains("tabs"));
}

#[test]
fn settings_that_make_no_sense_are_said_so() {
    let place = Place::new();
    place.set("[pools.build]\ncapacity = 0\n");
    let ran = place.run(&["up"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("pools.build: the capacity is 0; give one from 1 to"), "{ran:?}");
}

#[test]
fn a_pool_follows_its_settings_at_the_next_start() {
    let place = place();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lease", "gpu"]);
    place.json_as(&ann, &["lease", "gpu"]);
    place.json(&["down"]);
    place.set("[pools.gpu]\ncapacity = 1\n");
    let pools = place.json(&["leases"])["pools"].clone();
    assert_eq!(pools.as_array().map(Vec::len), Some(1), "{pools}");
    assert_eq!(
        (&pools[0]["capacity"], &pools[0]["used"]),
        (&1.into(), &2.into()),
        "nothing is taken away: {pools}"
    );
    let full = place.run_as(&ann, &["lease", "gpu", "--json"]).refusal();
    assert_eq!(full["message"], "POOL_FULL: Pool \"gpu\" is full (2/1)");
}

#[test]
fn the_pools_of_a_project_are_in_its_file() {
    let place = Place::new();
    std::fs::write(place.repo.join("comity.toml"), "[pools.build]\ncapacity = 1\n").expect("written");
    let ann = place.join(&["ann"]);
    let leased = place.json_as(&ann, &["lease", "build"]);
    assert_eq!(leased["lease"]["pool"], "build", "{leased}");
    let full = place.run(&["lease", "build", "--json"]).refusal();
    assert_eq!(full["code"], "pool_full", "{full}");
    let settings = place.run(&["settings"]).out;
    assert!(settings.contains("pools.build.capacity") && settings.contains("comity.toml"), "{settings}");
    assert!(place.run(&["doctor"]).out.contains("comity.toml is in order"));
    // It is the project's after a restart, too.
    place.json(&["restart"]);
    assert_eq!(place.json(&["leases"])["pools"][0]["capacity"], 1);
    std::fs::write(place.repo.join("comity.toml"), "[pools.build]\ncapacity = 0\n").expect("written");
    let doctor = place.run(&["doctor"]).out;
    assert!(doctor.contains("pools.build: the capacity is 0"), "{doctor}");
}
