//! Nobody comes in without the right address and a token, on any route.

use std::time::Instant;

use super::*;
use crate::http::refused::Refused;

const ROUTES: &[&str] = &[
    "GET /api/status",
    "POST /api/op/status",
    "DELETE /api/coordination/locks/src/a.rs",
    "GET /api/openapi.json",
    "GET /api/events",
    "GET /api/events/stream",
    "GET /metrics",
    "POST /mcp",
    "OPTIONS /api/status",
    "GET /api/nothing",
    "GET /nothing",
];

/// Sends each route with these header lines; `PORT` stands for the port.
fn check(server: &Server, lines: &[&str], expect_refused: bool) {
    for route in ROUTES {
        for upgrade in [&[][..], &["Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x"]]
        {
            let first = format!("{route} HTTP/1.1");
            let lines = [&[first.as_str()], lines, upgrade].concat();
            let lines: Vec<String> =
                lines.iter().map(|line| line.replace("PORT", &server.port.to_string())).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let stream = &mut server.open(&lines, "");
            let head = head(stream);
            assert_eq!(
                head.starts_with("HTTP/1.1 403 ") || head.starts_with("HTTP/1.1 401 "),
                expect_refused,
                "{lines:?}\n{head}"
            );
            assert!(!head.to_ascii_lowercase().contains("access-control"), "{head}");
            assert!(head.contains("x-content-type-options: nosniff"), "{head}");
            assert!(head.contains("cache-control: no-store"), "{head}");
            if expect_refused {
                assert!(head.contains("connection: close"), "{head}");
                let mut body = String::new();
                stream.read_to_string(&mut body).expect("a body");
                assert!(!body.contains("cmty_") && !body.contains("evil"), "{body}");
            }
        }
    }
}

const TOKEN: &str = "Authorization: Bearer cmty_the-person";
const HOST: &str = "Host: 127.0.0.1:PORT";

#[test]
fn the_address_must_be_ours() {
    let server = Server::start();
    for host in [HOST, "Host: localhost:PORT", "Host: [::1]:PORT"] {
        check(&server, &[host, TOKEN], false);
    }
    for host in [
        "Host: evil.example",
        "Host: evil.example:PORT",
        "Host: 127.0.0.1",
        "Host: 127.0.0.1:PORT1",
        "Host: 127.0.0.1.nip.io:PORT",
        "Host: localhost.:PORT",
        "Host: LOCALHOST:PORT",
        "Host: [::ffff:127.0.0.1]:PORT",
        "Host: 0.0.0.0:PORT",
        "Host: 2130706433:PORT",
        "Host: user@127.0.0.1:PORT",
        "Host: 127.0.0.1:PORT, evil.example",
        "Host:",
        "X-Forwarded-Host: 127.0.0.1:PORT",
    ] {
        check(&server, &[host, TOKEN], true);
    }
    check(&server, &[HOST, HOST, TOKEN], true);
    check(&server, &[HOST, "Host: evil.example", TOKEN], true);
    check(&server, &["Host: evil.example", HOST, TOKEN], true);
}

#[test]
fn the_address_in_the_first_line_must_be_ours_too() {
    let server = Server::start();
    let (host, token) = (format!("Host: 127.0.0.1:{}", server.port), "Authorization: Bearer cmty_the-person");
    let status = |url: &str| server.raw(&[&format!("GET {url} HTTP/1.1"), &host, token], "").status;
    assert_eq!(status(&format!("http://127.0.0.1:{}/api/status", server.port)), 200);
    assert_eq!(status(&format!("http://evil.example:{}/api/status", server.port)), 403);
    assert_eq!(status(&format!("http://x@127.0.0.1:{}/api/status", server.port)), 403);
    assert_eq!(server.raw(&["CONNECT evil.example:443 HTTP/1.1", &host, token], "").status, 403);
}

