//! A server that is killed while it makes a worktree: the name can be used again, and what is left is listed.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use support::{Agent, Place, has_ended, kill};

/// Kills for each way, unless `COMITY_WORKTREE_KILLS` says otherwise.
const KILLS: u32 = 24;
/// Kills who calls it before or after a command on what is being made ready, if a file names both.
const GIT: &str = r#"#!/bin/sh
case "$PWD $*" in
    */pool/*)
        for arg in "$@"; do
            if [ -e DIR/plan ] && [ "$arg" = "$(cut -d' ' -f2 DIR/plan)" ]; then
                moment=$(cut -d' ' -f1 DIR/plan); rm DIR/plan
                [ "$moment" = after ] && 'REAL' "$@"
                kill -9 $PPID; exit 1
            fi
        done ;;
esac
exec 'REAL' "$@"
"#;

struct Stage {
    place: Place,
    ann: Agent,
}

impl Stage {
    fn new(ready: &'static str) -> Stage {
        let place = Place::with(&[("COMITY_WORKTREE_READY", ready)]);
        let ann = place.join(&["ann"]);
        Stage { place, ann }
    }

    /// How long it takes to make one.
    fn usual(&self) -> Duration {
        let begun = Instant::now();
        self.place.json_as(&self.ann, &["worktree", "add", "usual"]);
        begun.elapsed() // clock: the kills are spread over it
    }

    fn list(&self) -> Value {
        self.place.json_as(&self.ann, &["worktree", "list"])
    }

    /// It is there, it is ann's, and git thinks the same.
    fn check_there(&self, name: &str) {
        let list = self.list();
        let all = list["worktrees"].as_array().expect("worktrees");
        let own = all.iter().find(|tree| tree["slug"] == name).unwrap_or_else(|| panic!("no {name}: {list}"));
        assert_eq!(own["owner"], "ann", "{list}");
        let path = own["path"].as_str().expect("a path");
        let head =
            self.place.program("git").args(["-C", path, "status", "--porcelain"]).output().expect("git");
        assert!(head.status.success() && head.stdout.is_empty(), "{name}: {head:?}");
    }
}

/// Kills the server at many moments of making a worktree, and does something else with whoever asked for it.
fn check(ready: &'static str, go_on: impl Fn(&Stage, support::Running, &str)) {
    let stage = Stage::new(ready);
    let usual = stage.usual();
    let kills =
        std::env::var("COMITY_WORKTREE_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(KILLS);
    for number in 0..kills {
        let name = format!("tree-{number}");
        let server = stage.place.server().expect("a server");
        let mut add = stage.place.comity_as(&stage.ann, &["worktree", "add", &name, "--json"]);
        let asking = stage.place.start(&mut add);
        std::thread::sleep(usual * number / (kills - kills / 6).max(1)); // sleeps: each kill is at another moment
        kill(server, Signal::KILL);
        assert!(has_ended(server, support::PATIENCE));
        go_on(&stage, asking, &name);
        stage.check_there(&name);
    }
    let left = stage.list()["leftovers"].clone();
    assert_eq!(left, serde_json::json!([]));
}

/// The command itself asks the next server again.
fn wait(_: &Stage, asking: support::Running, name: &str) {
    let ran = asking.finish();
    assert_eq!(ran.code, 0, "{name}: {ran:?}");
}

/// The command died, too; what is left says what to do, and that works.
fn ask_again(stage: &Stage, asking: support::Running, name: &str) {
    drop(asking);
    let list = stage.list();
    let is_there =
        list["worktrees"].as_array().is_some_and(|all| all.iter().any(|tree| tree["slug"] == name));
    for left in list["leftovers"].as_array().expect("a list") {
        let left = left.as_str().expect("text");
        assert!(left.contains(&format!("comity worktree add {name}")), "{left}");
    }
    if !is_there {
        let ran = stage.place.run_as(&stage.ann, &["worktree", "add", name]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}\n{list}");
    }
}

#[test]
fn who_asks_for_a_worktree_gets_it_from_the_next_server() {
    check("0", wait);
}

#[test]
fn who_asks_for_a_ready_worktree_gets_it_from_the_next_server() {
    check("1", wait);
}

#[test]
fn a_name_can_be_asked_for_again() {
    check("0", ask_again);
}

#[test]
fn a_name_can_be_asked_for_again_with_one_ready() {
    check("1", ask_again);
}

/// A git that stands in the way of the real one.
fn deadly_git(dir: &Path) -> String {
    let path = std::env::var_os("PATH").expect("a path");
    let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    let real = real.expect("git");
    let script =
        GIT.replace("REAL", real.to_str().expect("text")).replace("DIR", dir.to_str().expect("text"));
    fs::write(dir.join("git"), script).expect("written");
    fs::set_permissions(dir.join("git"), fs::Permissions::from_mode(0o755)).expect("executable");
    dir.join("git").to_str().expect("text").to_owned()
}

#[test]
fn what_is_left_of_one_that_was_made_ready_goes_with_the_next_start() {
    let dir = tempfile::tempdir().expect("a directory");
    let git = deadly_git(dir.path());
    let plans = ["worktree", "reset", "checkout"].map(|it| [format!("before {it}"), format!("after {it}")]);
    for plan in plans.as_flattened() {
        let place = Place::with(&[("COMITY_WORKTREE_READY", "2"), ("COMITY_GIT_PROGRAM", &git)]);
        let stage = Stage { ann: place.join(&["ann"]), place };
        stage.place.json_as(&stage.ann, &["worktree", "add", "first"]);
        support::eventually("two are ready", || stage.list()["ready"] == 2);
        // One is handed out, one has to be brought to the new commit, and one is made.
        stage.place.git(&["commit", "--quiet", "--allow-empty", "--message=second"]);
        let server = stage.place.server().expect("a server");
        fs::write(dir.path().join("plan"), plan).expect("planted");
        stage.place.json_as(&stage.ann, &["worktree", "add", "second"]);
        assert!(has_ended(server, support::PATIENCE), "{plan}: the server goes on");
        let mut said = (String::new(), Value::Null);
        support::eventually(&format!("{plan}: git has what Comity has"), || {
            let git =
                stage.place.program("git").args(["worktree", "list", "--porcelain"]).output().expect("git");
            said = (String::from_utf8(git.stdout).expect("text"), stage.list());
            let known = said.1["worktrees"].as_array().map_or(0, Vec::len) as u64;
            let ready = said.1["ready"].as_u64().expect("a number");
            let in_git = said.0.lines().filter(|line| line.starts_with("worktree ")).count() as u64;
            in_git == 1 + known + ready
        });
        assert_eq!(said.1["leftovers"], serde_json::json!([]), "{plan}");
    }
}
