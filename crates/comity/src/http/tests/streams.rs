//! The event stream, over WebSocket and as server-sent events.

use super::*;

/// A WebSocket client, by hand.
struct Socket(BufReader<TcpStream>);

impl Socket {
    fn open(server: &Server, path: &str, token: &str) -> Socket {
        let lines = [
            &format!("GET {path} HTTP/1.1"),
            &format!("Host: localhost:{}", server.port),
            &format!("Origin: http://localhost:{}", server.port),
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            &format!("Sec-WebSocket-Protocol: comity.v1, bearer.{token}"),
        ];
        let mut stream = server.open(&lines, "");
        let head = head(&mut stream);
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        assert!(head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
        assert!(head.contains("sec-websocket-protocol: comity.v1\r\n"), "{head}");
        assert!(!head.contains(token), "{head}");
        Socket(stream)
    }

    /// The kind of the next frame, and what is in it.
    fn frame(&mut self) -> (u8, Vec<u8>) {
        let mut bytes = |count: usize| {
            let mut bytes = vec![0; count];
            self.0.read_exact(&mut bytes).expect("a frame");
            bytes
        };
        let start = bytes(2);
        let length = match start[1] {
            126 => bytes(2).iter().fold(0, |sum, byte| sum * 256 + usize::from(*byte)),
            127 => bytes(8).iter().fold(0, |sum, byte| sum * 256 + usize::from(*byte)),
            length => usize::from(length),
        };
        (start[0] & 0x0f, bytes(length))
    }

    fn next(&mut self) -> Value {
        let (kind, bytes) = self.frame();
        assert_eq!(kind, 1, "text, not {bytes:?}");
        serde_json::from_slice(&bytes).expect("JSON")
    }
}

fn names(messages: &[Value]) -> Vec<&str> {
    messages.iter().filter_map(|message| message["event"].as_str()).collect()
}

#[test]
fn a_websocket_gets_all_from_now_on() {
    let server = Server::start();
    let ann = server.join("ann");
    server.until(|world| world.head == server.app.engine().feed().head());
    let head = server.app.engine().feed().head();
    let mut socket = Socket::open(&server, "/api/events", HUMAN);
    assert_eq!(socket.next(), json!({ "type": "hello", "head": head, "version": "1.2.3" }));
    server.op(&ann, "lock", &json!({ "paths": "a.rs", "reason": "login" }));
    server.op(&ann, "unlock", &json!({ "all": true }));
    let messages = [socket.next(), socket.next(), socket.next()];
    assert_eq!(names(&messages), ["project:added", "lock:acquired", "lock:released"]);
    let numbers: Vec<u64> = messages.iter().filter_map(|message| message["seq"].as_u64()).collect();
    assert_eq!(numbers, [head + 1, head + 2, head + 3]);
    assert_eq!(messages[1]["actor"], "ann");
    assert_eq!(messages[1]["summary"], "ann locked a.rs: login");
}

#[test]
fn a_websocket_goes_on_from_a_cursor() {
    let server = Server::start();
    let ann = server.join("ann");
    for _ in 0..3 {
        server.op(&ann, "lock", &json!({ "paths": "a.rs" }));
        server.op(&ann, "unlock", &json!({ "all": true }));
    }
    let mut socket = Socket::open(&server, "/api/events?after=0", &ann);
    assert_eq!(socket.next()["type"], "hello");
    let head = server.app.engine().world().head;
    let numbers: Vec<Value> = (0..head).map(|_| socket.next()["seq"].clone()).collect();
    assert_eq!(numbers, (1..=head).map(Value::from).collect::<Vec<_>>());

    let mut socket = Socket::open(&server, "/api/events?after=0&type=lock:released,agent_joined", HUMAN);
    assert_eq!(socket.next()["type"], "hello");
    let messages = [socket.next(), socket.next()];
    assert_eq!(names(&messages), ["agent:joined", "lock:released"]);
    assert!(messages[0]["details"].get("token").is_none(), "{}", messages[0]);

    let mut socket = Socket::open(&server, "/api/events?after=1000000", HUMAN);
    let ends = [socket.next()["type"].clone(), socket.next()["type"].clone()];
    assert_eq!(ends, ["hello", "resync"], "a cursor of another log");
}

/// More records than are kept in memory.
const MANY: u64 = 1_100;

fn lock_and_unlock(server: &Server, token: &str) {
    let world_head = || server.app.engine().world().head;
    let who = server.app.identify_remote(token).expect("an agent").who;
    let caller = Caller::new(who, Some(server.repo().into()));
    while world_head() < MANY {
        for (op, input) in [("lock", r#"{"paths":["a.rs"]}"#), ("unlock", r#"{"all":true}"#)] {
            let call =
                comity_app::OperationCall { op, input: input.into(), ..comity_app::OperationCall::default() };
            server.app.call_and_wait(&caller, call).0.expect("done");
        }
    }
}

#[test]
fn an_old_cursor_is_served_from_the_disk() {
    let server = Server::start();
    let ann = server.join("ann");
    lock_and_unlock(&server, &ann);
    let mut socket = Socket::open(&server, "/api/events?after=1", HUMAN);
    assert_eq!(socket.next()["type"], "hello");
    for seq in 2..=server.app.engine().world().head {
        assert_eq!(socket.next()["seq"], seq);
    }
}

#[test]
fn what_is_not_kept_is_said() {
    let server = Server::in_memory(MemoryLog::default());
    let ann = server.join("ann");
    lock_and_unlock(&server, &ann);
    let head = server.app.engine().world().head;
    let mut socket = Socket::open(&server, "/api/events?after=1", HUMAN);
    assert_eq!(socket.next()["type"], "hello");
    assert_eq!(socket.next(), json!({ "type": "resync", "after": head, "head": head }));
    server.op(&ann, "lock", &json!({ "paths": "a.rs" }));
    assert_eq!(socket.next()["seq"], head + 1);
}

#[test]
fn a_websocket_ends_with_its_agent() {
    let server = Server::start();
    let ann = server.join("ann");
    let mut socket = Socket::open(&server, "/api/events?type=agent:ended", &ann);
    assert_eq!(socket.next()["type"], "hello");
    assert_eq!(server.ask(HUMAN, "DELETE /api/agents/ann", &[], "").status, 200);
    assert_eq!(socket.next()["event"], "agent:ended");
    assert_eq!(socket.frame().0, 8, "closed");
}

#[test]
fn a_websocket_ends_with_its_token() {
    let server = Server::start();
    let made = server.op(HUMAN, "token_create", &json!({ "name": "deploy" })).json();
    let token = made["token"].as_str().expect("a token");
    let mut socket = Socket::open(&server, "/api/events?type=lock:acquired", token);
    assert_eq!(socket.next()["type"], "hello");
    let ann = server.join("ann");
    server.op(&ann, "lock", &json!({ "paths": "a.rs" }));
    assert_eq!(socket.next()["event"], "lock:acquired");
    server.op(HUMAN, "token_revoke", &json!({ "name": "deploy" }));
    server.op(&ann, "lock", &json!({ "paths": "b.rs" }));
    assert_eq!(socket.frame().0, 8, "closed");
}

#[test]
fn a_websocket_answers_pings_and_takes_no_long_messages() {
    let server = Server::start();
    let mut socket = Socket::open(&server, "/api/events", HUMAN);
    assert_eq!(socket.next()["type"], "hello");
    socket.0.get_mut().write_all(&[0x89, 0x81, 0, 0, 0, 0, b'x']).expect("a ping");
    assert_eq!(socket.frame(), (10, b"x".to_vec()));
    socket.0.get_mut().write_all(&[0x81, 0xfe, 0xff, 0xff, 0, 0, 0, 0]).expect("a frame that is too long");
    let ended = socket.0.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
    assert!(matches!(ended, Ok(_) | Err(std::io::ErrorKind::ConnectionReset)), "{ended:?}");
}

/// Reads server-sent events up to this many with a number.
fn events(stream: &mut impl BufRead, count: usize) -> Vec<(String, String, Value)> {
    let (mut id, mut name, mut seen) = (String::new(), String::new(), Vec::new());
    while seen.len() < count {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).expect("a line") > 0, "the stream ended");
        match line.trim_end().split_once(": ") {
            Some(("id", value)) => id = value.into(),
            Some(("event", value)) => name = value.into(),
            Some(("data", value)) => {
                let data: Value = serde_json::from_str(value).expect("JSON");
                if data["seq"].is_u64() {
                    seen.push((std::mem::take(&mut id), name.clone(), data));
                }
            }
            _ => {}
        }
    }
    seen
}

