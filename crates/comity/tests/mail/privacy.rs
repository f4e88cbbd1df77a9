//! Mail between others is read by its members, whoever leads one of them, and the human; by every way there is.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::support::program::Program;
use super::support::wire::{Follower, Wire};
use super::support::{Agent, PATIENCE, Place, eventually, http};

/// In the subject, the text and the name of the conversation of the one letter.
const SECRET: &str = "xyzzy";

struct Post {
    place: Place,
    ann: Agent,
    bob: Agent,
    lead: Agent,
    eve: Agent,
    letter: String,
}

/// Ann, who works for the lead, has written to bob; eve has nothing to do with it.
fn post() -> Post {
    let place = Place::new();
    let lead = place.join(&["lead"]);
    let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann"]));
    let (bob, eve) = (place.join(&["bob"]), place.join(&["eve"]));
    let (subject, text, thread) =
        (format!("{SECRET} one"), format!("{SECRET} two"), format!("{SECRET} three"));
    let words = ["mail", "send", "bob", "-m", &text, "--subject", &subject, "--thread", &thread];
    let letter = place.json_as(&ann, &words)["id"].as_str().expect("a number").to_owned();
    place.join(&["last"]);
    Post { place, ann, bob, lead, eve, letter }
}

/// What every operation is asked with, besides nothing at all: whatever could bring the letter up.
fn inputs(op: &str, letter: &str) -> Vec<Value> {
    let mut inputs = vec![json!({})];
    inputs.extend(match op {
        "log" => vec![
            json!({ "limit": 10_000 }),
            json!({ "after": 0, "limit": 10_000 }),
            json!({ "agent": "ann" }),
            json!({ "agent": "bob" }),
            json!({ "type": "message_sent" }),
        ],
        "agent_show" => vec![json!({ "agent": "ann" }), json!({ "agent": "bob" })],
        "diff" => vec![json!({ "of": "ann" }), json!({ "of": "bob" })],
        "why" => vec![json!({ "subject": "ann" }), json!({ "subject": "bob" })],
        "log_replay" => vec![json!({ "at": "1000000" }), json!({ "at": "0s" })],
        "mail_search" => vec![
            json!({ "words": [SECRET] }),
            json!({ "words": ["xyz*"] }),
            json!({ "words": ["ann"] }),
            json!({ "thread": format!("{SECRET} three") }),
        ],
        "mail_send" => vec![json!({ "to": "eve", "message": "mine", "thread": letter })],
        "mail_ack" => vec![json!({ "receipt": 1 })],
        "agent_list" | "tasks" => vec![json!({ "all": true })],
        _ => vec![],
    });
    inputs
}

#[test]
fn no_operation_shows_it_to_another_agent() {
    let post = post();
    let mut asked = 0;
    for (op, tool) in comity_app::catalog::CATALOG.iter().map(|entry| (entry.name, entry.tool)) {
        // Eve is needed to the end, and nobody may wait for a browser here.
        if op == "agent_bye" || op.starts_with("tab") || op.contains("_tab") {
            continue;
        }
        for input in inputs(op, &post.letter) {
            let mut wire = Wire::connect(&post.place).asking_as(&post.eve);
            let said = format!("{:?}", wire.ask(op, input.clone()));
            // What she was looking for she knows.
            let said = said.replace(&format!("{SECRET} three\\\" is"), "");
            assert!(!said.contains(SECRET), "{op} {input}: {said}");
            asked += 1;
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": tool, "arguments": input } });
            let over =
                http::request(&post.place, Some(&post.eve.token), "POST", "/mcp?tools=all", Some(&body));
            assert!(!over.body.contains(SECRET), "{op} {input} over MCP: {}", over.body);
            let target = format!("/api/op/{op}");
            let over = http::request(&post.place, Some(&post.eve.token), "POST", &target, Some(&input));
            let said = over.body.replace(&format!("{SECRET} three\\\" is"), "");
            assert!(!said.contains(SECRET), "{op} {input} over REST: {said}");
        }
    }
    assert!(asked > 90, "{asked} questions were asked");
}

