//! Programs that Comity starts: they come back when they crash, end when they are told to, and leave nothing behind.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::wire::Wire;
use support::{BINARY, PATIENCE, Place, eventually, eventually_within, has_program, skip};

/// A program with a child, a grandchild, a daemon with a session of its own and a loop that ignores hangups.
const FAMILY: &str = "setsid sh -c 'sleep 1000 & sleep 1001' & \
                      nohup sh -c 'while :; do sleep 1002; done' >/dev/null 2>&1 & \
                      (sh -c 'sleep 1003; :' & sleep 1004) & sh -c 'sleep 1005; :'";
const FAMILY_SIZE: usize = 8;

/// A prompt that the environment of all processes of a test's programs has.
fn mark(place: &Place) -> String {
    format!("mark-{}", place.dir().display())
}

/// All living processes with this in their environment.
fn marked(mark: &str) -> BTreeSet<u32> {
    let pids = std::fs::read_dir("/proc").expect("processes").flatten();
    let pids = pids.filter_map(|file| file.file_name().to_str()?.parse().ok());
    let has_mark = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is_dead = std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .is_ok_and(|stat| stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"));
        !is_dead && String::from_utf8_lossy(&environment).contains(mark)
    };
    pids.filter(has_mark).collect()
}

fn spawn(place: &Place, name: &str, command: &str, more: &[&str]) {
    let mark = mark(place);
    let all = [&["spawn", "developer", "--name", name, "--agent", command, "--prompt", &mark], more].concat();
    let spawned = place.json(&all);
    assert_eq!(spawned["name"], name, "{spawned}");
}

/// The run of this name, over or not.
fn run_of(place: &Place, name: &str) -> Value {
    let runs = place.json(&["runs", "--all"]);
    let runs = runs["runs"].as_array().expect("runs").clone();
    runs.into_iter().rfind(|run| run["name"] == name).expect("a run")
}

fn state_of(place: &Place, name: &str) -> String {
    run_of(place, name)["state"].as_str().expect("a state").to_owned()
}

fn wait_for_state(place: &Place, name: &str, state: &str) {
    let is_so = || state_of(place, name) == state;
    eventually(&format!("{name} is {state}"), is_so);
}

fn wait_for_output(place: &Place, name: &str, words: &str) -> String {
    let mut text = String::new();
    eventually(&format!("{name} says {words}"), || {
        text = place.run(&["logs", name]).out;
        text.contains(words)
    });
    text
}

#[test]
fn a_program_is_an_agent_with_a_name_and_a_place_in_everything() {
    let place = Place::new();
    let script = format!("{BINARY} whoami; {BINARY} lock src/a.rs --reason mine; echo ready; sleep 1000");
    spawn(&place, "ann", &script, &[]);
    let text = wait_for_output(&place, "ann", "ready");
    assert!(text.contains("ann"), "{text}");
    let locks = place.json(&["locks"]);
    assert_eq!(locks["locks"][0]["holder"], "ann", "{locks}");
    let agents = place.json(&["agents"]);
    assert_eq!(
        (&agents["agents"][0]["name"], &agents["agents"][0]["role"]),
        (&"ann".into(), &"developer".into())
    );

    let refused = place.run(&["spawn", "developer", "--name", "ann", "--agent", "true", "--json"]).refusal();
    assert!(refused["message"].as_str().expect("a message").contains("ann"), "{refused}");
    place.run(&["stop", "ann"]);
    wait_for_state(&place, "ann", "stopped");
    assert_eq!(marked(&mark(&place)), BTreeSet::new());
    let ends = place.log_of("agent_terminated");
    assert_eq!(ends.len(), 1, "{ends:?}");
    assert!(ends[0]["summary"].as_str().expect("a summary").contains("it was stopped"), "{ends:?}");
    assert_eq!(place.json(&["locks"])["locks"].as_array().map(Vec::len), Some(0));
    assert!(place.run(&["logs", "ann"]).out.contains("ready"), "what it wrote is still there");
}

#[test]
fn a_program_has_your_umask() {
    let place = Place::new();
    let own = Command::new("sh").args(["-c", "umask"]).output().expect("sh");
    spawn(&place, "ann", "umask; sleep 1000", &[]);
    let own = String::from_utf8(own.stdout).expect("text");
    assert!(wait_for_output(&place, "ann", "0").starts_with(own.trim()));
}

