//! Waiting for a lock: woken by a push, in order, and never in vain.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use support::wire::{Follower, Wire};
use support::{Agent, Place, Running, kill};

/// Starts a command that waits, and gives it back once it is in the queue.
fn wait_in_line(place: &Place, log: &mut Follower, agent: &Agent, path: &str) -> Running {
    let waiter = place.start(&mut place.comity_as(agent, &["lock", path, "--wait", "5m", "--json"]));
    log.until_action("wait_started");
    waiter
}

#[test]
fn a_waiter_is_woken_at_once() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut log = place.follow_on();
    let waiter = wait_in_line(&place, &mut log, &bob, "src/a.rs");
    let mut wire = Wire::connect(&place).asking_as(&ann);
    wire.ask("unlock", json!({ "paths": ["src/a.rs"] })).expect("unlocked");
    let granted = waiter.finish();
    assert_eq!(granted.json()["locks"][0]["holder"], "bob");
}

#[test]
fn nothing_polls_while_twenty_wait() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut log = place.follow_on();
    let waiters: Vec<Running> = (0..20).map(|_| wait_in_line(&place, &mut log, &bob, "src/a.rs")).collect();
    let server = place.server().expect("a server");
    let backlog = place.home.join("log.db-wal");
    support::eventually("the log is tidied up after the last write", || {
        std::fs::metadata(&backlog).is_ok_and(|file| file.len() == 0)
    });
    let processes: Vec<u32> = waiters.iter().map(Running::pid).chain([server]).collect();
    // On a busy machine the last of the work may reach into the first second; whatever polls is woken in every one.
    let busy: Vec<Vec<u64>> = (0..5).map_while(|_| busy_second(&processes)).collect();
    assert!(busy.len() < 5, "wakes in each of five idle seconds: {busy:?}");
}

/// How often each was woken in a second in which nothing was to happen, if they were.
fn busy_second(processes: &[u32]) -> Option<Vec<u64>> {
    let before: Vec<u64> = processes.iter().map(|pid| wakes(*pid)).collect();
    std::thread::sleep(Duration::from_secs(1)); // sleeps: nothing is to happen in this second
    let woken = processes.iter().zip(before).map(|(pid, before)| wakes(*pid) - before);
    let woken: Vec<u64> = woken.collect();
    (woken.iter().sum::<u64>() > 3).then_some(woken)
}

/// How often the threads of a process were woken.
fn wakes(pid: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("threads");
    let statuses =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("status")).ok());
    let count = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        line.trim().parse::<u64>().ok()
    };
    statuses.filter_map(count).sum()
}

#[test]
fn the_queue_is_first_come_first_served() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut log = place.follow_on();
    let names = ["bob", "cat", "dan", "eve", "fay"];
    let agents: Vec<Agent> = names.iter().map(|name| place.join(&[name])).collect();
    let waiters: Vec<Running> =
        agents.iter().map(|agent| wait_in_line(&place, &mut log, agent, "src/a.rs")).collect();
    let waits = place.json(&["locks"])["waits"].clone();
    let in_line: Vec<_> = waits.as_array().expect("waits").iter().map(|wait| &wait["who"]).collect();
    assert_eq!(in_line, names);
    let mut holder = ann;
    for ((name, agent), waiter) in names.iter().zip(agents).zip(waiters) {
        place.json_as(&holder, &["unlock", "--all"]);
        assert_eq!(waiter.finish().json()["locks"][0]["holder"], *name);
        holder = agent;
    }
}