/// Asks every question of a file once it has lost its parent: it is nobody then.
const ORPHAN: &str = "import json, os, socket, sys, time
parent = os.getpid()
if os.fork(): os._exit(0)
while os.getppid() == parent: time.sleep(0.001)
out = open(sys.argv[3] + '.part', 'w')
for line in open(sys.argv[2]):
    s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(line.encode())
    out.write(s.makefile().readline())
out.close()
os.rename(sys.argv[3] + '.part', sys.argv[3])
";

#[test]
fn no_operation_shows_it_to_nobody() {
    let post = post();
    let mut questions = vec![json!({ "id": 1, "op": "whoami", "input": {} }).to_string()];
    for op in comity_app::catalog::CATALOG.iter().map(|entry| entry.name) {
        if !op.starts_with("tab") && !op.contains("_tab") {
            let asks = inputs(op, &post.letter).into_iter();
            questions.extend(asks.map(|input| json!({ "id": 1, "op": op, "input": input }).to_string()));
        }
    }
    let file = |name: &str| post.place.dir().join(name);
    std::fs::write(file("orphan.py"), ORPHAN).expect("written");
    std::fs::write(file("questions"), questions.join("\n") + "\n").expect("written");
    let mut program = Program::start(&post.place, "mallory");
    let [script, asks, says] =
        ["orphan.py", "questions", "answers"].map(|name| file(name).display().to_string());
    program.run(&format!("python3 {script} {} {asks} {says}", post.place.socket().display()));
    eventually("it is answered", || file("answers").exists());
    let answers = std::fs::read_to_string(file("answers")).expect("answers");
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), questions.len());
    assert!(answers[0].contains("nobody"), "{}", answers[0]);
    for (question, answer) in questions.iter().zip(&answers) {
        let answer = answer.replace(&format!("{SECRET} three\\\" is"), "");
        assert!(!answer.contains(SECRET), "{question}: {answer}");
    }
    assert!(answers.iter().any(|answer| answer.contains("\"locks\"")), "it may look: {answers:?}");
}

#[test]
fn the_log_is_followed_without_it_and_members_see_it() {
    let post = post();
    let sent = |wire: Wire| Follower::new(wire).until(|entry| entry["event"] == "mail:sent");
    let wire = |agent: &Agent| Wire::connect(&post.place).asking_as(agent);
    let told = sent(wire(&post.eve));
    assert_eq!(told["details"]["private"], true, "{told}");
    assert_eq!(told["concerns"][0]["name"], "bob", "who wrote to whom isn't a secret: {told}");
    assert!(!told.to_string().contains(SECRET), "{told}");
    for who in [wire(&post.ann), wire(&post.bob), wire(&post.lead), Wire::connect(&post.place)] {
        let told = sent(who);
        assert_eq!(told["details"]["text"], format!("{SECRET} two"), "{told}");
        assert_eq!(told["details"]["private"], Value::Null, "{told}");
    }
    for target in
        ["/api/events/stream?after=0", "/api/coordination/activity?limit=1000", "/api/events?after=0"]
    {
        for (token, sees) in [(&post.eve.token, false), (&post.bob.token, true), (&post.lead.token, true)] {
            let said = stream(&post.place, token, target);
            assert_eq!(said.contains(&format!("{SECRET} two")), sees, "{target}: {said}");
            assert_eq!(said.contains(SECRET), sees, "{target}: {said}");
        }
    }
}

