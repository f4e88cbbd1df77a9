//! Nobody acts as somebody else, through any door, and no secret is written down.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use serde_json::{Value, json};
use support::files::files_below;
use support::mcp::Mcp;
use support::wire::{No, Wire};
use support::{Agent, HUMAN, Place, Running, eventually, http};

/// Fields by which a caller might try to be somebody else.
const FIELDS: [&str; 8] = ["agent", "agentId", "agent_id", "holder", "who", "as", "by", "token"];

/// Ann asks for a lock and claims to be bob; whatever is granted is ann's.
fn claims(bob: &Agent) -> impl Iterator<Item = Value> {
    let values = [bob.id.clone(), "bob".into(), "human".into(), bob.token.clone()];
    FIELDS.into_iter().flat_map(move |field| {
        values.clone().map(|value| {
            let mut input = json!({ "paths": ["src/a.rs"] });
            input[field] = value.into();
            input
        })
    })
}

/// Nobody but ann has anything, and nothing was done in another's name.
fn only_ann_acted(place: &Place) {
    let locks = place.json(&["locks"]);
    let holders: Vec<&Value> =
        locks["locks"].as_array().expect("locks").iter().map(|l| &l["holder"]).collect();
    assert!(holders.iter().all(|holder| **holder == "ann"), "{holders:?}");
    for entry in
        place.log().iter().filter(|entry| entry["event"].as_str().is_some_and(|e| e.starts_with("lock")))
    {
        assert_eq!(entry["actor"], "ann", "{entry}");
    }
}

#[test]
fn fields_of_the_input_do_not_change_who_acts_on_the_socket() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let mut wire = Wire::connect(&place).asking_as(&ann);
    for input in claims(&bob) {
        match wire.ask("lock", input.clone()) {
            Ok(_) => {}
            Err(No::Refused(error)) => assert_eq!(error["code"], "bad_input", "{input}"),
            Err(broken) => panic!("{input}: {broken:?}"),
        }
    }
    only_ann_acted(&place);
}

#[test]
fn fields_beside_the_input_do_not_change_who_acts_on_the_socket() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let stream = UnixStream::connect(place.socket()).expect("a server");
    let mut replies = BufReader::new(stream.try_clone().expect("a socket"));
    for (id, field) in (1..).zip(["agent", "agentId", "who", "principal", "human", "pid", "uid"]) {
        let mut request =
            json!({ "id": id, "op": "status", "token": ann.token, "cwd": place.repo, "input": {} });
        request[field] = bob.id.clone().into();
        writeln!(&stream, "{request}").expect("sent");
        let mut line = String::new();
        replies.read_line(&mut line).expect("a reply");
        let reply: Value = serde_json::from_str(&line).expect("JSON");
        assert!(reply["ok"]["you"] == "ann" || reply["error"]["code"] == "bad_input", "{reply}");
    }
}

#[test]
fn the_command_line_knows_no_other_identity() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    place.json_as(&bob, &["lock", "src/b.rs"]);
    for flag in ["--agent", "--as", "--holder", "--token"] {
        assert_eq!(place.run_as(&ann, &["lock", "src/a.rs", flag, &bob.id]).code, 2, "{flag}");
    }
    let mut named = place.comity_as(&ann, &["status", "--json"]);
    let status = named.env("COMITY_NAME", "bob").env("COMITY_AGENT", &bob.id).output().expect("comity runs");
    assert_eq!(support::Ran::of(status).json()["you"], "ann");
    for refused in
        [&["unlock", "src/b.rs"][..], &["release", "src/b.rs"], &["handover", "src/b.rs", "--to", "ann"]]
    {
        let ran = place.run_as(&ann, refused);
        assert_eq!(ran.code, 3, "{refused:?}: {ran:?}");
    }
    assert_eq!(place.json(&["locks"])["locks"][0]["holder"], "bob");
}

#[test]
fn arguments_of_a_tool_do_not_change_who_acts() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let mut mcp = Mcp::start(&mut place.comity_as(&ann, &["mcp", "--all-tools", "--name", "bob"]));
    for input in claims(&bob) {
        let _ = mcp.call("lock", &input);
        let params = json!({ "name": "lock", "arguments": { "paths": ["src/c.rs"] }, "_meta": input });
        mcp.ask("tools/call", &params);
    }
    only_ann_acted(&place);
    assert!(mcp.call("status", &json!({})).text.contains("you     ann"));
}

