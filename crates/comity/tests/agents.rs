//! Agents: they end with their process, with their leader, or by saying goodbye, and leave nothing behind.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use rustix::process::Signal;
use serde_json::{Value, json};
use support::mcp::Mcp;
use support::wire::Wire;
use support::{Agent, HUMAN, Place, eventually, kill, program};

fn names(agents: &Value) -> Vec<&str> {
    agents["agents"].as_array().expect("agents").iter().filter_map(|agent| agent["name"].as_str()).collect()
}

#[test]
fn an_agent_ends_with_its_process() {
    let place = Place::new();
    let (ann, process) = program::join(&place, HUMAN, "ann");
    place.json_as(&ann, &["lock", "src/a.rs", "src/b.rs"]);
    let mut log = place.follow_on();
    kill(process.pid(), Signal::KILL);
    let ended = log.until_action("agent_terminated");
    assert_eq!(ended["details"]["agent"], *ann.id);
    assert_eq!(ended["details"]["ending"], "failed");
    assert_eq!(ended["event"], "agent:crashed");
    eventually("an event for each lock", || place.log_of("lock_released").len() == 2);
    let released = place.log_of("lock_released");
    assert!(released.iter().all(|entry| entry["details"]["cause"] == "holder_ended"), "{released:?}");
    assert_eq!(place.json(&["status"])["locks"], 0);
    assert_eq!(place.run_as(&ann, &["locks", "--json"]).refusal()["code"], "agent_ended");
}

#[test]
fn the_log_of_an_agent_has_all_that_concerns_it() {
    let place = Place::new();
    let (ann, process) = program::join(&place, HUMAN, "ann");
    let bob = place.join(&["bob"]);
    place.json_as(&ann, &["lock", "src/a.rs", "src/b.rs"]);
    place.json(&["release", "src/a.rs", "--from", "ann", "--reason", "needed"]);
    place.json(&["extend", "src/b.rs", "--ttl", "10m"]);
    place.json_as(&bob, &["mail", "send", "ann", "-m", "hello"]);
    place.json_as(&bob, &["mail", "send", "human", "-m", "not hers"]);
    place.json(&["task", "add", "do it", "--id", "t1"]);
    place.json(&["task", "assign", "t1", "ann"]);
    let mut log = place.follow_on();
    kill(process.pid(), Signal::KILL);
    log.until(|entry| entry["event"] == "agent:crashed");
    log.until_action("lock_released");
    let page = place.json(&["log", "--agent", "ann", "--limit", "1000"]);
    let entries = page["entries"].as_array().expect("entries");
    let of = |action: &str| entries.iter().filter(|entry| entry["action"] == action).count();
    assert_eq!(of("lock_released"), 2, "one by the human, one with her end: {entries:#?}");
    for action in ["lock_extended", "message_sent", "delegated", "delegation_cancelled", "agent_terminated"] {
        assert_eq!(of(action), 1, "{action}: {entries:#?}");
    }
    let of_bob = place.json(&["log", "--agent", "bob", "--limit", "1000"]);
    assert!(!of_bob.to_string().contains("lock_released"), "{of_bob}");
    let released = entries.iter().find(|entry| entry["action"] == "lock_released").expect("one");
    assert_eq!(released["concerns"][0]["name"], "ann", "{released}");
}

#[test]
fn a_process_that_ended_while_no_server_ran_is_noticed() {
    let place = Place::new();
    let (ann, process) = program::join(&place, HUMAN, "ann");
    place.json_as(&ann, &["lock", "src/a.rs"]);
    place.kill_server();
    drop(process);
    place.follow().until_action("agent_terminated");
    eventually("its lock is free", || place.json(&["status"])["locks"] == 0);
}

