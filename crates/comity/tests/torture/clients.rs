//! Clients that lock and unlock for as long as they may, whatever happens to the server.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::checker::Told;
use crate::random::Random;
use crate::support::mcp::Mcp;
use crate::support::wire::{No, Wire};
use crate::support::{Agent, PATIENCE, Place};

const PATHS: [&str; 5] = ["src/a.rs", "src/b.rs", "src/c.rs", "src/[ab].rs", "src/*.rs"];

/// What all clients share.
pub(crate) struct Load {
    pub(crate) place: Place,
    pub(crate) is_over: AtomicBool,
    /// Answers so far: the nemesis waits for some between two kills.
    pub(crate) answers: AtomicU64,
}

/// What one client has seen.
#[derive(Default)]
pub(crate) struct History {
    pub(crate) told: Vec<Told>,
    /// Answers that contradict earlier ones, or that never came.
    pub(crate) wrong: Vec<String>,
    pub(crate) worst_reconnect: Duration,
}

impl Load {
    pub(crate) fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }
}

/// A raw client: it asks again with the same key until there is an answer.
pub(crate) fn wire(load: &Load, agent: &Agent, wait: Option<&str>, mut random: Random) -> History {
    let mut history = History::default();
    let mut connection = None;
    let mut number = 0;
    while load.goes_on() {
        number += 1;
        let reason = format!("{}-{number}", agent.id);
        let path = random.pick(&PATHS);
        let mut input = json!({ "paths": [path], "reason": reason, "shared": random.below(8) == 0 });
        if let Some(wait) = wait {
            input["wait"] = wait.into();
        }
        let key = format!("lock-{reason}");
        let worst = &mut history.worst_reconnect;
        let granted = ask(load, agent, &mut connection, worst, "lock", &input, Some(&key));
        let Some(granted) = refused_or(granted, &["locked", "wait_timed_out", "deadlock"], &mut history)
        else {
            continue;
        };
        let fence = granted["locks"][0]["fence"].as_u64().expect("a fence");
        history.told.push(Told::Granted { agent: agent.id.clone(), reason, fence });
        let key = format!("unlock-{fence}");
        let input = json!({ "paths": [path] });
        let worst = &mut history.worst_reconnect;
        let unlocked = ask(load, agent, &mut connection, worst, "unlock", &input, Some(&key));
        if refused_or(unlocked, &[], &mut history).is_some() {
            history.told.push(Told::Released { fence });
        }
    }
    history
}

/// The output, unless it was refused with one of the expected codes; anything else contradicts what was told.
fn refused_or(answer: Result<Value, No>, expected: &[&str], history: &mut History) -> Option<Value> {
    match answer {
        Ok(output) => Some(output),
        Err(No::Refused(error)) => {
            if !expected.iter().any(|code| error["code"] == *code) {
                history.wrong.push(error.to_string());
            }
            None
        }
        Err(No::Broken(error)) => {
            history.wrong.push(format!("gave up: {error}"));
            None
        }
    }
}

/// Asks until there is an answer; a broken connection is made again, and how long that took at worst is kept.
pub(crate) fn ask(
    load: &Load,
    agent: &Agent,
    connection: &mut Option<Wire>,
    worst: &mut Duration,
    op: &str,
    input: &Value,
    key: Option<&str>,
) -> Result<Value, No> {
    let mut broken_at: Option<Instant> = None;
    loop {
        let wire = connection.get_or_insert_with(|| reconnect(load, agent));
        let answer = wire.ask_with_key(op, input.clone(), key);
        match answer {
            Err(No::Broken(error)) => {
                *connection = None;
                let since = broken_at.get_or_insert_with(Instant::now);
                if since.elapsed() > PATIENCE {
                    return Err(No::Broken(error));
                }
            }
            answer => {
                if let Some(since) = broken_at {
                    *worst = (*worst).max(since.elapsed()); // clock: it is reported
                }
                load.count();
                return answer;
            }
        }
    }
}

/// Connects; a server is started if there is none. The nemesis may be faster, so it is tried again.
fn reconnect(load: &Load, agent: &Agent) -> Wire {
    let start = Instant::now();
    loop {
        if let Some(wire) = Wire::try_connect(&load.place) {
            return wire.asking_as(agent);
        }
        assert!(start.elapsed() < PATIENCE, "no server comes up");
        let _ = load.place.run(&["up", "--json"]);
    }
}

/// A person's way: one process for each command. None of them may fail because of the nemesis.
pub(crate) fn command_line(load: &Load, agent: &Agent, wait: &str, mut random: Random) -> History {
    let mut history = History::default();
    let mut number = 0;
    while load.goes_on() {
        number += 1;
        let reason = format!("{}-{number}", agent.id);
        let path = random.pick(&PATHS);
        let ask = ["lock", path, "--reason", &reason, "--wait", wait, "--json"];
        let ran = load.place.run_as(agent, &ask);
        load.count();
        match ran.code {
            0 => {}
            3 => continue,
            _ => {
                history.wrong.push(format!("{ran:?}"));
                continue;
            }
        }
        let fence = ran.document()["locks"][0]["fence"].as_u64().expect("a fence");
        history.told.push(Told::Granted { agent: agent.id.clone(), reason, fence });
        let ran = load.place.run_as(agent, &["unlock", path, "--json"]);
        load.count();
        match ran.code {
            0 => history.told.push(Told::Released { fence }),
            _ => history.wrong.push(format!("{ran:?}")),
        }
    }
    history
}

/// An agent's way: one MCP process that has to survive every kill.
pub(crate) fn mcp(load: &Load, agent: &Agent, mut random: Random) -> History {
    let mut history = History::default();
    let mut client = Mcp::start(&mut load.place.comity_as(agent, &["mcp"]));
    let mut number = 0;
    while load.goes_on() {
        number += 1;
        let reason = format!("{}-{number}", agent.id);
        let path = random.pick(&PATHS);
        let answer = client.call("lock", &json!({ "paths": path, "reason": reason, "wait": "100ms" }));
        load.count();
        if answer.is_error {
            if !["is not free", "is locked", "not granted", "deadlock"]
                .iter()
                .any(|no| answer.text.contains(no))
            {
                history.wrong.push(answer.text);
            }
            continue;
        }
        let fence = answer.text.rsplit_once("fence ").map(|(_, rest)| rest.trim_end_matches(')'));
        let fence = fence.and_then(|fence| fence.parse().ok()).expect("a fence");
        history.told.push(Told::Granted { agent: agent.id.clone(), reason, fence });
        let answer = client.call("unlock", &json!({ "paths": [path] }));
        load.count();
        match answer.is_error {
            false => history.told.push(Told::Released { fence }),
            true => history.wrong.push(answer.text),
        }
    }
    history
}