#[test]
fn pages_of_others_are_kept_out() {
    let server = Server::start();
    check(&server, &[HOST, TOKEN, "Origin: http://127.0.0.1:PORT"], false);
    check(&server, &[HOST, TOKEN, "Origin: http://localhost:PORT", "Sec-Fetch-Site: same-origin"], false);
    check(&server, &[HOST, TOKEN, "Sec-Fetch-Site: none"], false);
    for page in [
        "Origin: null",
        "Origin: http://evil.example",
        "Origin: http://localhost",
        "Origin: http://localhost:PORT1",
        "Origin: https://localhost:PORT",
        "Origin: http://localhost:PORT.evil.example",
        "Origin: http://LOCALHOST:PORT",
        "Origin: http://127.0.0.1:PORT/",
        "Origin:",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        check(&server, &[HOST, TOKEN, page], true);
    }
    check(&server, &[HOST, TOKEN, "Origin: http://127.0.0.1:PORT", "Origin: http://evil.example"], true);
}

#[test]
fn a_token_is_needed() {
    let server = Server::start();
    check(&server, &[HOST, "authorization: bearer cmty_the-person"], false);
    check(&server, &[HOST], true);
    for token in [
        "Authorization:",
        "Authorization: Bearer",
        "Authorization: Bearer ",
        "Authorization: cmty_the-person",
        "Authorization: Basic cmty_the-person",
        "Authorization: Bearer cmty_the-perso",
        "Authorization: Bearer cmty_the-person2",
        "Authorization: Bearer cmty_THE-PERSON",
        "Cookie: token=cmty_the-person",
        "Sec-WebSocket-Protocol: comity.v1, bearer.cmty_wrong",
        "Sec-WebSocket-Protocol: comity.v1, bearer.",
        "Sec-WebSocket-Protocol: cmty_the-person",
    ] {
        check(&server, &[HOST, token], true);
    }
    check(&server, &[HOST, TOKEN, TOKEN], true);
    check(&server, &[HOST, TOKEN, "Authorization: Bearer cmty_wrong"], true);
    let host = format!("Host: 127.0.0.1:{}", server.port);
    let in_protocol = "Sec-WebSocket-Protocol: comity.v1, bearer.cmty_the-person";
    let answer = server.raw(&["GET /api/status HTTP/1.1", &host, in_protocol], "");
    assert_eq!(answer.refused(), (401, "not_allowed".into()), "only a WebSocket brings it there");
    let answer = server
        .raw(&["GET /api/status?token=cmty_the-person&access_token=cmty_the-person HTTP/1.1", &host], "");
    assert_eq!(answer.status, 401, "never in the address");
}

#[test]
fn without_a_secret_nobody_is_the_person() {
    let server = Server::start();
    let guard = super::super::guard::AllowedOrigins::new(server.port);
    let (parts, ()) = axum::http::Request::get("/")
        .header("host", format!("127.0.0.1:{}", server.port))
        .header("authorization", "Bearer  ")
        .body(())
        .expect("a request")
        .into_parts();
    assert!(guard.admit(&server.app, &parts).is_err());
}

#[test]
fn an_agent_is_who_its_token_says() {
    let server = Server::start();
    let (ann, bob) = (server.join("ann"), server.join("bob"));
    let you = |token: &str| server.ask(token, "GET /api/status", &[], "").json()["you"].clone();
    assert_eq!((you(&ann), you(&bob), you(HUMAN)), ("ann".into(), "bob".into(), "human".into()));

    assert_eq!(server.op(&ann, "lock", &json!({ "paths": "a.rs" })).status, 200);
    for name in ["agent", "agentId", "who", "token"] {
        let posing = server.op(&bob, "unlock", &json!({ "paths": ["a.rs"], name: "ann" }));
        assert_eq!(posing.refused(), (400, "bad_input".into()), "{name}");
        let posing = server.ask(&bob, &format!("DELETE /api/coordination/locks/a.rs?{name}=ann"), &[], "");
        assert_eq!(posing.refused(), (400, "bad_input".into()), "{name}");
    }
    let posing = server.ask(&bob, "DELETE /api/coordination/locks/a.rs", &["Comity-Agent: ann"], "");
    assert_eq!(posing.refused(), (409, "not_held".into()));
    assert_eq!(server.op(&bob, "release", &json!({ "paths": ["a.rs"] })).status, 403);
    assert_eq!(server.app.engine().world().locks.len(), 1);
}

