//! A box that is full of letters delays no request to end.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::wire::{No, Wire};
use crate::support::{Agent, Place};
use crate::{acknowledge, letters, quick_place, send, wire};

/// Letters that a box holds.
/// What peers may fill of a box of 10,000: an eighth is kept for the human and leaders.
const BOX: u64 = 8_750;
/// So many connections write at once, so that they share their writes to the disk.
const CONNECTIONS: usize = 16;
const PEERS: usize = 4;

/// Peers fill a box until it is full.
fn flood(place: &Place, peers: &[Agent], to: &str) {
    let left = AtomicU64::new(BOX);
    std::thread::scope(|scope| {
        for peer in peers.iter().cycle().take(CONNECTIONS) {
            scope.spawn(|| {
                let mut wire = wire(place, peer);
                while left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1))
                    .is_ok()
                {
                    send(&mut wire, to, "are you there?");
                }
            });
        }
    });
    let more = wire(place, &peers[0]).refused("mail_send", json!({ "to": to, "message": "one more" }));
    assert_eq!(more, "limit_reached");
}

/// The request to end in an answer, which has to be its first control message.
fn request_in(inbox: &Value) -> String {
    let control = &inbox["control"][0]["control"];
    assert_eq!(control["type"], "shutdown_request", "{:?}", inbox["control"]);
    format!("r{}", control["requestId"])
}

fn reject(wire: &mut Wire, request: &str) {
    wire.ask("shutdown_reject", json!({ "request": request, "reason": "busy" })).expect("rejected");
}

/// What was offered before, and not acknowledged, keeps back only what is not more urgent.
#[test]
fn an_open_offer_of_other_control_messages_does_not_delay_a_request_to_end() {
    let place = Place::new();
    let lead = place.join(&["lead", "--role", "lead"]);
    let ann = Agent::of(&place.json_as(&lead, &["agent", "join", "ann"]));
    place.json_as(&ann, &["idle", "the tests are green"]);
    let mut wire = wire(&place, &lead);
    let open = wire.ask("next", Value::Null).expect("an answer");
    assert_eq!(open["control"][0]["control"]["type"], "idle_notification");
    place.json_as(&ann, &["idle", "the tests are still green"]);
    place.json(&["shutdown", "request", "lead", "--within", "1h"]);
    let inbox = wire.ask("next", Value::Null).expect("an answer");
    assert_eq!((request_in(&inbox), inbox["control"].as_array().map(Vec::len)), ("r1".into(), Some(1)));
    let nothing = wire.ask("next", Value::Null).expect("an answer");
    assert!(nothing["control"].is_null(), "it is on offer already: {nothing}");
    [&open, &inbox].into_iter().for_each(|offer| acknowledge(&mut wire, offer));
    let rest = wire.ask("next", Value::Null).expect("an answer");
    assert_eq!(rest["control"][0]["control"]["summary"], "the tests are still green");
    assert_eq!(rest["control"].as_array().map(Vec::len), Some(1), "{rest}");
}

#[test]
fn a_flood_does_not_delay_a_request_to_end() {
    let place = quick_place();
    let ann = place.join(&["ann"]);
    let peers: Vec<Agent> = (0..PEERS).map(|number| place.join(&[&format!("peer{number}")])).collect();
    flood(&place, &peers, "ann");
    let (mut human, mut wire) = (Wire::connect(&place), wire(&place, &ann));
    let mut request = || {
        let asked = human.ask("shutdown_request", json!({ "agent": "ann", "within": "1h" })).expect("asked");
        asked["request"].as_str().expect("a number").to_owned()
    };

    // Nothing is on its way to ann.
    let asked = request();
    let inbox = wire.ask("next", Value::Null).expect("an answer");
    assert_eq!(request_in(&inbox), asked);
    assert!(!letters(&inbox).is_empty(), "letters come after it");
    reject(&mut wire, &asked);
    acknowledge(&mut wire, &inbox);

    // Letters are on their way to ann, and not acknowledged.
    let unread = wire.ask("next", Value::Null).expect("an answer");
    assert!(!letters(&unread).is_empty() && unread["control"].is_null());
    let asked = request();
    let inbox = wire.ask("next", Value::Null).expect("an answer");
    assert_eq!(request_in(&inbox), asked);
    reject(&mut wire, &asked);
    acknowledge(&mut wire, &inbox);

    // Ann waits for something else than those letters.
    let asked = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wire.ask("next", json!({ "wait": "9s" })).expect("an answer"));
        let asked = request();
        let inbox = waiting.join().expect("an answer");
        assert_eq!(request_in(&inbox), asked);
        asked
    });
    reject(&mut wire, &asked);

    // Ann asks by her tools, while that offer is open too.
    let mut mcp = Mcp::start(&mut place.comity_as(&ann, &["mcp"]));
    let asked = request();
    let said = mcp.call("next", &json!({})).text;
    let expected = format!("control: you are asked to end ({asked});");
    assert!(said.contains(&expected), "{}", &said[..said.len().min(500)]);
    let approved = place.json_as(&ann, &["shutdown", "approve", &asked]);
    assert_eq!(approved["state"], "approved");
    assert!(matches!(wire.ask("next", Value::Null), Err(No::Refused(_))), "ann has ended");
}
