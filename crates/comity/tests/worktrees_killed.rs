//! A server that is killed while it makes a worktree: the name can be used again, and what is left is listed.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;
use support::{Agent, Place, has_ended, kill};

/// Kills for each way.
const KILLS: u32 = 24;

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
        begun.elapsed()
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
    for number in 0..KILLS {
        let name = format!("tree-{number}");
        let server = stage.place.server().expect("a server");
        let mut add = stage.place.comity_as(&stage.ann, &["worktree", "add", &name, "--json"]);
        let asking = stage.place.start(&mut add);
        std::thread::sleep(usual * number / (KILLS - 4)); // sleeps: each kill is at another moment
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
