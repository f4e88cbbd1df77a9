//! Kills the server at one write to the disk after the other, and lets writes fail: what was told stays true.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};
use support::wire::{No, Wire};
use support::{Agent, PATIENCE, Place, Running, has_ended, has_program, skip};

/// Points at which the server is killed, for each system call, unless `COMITY_SWEEP_POINTS` says otherwise.
const POINTS_MAX: usize = 14;
const CALLS: [&str; 3] = ["fsync", "pwrite64", "write"];

/// A server under strace that has said that it is ready; nothing if it died before.
fn serve(place: &Place, strace: &[&str]) -> Option<Running> {
    let mut command = place.program("strace");
    command.args(["-f", "-qq"]).args(strace).args([support::BINARY, "serve"]);
    let mut server =
        Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("strace runs"));
    let mut line = String::new();
    let said = BufReader::new(server.0.stdout.take().expect("a pipe")).read_line(&mut line);
    (said.is_ok_and(|bytes| bytes > 0)).then_some(server)
}

/// A fixed piece of work; gives what was told, one word for each answer, and stops when the server does.
fn work(place: &Place) -> Vec<&'static str> {
    let mut told = Vec::new();
    let _ = try_to_work(place, &mut told);
    told
}

/// What the log has to say for each answer.
const STORY: [&str; 8] = [
    "agent_joined",
    "lock_acquired",
    "lock_acquired",
    "lock_released",
    "agent_joined",
    "lock_handed_over",
    "lock_released",
    "agent_terminated",
];

fn try_to_work(place: &Place, told: &mut Vec<&'static str>) -> Option<()> {
    let mut step = |wire: &mut Wire, op: &str, input: Value| {
        let answer = wire.ask_with_key(op, input, None);
        match answer {
            Ok(output) => {
                told.push(STORY[told.len()]);
                Some(output)
            }
            Err(No::Broken(_)) => None,
            Err(No::Refused(error)) => panic!("{op}: {error}"),
        }
    };
    let mut human = Wire::try_connect(place)?;
    let ann = Agent::of(&step(&mut human, "agent_join", json!({ "name": "ann" }))?);
    let mut wire = Wire::try_connect(place)?.asking_as(&ann);
    step(&mut wire, "lock", json!({ "paths": "src/a.rs" }))?;
    step(&mut wire, "lock", json!({ "paths": "src/b.rs" }))?;
    step(&mut wire, "unlock", json!({ "paths": "src/a.rs" }))?;
    step(&mut human, "agent_join", json!({ "name": "bob" }))?;
    step(&mut wire, "handover", json!({ "paths": "src/b.rs", "to": "bob" }))?;
    step(&mut human, "release", json!({ "paths": "src/b.rs", "from": "bob" }))?;
    step(&mut wire, "agent_bye", json!({}))?;
    Some(())
}

/// How often the server makes a system call in all of the work.
fn count_calls(call: &str) -> usize {
    let place = Place::new();
    let trace = place.dir().join("trace");
    let filter = format!("trace={call}");
    let server = serve(&place, &["-o", trace.to_str().expect("a text"), "-e", &filter]).expect("a server");
    assert_eq!(work(&place), STORY);
    place.json(&["down"]);
    assert!(has_ended(server.pid(), PATIENCE));
    std::fs::read_to_string(trace).expect("a trace").lines().filter(|line| line.contains(call)).count()
}

#[test]
fn a_kill_at_any_write_leaves_the_old_or_the_new() {
    if !has_program("strace") {
        return skip("a_kill_at_any_write_leaves_the_old_or_the_new", "strace is not installed");
    }
    let most = std::env::var("COMITY_SWEEP_POINTS").ok().and_then(|text| text.parse().ok());
    let (mut points, mut killed, mut answers) = (0, 0, 0);
    for call in CALLS {
        let total = count_calls(call);
        let stride = total.div_ceil(most.unwrap_or(POINTS_MAX)).max(1);
        for at in (1..=total).step_by(stride) {
            let (was_killed, told) = kill_at(call, at);
            points += 1;
            killed += usize::from(was_killed);
            answers += told;
        }
    }
    println!("strace sweep: {points} points, {killed} killed, {answers} acked, 0 lost");
    assert!(killed * 2 > points, "most points are reached: {killed} of {points}");
}

/// Kills the server at its `at`-th call, starts the next one, and compares; gives whether it was killed.
fn kill_at(call: &str, at: usize) -> (bool, usize) {
    let place = Place::new();
    let inject = format!("inject={call}:signal=KILL:when={at}");
    let filter = format!("trace={call}");
    let server = serve(&place, &["-o", "/dev/null", "-e", &filter, "-e", &inject]);
    let told = if server.is_some() { work(&place) } else { Vec::new() };
    let was_killed = place.server().is_none();
    if !was_killed {
        place.kill_server();
    }
    place.json(&["up"]);
    let log = place.log();
    let happened: Vec<&str> = log
        .iter()
        .filter_map(|entry| entry["action"].as_str())
        .filter(|action| STORY.contains(action))
        .collect();
    let (least, most) = (told.len(), told.len() + 1);
    assert!((least..=most).contains(&happened.len()), "{call} {at}: told {told:?}, happened {happened:?}");
    assert_eq!(happened, STORY[..happened.len()], "{call} {at}");
    place.json(&["log", "verify"]);
    assert_eq!(place.json(&["status"])["head"], log.len(), "{call} {at}: no gap");
    (was_killed, told.len())
}

#[test]
fn a_write_that_fails_is_told_and_the_next_one_works() {
    let test = "a_write_that_fails_is_told_and_the_next_one_works";
    if !has_program("strace") {
        return skip(test, "strace is not installed");
    }
    for (call, error) in [("fsync", "EIO"), ("pwrite64", "EIO"), ("pwrite64", "ENOSPC")] {
        let total = count_calls(call);
        let mut faults = 0;
        for at in (total / 2..total).step_by((total / 12).max(1)) {
            faults += usize::from(fail_at(call, error, at));
        }
        println!("{call} fails with {error}: {faults} faults were told");
        assert!(faults > 0, "no {call} was noticed to fail");
    }
}

/// Lets one call fail while decisions are made; gives whether somebody was told of it.
fn fail_at(call: &str, error: &str, at: usize) -> bool {
    let place = Place::new();
    let inject = format!("inject={call}:error={error}:when={at}");
    let filter = format!("trace={call}");
    let Some(_server) = serve(&place, &["-o", "/dev/null", "-e", &filter, "-e", &inject]) else {
        return true;
    };
    let (mut told, mut faults) = (Vec::new(), 0);
    let mut wire = Wire::try_connect(&place).expect("a server");
    for number in 0..40 {
        let name = format!("decision {number}");
        match wire.ask("decide", json!({ "title": name })) {
            Ok(_) => told.push(name),
            Err(No::Refused(refused)) => {
                assert_eq!(refused["code"], "fault", "{call} {at}: {refused}");
                faults += 1;
            }
            Err(broken) => panic!("{call} {at}: the server is gone: {broken:?}"),
        }
        assert!(faults <= 1, "{call} {at}: one failure is one failure");
    }
    place.kill_server();
    let made = place.log_of("decision_made");
    let made: Vec<&str> = made.iter().filter_map(|entry| entry["details"]["title"].as_str()).collect();
    assert!(told.iter().all(|name| made.contains(&name.as_str())), "{call} {at}: {told:?} of {made:?}");
    place.json(&["log", "verify"]);
    faults > 0
}
