//! Each door's proof that mail arrived: what it could not hand on is offered again, and says so.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::mcp::Mcp;
use crate::support::{Agent, BINARY, PATIENCE, Place, Ran, Running, http, is_readable, kill};
use crate::{call_over_http, letters, send, wire};

/// More than a pipe holds: who writes it out waits for a reader.
const LONG: usize = 200 * 1024;
/// How long an offer may take in these tests: less than an agent may be without its connection.
const LEASE: &str = "200ms";

/// Ann has a letter from bob.
fn stage(text: &str) -> (Place, Agent) {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    send(&mut wire(&place, &bob), "ann", text);
    (place, ann)
}

/// What happened to offers so far.
fn offers(place: &Place) -> Vec<String> {
    let is_of_offers = |action: &str| ["mail_offered", "mail_read", "mail_returned"].contains(&action);
    let actions =
        place.log().into_iter().map(|entry| entry["action"].as_str().expect("an action").to_owned());
    actions.filter(|action| is_of_offers(action)).collect()
}

/// The letter is offered once more, says so, and then counts as read.
fn comes_again(place: &Place, agent: &Agent, text: &str) {
    let inbox = place.json_as(agent, &["mail", "read", "--wait", "20s"]);
    assert_eq!(letters(&inbox), [(text, true)]);
    assert_eq!(offers(place), ["mail_offered", "mail_returned", "mail_offered", "mail_read"]);
    let shown = place.run_as(agent, &["mail", "read"]);
    assert_eq!((shown.code, shown.out.as_str()), (0, "no unread letters\n"));
}

#[test]
fn what_a_command_has_shown_is_read() {
    let (place, ann) = stage("hello");
    let inbox = place.json_as(&ann, &["mail", "read"]);
    assert_eq!(letters(&inbox), [("hello", false)]);
    assert_eq!(offers(&place), ["mail_offered", "mail_read"]);
}

