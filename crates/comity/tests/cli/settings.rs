//! Which settings are in force, and where they come from.

use serde_json::Value;

use crate::support::Place;

fn setting(place: &Place, key: &str) -> Value {
    let all = place.json(&["settings"]);
    let found = all["settings"].as_array().expect("settings").iter().find(|one| one["key"] == key);
    found.unwrap_or_else(|| panic!("{key} is missing: {all}")).clone()
}

#[test]
fn each_setting_says_where_it_comes_from() {
    let place = Place::with(&[("COMITY_AGENT_MAX", "5")]);
    place.set("[lock]\nttl = \"10m\"\n[pools.build]\ncapacity = 2\n");
    let ttl = setting(&place, "lock.ttl");
    let file = place.home.join("comity.toml").display().to_string();
    assert_eq!((&ttl["value"], &ttl["from"]), (&"\"10m\"".into(), &Value::from(file)));
    let max = setting(&place, "agent.max");
    assert_eq!((&max["value"], &max["from"]), (&"5".into(), &"COMITY_AGENT_MAX".into()));
    assert_eq!(setting(&place, "guard.watch")["from"], "default");
    assert_eq!(setting(&place, "pools.build.capacity")["value"], "2");
    // The project's own is read at once.
    std::fs::write(place.repo.join("comity.toml"), "[lock]\nttl = \"15m\"\n").expect("written");
    let ttl = setting(&place, "lock.ttl");
    assert_eq!(ttl["value"], "\"15m\"", "{ttl}");
    assert!(ttl["from"].as_str().is_some_and(|from| from.ends_with("repo/comity.toml")), "{ttl}");
}

#[test]
fn a_projects_file_that_is_refused_is_not_in_force() {
    let place = Place::new();
    std::fs::write(place.repo.join("comity.toml"), "[guard]\nwatch = false\n[lock]\nttl = \"15m\"\n")
        .expect("written");
    let all = place.json(&["settings"]);
    assert_eq!(setting(&place, "lock.ttl")["from"], "default", "{all}");
    assert_eq!(setting(&place, "guard.watch")["value"], "true");
    assert!(all["problem"].as_str().is_some_and(|problem| problem.contains("repo/comity.toml:1: ")), "{all}");
}

#[test]
fn how_long_space_and_trash_are_kept_are_settings() {
    let place = Place::with(&[("SLOT_RESERVATION_TTL_MS", "45000")]);
    place.set("[pools.gpu]\ncapacity = 3\n[worktree]\ntrash_days = 30\n");
    assert_eq!(setting(&place, "pool.reservation")["from"], "SLOT_RESERVATION_TTL_MS");
    assert_eq!(setting(&place, "worktree.trash_days")["value"], "30");
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    (0..3).for_each(|_| drop(place.json_as(&ann, &["lease", "gpu"])));
    place.json_as(&bob, &["lease", "request", "gpu"]);
    place.json_as(&ann, &["lease", "grant", "gpu"]);
    assert_eq!(place.log_of("slot_reserved")[0]["details"]["lasts"], 45_000);
    place.git(&["commit", "-qm", "first", "--allow-empty"]);
    place.json_as(&ann, &["worktree", "add", "login"]);
    assert_eq!(place.json_as(&ann, &["worktree", "remove", "login"])["kept_days"], 30);
    place.set("[worktree]\ntrash_days = 0\n");
    let problem = place.json(&["settings"])["problem"].to_string();
    assert!(problem.contains("worktree.trash_days is 0; give one from 1 to 3650"), "{problem}");
}

#[test]
fn what_needs_a_restart_is_said() {
    let place = Place::new();
    assert_eq!(place.json(&["settings"])["restart"], false);
    place.set("[browser]\ntabs = 3\n");
    let tabs = setting(&place, "browser.tabs");
    assert_eq!((&tabs["value"], &tabs["next"]), (&"12".into(), &"3".into()));
    let said = place.run(&["settings"]);
    assert!(said.out.contains("take it up with: comity restart"), "{said:?}");
    place.set("[browser]\ntubs = 3\n");
    let said = place.run(&["settings"]);
    assert!(said.out.contains("comity.toml:2:") && said.out.contains("tubs"), "{said:?}");
    place.set("[browser]\ntabs = 3\n");
    place.json(&["restart"]);
    assert_eq!(setting(&place, "browser.tabs")["value"], "3");
    assert_eq!(place.json(&["settings"])["restart"], false);
}
