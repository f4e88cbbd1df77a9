//! Programs that Comity starts in panes: beside you in your own tmux, or in a session of its own, with `it2` in iTerm2.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use support::{Place, eventually, has_program, skip};

/// A place with a tmux of its own: what Comity starts there, and a session of the user's.
struct Stage {
    place: Place,
    tmux_dir: PathBuf,
}

impl Stage {
    fn set_up(test: &str) -> Option<Stage> {
        if !has_program("tmux") {
            skip(test, "tmux is not installed");
            return None;
        }
        let place = Place::new();
        let tmux_dir = place.dir().join("tmux");
        std::fs::create_dir(&tmux_dir).expect("a directory");
        let stage = Stage { place, tmux_dir };
        // The server finds this tmux by its environment.
        let up = stage.comity(&["up"]).output().expect("up");
        assert!(up.status.success(), "{up:?}");
        Some(stage)
    }

    fn comity(&self, arguments: &[&str]) -> Command {
        let mut comity = self.place.comity(arguments);
        comity.env("TMUX_TMPDIR", &self.tmux_dir);
        comity
    }

    fn tmux(&self, server: &str, arguments: &[&str]) -> String {
        let mut tmux = self.place.program("tmux");
        tmux.env("TMUX_TMPDIR", &self.tmux_dir).args(["-L", server, "-f", "/dev/null"]).args(arguments);
        String::from_utf8(tmux.output().expect("tmux").stdout).expect("text")
    }

