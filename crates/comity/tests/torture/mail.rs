//! Senders and receivers of mail that go on for as long as they may, whatever happens to the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::clients::{Load, ask};
use crate::letters::{Arrived, Sent};
use crate::random::Random;
use crate::support::mcp::Mcp;
use crate::support::wire::No;
use crate::support::{Agent, PATIENCE};

const RECIPIENTS: [&[&str]; 3] = [&["rex"], &["sue"], &["rex", "sue"]];
/// How long a receiver waits before it looks whether it is needed.
const WAIT: &str = "200ms";
/// How long an offer to the raw receiver may take.
const LEASE: &str = "1s";

/// What one client has seen.
#[derive(Default)]
pub(crate) struct Post {
    pub(crate) sent: Vec<Sent>,
    pub(crate) arrived: Vec<Arrived>,
    /// Answers that should not be, or that never came.
    pub(crate) wrong: Vec<String>,
    pub(crate) worst_reconnect: Duration,
}

impl Post {
    /// Sends one letter after the other for as long as it may; some of them once more.
    fn send_all(
        load: &Load,
        name: &str,
        mut random: Random,
        mut send: impl FnMut(&[&str], &str, &mut Duration) -> Result<String, String>,
    ) -> Post {
        let mut post = Post::default();
        let mut number = 0;
        while load.goes_on() {
            number += 1;
            let (to, text) = (random.pick(&RECIPIENTS), format!("{name}-{number}"));
            let mut told = Vec::new();
            for _ in 0..1 + random.below(3) / 2 {
                match send(to, &text, &mut post.worst_reconnect) {
                    Ok(id) => told.push(id),
                    Err(problem) => post.wrong.push(problem),
                }
            }
            let to = to.iter().map(|one| (*one).to_owned()).collect();
            post.sent.push(Sent { from: name.into(), to, text, told });
        }
        post
    }

    /// Takes one offer after the other until all is sent and nothing is left.
    fn receive_all(
        load: &Load,
        all_sent: &AtomicBool,
        name: &str,
        mut take: impl FnMut(&mut Duration) -> Result<Value, String>,
    ) -> Post {
        let mut post = Post::default();
        let mut newest = Instant::now();
        loop {
            let is_last = all_sent.load(Ordering::Relaxed);
            match take(&mut post.worst_reconnect) {
                Ok(inbox) if inbox["receipt"].is_null() && is_last => {
                    if !is_expecting(load, name) {
                        return post;
                    }
                    if newest.elapsed() > PATIENCE {
                        post.wrong.push(format!("{name} waits in vain for what is in its box"));
                        return post;
                    }
                }
                Ok(inbox) => {
                    newest = Instant::now();
                    post.arrived.extend(Arrived::all(name, &inbox));
                }
                Err(problem) => {
                    post.wrong.push(problem);
                    return post;
                }
            }
        }
    }
}

/// Whether something is left for somebody, be it on offer.
fn is_expecting(load: &Load, name: &str) -> bool {
    let boxes = load.place.json(&["mail", "boxes"]);
    boxes["boxes"].as_array().expect("boxes").iter().any(|one| one["owner"] == name)
}

/// Nobody but the sender's own id of the letter keeps it from being stored twice: no two questions have the same key.
pub(crate) fn send_by_wire(load: &Load, agent: &Agent, name: &str, random: Random) -> Post {
    let mut connection = None;
    Post::send_all(load, name, random, |to, text, worst| {
        let input = json!({ "to": to, "message": text, "client_id": text });
        match ask(load, agent, &mut connection, worst, "mail_send", &input, None) {
            Ok(sent) => Ok(sent["id"].as_str().expect("a number").to_owned()),
            Err(No::Refused(error)) => Err(error.to_string()),
            Err(No::Broken(error)) => Err(format!("gave up: {error}")),
        }
    })
}

pub(crate) fn send_by_command_line(load: &Load, agent: &Agent, name: &str, random: Random) -> Post {
    Post::send_all(load, name, random, |to, text, _| {
        let what = ["-m", text, "--client-id", text, "--json"];
        let ran = load.place.run_as(agent, &[&["mail", "send"], to, &what].concat());
        load.count();
        match ran.code {
            0 => Ok(ran.document()["id"].as_str().expect("a number").to_owned()),
            _ => Err(format!("{ran:?}")),
        }
    })
}

pub(crate) fn send_by_mcp(load: &Load, agent: &Agent, name: &str, random: Random) -> Post {
    let mut client = Mcp::start(&mut load.place.comity_as(agent, &["mcp"]));
    Post::send_all(load, name, random, |to, text, _| {
        let answer = client.call("SendMessage", &json!({ "to": to, "message": text, "client_id": text }));
        load.count();
        match answer.is_error {
            false => Ok(answer.text.split(' ').next().unwrap_or_default().to_owned()),
            true => Err(answer.text),
        }
    })
}

/// Takes and acknowledges, or gives back what it has not looked at.
///
/// A question whose answer was lost is asked again, some with the same key. Without it the lost offer has to lapse first.
pub(crate) fn receive_by_wire(
    load: &Load,
    agent: &Agent,
    name: &str,
    mut random: Random,
    all_sent: &AtomicBool,
) -> Post {
    let mut connection = None;
    let mut number = 0;
    Post::receive_all(load, all_sent, name, |worst| {
        loop {
            number += 1;
            let has_key = random.below(2) == 0;
            let mut ask = |op: &str, input: Value| {
                let key = has_key.then(|| format!("{op}-{number}"));
                let answer = ask(load, agent, &mut connection, worst, op, &input, key.as_deref());
                answer.map_err(|no| format!("{op}: {no:?}"))
            };
            let inbox = ask("next", json!({ "wait": WAIT, "lease": LEASE }))?;
            let Some(receipt) = inbox["receipt"].as_u64() else { return Ok(inbox) };
            let returned = random.below(5) == 0;
            ask("mail_ack", json!({ "receipt": receipt, "returned": returned }))?;
            if !returned {
                return Ok(inbox);
            }
        }
    })
}

/// The command acknowledges by itself what it has shown.
pub(crate) fn receive_by_command_line(load: &Load, agent: &Agent, name: &str, all_sent: &AtomicBool) -> Post {
    Post::receive_all(load, all_sent, name, |_| {
        let ran = load.place.run_as(agent, &["next", "--wait", WAIT, "--json"]);
        load.count();
        match ran.code {
            0 => Ok(ran.document()),
            _ => Err(format!("{ran:?}")),
        }
    })
}
