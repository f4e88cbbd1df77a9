//! Agents that Comity starts over ACP: what they ask arrives in the inbox, what they write is judged by locks, mail wakes them.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use support::{Place, Ran, eventually, has_program, skip};

/// Our own agent: it does what its prompts say.
const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../comity-runner/tests/acp_agent.py");

/// Starts our own agent, unless it can't run here.
fn ann(test: &str, prompt: &str, more: &[&str]) -> Option<Place> {
    if !has_program("python3") {
        skip(test, "python3 is not installed");
        return None;
    }
    let place = Place::new();
    spawn(&place, prompt, more);
    Some(place)
}

fn spawn(place: &Place, prompt: &str, more: &[&str]) {
    let command = format!("ACP_AGENT_STATE={} exec python3 {AGENT}", place.dir().display());
    let all = ["spawn", "--name", "ann", "--agent", &command, "--backend", "acp", "--prompt", prompt];
    let spawned = place.json(&[&all, more].concat());
    assert_eq!(spawned["name"], "ann", "{spawned}");
}

fn transcript(place: &Place) -> String {
    place.run(&["logs", "ann"]).out
}

fn wait_for(place: &Place, words: &str) -> String {
    let mut text = String::new();
    eventually(&format!("ann's transcript has {words:?}"), || {
        text = transcript(place);
        text.contains(words)
    });
    text
}

fn state(place: &Place) -> String {
    let runs = place.json(&["runs", "--all"]);
    runs["runs"][0]["state"].as_str().expect("a state").to_owned()
}

fn wait_for_state(place: &Place, wanted: &str) {
    eventually(&format!("ann is {wanted}"), || state(place) == wanted);
}

/// The permission that waits, as the inbox shows it.
fn wait_for_request(place: &Place) -> Value {
    let mut found = Value::Null;
    eventually("a permission is asked for", || {
        let waiting = place.json(&["permission", "list"]);
        let requests = waiting["requests"].as_array().cloned().unwrap_or_default();
        found = requests.into_iter().find(|it| it["state"] == "waiting").unwrap_or_default();
        found != Value::Null
    });
    found
}

#[test]
fn an_agent_over_acp_can_be_read_interrupted_and_stopped() {
    let Some(place) = ann("an agent over ACP", "say hello\nthink on\nsay waiting\nwait", &[]) else {
        return;
    };
    let text = wait_for(&place, "\nhello");
    assert!(text.starts_with("> say hello\n"), "{text}");
    wait_for(&place, "\nwaiting");
    let run = place.json(&["runs"])["runs"][0].clone();
    assert_eq!((&run["backend"], &run["state"]), (&"acp".into(), &"running".into()), "{run}");
    let attach = place.json(&["attach", "ann"]);
    assert_eq!(attach["acp"], true, "{attach}");
    let shown = place.json(&["show", "ann"]);
    assert_eq!(shown["program"]["doing"], "working", "{shown}");

    assert_eq!(place.run(&["interrupt", "ann"]).out, "interrupted ann (cancel)\n");
    wait_for(&place, "-- turn interrupted");
    eventually("it is idle", || place.json(&["agents"])["agents"][0]["state"] == "idle");
    place.run(&["stop", "ann"]);
    wait_for_state(&place, "stopped");
    assert!(transcript(&place).contains("hello"), "what it said is still there");
}

#[test]
fn what_an_agent_asks_is_answered_from_the_inbox() {
    let Some(place) = ann("permissions over ACP", "run cargo publish\nrun cargo publish", &[]) else {
        return;
    };
    let request = wait_for_request(&place);
    assert_eq!(
        (&request["tool"], &request["summary"]),
        (&"Bash".into(), &"cargo publish".into()),
        "{request}"
    );
    assert_eq!(request["asker"], "ann");
    let inbox = place.run(&["inbox"]).out;
    assert!(inbox.contains("cargo publish"), "{inbox}");
    let number = request["id"].to_string();
    assert_eq!(place.run(&["inbox", &format!("p{number}"), "allow"]).code, 0);
    // An answer holds once: the second time it is asked again, and the agent learns why not.
    wait_for(&place, "\nyes");
    let again = wait_for_request(&place);
    assert_ne!(again["id"], request["id"]);
    let number = again["id"].to_string();
    assert_eq!(place.run(&["permission", "deny", &number, "--reason", "not today"]).code, 0);
    let text = wait_for(&place, "\nno");
    assert!(text.contains("allowed: Run cargo publish"), "{text}");
    wait_for(&place, "> ");
    let text = wait_for(&place, "not today");
    assert!(text.contains("denied: Run cargo publish"), "{text}");
}

#[test]
fn what_only_reads_is_not_asked_for_and_an_interrupt_takes_questions_back() {
    let Some(place) = ann("questions that are taken back", "run ls\nrun cargo publish", &[]) else { return };
    let request = wait_for_request(&place);
    assert_eq!(request["summary"], "cargo publish");
    assert!(transcript(&place).contains("allowed: Run ls (it was proven to change nothing)"));
    place.run(&["interrupt", "ann"]);
    wait_for(&place, "cancelled");
    let number = request["id"].to_string();
    eventually("it is withdrawn", || {
        let all = place.json(&["permission", "list", &number]);
        all["requests"][0]["state"] == "withdrawn"
    });
}