    /// The user's session, and what it has in its environment.
    fn users(&self) -> [(&'static str, String); 2] {
        let print = ["-P", "-F", "#{socket_path},#{pid},0 #{pane_id}", "cat"];
        let new = ["new-session", "-d", "-s", "user", "-x", "200", "-y", "60"];
        let about = self.tmux("users", &[&new[..], &print].concat());
        let (tmux, pane) = about.trim().split_once(' ').expect("a pane");
        [("TMUX", tmux.to_owned()), ("TMUX_PANE", pane.to_owned())]
    }

    /// Left edge, width and height of each pane of the user's first window.
    fn layout(&self) -> Vec<String> {
        let format = "#{pane_left} #{pane_width} #{pane_height}";
        self.tmux("users", &["list-panes", "-t", "user:0", "-F", format]).lines().map(str::to_owned).collect()
    }

    fn run_of(&self, name: &str) -> Value {
        let runs = self.place.json(&["runs", "--all"])["runs"].clone();
        runs.as_array().expect("runs").iter().rfind(|run| run["name"] == name).expect("a run").clone()
    }

    fn wait_for_state(&self, name: &str, state: &str) {
        eventually(&format!("{name} is {state}"), || self.run_of(name)["state"] == state);
    }
}

#[test]
fn outside_of_tmux_they_are_in_a_session_of_our_own() {
    let Some(stage) = Stage::set_up("panes in a session of our own") else { return };
    let place = &stage.place;
    for (name, backend) in [("ann", "tmux"), ("bob", "auto")] {
        let command = "echo in $TERM; sleep 1000";
        place.json(&["spawn", "developer", "--name", name, "--agent", command, "--backend", backend]);
        stage.wait_for_state(name, "running");
        assert_eq!(stage.run_of(name)["backend"], "tmux");
    }
    let panes = || stage.tmux("comity", &["list-panes", "-a", "-F", "#{pane_id}"]);
    assert_eq!(panes().lines().count(), 2, "{}", panes());
    eventually("it runs in its pane", || place.run(&["logs", "ann"]).out.contains("in tmux-256color"));
    let attach = place.json(&["attach", "ann"]);
    assert!(attach["command"].to_string().contains("attach-session"), "{attach}");
    // Whoever closes a pane ends its agent.
    stage.tmux("comity", &["kill-pane", "-t", "%0"]);
    eventually("its end is known", || stage.run_of("ann")["state"] != "running");
    // Without the server of tmux it comes back in a new one.
    let server = stage.tmux("comity", &["display-message", "-p", "-t", "comity", "#{pid}"]);
    support::kill(server.trim().parse().expect("a number"), rustix::process::Signal::KILL);
    eventually("both come back", || panes().lines().count() == 2);
    place.run(&["stop", "ann"]);
    place.run(&["stop", "bob"]);
    for name in ["ann", "bob"] {
        stage.wait_for_state(name, "stopped");
    }
    eventually("no pane is left", || panes().is_empty());
}

#[test]
fn inside_tmux_they_stack_beside_you() {
    let Some(stage) = Stage::set_up("panes beside the user's") else { return };
    let users = stage.users();
    let inside = |arguments: &[&str]| {
        let done = stage.comity(arguments).envs(users.clone()).output().expect("comity");
        assert!(done.status.success(), "{done:?}");
    };
    inside(&["run", "Make it faster", "--agent", "cat", "--workers", "2", "--backend", "auto"]);
    for name in ["lead", "developer", "developer-2"] {
        stage.wait_for_state(name, "running");
    }
    assert_eq!(stage.layout(), ["0 59 60", "60 140 20", "60 140 19", "60 140 19"]);
    assert_eq!(stage.tmux("comity", &["list-panes", "-a"]), "", "none is elsewhere");
    // What somebody says to it over REST is typed and submitted.
    let input = serde_json::json!({ "agent": "lead", "text": "hello there\r" });
    support::wire::Wire::connect(&stage.place).ask("run_type", input).expect("typed");
    eventually("it was submitted", || {
        let text = stage.place.run(&["logs", "lead"]).out;
        text.matches("hello there").count() == 2
    });

    // A window that is too small for more: that one has a session of our own from now on, and keeps it.
    stage.tmux("users", &["resize-window", "-t", "user", "-x", "100", "-y", "9"]);
    inside(&["spawn", "qa", "--agent", "cat", "--backend", "tmux"]);
    stage.wait_for_state("qa", "running");
    let fell = stage.place.log_of("run_fell_back");
    assert_eq!(fell.len(), 1, "{fell:?}");
    assert!(fell[0]["summary"].as_str().is_some_and(|text| text.contains("no room")), "{fell:?}");
    assert_eq!(stage.tmux("comity", &["list-panes", "-a"]).lines().count(), 1);
    stage.tmux("users", &["resize-window", "-t", "user", "-x", "200", "-y", "60"]);
    stage.place.json(&["agent", "restart", "qa"]);
    eventually("it is started again", || stage.place.log_of("run_started").len() == 5);
    assert_eq!((stage.layout().len(), stage.place.log_of("run_fell_back").len()), (4, 1));
    stage.place.run(&["stop", "lead", "--force"]);
    stage.wait_for_state("developer-2", "stopped");
    eventually("yours is left", || stage.layout() == ["0 200 60"]);
}

#[test]
fn a_backend_that_is_not_there_is_refused_and_auto_takes_what_is() {
    let place = Place::new();
    let bin = place.dir().join("bin");
    std::fs::create_dir(&bin).expect("a directory");
    for program in ["sh", "cat", "git"] {
        let found =
            place.program("sh").args(["-c", &format!("command -v {program}")]).output().expect("sh").stdout;
        let found = String::from_utf8(found).expect("text");
        std::os::unix::fs::symlink(found.trim(), bin.join(program)).expect("linked");
    }
    let up = place.comity(&["up"]).env("PATH", &bin).output().expect("up");
    assert!(up.status.success(), "{up:?}");
    for (backend, says) in
        [("tmux", "no tmux on"), ("iterm2", "iTerm2 can't be asked"), ("screen", "not a backend")]
    {
        let spawn = ["spawn", "developer", "--agent", "cat", "--backend", backend, "--json"];
        let refused = place.run(&spawn).refusal();
        assert!(refused["message"].as_str().is_some_and(|text| text.contains(says)), "{refused}");
    }
    place.json(&["spawn", "developer", "--agent", "cat", "--backend", "auto"]);
    let runs = place.json(&["runs"]);
    assert_eq!(runs["runs"][0]["backend"], "process", "{runs}");
    place.run(&["stop", "developer", "--force"]);
}

#[test]
fn a_team_may_mix_programs_and_how_they_run() {
    let Some(stage) = Stage::set_up("a team of several kinds") else { return };
    let place = &stage.place;
    let workers = "cat,tail:process, sleep:tmux ,cat:acp";
    place.json(&["run", "Make it faster", "--agent", "cat", "--backend", "tmux", "--workers", workers]);
    let runs = place.json(&["runs", "--all"])["runs"].clone();
    let of: Vec<String> = runs
        .as_array()
        .expect("runs")
        .iter()
        .map(|run| {
            let text = |field: &str| run[field].as_str().unwrap_or_default();
            format!("{} {} {}", text("name"), text("program"), text("backend"))
        })
        .collect();
    let expected = [
        "lead cat tmux",
        "developer cat tmux",
        "developer-2 tail process",
        "developer-3 sleep tmux",
        "developer-4 cat acp",
    ];
    assert_eq!(of, expected);
    let refused = |workers: &str| {
        let run = ["run", "x", "--agent", "cat", "--workers", workers, "--json"];
        place.run(&run).refusal()["message"].as_str().expect("a message").to_owned()
    };
    assert!(refused("codex:screen").contains("not a backend"));
    assert!(refused("99").contains("99 workers are too many"));
    assert!(refused(":tmux").contains("no program to start"));
    place.run(&["stop", "lead", "--force"]);
    stage.wait_for_state("lead", "stopped");
}

#[test]
fn one_that_survives_keeps_its_pane() {
    let Some(stage) = Stage::set_up("a pane that is taken over") else { return };
    let place = &stage.place;
    let spawn = ["spawn", "developer", "--name", "ann", "--agent", "cat", "--backend", "tmux", "--survive"];
    place.json(&spawn);
    stage.wait_for_state("ann", "running");
    let before = stage.run_of("ann");
    place.kill_server();
    let up = stage.comity(&["up"]).output().expect("up");
    assert!(up.status.success(), "{up:?}");
    let input = serde_json::json!({ "agent": "ann", "text": "hello\r" });
    eventually("it is taken over", || {
        support::wire::Wire::connect(place).ask("run_type", input.clone()).is_ok()
    });
    eventually("it goes on in its pane", || place.run(&["logs", "ann"]).out.contains("hello"));
    assert_eq!(stage.run_of("ann")["pid"], before["pid"]);
    assert_eq!(stage.tmux("comity", &["list-panes", "-a"]).lines().count(), 1);
    assert!(place.json(&["attach", "ann"])["command"].to_string().contains("attach-session"));
    place.run(&["stop", "ann", "--force"]);
    stage.wait_for_state("ann", "stopped");
}
