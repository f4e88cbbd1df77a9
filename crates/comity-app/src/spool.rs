//! Takes over mail that was left in files while no server ran: exactly once, when its receiver is here.
//!
//! Writing a file proves no identity: such mail says who it claims to be from, ranks like a peer's, and is text.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Mutex, PoisonError};

use comity_core::mail::{LetterDraft, MailAsk, Recipient};
use comity_core::redact::redact;
use comity_core::{Ask, Key, Principal, World};
use comity_mailbox::{BoxName, Mailboxes, Message, MessageContent};
use schemars::JsonSchema;
use serde::Serialize;

use crate::application::Application;
use crate::reconciler::{self, Bell, NextLook};

/// The team of boxes written by somebody who knows of no team.
pub const NO_TEAM: &str = "default";

/// What was taken over.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct TakenOver {
    pub letters: usize,
    /// What could not be taken over yet, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// One at a time: two would only get into each other's way.
static TURN: Mutex<()> = Mutex::new(());

/// Takes over what is there, and then what is there for each agent that joins, until the engine stops.
pub fn run(app: &Application) -> io::Result<()> {
    let (app, engine) = (app.clone(), app.engine().clone());
    let agents = |world: &World| world.agents.changes() as u64;
    let taking = reconciler::run(&engine, "spool", Bell::new(), agents, move || {
        for problem in take_over(&app).problems {
            eprintln!("comity: mail in files: {problem}");
        }
        NextLook::Woken
    });
    taking.map(drop)
}

/// Takes over what waits in files for live agents.
pub fn take_over(app: &Application) -> TakenOver {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut taken = TakenOver::default();
    if !app.home().join("teams").is_dir() {
        return taken;
    }
    let files = Mailboxes::under(app.home());
    let receivers: Vec<(Box<str>, Option<Box<str>>)> = {
        let world = app.engine().world();
        world.agents.live().map(|agent| (agent.profile.name.clone(), agent.profile.team.clone())).collect()
    };
    for (name, team) in receivers {
        let teams: BTreeSet<&str> = [NO_TEAM].into_iter().chain(team.as_deref()).collect();
        for team in teams {
            match BoxName::new(team, &name) {
                Ok(place) => empty(app, &files, &place, &mut taken),
                Err(problem) => taken.problems.push(problem.to_string()),
            }
        }
    }
    taken
}

fn empty(app: &Application, files: &Mailboxes, place: &BoxName, taken: &mut TakenOver) {
    let is_stored = |id: &comity_mailbox::MessageId| {
        app.engine().world().mail.sent_as(Principal::System, &key(place, id)).is_some()
    };
    let mail = match files.drain(place, is_stored) {
        Ok(mail) => mail,
        Err(problem) => return taken.problems.push(format!("{place}: {problem}")),
    };
    for damage in &mail.damage {
        taken.problems.push(format!("{place}: damaged; kept as {}", damage.set_aside.display()));
    }
    let mut stored = BTreeSet::new();
    for message in &mail.messages {
        let sent =
            app.engine().ask(Principal::System, Ask::Mail(MailAsk::Send(Box::new(draft(place, message)))));
        match sent {
            Ok(_) => drop(stored.insert(message.id.clone())),
            // It stays where it is, and is tried again later.
            Err(problem) => taken.problems.push(format!("{place}: {problem:?}")),
        }
    }
    taken.letters += stored.len();
    if let Err(problem) = files.confirm(place, &stored) {
        taken.problems.push(format!("{place}: {problem}"));
    }
}

fn draft(place: &BoxName, message: &Message) -> LetterDraft {
    // A message that calls itself typed is not believed: it is shown as text.
    let text = match message.content() {
        MessageContent::Text(text) => text.to_owned(),
        MessageContent::Control { kind, body } => format!("{kind}: {}", serde_json::Value::Object(body)),
    };
    let text = if text.trim().is_empty() { "(an empty message)".into() } else { redact(&text).into_owned() };
    LetterDraft {
        to: vec![Recipient::Agent(place.agent().into())],
        subject: message.summary.as_deref().map(|summary| redact(summary).into()),
        text: text.into(),
        client_id: Some(key(place, &message.id)),
        claimed: Some(message.from.as_str().into()),
        ..LetterDraft::default()
    }
}

/// The same message has the same key, however often it is found.
fn key(place: &BoxName, id: &comity_mailbox::MessageId) -> Key {
    let hash = blake3::hash(format!("{place}\0{}", id.as_str()).as_bytes());
    Key::new(&format!("file:{}", hash.to_hex())).unwrap_or_else(|| unreachable!("69 bytes are no empty key"))
}
