//! Calls that wait: the door stays open to others, and a client that leaves gives up its place.

use super::*;

fn wait_for_lock(server: &Server, token: &str) -> BufReader<TcpStream> {
    let lines = [
        "POST /api/coordination/locks HTTP/1.1",
        &format!("Host: 127.0.0.1:{}", server.port),
        &format!("Authorization: Bearer {token}"),
        "Content-Type: application/json",
    ];
    server.open(&lines, r#"{"paths":["a.rs"],"wait":"1h"}"#)
}

fn waits(world: &World) -> usize {
    world.locks.waits().count()
}

#[test]
fn a_waiting_call_is_answered_when_its_turn_comes() {
    let server = Server::start();
    let (ann, bob) = (server.join("ann"), server.join("bob"));
    assert_eq!(server.op(&ann, "lock", &json!({ "paths": "a.rs" })).status, 200);
    let mut waiting = wait_for_lock(&server, &bob);
    server.until(|world| waits(world) == 1);
    assert_eq!(server.ask(&ann, "GET /api/status", &[], "").json()["waits"], 1, "the door is open meanwhile");
    assert_eq!(server.op(&ann, "unlock", &json!({ "all": true })).status, 200);
    assert!(head(&mut waiting).starts_with("HTTP/1.1 200 "));
    let locks = server.ask(&bob, "GET /api/coordination/locks", &[], "").json();
    assert_eq!(locks["locks"][0]["holder"], "bob");
}

#[test]
fn a_client_that_leaves_gives_up_its_place() {
    let server = Server::start();
    let (ann, bob) = (server.join("ann"), server.join("bob"));
    assert_eq!(server.op(&ann, "lock", &json!({ "paths": "a.rs" })).status, 200);
    let waiting = wait_for_lock(&server, &bob);
    server.until(|world| waits(world) == 1);
    drop(waiting);
    server.until(|world| waits(world) == 0);
    assert_eq!(server.app.engine().world().locks.len(), 1);
}

#[test]
fn many_wait_and_others_are_served() {
    let server = Server::start();
    let ann = server.join("ann");
    assert_eq!(server.op(&ann, "lock", &json!({ "paths": "a.rs" })).status, 200);
    let waiting: Vec<_> =
        (0..30).map(|number| wait_for_lock(&server, &server.join(&format!("agent-{number}")))).collect();
    server.until(|world| waits(world) == 30);
    assert_eq!(server.ask(&ann, "GET /api/status", &[], "").status, 200);
    drop(waiting);
    server.until(|world| waits(world) == 0);
}

#[test]
fn the_door_closes_while_calls_wait() {
    let mut server = Server::start();
    let (ann, bob) = (server.join("ann"), server.join("bob"));
    assert_eq!(server.op(&ann, "lock", &json!({ "paths": "a.rs" })).status, 200);
    let mut waiting = wait_for_lock(&server, &bob);
    server.until(|world| waits(world) == 1);
    drop(server.stop.take());
    let served = server.thread.take().expect("a thread").join().expect("no panic");
    served.expect("closed");
    let mut rest = Vec::new();
    assert_eq!(waiting.read_to_end(&mut rest).unwrap_or_default(), 0, "{rest:?}");
}