#[test]
fn a_program_that_is_killed_comes_back_three_times_with_its_task() {
    let place = Place::new();
    place.json(&["task", "add", "Parser", "--id", "parser"]);
    spawn(&place, "ann", "sleep 1000", &["--task", "parser"]);
    for _ in 0..=3 {
        wait_for_state(&place, "ann", "running");
        let run = run_of(&place, "ann");
        assert!(place.json(&["task", "get", "parser"]).to_string().contains(r#""owner":"ann""#));
        let pid = u32::try_from(run["pid"].as_u64().expect("a process")).expect("a number");
        let killed = Instant::now();
        support::kill(pid, rustix::process::Signal::KILL);
        eventually("its end is known", || run_of(&place, "ann")["agent"] != run["agent"]);
        if state_of(&place, "ann") == "waiting to start" {
            wait_for_state(&place, "ann", "running");
            let waited = killed.elapsed(); // clock: two seconds are the rule
            assert!(waited >= Duration::from_secs(2), "it comes back after two seconds");
        }
    }
    assert_eq!(state_of(&place, "ann"), "crashed too often (killed by signal 9)");
    let events: Vec<String> =
        place.log().iter().map(|entry| entry["event"].as_str().unwrap_or_default().to_owned()).collect();
    let count = |event: &str| events.iter().filter(|other| *other == event).count();
    assert_eq!((count("agent:auto_restarted"), count("agent:restart_limit")), (3, 1), "{events:?}");
    assert_eq!(count("agent:crashed"), 4);

    place.run(&["agent", "restart", "ann"]);
    wait_for_state(&place, "ann", "running");
    assert_eq!(run_of(&place, "ann")["crashes"], 0);
    place.run(&["stop", "ann", "--force"]);
    wait_for_state(&place, "ann", "stopped");
}

#[test]
fn nothing_is_left_after_a_stop_that_the_program_ignores() {
    let place = Place::new();
    spawn(&place, "ann", &format!("trap '' TERM INT HUP; {FAMILY}"), &[]);
    eventually("its family is there", || marked(&mark(&place)).len() >= FAMILY_SIZE);
    place.run(&["stop", "ann", "--force"]);
    wait_for_state(&place, "ann", "stopped");
    assert_eq!(marked(&mark(&place)), BTreeSet::new());
}

#[test]
fn nothing_outlives_a_server_that_is_killed_and_resume_goes_on() {
    let place = Place::new();
    for name in ["ann", "bob", "cat"] {
        spawn(&place, name, FAMILY, &[]);
    }
    eventually("their families are there", || marked(&mark(&place)).len() >= 3 * FAMILY_SIZE);
    place.kill_server();
    eventually_within(Duration::from_secs(2), "nothing is left", || marked(&mark(&place)).is_empty());

    // The next server says so, and starts them again when it is told to.
    for name in ["ann", "bob", "cat"] {
        wait_for_state(&place, name, "interrupted");
    }
    assert_eq!(place.json(&["agents"])["agents"].as_array().map(Vec::len), Some(0));
    let resumed = place.json(&["resume", "ann", "bob"]);
    assert_eq!(resumed["runs"].as_array().map(Vec::len), Some(2), "{resumed}");
    wait_for_state(&place, "ann", "running");
    wait_for_state(&place, "bob", "running");
    assert_eq!(state_of(&place, "cat"), "interrupted");
    let all = place.json(&["resume"]);
    assert_eq!(all["runs"][0]["name"], "cat", "{all}");
    wait_for_state(&place, "cat", "running");
    place.run(&["down"]);
    assert_eq!(marked(&mark(&place)), BTreeSet::new(), "a server that stops leaves nothing either");
}

#[test]
fn one_that_survives_is_taken_over_and_not_started_twice() {
    let place = Place::new();
    spawn(&place, "ann", "cat", &["--survive"]);
    wait_for_state(&place, "ann", "running");
    let before = run_of(&place, "ann");
    place.kill_server();
    wait_for_state(&place, "ann", "running");
    let after = run_of(&place, "ann");
    assert_eq!((&before["pid"], &before["agent"]), (&after["pid"], &after["agent"]));
    assert_eq!(place.log_of("run_starting").len(), 1);
    // Its terminal came along.
    place.json(&["agents"]);
    let mut attached = Attached::new(&place, "ann");
    attached.types("hello\r");
    attached.wait_for("hello");
    attached.types("\u{1d}");
    attached.wait_for("detached; ann keeps running");
    place.run(&["stop", "ann", "--force"]);
    wait_for_state(&place, "ann", "stopped");
    eventually("nothing is left", || marked(&mark(&place)).is_empty());
}

/// `comity attach` in a terminal.
struct Attached {
    script: Child,
    seen: String,
}

impl Attached {
    fn new(place: &Place, name: &str) -> Attached {
        let command = format!("stty rows 33 cols 77; {BINARY} attach {name}");
        let mut script = place.program("script");
        script.env("COMITY_TOKEN", support::HUMAN);
        script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut attached = Attached { script: script.spawn().expect("script"), seen: String::new() };
        attached.wait_for("detaches");
        attached
    }

    fn types(&mut self, text: &str) {
        let stdin = self.script.stdin.as_mut().expect("a terminal");
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).expect("typed");
    }

    fn wait_for(&mut self, words: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.seen.contains(words) {
            let out = self.script.stdout.as_mut().expect("a terminal");
            let left = until.saturating_duration_since(Instant::now());
            assert!(support::is_readable(out, left), "{words:?} never came: {:?}", self.seen);
            let mut bytes = [0; 4096];
            let count = out.read(&mut bytes).expect("read");
            assert!(count > 0, "{words:?} never came: {:?}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

#[test]
fn you_can_attach_to_a_program_and_interrupt_it() {
    if !has_program("script") {
        return skip("attaching to a program", "script(1) is not installed");
    }
    let place = Place::new();
    let shell = "trap 'echo interrupted' INT; while read line; do echo \"got $line in $(stty size)\"; done";
    // A read that a signal interrupts ends the loop in some shells: it begins anew.
    spawn(&place, "ann", &format!("while :; do {shell}; done"), &[]);
    wait_for_state(&place, "ann", "running");
    let mut attached = Attached::new(&place, "ann");
    attached.types("one\r");
    attached.wait_for("got one in 33 77");
    attached.types("grüße\r");
    attached.wait_for("got grüße in 33 77");
    let interrupted = place.run(&["interrupt", "ann"]);
    assert_eq!(interrupted.out, "interrupted ann (SIGINT)\n", "{interrupted:?}");
    attached.wait_for("interrupted");
    place.run(&["stop", "ann", "--force"]);
    attached.wait_for("ann has ended");
    assert_eq!(place.log_of("run_attached").len(), 1);
}

#[test]
fn agents_start_agents_only_if_they_may_and_lead_them() {
    let place = Place::new();
    let (lead, dev) = (place.join(&["lead", "--role", "lead"]), place.join(&["dev"]));
    let no = place.run_as(&dev, &["spawn", "developer", "--agent", "true", "--json"]).refusal();
    assert_eq!(no["code"], "not_allowed", "{no}");
    place.json_as(&lead, &["spawn", "developer", "--name", "ann", "--agent", "sleep 1000"]);
    wait_for_state(&place, "ann", "running");
    for command in [["stop", "ann"], ["interrupt", "ann"], ["logs", "ann"], ["attach", "ann"]] {
        let no = place.run_as(&dev, &[&command[..], &["--json"]].concat()).refusal();
        assert_eq!(no["code"], "not_allowed", "{command:?}: {no}");
    }
    place.json_as(&lead, &["agent", "bye"]);
    wait_for_state(&place, "ann", "stopped");
}

#[test]
fn what_a_program_writes_is_followed_until_it_ends() {
    let place = Place::new();
    let script =
        r"stty -echo; echo one; read go; printf 'tw\033[1'; read go; printf 'mo\033[0m\n'; read go; exit 3";
    spawn(&place, "ann", script, &[]);
    wait_for_output(&place, "ann", "one");
    let go_on = || {
        let input = serde_json::json!({ "agent": "ann", "text": "\r" });
        Wire::connect(&place).ask("run_type", input).expect("typed");
    };
    let mut follower = place.start(&mut place.comity(&["logs", "ann", "-f"]));
    let mut seen = String::new();
    let mut wait_for = |words: &str| {
        let out = follower.0.stdout.as_mut().expect("a pipe");
        while !seen.contains(words) {
            assert!(support::is_readable(out, PATIENCE), "{words:?} never came: {seen:?}");
            let mut bytes = [0; 4096];
            let count = out.read(&mut bytes).expect("read");
            assert!(count > 0, "{words:?} never came: {seen:?}");
            seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    };
    wait_for("one\n");
    go_on();
    // Half a sequence is kept back until it is whole.
    wait_for("tw");
    go_on();
    wait_for("two\n");
    let json = place.start(&mut place.comity(&["logs", "ann", "--follow", "--json"]));
    go_on();
    let (followed, json) = (follower.finish(), json.finish());
    // It is started again, as another agent.
    assert_eq!((followed.code, followed.err.as_str()), (0, "ann has ended\n"), "{followed:?}");
    let lines: Vec<Value> = json.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let text: String = lines.iter().map(|line| line["text"].as_str().expect("a text")).collect();
    assert!(text.starts_with("one\r\n") && text.contains("tw\u{1b}[1mo"), "{text:?}");
    assert_eq!(lines.last().map(|line| &line["over"]), Some(&true.into()), "{lines:?}");
    place.run(&["stop", "ann", "--force"]);
}