#[test]
fn fields_of_the_body_do_not_change_who_acts_on_rest() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    for input in claims(&bob) {
        let answer = http::request(&place, Some(&ann.token), "POST", "/api/coordination/locks", Some(&input));
        assert!([200, 201, 400, 422].contains(&answer.status), "{input}: {answer:?}");
    }
    let target = format!("/api/coordination/locks?agentId={}", bob.id);
    let plain = json!({ "paths": ["src/a.rs"] });
    http::request(&place, Some(&ann.token), "POST", &target, Some(&plain));
    only_ann_acted(&place);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "lock", "arguments": { "paths": ["src/a.rs"], "agent": bob.id }, "_meta": { "agent": bob.id },
    }});
    http::request(&place, Some(&ann.token), "POST", "/mcp", Some(&call));
    only_ann_acted(&place);
}

#[test]
fn every_route_wants_a_token() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    place.json_as(&ann, &["agent", "bye"]);
    for token in [None, Some("cmty_wrong"), Some(&*ann.token), Some("")] {
        for target in
            ["/api/status", "/api/coordination/locks", "/metrics", "/api/openapi.json", "/api/events"]
        {
            let answer = http::request(&place, token, "GET", target, None);
            assert!([401, 403].contains(&answer.status), "{token:?} {target}: {answer:?}");
        }
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let answer = http::request(&place, token, "POST", "/mcp", Some(&call));
        assert!([401, 403].contains(&answer.status), "{token:?} /mcp: {answer:?}");
    }
    let human = http::human_token(&place);
    let status = http::request(&place, Some(&human), "GET", "/api/status", None);
    assert_eq!(status.json()["you"], "human", "{status:?}");
}