#[test]
fn server_sent_events_go_on_from_the_last_one() {
    let server = Server::start();
    let ann = server.join("ann");
    server.op(&ann, "lock", &json!({ "paths": "a.rs" }));
    let (host, token) = (format!("Host: 127.0.0.1:{}", server.port), format!("Authorization: Bearer {ann}"));
    let requests = [
        ("GET /api/events?after=0 HTTP/1.1", "Accept: text/event-stream", 1),
        ("GET /api/events/stream?after=0 HTTP/1.1", "Last-Event-ID: 1", 2),
    ];
    for (request, header, first) in requests {
        let mut stream = server.open(&[request, &host, &token, header], "");
        let head = head(&mut stream);
        assert!(head.contains("content-type: text/event-stream") && head.contains("no-store"), "{head}");
        let known = server.app.engine().world().head;
        let seen = events(&mut stream, (known + 1 - first) as usize);
        assert_eq!(seen[0].0, first.to_string());
        assert_eq!(seen[0].1, seen[0].2["event"].as_str().expect("a name"));
        server.op(&ann, "unlock", &json!({ "all": true }));
        server.op(&ann, "lock", &json!({ "paths": "a.rs" }));
        let live = events(&mut stream, 2);
        assert_eq!((live[0].1.as_str(), live[1].1.as_str()), ("lock:released", "lock:acquired"));
        assert_eq!(live[0].0, (known + 1).to_string());
    }
}