#[test]
fn a_leader_takes_its_children_along() {
    let place = Place::new();
    let (lead, process) = program::join(&place, HUMAN, "lead");
    let child = Agent::of(&place.json_as(&lead, &["agent", "join", "child"]));
    let grandchild = Agent::of(&place.json_as(&child, &["agent", "join", "grandchild"]));
    let other = place.join(&["other"]);
    for (agent, path) in [(&child, "src/a.rs"), (&grandchild, "src/b.rs"), (&other, "src/c.rs")] {
        place.json_as(agent, &["lock", path]);
    }
    let mut log = place.follow_on();
    kill(process.pid(), Signal::KILL);
    let ended = log.until_actions("agent_terminated", 3);
    let mut ids: Vec<&str> = ended.iter().filter_map(|entry| entry["details"]["agent"].as_str()).collect();
    ids.sort_unstable();
    let mut expected = [&*lead.id, &*child.id, &*grandchild.id];
    expected.sort_unstable();
    assert_eq!(ids, expected, "each ended once");
    assert_eq!(names(&place.json(&["agent", "list"])), ["other"]);
    // Locks of the dead are free once it was seen that nothing uncommitted is below them.
    log.until_actions("lock_released", 2);
    assert_eq!(place.json(&["locks"])["locks"][0]["path"], "src/c.rs", "others keep theirs");
    assert_eq!(place.log_of("agent_terminated").len(), 3);
}

#[test]
fn goodbye_is_said_once() {
    let place = Place::new();
    let ann = place.join(&["ann", "--role", "developer"]);
    place.json_as(&ann, &["lock", "src/a.rs"]);
    assert_eq!(place.json_as(&ann, &["agent", "bye"]), json!({ "ended": ["ann"], "released": 1 }));
    let again = place.run_as(&ann, &["agent", "bye", "--json"]).refusal();
    assert_eq!(again["code"], "agent_ended", "{again}");
    assert!(again["message"].as_str().is_some_and(|text| text.contains("it said goodbye")), "{again}");
    let by_name = place.run(&["agent", "bye", "ann", "--json"]).refusal();
    assert!(["agent_ended", "unknown_agent"].iter().any(|code| by_name["code"] == *code), "{by_name}");
    assert_eq!(place.log_of("agent_terminated").len(), 1, "one end, however many goodbyes");
    let all = place.json(&["agent", "list", "--all"]);
    assert_eq!(all["agents"][0]["state"], "completed");
}

#[test]
fn a_name_is_free_again_after_its_agent() {
    let place = Place::new();
    let first = place.join(&["ann"]);
    assert_eq!(place.run(&["agent", "join", "ann", "--json"]).refusal()["code"], "name_taken");
    place.json_as(&first, &["lock", "src/a.rs"]);
    place.json_as(&first, &["agent", "bye"]);
    let second = place.join(&["ann"]);
    assert_ne!(first.id, second.id);
    assert_eq!(place.json_as(&second, &["agent", "list"])["agents"][0]["locks"], 0, "nothing is inherited");
}

#[test]
fn an_agent_may_not_end_another() {
    let place = Place::new();
    let (ann, _bob) = (place.join(&["ann"]), place.join(&["bob"]));
    assert_eq!(place.run_as(&ann, &["agent", "bye", "bob", "--json"]).refusal()["code"], "not_allowed");
    assert_eq!(place.run_as(&ann, &["down", "--json"]).refusal()["code"], "not_allowed");
    assert_eq!(place.json(&["agent", "bye", "bob"])["ended"], json!(["bob"]), "the human may");
}

#[test]
fn silence_ends_an_agent_of_which_nothing_is_known() {
    let place = Place::with(&[("COMITY_AGENT_TIMEOUT", "1s")]);
    let ann = place.join(&["ann"]);
    let mut log = place.follow();
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let joined = log.until_action("agent_joined")["at_ms"].as_i64().expect("a time");
    let ended = log.until_action("agent_terminated");
    let lived = ended["at_ms"].as_i64().expect("a time") - joined;
    // The log shows the wall's time, which is not the clock that silence is measured with.
    assert!(lived >= 995, "never early: {lived} ms");
    log.until_action("lock_released");
    assert_eq!(place.json(&["status"])["locks"], 0);
}

