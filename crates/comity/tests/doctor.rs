//! `comity doctor`: it finds what is wrong, says where, and what it says to do helps.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::process::Command;

use rustix::process::Signal;
use support::{Place, Ran, kill, skip};

/// The line about one thing, and what is to be done about it.
fn finding(ran: &Ran, what: &str) -> String {
    let mut lines =
        ran.out.lines().skip_while(|line| line.get(5..).is_none_or(|line| !line.starts_with(what)));
    let first = lines.next().unwrap_or_else(|| panic!("nothing about {what}: {ran:?}"));
    let next = lines.next().filter(|line| line.starts_with(' ')).unwrap_or_default();
    format!("{first}\n{next}")
}

fn check(ran: &Ran, what: &str, level: &str, parts: &[&str]) {
    let found = finding(ran, what);
    assert!(found.starts_with(level), "{level}: {found}");
    assert!(parts.iter().all(|part| found.contains(part)), "{parts:?}: {found}");
}

#[test]
fn a_mistake_in_the_settings_is_found_where_it_is() {
    let place = Place::new();
    place.set("[lock]\nttl = \"5m\"\n[lokc]\n");
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let place_of_it = format!("{}:3: unknown field `lokc`", place.home.join("comity.toml").display());
    check(&ran, "settings", "BAD", &[&place_of_it, "fix it"]);
    check(&ran, "server", "BAD", &["the settings are wrong"]);
    let other = place.run(&["locks"]);
    assert!(other.err.contains(&place_of_it), "{other:?}");
}

#[test]
fn a_limit_that_makes_everybody_an_agent_is_named() {
    let apart = ["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];
    if !Command::new("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success()) {
        return skip(
            "a_limit_that_makes_everybody_an_agent_is_named",
            "there are no process namespaces here",
        );
    }
    let place = Place::new();
    let mut doctor = Command::new("unshare");
    doctor.args(apart).args(["prlimit", "--locks=1000:1000"]);
    doctor.arg(env!("CARGO_BIN_EXE_comity")).arg("doctor").env("COMITY_HOME", &place.home);
    let output = doctor.current_dir(&place.repo).output().expect("unshare");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let ran = Ran { code: output.status.code().unwrap_or(-1), out: out.into(), err: err.into() };
    assert_eq!(ran.code, 1, "{ran:?}");
    check(&ran, "identity", "BAD", &["limit on file locks", "ulimit -x unlimited"]);
}

#[test]
fn settings_that_do_not_count_yet_are_noticed() {
    let place = Place::new();
    place.json(&["up"]);
    check(&place.run(&["doctor"]), "settings", "ok", &[]);
    place.set("[pools.build]\ncapacity = 1\n");
    let refused = place.run(&["lease", "build"]);
    assert!(refused.err.contains("then: comity restart"), "{refused:?}");
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    check(&ran, "settings", "warn", &["changed since the server started", "pools.build", "comity restart"]);
    place.set("");
    check(&place.run(&["doctor"]), "settings", "ok", &[]);
    place.set("[pools.build]\ncapacity = 1\n");
    assert_eq!(place.run(&["down"]).code, 0);
    check(&place.run(&["doctor"]), "settings", "ok", &[]);
    assert_eq!(place.run(&["lease", "build"]).code, 0);
}

#[test]
fn looking_makes_nothing_where_nothing_was_used() {
    let place = Place::without_state();
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    check(&ran, "state directory", "ok", &["none yet"]);
    check(&ran, "server", "ok", &["not started yet", "comity up"]);
    assert!(!place.home.exists(), "doctor has made {}", place.home.display());
    fs::DirBuilder::new().mode(0o700).create(&place.home).expect("made");
    assert_eq!(place.run(&["doctor"]).code, 0);
    assert_eq!(fs::read_dir(&place.home).expect("read").count(), 0, "doctor has left something");
}

#[test]
fn a_server_that_cannot_start_is_found() {
    let place = Place::without_state();
    fs::create_dir(&place.home).expect("made");
    fs::set_permissions(&place.home, fs::Permissions::from_mode(0o700)).expect("private");
    fs::write(place.home.join("log.db"), "x".repeat(8_000)).expect("written");
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    check(&ran, "server", "BAD", &["server.log"]);
    check(&ran, "state directory", "ok", &[]);
}

#[test]
fn a_state_directory_that_others_can_enter_is_closed_and_said() {
    let place = Place::new();
    fs::set_permissions(&place.home, fs::Permissions::from_mode(0o755)).expect("opened");
    check(&place.run(&["doctor"]), "state directory", "warn", &["mode 755"]);
    check(&place.run(&["doctor"]), "state directory", "ok", &[]);

    let link = place.dir().join("link");
    symlink(&place.home, &link).expect("a link");
    let mut doctor = place.comity(&["doctor"]);
    let ran = Ran::of(doctor.env("COMITY_HOME", &link).output().expect("it runs"));
    let real = format!("set COMITY_HOME to {}", place.home.display());
    check(&ran, "state directory", "BAD", &["is a link", &real]);
    check(&ran, "server", "ok", &["not looked at"]);
}

#[test]
fn who_you_are_is_what_whoami_says() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let says = place.run_as(&ann, &["whoami"]).out;
    check(&place.run_as(&ann, &["doctor"]), "identity", "ok", &[says.lines().next().expect("a line")]);
}

#[test]
fn a_server_that_hangs_is_found() {
    let place = Place::new();
    place.json(&["up"]);
    let server = place.server().expect("a server");
    kill(server, Signal::STOP);
    let ran = place.start(&mut place.comity(&["doctor"])).finish();
    kill(server, Signal::CONT);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out.contains("it doesn't answer") && ran.out.contains(&format!("kill -9 {server}")),
        "{ran:?}"
    );
}