#[test]
fn a_token_ends_with_its_agent() {
    let server = Server::start();
    let ann = server.join("ann");
    assert_eq!(server.ask(&ann, "GET /api/status", &[], "").status, 200);
    assert_eq!(server.ask(&ann, "DELETE /api/agents/ann", &[], "").status, 200);
    let ended = server.ask(&ann, "GET /api/status", &[], "");
    assert_eq!(ended.refused(), (403, "agent_ended".into()));
    assert!(!ended.body.contains(&ann) && !ended.head.contains(&ann));
}

#[test]
fn callers_that_are_not_let_in_are_in_the_ledger_together() {
    let mut server = Server::start();
    let refused = |server: &Server, after: &str| -> Vec<String> {
        // Whoever is refused is not kept waiting for the log; whoever joins is, behind those.
        server.join(after);
        let call = comity_app::OperationCall { op: "log", ..comity_app::OperationCall::default() };
        let (output, _) = server.app.call_and_wait(&Caller::human(server.repo()), call);
        let log: Value = serde_json::from_str(&output.expect("a log").json).expect("JSON");
        let entries = log["entries"].as_array().expect("entries").iter();
        let entries = entries.filter(|entry| entry["action"] == "entries_refused");
        entries.map(|entry| entry["summary"].as_str().expect("a sentence").to_owned()).collect()
    };
    assert_eq!(server.ask(HUMAN, "GET /api/status", &[], "").status, 200);
    assert_eq!(refused(&server, "before"), [""; 0]);
    for _ in 0..40 {
        assert_eq!(server.ask("cmty_wrong-secret", "GET /api/status", &[], "").status, 401);
    }
    let host = ["GET / HTTP/1.1", "Host: evil.example", TOKEN];
    assert_eq!(server.raw(&host, "").status, 403);
    let first = refused(&server, "meanwhile");
    assert!(first.len() == 1 && first[0].starts_with("a caller was turned away"), "{first:?}");
    drop(server.stop.take());
    server.thread.take().expect("a thread").join().expect("no panic").expect("served");
    let all = refused(&server, "after");
    assert!(all.len() == 2 && all[1].starts_with("40 callers were turned away"), "{all:?}");
    assert!(all[1].contains("Host header") && !all.concat().contains("secret"), "{all:?}");
}

#[test]
fn callers_that_are_not_let_in_are_written_down_soon_while_the_server_runs() {
    let together = Duration::from_millis(200);
    let server = Server::start_with(|door| door.refused = Refused::within(together));
    for _ in 0..3 {
        assert_eq!(server.ask("cmty_wrong-secret", "GET /api/status", &[], "").status, 401);
    }
    let begun = Instant::now();
    let counted = || -> u64 {
        let call = comity_app::OperationCall { op: "log", ..comity_app::OperationCall::default() };
        let (output, _) = server.app.call_and_wait(&Caller::human(server.repo()), call);
        let log: Value = serde_json::from_str(&output.expect("a log").json).expect("JSON");
        let entries = log["entries"].as_array().expect("entries").iter();
        let entries = entries.filter(|entry| entry["action"] == "entries_refused");
        entries.map(|entry| entry["details"]["count"].as_u64().unwrap_or(1)).sum()
    };
    while counted() < 3 {
        assert!(begun.elapsed() < PATIENCE, "those that followed the first are in no line");
        std::thread::yield_now();
    }
}

#[test]
fn the_page_needs_no_token_and_is_shown_at_its_own_address_only() {
    let server = Server::start();
    let own = format!("Host: 127.0.0.1:{}", server.port);
    let page = server.raw(&["GET / HTTP/1.1", &own, "Connection: close"], "");
    assert!(page.status == 200 && page.body.contains("<title>Comity</title>"), "{page:?}");
    for lines in [
        &["GET / HTTP/1.1", "Host: evil.example"][..],
        &["GET / HTTP/1.1", &own, "Origin: http://evil.example"],
        &["POST /api/session HTTP/1.1", &own, "Origin: http://evil.example", "Authorization: Bearer x"],
    ] {
        assert_eq!(server.raw(lines, "").status, 403, "{lines:?}");
    }
}