#[test]
fn every_command_is_a_heartbeat() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let state = |all: &Value| all["agents"][0]["state"].as_str().map(str::to_owned);
    assert_eq!(state(&place.json(&["agent", "list"])).as_deref(), Some("starting"));
    let shown = || place.run(&["agent", "list"]).out;
    assert!(shown().contains("ann   new"), "{}", shown());
    place.json_as(&ann, &["lock", "src/a.rs"]);
    let list = place.json(&["agent", "list"]);
    assert_eq!(state(&list).as_deref(), Some("running"));
    assert!(shown().contains("ann   working"), "{}", shown());
    assert!(list["agents"][0]["seen_ms_ago"].as_u64().is_some_and(|ago| ago < 5_000), "{list}");
}

#[test]
fn the_end_of_standard_input_ends_an_mcp_agent() {
    let place = Place::new();
    let mut mcp = Mcp::start(&mut place.comity(&["mcp", "--name", "claude"]));
    assert!(!mcp.call("lock", &json!({ "paths": ["src/a.rs"] })).is_error);
    let mut log = place.follow_on();
    assert_eq!(mcp.close(), 0);
    let ended = log.until_action("agent_terminated");
    assert_eq!(ended["details"]["ending"], "completed", "{ended}");
    assert_eq!(ended["event"], "agent:ended", "{ended}");
    log.until_action("lock_released");
    assert_eq!(Wire::connect(&place).ask("status", Value::Null).expect("a status")["locks"], 0);
}

#[test]
fn an_agent_outlives_its_mcp_process_and_ends_with_its_program() {
    let place = Place::with(&[("COMITY_DISCONNECT_GRACE", "300ms")]);
    // The program of the agent is a shell by another name.
    let program = place.dir().join("robot");
    place.copy_program("/bin/sh", &program);
    let line = format!("'{}' mcp; '{}' mcp; true", support::BINARY, support::BINARY);
    let mut command = place.program(program);
    let mut mcp = Mcp::start(command.arg("-c").arg(line));
    assert!(!mcp.call("lock", &json!({ "paths": ["src/a.rs"] })).is_error);
    let mut log = place.follow();
    assert_eq!(log.until_action("agent_joined")["details"]["profile"]["name"], "robot");
    // Its MCP process dies, and it starts another one.
    let children =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", mcp.pid())).expect("children");
    kill(children.trim().parse().expect("one child"), Signal::KILL);
    mcp.greet();
    let told = mcp.call("locks", &json!({}));
    assert!(told.text.contains("src/a.rs  you"), "it is the same agent: {told:?}");
    assert_eq!(place.log_of("agent_joined").len(), 1);
    kill(mcp.pid(), Signal::KILL);
    assert_eq!(log.until_action("agent_terminated")["event"], "agent:crashed");
    eventually("its lock is free", || place.log_of("lock_released").len() == 1);
}

#[test]
fn a_program_that_closes_its_connector_before_it_ends_has_not_crashed() {
    let place = Place::new();
    let program = place.dir().join("robot");
    place.copy_program("/bin/sh", &program);
    // A hook registers the agent, so the connector finds it registered, and may not end it.
    let start = r#"{"session_id":"s","hook_event_name":"SessionStart"}"#;
    let line = format!("echo '{start}' | '{0}' hook claude; '{0}' mcp; true", support::BINARY);
    let mut command = place.program(program);
    let mut mcp = Mcp::start(command.arg("-c").arg(line));
    assert!(!mcp.call("lock", &json!({ "paths": ["src/a.rs"] })).is_error);
    let mut log = place.follow();
    log.until_action("agent_joined");
    assert_eq!(mcp.close(), 0);
    assert_eq!(place.log_of("agent_joined").len(), 1);
    assert_eq!(log.until_action("agent_terminated")["event"], "agent:ended");
}

#[test]
fn an_mcp_agent_survives_the_server() {
    let place = Place::new();
    let mut mcp = Mcp::start(&mut place.comity(&["mcp", "--name", "claude"]));
    assert!(!mcp.call("lock", &json!({ "paths": ["src/a.rs"] })).is_error);
    for _ in 0..3 {
        place.kill_server();
        let told = mcp.call("lock", &json!({ "paths": "src/b.rs" }));
        assert!(!told.is_error, "{told:?}");
    }
    assert_eq!(place.log_of("agent_joined").len(), 1, "it is the same agent all along");
    assert_eq!(place.json(&["locks"])["total"], 2);
}