#[test]
fn a_waiter_that_dies_leaves_the_queue() {
    let place = Place::new();
    let (ann, bob, cat) = (place.join(&["ann"]), place.join(&["bob"]), place.join(&["cat"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut log = place.follow_on();
    let bob_waits = wait_in_line(&place, &mut log, &bob, "src/a.rs");
    let cat_waits = wait_in_line(&place, &mut log, &cat, "src/a.rs");
    kill(bob_waits.pid(), Signal::KILL);
    let ended = log.until_action("wait_ended");
    assert_eq!(ended["details"]["ending"], "cancelled", "{ended}");
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    assert_eq!(cat_waits.finish().json()["locks"][0]["holder"], "cat", "the next in line is served");
}

#[test]
fn a_deadlock_is_refused_and_named() {
    let place = Place::new();
    let (ann, bob, cat) = (place.join(&["ann"]), place.join(&["bob"]), place.join(&["cat"]));
    for (agent, path) in [(&ann, "src/a.rs"), (&bob, "src/b.rs"), (&cat, "src/c.rs")] {
        place.json_as(agent, &["lock", path]);
    }
    let mut log = place.follow_on();
    let _ann_waits = wait_in_line(&place, &mut log, &ann, "src/b.rs");
    let _bob_waits = wait_in_line(&place, &mut log, &bob, "src/c.rs");
    let refused = place.run_as(&cat, &["lock", "src/a.rs", "--wait", "5m", "--json"]).refusal();
    assert_eq!(refused["code"], "deadlock");
    assert_eq!(refused["cycle"], json!(["cat", "ann", "bob", "cat"]));
    let said = place.run_as(&cat, &["lock", "src/a.rs", "--wait", "5m"]);
    assert_eq!(said.code, 3);
    let circle = "cat waits for ann (src/a.rs), ann waits for bob (src/b.rs), bob waits for cat (src/c.rs)";
    assert!(said.err.contains(circle), "{said:?}");
}

#[test]
fn a_cycle_of_a_lock_a_lease_and_an_answer_is_refused_when_it_closes() {
    let place = Place::new();
    place.set("[pools.build]\ncapacity = 1\n[guard]\npermissions = true\n");
    let lead = place.join(&["lead", "--role", "lead"]);
    let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann"]));
    let bob = place.join(&["bob"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.json_as(&bob, &["lease", "build"]);
    let mut log = place.follow_on();
    let _bob_waits = wait_in_line(&place, &mut log, &bob, "src/a.rs");
    let lead_waits = place.start(&mut place.comity_as(&lead, &["lease", "build", "--wait", "5m", "--json"]));
    log.until_action("slot_queued");
    let ask = ["ask", "Bash", r#"{"command":"make install"}"#];
    let refused = place.run_as(&ann, &[&ask[..], &["--json"]].concat()).refusal();
    assert_eq!(refused["code"], "deadlock");
    assert_eq!(refused["cycle"], json!(["ann", "lead", "bob", "ann"]));
    assert_eq!(refused["over"], json!(["an answer", "a lease of build", "src/a.rs"]));
    // The way out that the refusal names.
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    let _ann_asks = place.start(&mut place.comity_as(&ann, &ask));
    log.until_action("permission_asked");
    place.json_as(&bob, &["lease", "free", "build"]);
    lead_waits.finish().json();
}

#[test]
fn a_wait_ends_in_time() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs", "--reason", "fixing login"]);
    let refused = place.run_as(&bob, &["lock", "src/a.rs", "--wait", "300ms", "--json"]).refusal();
    assert_eq!(refused["code"], "wait_timed_out");
    assert_eq!(refused["holders"][0]["holder"], "ann");
    assert_eq!(refused["holders"][0]["reason"], "fixing login");
    assert_eq!(place.json(&["status"])["waits"], 0);
}

#[test]
fn waiting_survives_the_server() {
    let place = Place::new();
    let (ann, bob, cat) = (place.join(&["ann"]), place.join(&["bob"]), place.join(&["cat"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut log = place.follow_on();
    let bob_waits = wait_in_line(&place, &mut log, &bob, "src/a.rs");
    let cat_waits = wait_in_line(&place, &mut log, &cat, "src/a.rs");
    for _ in 0..3 {
        let killed = place.kill_server();
        support::eventually("a waiter starts the next server", || {
            place.server().is_some_and(|pid| pid != killed)
        });
    }
    assert!(bob_waits.is_running() && cat_waits.is_running());
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    assert_eq!(bob_waits.finish().json()["locks"][0]["holder"], "bob", "bob kept the first place");
    place.json_as(&bob, &["unlock", "src/a.rs"]);
    assert_eq!(cat_waits.finish().json()["locks"][0]["holder"], "cat");
    assert_eq!(place.log_of("wait_started").len(), 2, "nobody joined the queue twice");
}

#[test]
fn a_waiter_that_dies_while_the_server_is_down_gets_nothing() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut log = place.follow_on();
    let waiter = wait_in_line(&place, &mut log, &bob, "src/a.rs");
    kill(waiter.pid(), Signal::STOP);
    place.kill_server();
    kill(waiter.pid(), Signal::KILL);
    drop(waiter);
    place.json_as(&ann, &["unlock", "src/a.rs"]);
    support::eventually("the dead waiter has left the queue, and holds nothing", || {
        let locks = place.json(&["locks"]);
        locks["waits"] == json!([]) && locks["locks"] == json!([])
    });
}

#[test]
fn ctrl_c_leaves_the_queue() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let mut log = place.follow_on();
    let waiter = wait_in_line(&place, &mut log, &bob, "src/a.rs");
    kill(waiter.pid(), Signal::INT);
    log.until_action("wait_ended");
    assert_eq!(place.json(&["status"])["waits"], 0);
    assert_ne!(waiter.finish().code, 0);
}

/// While the disk is waited for, another thread finds out that a call has to wait: after its connection is gone.
#[test]
fn who_hangs_up_at_once_leaves_no_place_in_the_queue() {
    const DECISIONS: usize = 200;
    /// Callers that may come in between: with a door that lets everybody in first it is thousands for each decision.
    const CALLERS_MAX: usize = DECISIONS * 600;
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let input = json!({ "paths": ["src/a.rs"], "wait": "5m" });
    let line = json!({ "id": 1, "op": "lock", "input": input, "cwd": place.repo }).to_string() + "\n";
    let mut callers = 0;
    std::thread::scope(|scope| {
        let busy = scope.spawn(|| {
            let mut wire = Wire::connect(&place).asking_as(&ann);
            for round in 0..DECISIONS {
                wire.ask("decide", json!({ "title": format!("decision {round}") })).expect("on the disk");
            }
        });
        while !busy.is_finished() {
            let mut stream = std::os::unix::net::UnixStream::connect(place.socket()).expect("a server");
            // With more connections open than the server keeps, it hangs up first: that is no place in the queue either.
            let _ = std::io::Write::write_all(&mut stream, line.as_bytes());
            callers += 1;
        }
    });
    assert!(callers < CALLERS_MAX, "{callers} callers were let in before {DECISIONS} decisions");
    support::eventually("nobody is in the queue any more", || place.json(&["status"])["waits"] == 0);
}

#[test]
fn work_that_was_given_before_it_is_ready_is_waited_for() {
    let place = Place::new();
    let [ann, bob] = ["ann", "bob"].map(|name| place.join(&[name]));
    place.json(&["task", "add", "First", "--id", "first"]);
    place.json(&["task", "add", "Second", "--id", "second", "--depends-on", "first"]);
    place.json(&["task", "assign", "first", "ann"]);
    place.json(&["task", "assign", "second", "bob"]);
    let claim = |wait: &str| place.json_as(&bob, &["task", "claim", "--wait", wait])["id"].clone();
    assert_eq!(claim("50ms"), serde_json::Value::Null);
    let waiting = place.start(&mut place.comity_as(&bob, &["task", "claim", "--wait", "30s", "--json"]));
    place.json_as(&ann, &["task", "start", "first"]);
    place.json_as(&ann, &["task", "done", "first", "--evidence", "done"]);
    assert_eq!(waiting.finish().json()["id"], "second");
}
