//! Permissions end to end: every way to ask, under every fault, ends in a no that says why.

#[path = "permissions/by_mail.rs"]
mod by_mail;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;
#[path = "permissions/teams.rs"]
mod teams;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::mcp::{Mcp, Told};
use support::wire::Follower;
use support::{Agent, Place, Ran, Running, kill, program};

/// How long an answer may take where a test lets it run out.
const SHORT: &str = "300ms";

/// A way to ask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    CommandLine,
    Mcp,
    Hook,
}

const WAYS: [Way; 3] = [Way::CommandLine, Way::Mcp, Way::Hook];

/// A leader, a worker below it, and what happens.
struct Scene {
    place: Place,
    lead: Agent,
    ann: Agent,
    log: Follower,
    /// The worker's own MCP process: with it the worker would end.
    mcp: OnceLock<Arc<Mutex<Mcp>>>,
}

/// A question that is on its way.
enum Question {
    Process(Running),
    Thread(JoinHandle<Told>, u32),
}

impl Scene {
    /// A scene in which an answer may take so long.
    fn new(wait: &str) -> Scene {
        let place = Place::with(&[("COMITY_PERMISSION_WAIT", wait), ("COMITY_DISCONNECT_GRACE", "100ms")]);
        place.set("[guard]\npermissions = true\n");
        let lead = place.join(&["lead", "--role", "lead"]);
        let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann"]));
        let log = place.follow_on();
        Scene { place, lead, ann, log, mcp: OnceLock::new() }
    }

    fn ask(&self, way: Way, input: &Value) -> Question {
        self.ask_in(way, input, |_| {})
    }

    /// Starts to ask; the environment may be changed.
    fn ask_in(&self, way: Way, input: &Value, change: impl Fn(&mut Command)) -> Question {
        let text = input.to_string();
        match way {
            Way::CommandLine => {
                let mut command = self.place.comity_as(&self.ann, &["ask", "Bash", &text]);
                change(&mut command);
                Question::Process(self.place.start(&mut command))
            }
            Way::Hook => {
                let payload = json!({
                    "session_id": "s1", "cwd": self.place.repo, "hook_event_name": "PreToolUse",
                    "tool_name": "Bash", "tool_input": input,
                });
                let mut command = self.place.comity_as(&self.ann, &["hook", "claude"]);
                change(command.stdin(Stdio::piped()));
                let mut running = self.place.start(&mut command);
                let mut stdin = running.0.stdin.take().expect("an input");
                stdin.write_all(payload.to_string().as_bytes()).expect("written");
                Question::Process(running)
            }
            Way::Mcp => {
                let start =
                    || Arc::new(Mutex::new(Mcp::start(&mut self.place.comity_as(&self.ann, &["mcp"]))));
                let mcp = self.mcp.get_or_init(start).clone();
                let pid = mcp.lock().expect("nobody else asks").pid();
                let arguments = json!({ "tool": "Bash", "input": input });
                let ask = move || mcp.lock().expect("nobody else asks").call("ask_permission", &arguments);
                Question::Thread(std::thread::spawn(ask), pid)
            }
        }
    }

    /// The number of the request that is asked next.
    fn asked(&mut self) -> String {
        self.log.until_action("permission_asked")["details"]["request"].to_string()
    }

    fn lead(&self, words: &[&str]) -> Ran {
        self.place.run_as(&self.lead, &[&["permissions"], words, &["--json"]].concat())
    }
}

impl Question {
    /// The text of the answer, and whether it is a plain yes.
    fn answer(self) -> (bool, String) {
        match self {
            Question::Thread(thread, _) => {
                let told = thread.join().expect("an answer");
                (!told.is_error && told.text.starts_with("allowed"), told.text)
            }
            Question::Process(running) => {
                let Ran { code, out, err } = running.finish();
                let denies = out.contains("\"permissionDecision\":\"deny\"");
                (code == 0 && !denies, out + &err)
            }
        }
    }