#[test]
fn writes_are_judged_by_locks() {
    let text = "write a.txt mine\nask edit a.txt\nwrite b.txt mine\nthink on\nask edit b.txt";
    if !has_program("python3") {
        return skip("writes over ACP", "python3 is not installed");
    }
    let place = Place::new();
    place.json(&["permission", "rule", "add", "allow", "Write", "**"]);
    place.json(&["permission", "rule", "add", "allow", "Edit", "**"]);
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "a.txt", "--reason", "fixing the login"]);
    spawn(&place, text, &[]);
    let text = wait_for(&place, "\nyes");
    assert!(text.contains("error -32603") && text.contains("a.txt is locked by bob"), "{text}");
    assert!(text.contains("denied: a.txt"), "{text}");
    assert!(!place.repo.join("a.txt").exists());
    // What it may write is locked for it, and like any file of yours.
    let mode = |file: &str| std::fs::metadata(place.repo.join(file)).expect("written").permissions();
    std::fs::write(place.repo.join("yours"), "").expect("written");
    assert_eq!(mode("b.txt"), mode("yours"));
    let locks = place.json(&["locks"]);
    let of_ann: Vec<&Value> =
        locks["locks"].as_array().expect("locks").iter().filter(|it| it["holder"] == "ann").collect();
    assert_eq!(of_ann.len(), 1, "{locks}");
    // It is told why not, once its turn has ended.
    wait_for(&place, "fixing the login");
}

#[test]
fn mail_wakes_an_agent_whose_turn_is_over() {
    let Some(place) = ann("mail over ACP", "say resting", &[]) else { return };
    wait_for(&place, "-- turn ended");
    place.json(&["mail", "send", "ann", "-m", "say good morning"]);
    let text = wait_for(&place, "say good morning");
    assert!(text.contains("> "), "{text}");
    eventually("it has arrived", || {
        let ends = transcript(&place).matches("-- turn ended").count();
        ends == 2
    });
}

#[test]
fn a_session_goes_on_after_a_crash_and_after_the_servers_end() {
    let Some(place) = ann("sessions over ACP", "prompts\nthink on\nsay ready", &[]) else { return };
    wait_for(&place, "\nready");
    let pid = |place: &Place| {
        let pid = place.json(&["runs"])["runs"][0]["pid"].as_u64();
        pid.and_then(|pid| u32::try_from(pid).ok())
    };
    support::kill(pid(&place).expect("a process"), rustix::process::Signal::KILL);
    let text = wait_for(&place, "> You were interrupted.");
    assert!(text.contains("what was said before"), "{text}");
    place.kill_server();
    wait_for_state(&place, "interrupted");
    place.json(&["resume"]);
    wait_for(&place, "> You were interrupted.");
    place.run(&["stop", "ann", "--force"]);
    wait_for_state(&place, "stopped");
}

#[test]
fn a_client_that_cannot_be_used_says_why() {
    if !has_program("python3") {
        return skip("clients that are of no use", "python3 is not installed");
    }
    let place = Place::new();
    let spawn = |name: &str, agent: &str, more: &[&str]| -> Ran {
        place
            .run(&[&["spawn", "--name", name, "--agent", agent, "--backend", "acp", "--json"], more].concat())
    };
    assert_eq!(spawn("ann", &format!("python3 {AGENT} login"), &[]).code, 0);
    let wanted = "not started: it wants you to log in first (API key): who are you";
    eventually("it is told", || state(&place) == wanted);
    let no = spawn("bob", "true", &["--survive"]).refusal();
    assert_eq!(no["code"], "bad_input", "{no}");
}

#[test]
fn lines_that_are_typed_prompt_the_agent() {
    if !has_program("script") {
        return skip("attaching over ACP", "script(1) is not installed");
    }
    let Some(place) = ann("attaching over ACP", "say hello", &[]) else { return };
    wait_for(&place, "-- turn ended");
    let mut script = place.program("script");
    script.env("COMITY_TOKEN", support::HUMAN);
    let command = format!("{} attach ann", support::BINARY);
    script.args(["-qec", &command, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut script = script.spawn().expect("script");
    let mut stdin = script.stdin.take().expect("a terminal");
    stdin.write_all(b"say good morning\n").and_then(|()| stdin.flush()).expect("typed");
    wait_for(&place, "\ngood morning");
    stdin.write_all(&[4]).and_then(|()| stdin.flush()).expect("typed");
    let ended = script.wait_with_output().expect("it ends");
    let shown = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(shown.contains("each line is a prompt") && shown.contains("hello"), "{shown}");
    assert!(shown.contains("detached; ann keeps running"), "{shown}");
}

#[test]
fn in_plan_mode_nothing_is_written() {
    let prompt = "mode\nthink on\nwrite a.txt mine\nthink on\nask edit a.txt\nthink on\nsay ready";
    let Some(place) = ann("plan mode over ACP", prompt, &["--plan"]) else { return };
    let text = wait_for(&place, "\nready");
    assert!(text.contains("\nplan\n"), "{text}");
    assert!(text.contains("error -32603") && text.contains("denied: a.txt"), "{text}");
    assert!(!place.repo.join("a.txt").exists());
}

#[test]
fn nothing_is_left_when_the_server_is_killed() {
    let Some(place) = ann("ends over ACP", "children\nsay ready\nwait", &[]) else { return };
    wait_for(&place, "\nready");
    let mark = format!("ACP_AGENT_STATE={}", place.dir().display());
    let left = || {
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        let environments = processes.filter_map(|file| std::fs::read(file.path().join("environ")).ok());
        environments.filter(|it| String::from_utf8_lossy(it).contains(&mark)).count()
    };
    assert!(left() >= 3, "{}", left());
    place.kill_server();
    support::eventually_within(Duration::from_secs(2), "nothing is left", || left() == 0);
}
