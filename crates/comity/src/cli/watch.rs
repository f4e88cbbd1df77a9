//! `--watch`: a list, redrawn as soon as something happens.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use comity_app::catalog::{CatalogEntry, name_of};
use comity_app::operations::server::Status;
use comity_wire::Home;
use serde_json::{Value, json, value::to_raw_value};

use super::output::{self, OutputFormat};
use super::terminal;
use crate::session::Session;
use crate::start;

/// What happens within this time is drawn together.
const TOGETHER: Duration = Duration::from_millis(100);
/// Ages grow without anything happening.
const REDRAW: Duration = Duration::from_secs(5);
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Shows the list again and again, until interrupted.
pub(super) fn go_on(home: Home, entry: &CatalogEntry, input: &Value, form: OutputFormat) -> ExitCode {
    let (news, happened) = channel();
    let mut session = Session::from_env(home.clone());
    let mut shown = String::new();
    let follower = std::thread::Builder::new().name("news".into()).spawn(move || follow(&home, &news));
    if let Err(error) = follower {
        return output::fault(form, &error.to_string());
    }
    loop {
        let answer = match session.ask(entry.name, input) {
            Ok(answer) => answer,
            refused => return output::show(form, refused),
        };
        let text = match form {
            OutputFormat::Json => answer.json.get().to_owned(),
            OutputFormat::Text => comity_core::display::visible_lines(&answer.text).into_owned(),
        };
        if text != shown {
            draw(entry, &text, form);
            if !output::all_was_written() {
                return ExitCode::SUCCESS;
            }
            shown = text;
        }
        wait(&happened);
    }
}

fn draw(entry: &CatalogEntry, text: &str, form: OutputFormat) {
    match form {
        OutputFormat::Text if std::io::stdout().is_terminal() => output::print(&format!(
            "{CLEAR}{}\n\ncomity {} --watch; Ctrl-C ends it",
            terminal::screenful(text),
            entry.command()
        )),
        OutputFormat::Text | OutputFormat::Json => output::print(text),
    }
}

fn wait(happened: &Receiver<()>) {
    if happened.recv_timeout(REDRAW).is_ok() {
        std::thread::sleep(TOGETHER);
        happened.try_iter().for_each(drop);
    }
}

/// Reports that something happened.
fn follow(home: &Home, news: &Sender<()>) {
    let mut attempt = 0;
    loop {
        let mut session = Session::from_env(home.clone());
        if let Err(()) = follow_once(&mut session, news, &mut attempt) {
            return;
        }
        attempt += 1;
        std::thread::sleep(start::pause(attempt));
    }
}

/// Until the connection breaks; an error if nobody listens any more.
fn follow_once(session: &mut Session, news: &Sender<()>, attempt: &mut u32) -> Result<(), ()> {
    let Ok(status) = session.ask(name_of::<Status>(), &json!({})) else { return Ok(()) };
    let status: Value = serde_json::from_str(status.json.get()).unwrap_or_default();
    let Ok(after) = to_raw_value(&json!({ "after": status["head"] })) else { return Ok(()) };
    let request = session.request("$follow", Some(&after));
    let Ok(line) = serde_json::to_string(&request) else { return Ok(()) };
    let (Ok(request), Ok(client)) = (serde_json::from_str(&line), session.connection()) else {
        return Ok(());
    };
    if client.send(request).is_err() {
        return Ok(());
    }
    news.send(()).map_err(drop)?;
    while let Ok(reply) = client.receive() {
        if reply.event.is_some() {
            *attempt = 0;
            news.send(()).map_err(drop)?;
        }
    }
    Ok(())
}