/// An agent program that starts several `comity mcp`, asks each who it is, and closes one after the other.
const CLIENT: &str = "import json, subprocess, sys\n\
    def start(*arguments):\n\
    \x20   mcp = subprocess.Popen([sys.argv[1], 'mcp', *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)\n\
    \x20   ask(mcp, 'initialize', {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 't', 'version': '1'}})\n\
    \x20   return mcp\n\
    def ask(mcp, method, params):\n\
    \x20   mcp.stdin.write(json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': method, 'params': params}) + '\\n'); mcp.stdin.flush()\n\
    \x20   while True:\n\
    \x20       answer = json.loads(mcp.stdout.readline())\n\
    \x20       if 'id' in answer: return answer['result']\n\
    def you(mcp):\n\
    \x20   text = ask(mcp, 'tools/call', {'name': 'status', 'arguments': {}})['content'][0]['text']\n\
    \x20   return [line.split()[1] for line in text.splitlines() if line.startswith('you ')][0]\n\
    ann, bob, more = start('--all-tools', '--name', 'ann'), start('--all-tools', '--name', 'bob'), start('--all-tools')\n\
    print(you(ann), you(bob), you(more))\n\
    ann.stdin.close(); ann.wait()\n\
    print(you(bob))\n\
    hook = json.dumps({'session_id': 's', 'cwd': '.', 'hook_event_name': 'SessionStart'})\n\
    subprocess.run([sys.argv[1], 'hook', 'claude'], input=hook, text=True, stdout=subprocess.DEVNULL)\n\
    late = start('--all-tools', '--name', 'eve')\n\
    print(you(late)); late.stdin.close(); late.wait()\n\
    bob.stdin.close(); bob.wait(); more.stdin.close(); more.wait()\n";

#[test]
fn several_connections_of_one_program_with_names_are_agents_of_their_own() {
    let place = Place::new();
    place.json(&["up"]);
    let mut log = place.follow_on();
    let client = place.program("python3").args(["-c", CLIENT, support::BINARY]).output().expect("python");
    let ran = support::Ran::of(client);
    let said: Vec<&str> = ran.out.lines().collect();
    assert_eq!(said[0], "ann bob ann", "the one without a name belongs to the program's first: {ran:?}");
    assert_eq!(said[1], "bob", "the end of ann is not bob's: {ran:?}");
    assert_eq!(said[2], "eve", "a hook's agent takes the name of the program's one connection: {ran:?}");
    let ended = log.until_actions("agent_terminated", 3);
    let names: Vec<&str> =
        ended.iter().filter_map(|entry| entry["summary"].as_str()?.split(' ').next()).collect();
    assert_eq!(names, ["ann", "bob", "eve"]);
}

#[test]
fn a_note_about_what_was_done_meanwhile_is_not_told() {
    let place = Place::new();
    let lead = place.join(&["lead", "--role", "lead"]);
    let bob = support::Agent::of(&place.json_as(&lead, &["agent", "join", "bob", "--role", "developer"]));
    place.json_as(&lead, &["task", "add", "Write the parser", "--id", "parser", "--review"]);
    place.json_as(&bob, &["task", "claim", "parser"]);
    place.json_as(&bob, &["task", "start", "parser"]);
    place.json_as(&bob, &["task", "done", "parser", "--evidence", "done"]);
    place.json(&["task", "accept", "parser"]);
    let told = place.run_as(&lead, &["locks"]);
    assert!(told.code == 0 && !told.err.contains("waits for a review"), "{told:?}");
    let tasks = place.run(&["task", "list"]).out;
    assert!(
        tasks.starts_with("no open tasks in ") && tasks.contains("; 1 ended: comity task list --all"),
        "{tasks}"
    );
}