#[test]
fn a_bad_token_is_not_a_human() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let wrong = Agent { token: "cmty_0123456789abcdef".into(), ..ann.clone() };
    for arguments in
        [&["status"][..], &["locks"], &["lock", "src/a.rs"], &["down"], &["agent", "join", "eve"]]
    {
        let refused = place.run_as(&wrong, &[arguments, &["--json"]].concat()).refusal();
        assert_eq!(refused["code"], "bad_token", "{arguments:?}");
    }
    let mut wire = Wire::connect(&place).asking_as(&wrong);
    assert_eq!(wire.refused("status", Value::Null), "bad_token");
    let mcp = place.comity_as(&wrong, &["mcp"]).output().expect("comity runs");
    assert_eq!(mcp.status.code(), Some(1), "{mcp:?}");
    assert!(place.server().is_some(), "it was not stopped");
    assert_eq!(place.json(&["agent", "list"])["agents"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_connection_of_an_ended_agent_is_worth_nothing() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let mut wire = Wire::connect(&place).asking_as(&ann);
    wire.ask("lock", json!({ "paths": ["src/a.rs"] })).expect("a lock");
    place.json(&["agent", "bye", "ann"]);
    assert_eq!(wire.refused("lock", json!({ "paths": ["src/b.rs"] })), "agent_ended");
    assert_eq!(wire.refused("status", Value::Null), "agent_ended");
    eventually("its lock is free", || place.json(&["locks"])["total"] == 0);
}

#[test]
fn a_process_of_an_agent_is_that_agent() {
    let place = Place::new();
    let mut shell = place.program("sh");
    let mut shell = Running(shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell"));
    let mut input = shell.0.stdin.take().expect("a pipe");
    let mut output = BufReader::new(shell.0.stdout.take().expect("a pipe"));
    let mut run = |line: &str| {
        writeln!(input, "{line}; echo \"exit $?\"").expect("sent");
        let mut said = String::new();
        while !said.contains("exit ") {
            assert!(output.read_line(&mut said).expect("text") > 0, "the shell ended");
        }
        said
    };
    let bob = place.join(&["bob"]);
    let joined = run(&format!("COMITY_TOKEN={HUMAN} '{}' agent join ann --pid $$", support::BINARY));
    assert!(joined.contains("is here as"), "{joined}");
    place.json_as(&bob, &["lock", "src/b.rs"]);
    let comity = support::BINARY;
    let said = run(&format!("'{comity}' status --json"));
    assert!(said.contains(r#""you":"ann""#), "{said}");
    let said = run(&format!("sh -c \"sh -c '{comity} status --json; true'\""));
    assert!(said.contains(r#""you":"ann""#), "a grandchild too: {said}");
    for not_allowed in ["release src/b.rs", "extend src/b.rs --ttl 1h", "agent bye bob", "down"] {
        let said = run(&format!("'{comity}' {not_allowed} 2>&1"));
        assert!(said.contains("exit 3"), "{not_allowed}: {said}");
    }
    let said = run(&format!("'{comity}' lock src/a.rs --json"));
    assert!(said.contains(r#""holder":"ann""#), "{said}");
    assert_eq!(place.json(&["status"])["you"], "human", "others are not");
}

#[test]
fn no_token_is_ever_written_down() {
    let place = Place::new();
    let ann = place.join(&["ann"]);
    let mut mcp = Mcp::start(&mut place.comity_as(&ann, &["mcp"]));
    mcp.call("lock", &json!({ "paths": ["src/a.rs"], "reason": format!("my token is {}", ann.token) }));
    place.json_as(&ann, &["lock", "src/b.rs", "--reason", &format!("COMITY_TOKEN={}", ann.token)]);
    place.run_as(&ann, &["agent", "bye", &ann.token]);
    let wrong = Agent { token: format!("{}x", ann.token), ..ann.clone() };
    place.run_as(&wrong, &["status"]);
    let said = [
        place.run(&["log", "--json", "--limit", "1000"]),
        place.run(&["status", "--json"]),
        place.run(&["agent", "list", "--all", "--json"]),
        place.run(&["locks", "--json"]),
        place.run(&["log", "replay", "--at", "1000000", "--json"]),
    ];
    let secret = ann.token.rsplit('_').next().expect("a secret");
    assert!(secret.len() >= 32, "{secret}");
    for ran in said {
        assert!(!ran.out.contains(secret) && !ran.err.contains(secret), "{ran:?}");
    }
    // What a killed server leaves is searched too, the write-ahead log included.
    for round in ["running", "killed", "restarted", "stopped"] {
        for file in files_below(&place.home) {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{} holds the token ({round})", file.display());
        }
        match round {
            "running" => drop(place.kill_server()),
            "killed" => drop(place.json(&["up"])),
            _ => drop(place.json(&["down"])),
        }
    }
}

#[test]
fn nothing_in_the_state_directory_makes_an_agents_token() {
    let place = Place::new();
    place.json(&["up"]);
    let join = |name: &str, key: &str| {
        let mut wire = Wire::connect(&place);
        let joined = wire.ask_with_key("agent_join", json!({ "name": name }), Some(key)).expect("joined");
        joined["token"].as_str().expect("a token").to_owned()
    };
    let key = "0123456789abcdef0123456789abcdef";
    let token = join("ann", key);
    for file in files_below(&place.home) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        let found = bytes.windows(key.len()).any(|window| window == key.as_bytes());
        assert!(!found, "{} holds the key that the token is made from", file.display());
    }
    place.kill_server();
    place.json(&["up"]);
    assert_eq!(join("ann", key), token, "a repeat gets the same one, from another server, too");
    // A key that can be guessed makes no token.
    let guessable = Wire::connect(&place).ask_with_key("agent_join", json!({ "name": "bob" }), Some("1"));
    assert!(matches!(guessable, Err(No::Refused(_))), "{guessable:?}");
}

#[test]
fn what_agents_write_cannot_command_a_terminal() {
    let place = Place::new();
    for name in ["\u{1b}[31mann", "ann\nbob", "ann\u{7}", "\u{202e}nna", "", " ", "human"] {
        let ran = place.run(&["agent", "join", name, "--json"]);
        assert_eq!(ran.code, 3, "{name:?}: {ran:?}");
    }
    let ann = place.join(&["ann"]);
    let reason = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m";
    place.json_as(&ann, &["lock", "src/a.rs", "--reason", reason]);
    let bob = place.join(&["bob"]);
    let shown = [
        place.run(&["locks"]),
        place.run(&["log"]),
        place.run(&["agent", "list"]),
        place.run_as(&bob, &["lock", "src/a.rs"]),
        place.run_as(&bob, &["check", "src/a.rs"]),
        place.run_as(&bob, &["lock", "src/\u{1b}[31m.rs"]),
    ];
    for ran in shown {
        let is_dangerous = |c: char| c.is_control() && c != '\n';
        assert!(!ran.out.contains(is_dangerous) && !ran.err.contains(is_dangerous), "{ran:?}");
    }
}
