//! What a server bears: readers that do not read, letters of the largest size, crowds, and clients that take their time.

#[path = "limits/crowd.rs"]
mod crowd;
#[path = "limits/descriptors.rs"]
mod descriptors;
#[path = "limits/full_pages.rs"]
mod full_pages;
#[path = "limits/large_letters.rs"]
mod large_letters;
#[path = "limits/memory.rs"]
mod memory;
#[path = "limits/slow_http.rs"]
mod slow_http;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use support::wire::Wire;
use support::{Agent, HUMAN, PATIENCE, Place, skip};

/// The largest letter.
const LETTER_BYTES: usize = 256 * 1024;
/// Connections to the socket at a time, and some more.
const CROWD: usize = 4_096 + 300;
/// What a test opens besides.
const SPARE: usize = 400;

/// Sends letters of the largest size and takes them out of the box: they are in the log, and nowhere else.
fn write_letters(place: &Place, to: (&str, &Agent), count: usize) {
    let (mut from, mut box_) = (Wire::connect(place), Wire::connect(place).asking_as(to.1));
    let text = "x".repeat(LETTER_BYTES);
    for _ in 0..count {
        from.ask("mail_send", json!({ "to": to.0, "message": text })).expect("sent");
        let inbox = box_.ask("mail_read", json!({})).expect("a letter");
        let receipt = inbox["receipt"].as_u64().expect("a receipt");
        box_.ask("mail_ack", json!({ "receipt": receipt })).expect("taken");
    }
}

/// Where the HTTP door is.
fn address(place: &Place) -> String {
    let url = place.json(&["status"])["url"].as_str().expect("an address").to_owned();
    url.strip_prefix("http://").expect("an address").to_owned()
}

/// Opens the event stream as a WebSocket.
fn websocket(address: &str, after: u64) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the HTTP door");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let head = format!(
        "GET /api/events?after={after} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {HUMAN}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut begin = [0; 12];
    stream.read_exact(&mut begin).expect("an answer");
    assert_eq!(&begin, b"HTTP/1.1 101");
    stream
}

/// A local connection that has sent these requests.
fn asking(place: &Place, requests: &[(&str, Value)]) -> UnixStream {
    let mut stream = UnixStream::connect(place.socket()).expect("the socket");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let lines = requests.iter().enumerate().map(|(id, (op, input))| {
        let id = id + 1;
        format!("{}\n", json!({ "id": id, "op": op, "input": input, "token": HUMAN, "protocol": 1 }))
    });
    stream.write_all(lines.collect::<String>().as_bytes()).expect("sent");
    stream
}

/// Lets this process open as many files as it may, for a crowd; nothing, and the test is left out, if it may not so many.
fn crowd_size(test: &str) -> Option<usize> {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    let most = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| most as usize);
    let is_enough = most.saturating_sub(SPARE) >= CROWD;
    if !is_enough {
        skip(test, &format!("a process may open {most} files here, and it takes {}", CROWD + SPARE));
    }
    is_enough.then_some(CROWD)
}
