//! Mail through a real server: nothing is missed, nothing counts as read before it arrived, and text ends nobody.

#[path = "mail/delivery.rs"]
mod delivery;
#[path = "mail/flood.rs"]
mod flood;
#[path = "mail/handshake.rs"]
mod handshake;
#[path = "mail/privacy.rs"]
mod privacy;
#[path = "mail/race.rs"]
mod race;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use serde_json::{Value, json};
use support::wire::Wire;
use support::{Agent, Place};

/// A file system in memory, on most systems.
const MEMORY: &str = "/dev/shm";
/// What has to be free there: some have little.
const ROOM_BYTES: u64 = 256 * 1024 * 1024;

/// A place whose disk costs no time, where there is one: for what is not about the disk.
fn quick_place() -> Place {
    let has_room = rustix::fs::statvfs(MEMORY).is_ok_and(|disk| disk.f_bavail * disk.f_frsize >= ROOM_BYTES);
    match tempfile::tempdir_in(MEMORY) {
        Ok(dir) if has_room => {
            let home = dir.path().join("state");
            Place::at(dir, home, &[])
        }
        Ok(_) | Err(_) => Place::new(),
    }
}

/// A connection of an agent's own.
fn wire(place: &Place, agent: &Agent) -> Wire {
    Wire::connect(place).asking_as(agent)
}

fn send(wire: &mut Wire, to: &str, text: &str) {
    wire.ask("mail_send", json!({ "to": to, "message": text })).expect("sent");
}

fn acknowledge(wire: &mut Wire, inbox: &Value) {
    wire.ask("mail_ack", json!({ "receipt": inbox["receipt"] })).expect("acknowledged");
}

/// The texts of the letters in an answer, each with whether it was offered before.
fn letters(inbox: &Value) -> Vec<(&str, bool)> {
    let messages = inbox["messages"].as_array().expect("letters").iter();
    messages.map(|letter| (letter["text"].as_str().expect("a text"), letter["again"] == true)).collect()
}

/// Calls a tool through the HTTP door; gives what it said, and whether that is an error.
fn call_over_http(place: &Place, agent: &Agent, tool: &str, arguments: &Value) -> (String, bool) {
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
    });
    let response =
        support::http::request(place, Some(&agent.token), "POST", "/mcp?tools=all", Some(&call)).json();
    let result = &response["result"];
    (result["content"][0]["text"].as_str().expect("a text").to_owned(), result["isError"] == true)
}
