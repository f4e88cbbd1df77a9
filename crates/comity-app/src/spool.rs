//! Takes over the mail that was left in files while no server ran: exactly once, when its receiver is here.
//!
//! Who wrote into a file proves nothing: such mail says who it claims to be from, counts as a peer's, and is text.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use comity_core::mail::{Draft, MailAsk, Recipient};
use comity_core::redact::redact;
use comity_core::{Ask, Key, Principal};
use comity_mailbox::{BoxName, Content, Mailboxes, Message};

use crate::application::Application;

/// The team of boxes that are written to by somebody who knows of no team.
pub const NO_TEAM: &str = "default";

/// What was taken over, and what went wrong.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TakenOver {
    /// Letters that are in the server's care now.
    pub letters: usize,
    /// What could not be taken over yet, and why.
    pub problems: Vec<String>,
}

/// One at a time: two that take over would only get into each other's way.
static TURN: Mutex<()> = Mutex::new(());

/// Runs until the engine stops: takes over what is there, and then what is there for whoever joins.
pub fn run(app: &Application) -> io::Result<()> {
    let (wake, woken) = mpsc::sync_channel::<()>(1);
    let (watched, known) = (app.clone(), AtomicUsize::new(0));
    let _ = wake.try_send(());
    app.engine().feed().wake(Arc::new(move |_| {
        let changes = watched.engine().world().agents.changes();
        if known.swap(changes, Ordering::Relaxed) != changes {
            let _ = wake.try_send(());
        }
    }));
    let app = app.clone();
    let thread = std::thread::Builder::new().name("spool".into());
    let taking = thread.spawn(move || {
        while woken.recv().is_ok() && !app.engine().feed().is_stopped() {
            for problem in take_over(&app).problems {
                eprintln!("comity: mail in files: {problem}");
            }
        }
    });
    taking.map(drop)
}

/// Takes over what waits in files for the agents that are here.
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

fn draft(place: &BoxName, message: &Message) -> Draft {
    // A message that calls itself typed is not believed: it is shown as what it says.
    let text = match message.content() {
        Content::Text(text) => text.to_owned(),
        Content::Control { kind, body } => format!("{kind}: {}", serde_json::Value::Object(body)),
    };
    let text = if text.trim().is_empty() { "(an empty message)".into() } else { redact(&text).into_owned() };
    Draft {
        to: vec![Recipient::Agent(place.agent().into())],
        subject: message.summary.as_deref().map(|summary| redact(summary).into()),
        text: text.into(),
        client_id: Some(key(place, &message.id)),
        claimed: Some(message.from.as_str().into()),
        ..Draft::default()
    }
}

/// The same message has the same key, however often it is found.
fn key(place: &BoxName, id: &comity_mailbox::MessageId) -> Key {
    let hash = blake3::hash(format!("{place}\0{}", id.as_str()).as_bytes());
    Key::new(&format!("file:{}", hash.to_hex())).unwrap_or_else(|| unreachable!("69 bytes are no empty key"))
}