#[test]
fn a_command_without_a_reader_has_shown_nothing() {
    let (place, ann) = stage("hello");
    let mut command = place.comity_as(&ann, &["mail", "read"]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    command.stdout(writer).stderr(Stdio::null());
    drop(reader);
    let mut reading = Running(command.spawn().expect("comity runs"));
    drop(command);
    reading.0.wait().expect("an end");
    comes_again(&place, &ann, "hello");
}

/// A closed output is the null device to a program; neither of them has a reader.
#[test]
fn a_command_whose_output_is_closed_has_shown_nothing() {
    for line in ["exec \"$0\" mail read >&-", "exec \"$0\" next --json >/dev/null"] {
        let (place, ann) = stage("hello");
        let mut shell = place.program("sh");
        shell.args(["-c", line, BINARY]).env("COMITY_TOKEN", &ann.token);
        let ran = Ran::of(shell.output().expect("a shell"));
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
        comes_again(&place, &ann, "hello");
    }
}

#[test]
fn a_full_disk_under_the_output_shows_nothing() {
    let (place, ann) = stage("hello");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
    let ran = Ran::of(place.comity_as(&ann, &["next"]).stdout(full).output().expect("comity runs"));
    assert_eq!(ran.out, "");
    comes_again(&place, &ann, "hello");
}

#[test]
fn a_reader_that_goes_away_half_way_has_read_nothing() {
    let text = "x".repeat(LONG);
    let (place, ann) = stage(&text);
    let mut reading = place.start(&mut place.comity_as(&ann, &["mail", "read"]));
    let output = reading.0.stdout.take().expect("a pipe");
    assert!(is_readable(&output, PATIENCE), "it has begun to write");
    drop(output);
    reading.finish();
    comes_again(&place, &ann, &text);
}

#[test]
fn a_command_that_is_killed_half_way_has_shown_nothing() {
    let text = "x".repeat(LONG);
    let (place, ann) = stage(&text);
    let reading = place.start(&mut place.comity_as(&ann, &["mail", "read", "--lease", LEASE]));
    let output = reading.0.stdout.as_ref().expect("a pipe");
    assert!(is_readable(output, PATIENCE), "it has begun to write");
    kill(reading.pid(), Signal::KILL);
    comes_again(&place, &ann, &text);
}

#[test]
fn a_tool_call_that_was_answered_is_read() {
    let (place, ann) = stage("hello");
    let mut mcp = Mcp::start(&mut place.comity_as(&ann, &["mcp"]));
    assert!(mcp.call("next", &json!({})).text.contains("| hello"));
    place.follow().until_action("mail_read");
    assert_eq!(offers(&place), ["mail_offered", "mail_read"]);
}

#[test]
fn a_tool_server_that_is_killed_before_its_answer_has_delivered_nothing() {
    let place = Place::new();
    let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
    let mut mcp = Mcp::start(&mut place.comity_as(&ann, &["mcp"]));
    mcp.begin("next", &json!({ "wait": "30s", "lease": LEASE }));
    // Questions are taken in order: once this one is answered, the one before is waiting.
    mcp.call("status", &json!({}));
    kill(mcp.pid(), Signal::STOP);
    let mut log = place.follow_on();
    send(&mut wire(&place, &bob), "ann", "hello");
    log.until_action("mail_offered");
    kill(mcp.pid(), Signal::KILL);
    comes_again(&place, &ann, "hello");
}

#[test]
fn a_tool_server_that_is_killed_half_way_has_delivered_nothing() {
    let text = "x".repeat(LONG);
    let (place, ann) = stage(&text);
    let mut mcp = Mcp::start(&mut place.comity_as(&ann, &["mcp"]));
    mcp.begin("next", &json!({ "lease": LEASE }));
    assert!(mcp.is_writing());
    kill(mcp.pid(), Signal::KILL);
    comes_again(&place, &ann, &text);
}

#[test]
fn over_http_the_next_tool_call_is_the_proof() {
    let (place, ann) = stage("hello");
    let (text, is_error) = call_over_http(&place, &ann, "next", &json!({}));
    assert!(text.contains("| hello") && !is_error, "{text}");
    // Another door's question proves nothing about this one's answer.
    place.json_as(&ann, &["status"]);
    http::request(&place, Some(&ann.token), "GET", "/api/status", None);
    assert_eq!(offers(&place), ["mail_offered"]);
    call_over_http(&place, &ann, "status", &json!({}));
    assert_eq!(offers(&place), ["mail_offered", "mail_read"]);
}

#[test]
fn over_http_somebody_elses_tool_call_proves_nothing() {
    let (place, ann) = stage("hello");
    call_over_http(&place, &ann, "next", &json!({}));
    call_over_http(&place, &place.join(&["cat"]), "next", &json!({}));
    assert_eq!(offers(&place), ["mail_offered"]);
}

#[test]
fn by_rest_only_an_acknowledgement_is_the_proof() {
    let (place, ann) = stage("hello");
    let cat = place.join(&["cat"]);
    let post = |agent: &Agent, target: &str, body: Value| {
        let response = http::request(&place, Some(&agent.token), "POST", target, Some(&body));
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    };
    let first = post(&ann, "/api/mail/read", json!({ "lease": LEASE }));
    assert_eq!(letters(&first), [("hello", false)]);
    http::request(&place, Some(&ann.token), "GET", "/api/status", None);
    let stolen = post(&cat, "/api/mail/ack", json!({ "receipt": first["receipt"] }));
    assert_eq!(stolen["state"], "closed", "only who got it can say so");
    place.follow().until_action("mail_returned");
    assert_eq!(offers(&place), ["mail_offered", "mail_returned"]);

    let again = post(&ann, "/api/next", json!({ "wait": "20s" }));
    assert_eq!(letters(&again), [("hello", true)]);
    let late = post(&ann, "/api/mail/ack", json!({ "receipt": first["receipt"] }));
    assert_eq!(late["state"], "closed", "a late word about the first offer is not one about the second");
    assert_eq!(offers(&place), ["mail_offered", "mail_returned", "mail_offered"]);
    let done = post(&ann, "/api/mail/ack", json!({ "receipt": again["receipt"] }));
    assert_eq!(done["state"], "arrived");
    assert_eq!(offers(&place), ["mail_offered", "mail_returned", "mail_offered", "mail_read"]);
}