    /// The answer, which has to be a no that says this.
    fn denied(self, why: &str, way: Way) {
        let (allowed, text) = self.answer();
        assert!(!allowed && text.contains(why), "{way:?}, expected {why:?}: {text}");
    }

    fn pid(&self) -> u32 {
        match self {
            Question::Process(running) => running.pid(),
            Question::Thread(_, pid) => *pid,
        }
    }
}

fn make() -> Value {
    json!({ "command": "make install" })
}

#[test]
fn an_allow_reaches_who_asked_in_every_way() {
    for way in WAYS {
        let mut scene = Scene::new("5m");
        let question = scene.ask(way, &make());
        let request = scene.asked();
        let listed = scene.lead(&["list"]).json()["requests"][0].clone();
        assert_eq!(
            (&listed["asker"], &listed["summary"]),
            (&json!("ann"), &json!("make install")),
            "{way:?}"
        );
        let hash = listed["hash"].as_str().expect("a hash").to_owned();
        scene.lead(&["allow", &request, "--hash", &hash]).json();
        let (allowed, text) = question.answer();
        assert!(allowed, "{way:?}: {text}");
        scene.log.until_action("permission_used");
    }
}

#[test]
fn nobody_answers_in_time() {
    for way in WAYS {
        let scene = Scene::new(SHORT);
        scene.ask(way, &make()).denied("nobody answered request 1 in time", way);
    }
}

#[test]
fn the_asker_crashes() {
    for way in WAYS {
        let mut scene = Scene::new("5m");
        let (bob, program) = program::join(&scene.place, &scene.lead.token, "bob");
        scene.ann = bob;
        let question = scene.ask(way, &make());
        let request = scene.asked();
        kill(program.pid(), Signal::KILL);
        question.denied("bob has ended", way);
        let late = scene.lead(&["allow", &request]).refusal();
        assert!(late["message"].as_str().is_some_and(|text| text.contains("its asker ended")), "{late}");
    }
}

#[test]
fn the_connection_is_cut() {
    for way in WAYS {
        let mut scene = Scene::new("5m");
        let question = scene.ask(way, &make());
        let request = scene.asked();
        kill(question.pid(), Signal::KILL);
        if let Question::Process(running) = question {
            let ran = running.finish();
            assert!(ran.code != 0 && ran.out.is_empty(), "{way:?}: {ran:?}");
        }
        if way == Way::Mcp {
            // The connection was the agent's own: it is gone, and so is what it asked for.
            scene.log.until_action("permission_withdrawn");
            assert_eq!(scene.lead(&["allow", &request]).code, 3);
        } else {
            scene.lead(&["allow", &request]).json();
        }
        let done = [scene.place.log_of("permission_used"), scene.place.log_of("permission_passed")];
        assert!(done.iter().all(Vec::is_empty), "nobody was there to do it: {done:?}");
    }
}