#[test]
fn members_and_leaders_find_it() {
    let post = post();
    let found = |agent: &Agent| {
        let found = post.place.json_as(agent, &["mail", "search", SECRET]);
        found["messages"].as_array().expect("letters").len()
    };
    assert_eq!([&post.ann, &post.bob, &post.lead, &post.eve].map(found), [1, 1, 1, 0]);
    assert_eq!(post.place.json(&["mail", "search", SECRET])["messages"][0]["id"], *post.letter);
    // A page is full although the newest letters are others'.
    for number in 0..30 {
        post.place.json_as(&post.ann, &["mail", "send", "bob", "-m", &format!("plugh {number}")]);
    }
    post.place.json_as(&post.eve, &["mail", "send", "human", "-m", "plugh of eve"]);
    for number in 30..60 {
        post.place.json_as(&post.ann, &["mail", "send", "bob", "-m", &format!("plugh {number}")]);
    }
    let own = post.place.json_as(&post.eve, &["mail", "search", "plugh", "--limit", "1"]);
    assert_eq!(own["messages"][0]["snippet"], "plugh of eve", "{own}");
}

/// Letters to a team, to a role and to all: by whoever got them, by whoever leads one of those, however far above, and by nobody
/// who came later, not even one of the same name.
#[test]
fn each_kind_of_letter_is_read_by_its_members_and_leaders() {
    let place = Place::new();
    place.set("[agent]\nmax = 12\n");
    let below = |leader: &Agent, words: &[&str]| {
        Agent::of(&place.json_as(leader, &[&["agent", "join"], words].concat()))
    };
    let grand = place.join(&["grand"]);
    let lead = below(&grand, &["lead"]);
    let ann = below(&lead, &["ann", "--role", "reviewer"]);
    let (bob, eve, captain) = (place.join(&["bob"]), place.join(&["eve"]), place.join(&["captain"]));
    place.json_as(&captain, &["team", "create", "red"]);
    let [mia, max] = ["mia", "max"].map(|name| place.join(&[name, "--team", "red"]));
    for (from, to, text) in [
        (&ann, "bob", "xyzzyone"),
        (&mia, "team", "xyzzyteam"),
        (&eve, "role:reviewer", "xyzzyrole"),
        (&bob, "all", "xyzzyall"),
    ] {
        place.json_as(from, &["mail", "send", to, "-m", text]);
    }
    place.json_as(&bob, &["agent", "bye"]);
    let (namesake, late) = (place.join(&["bob"]), place.join(&["late"]));
    let seen = |found: Value| -> Vec<String> {
        let texts = ["one", "team", "role", "all"].into_iter();
        texts.filter(|text| found.to_string().contains(&format!("xyzzy{text}"))).map(str::to_owned).collect()
    };
    let words = ["mail", "search", "xyzzy*"];
    for (who, agent, expected) in [
        ("grand", &grand, "one role all"),
        ("lead", &lead, "one role all"),
        ("ann", &ann, "one role all"),
        ("mia", &mia, "team all"),
        ("max", &max, "team all"),
        ("captain", &captain, "team all"),
        ("eve", &eve, "role all"),
        ("another bob", &namesake, ""),
        ("late", &late, ""),
    ] {
        assert_eq!(seen(place.json_as(agent, &words)).join(" "), expected, "{who}");
        // The log has them, too.
        let log = place.json_as(agent, &["log", "--limit", "1000"]);
        assert_eq!(seen(log).join(" "), expected, "{who}, in the log");
    }
    assert_eq!(seen(place.json(&words)).join(" "), "one team role all", "you");
}

/// Reads what comes until the last agent's joining is in it.
fn stream(place: &Place, token: &str, target: &str) -> String {
    let url = place.json(&["status"])["url"].as_str().expect("an address").to_owned();
    let address = url.strip_prefix("http://").expect("an address");
    let mut stream = TcpStream::connect(address).expect("the HTTP door");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let upgrade = match target.starts_with("/api/events?") {
        true => {
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        }
        false => "Accept: */*\r\n",
    };
    let head =
        format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n{upgrade}\r\n");
    stream.write_all(head.as_bytes()).expect("sent");
    let (mut said, mut bytes) = (String::new(), [0; 4096]);
    while !said.contains("last joined") {
        let count = stream.read(&mut bytes).expect("more");
        assert!(count > 0, "{target} ended: {said}");
        said += &String::from_utf8_lossy(&bytes[..count]);
    }
    said
}