#[test]
fn garbage_is_a_no() {
    for way in WAYS {
        let mut scene = Scene::new(SHORT);
        let question = scene.ask(way, &make());
        let request = scene.asked();
        for garbage in [&["allow", &request, "--hash", "zz"][..], &["allow", "999"]] {
            assert_eq!(scene.lead(garbage).code, 3, "{garbage:?}");
        }
        let zeros = "0".repeat(64);
        let wrong = scene.lead(&["allow", &request, "--hash", &zeros]).refusal();
        assert!(wrong["message"].as_str().is_some_and(|text| text.contains("another call")), "{wrong}");
        assert_eq!(scene.lead(&["allow", "--", "-1"]).code, 2);
        question.denied("in time", way);
        // And a question that is garbage itself.
        let why = if way == Way::Hook { "it is not clear" } else { "in time" };
        scene.ask(way, &json!({ "command": 7 })).denied(why, way);
    }
    let scene = Scene::new(SHORT);
    let ran = scene.place.run_as(&scene.ann, &["ask", "Bash", "{no json"]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_late_answer_changes_nothing() {
    for way in WAYS {
        let mut scene = Scene::new(SHORT);
        let question = scene.ask(way, &make());
        let request = scene.asked();
        question.denied("in time", way);
        let late = scene.lead(&["allow", &request]).refusal();
        assert!(late["message"].as_str().is_some_and(|text| text.contains("too late")), "{late}");
        assert!(scene.place.log_of("permission_allowed").is_empty());
    }
}

#[test]
fn a_second_answer_changes_nothing() {
    for way in WAYS {
        let mut scene = Scene::new("5m");
        let question = scene.ask(way, &make());
        let request = scene.asked();
        scene.lead(&["deny", &request, "--reason", "not on a friday"]).json();
        let second = scene.lead(&["allow", &request]).refusal();
        assert!(second["message"].as_str().is_some_and(|text| text.contains("already")), "{second}");
        question.denied("lead denied request 1: not on a friday", way);
        // A repeat of the same gets the same.
        scene.ask(way, &make()).denied("not on a friday", way);
    }
}

#[test]
fn an_allow_is_for_this_input_and_once() {
    for way in WAYS {
        let mut scene = Scene::new(SHORT);
        // Somebody asks and goes on; the allow stays unused.
        let input = make().to_string();
        let asked = scene.place.run_as(&scene.ann, &["ask", "Bash", &input, "--wait", "1ms"]);
        assert!(asked.code == 3 && asked.err.contains("no answer yet"), "{asked:?}");
        let request = scene.asked();
        scene.lead(&["allow", &request]).json();
        scene.ask(way, &json!({ "command": "make uninstall" })).denied("in time", way);
        let listed = scene.lead(&["list"]).json()["requests"].clone();
        assert_eq!(
            (&listed[0]["state"], &listed[1]),
            (&json!("allowed"), &Value::Null),
            "{way:?}: still unused"
        );
        let (allowed, text) = scene.ask(way, &make()).answer();
        assert!(allowed, "{way:?} finds the answer: {text}");
        scene.ask(way, &make()).denied("in time", way);
    }
}

#[test]
fn no_server_is_a_no() {
    for way in [Way::CommandLine, Way::Hook] {
        let scene = Scene::new("5m");
        let file = scene.place.dir().join("no-directory");
        std::fs::write(&file, "").expect("written");
        let (allowed, text) = scene
            .ask_in(way, &make(), |command| {
                command.env("COMITY_HOME", &file);
            })
            .answer();
        assert!(!allowed && text.contains("doctor"), "{way:?}: {text}");
    }
    // Not even where hooks are to let pass what they cannot judge: here agents have to ask.
    let scene = Scene::new("5m");
    let file = scene.place.home.join("comity.toml");
    std::fs::write(&file, "[guard]\npermissions = true\npolicy = \"open\"\n").expect("written");
    scene.place.kill_server();
    std::fs::remove_file(scene.place.socket()).expect("a socket");
    std::fs::create_dir(scene.place.socket()).expect("nothing to connect to");
    let (allowed, text) = scene.ask(Way::Hook, &make()).answer();
    assert!(!allowed && text.contains("blocked"), "{text}");
    std::fs::remove_dir(scene.place.socket()).expect("removed");
    // An MCP process without a server does not start, so there is nobody to say yes.
    let no_home = scene.place.dir().join("no-home");
    std::fs::write(&no_home, "").expect("written");
    let mut mcp = scene.place.comity_as(&scene.ann, &["mcp"]);
    let ran = Ran::of(mcp.env("COMITY_HOME", &no_home).output().expect("it ends"));
    assert!(ran.code != 0 && ran.out.is_empty(), "{ran:?}");
}

#[test]
fn a_request_survives_the_server() {
    for way in WAYS {
        let mut scene = Scene::new("5m");
        let question = scene.ask(way, &make());
        let request = scene.asked();
        scene.place.kill_server();
        let listed = scene.lead(&["list"]).json()["requests"].clone();
        assert_eq!(listed[0]["state"], "waiting", "{way:?}: {listed}");
        scene.lead(&["allow", &request]).json();
        let (allowed, text) = question.answer();
        assert!(allowed, "{way:?}: {text}");
        assert_eq!(scene.place.log_of("permission_used").len(), 1, "{way:?}");
    }
}

#[test]
fn what_forbids_files_binds_tools_that_nobody_has_told_us_about() {
    let scene = Scene::new("5m");
    scene.place.json(&["mode", "ann", "full"]);
    scene.place.json(&["permissions", "rule", "add", "deny", "Write", "src/secret/"]);
    scene.place.json(&["permissions", "rule", "add", "deny", "Bash", "rm *"]);
    for (tool, input, is_denied) in [
        ("mcp__fs__write_file", json!({ "path": "src/secret/a", "content": "x" }), true),
        ("mcp__fs__edit", json!({ "path": "src/secret/a", "old": "a" }), true),
        ("mcp__fs__put", json!({ "to": { "uri": "src/secret/a" } }), true),
        ("mcp__fs__move", json!({ "source": "a", "destination": "src" }), true),
        ("mcp__sh__run", json!({ "command": "ls; rm x" }), true),
        ("mcp__fs__write_file", json!({ "path": "src/open/a", "content": "x" }), false),
        ("mcp__tracker__create_issue", json!({ "title": "a/b is slow", "labels": ["x"] }), false),
        ("mcp__sh__run", json!({ "command": "ls" }), false),
    ] {
        let ran = scene.place.run_as(&scene.ann, &["ask", tool, &input.to_string(), "--wait", "0s"]);
        let said = format!("{}{}", ran.out, ran.err);
        assert_eq!(said.contains("a rule of the human says no"), is_denied, "{tool} {input}: {ran:?}");
    }
}

#[test]
fn rules_and_modes_settle_who_waits_and_hooks_obey_them() {
    let mut scene = Scene::new("5m");
    let question = scene.ask(Way::CommandLine, &make());
    scene.asked();
    scene.lead(&["rule", "add", "allow", "Bash", "make *"]).json();
    let (allowed, text) = question.answer();
    assert!(allowed, "{text}");
    let (allowed, text) = scene.ask(Way::Hook, &make()).answer();
    assert!(allowed, "by the rule: {text}");
    let both = json!({ "command": "make install; rm -rf /" });
    scene.place.json(&["permissions", "rule", "add", "deny", "Bash", "rm *"]);
    scene.ask(Way::Hook, &both).denied("a rule of the human says no: deny Bash rm *", Way::Hook);
    scene.place.json_as(&scene.lead, &["mode", "ann", "plan"]);
    scene.ask(Way::Hook, &make()).denied("plan mode", Way::Hook);
    let no = scene.place.run_as(&scene.ann, &["mode", "ann", "ask"]);
    assert!(no.code == 3 && no.err.contains("may not widen"), "{no:?}");
    std::fs::write(scene.place.repo.join("plan.md"), "1. make\n2. install\n").expect("written");
    let plan = scene.place.json_as(&scene.ann, &["plan", "submit", "plan.md"]);
    assert_eq!(plan["to"], "lead");
    let shown = scene.lead(&["list"]).json()["plans"][0].clone();
    assert_eq!(shown["content"], "1. make\n2. install\n");
    let id = plan["id"].to_string();
    scene.place.json_as(&scene.lead, &["plan", "approve", &id, "--mode", "ask"]);
    let (allowed, text) = scene.ask(Way::Hook, &make()).answer();
    assert!(allowed, "let out of plan mode: {text}");
    // Who is led by nobody and was told nothing is not asked about.
    let free = scene.place.join(&["free"]);
    scene.place.json(&["permissions", "rule", "remove", "2"]);
    let rules = scene.place.json(&["permissions", "rules"]);
    let kept = rules["rules"].as_array().expect("rules").iter().filter(|rule| rule["effect"] == "deny");
    for rule in kept {
        scene.place.json(&["permissions", "rule", "remove", &rule["id"].to_string()]);
    }
    scene.ann = free;
    let (allowed, text) = scene.ask(Way::Hook, &both).answer();
    assert!(allowed, "{text}");
}
