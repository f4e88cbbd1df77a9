//! Shows events as they happen.

use std::process::ExitCode;

use comity_core::event;
use comity_wire::Home;
use serde::Deserialize;
use serde_json::{Value, json};

use super::output::{self, OutputFormat};
use crate::session::{RequestAttempts, Session};
use crate::start;

/// How often a broken connection is retried without having received anything.
const ATTEMPTS_MAX: u32 = 40;

/// Letters that are shown before the new ones.
const MAIL_SHOWN_FIRST: usize = 10;

/// The parts of an entry for filters and people.
#[derive(Deserialize)]
struct Shown {
    seq: u64,
    at_ms: i64,
    action: String,
    event: String,
    summary: String,
    #[serde(rename = "agentId")]
    agent: Option<String>,
    actor: String,
    #[serde(default)]
    concerns: Vec<ConcernedAgent>,
}

#[derive(Deserialize)]
struct ConcernedAgent {
    #[serde(rename = "agentId")]
    agent: String,
    name: String,
}

/// Shows the newest letters, then every new one until interrupted.
pub(crate) fn mail(home: Home, form: OutputFormat) -> ExitCode {
    go_on(home, &json!({ "type": "mail:sent", "limit": MAIL_SHOWN_FIRST }), form)
}

/// Shows the newest entries, then every new one until interrupted.
pub(super) fn go_on(home: Home, input: &Value, form: OutputFormat) -> ExitCode {
    let mut session = Session::from_env(home.clone());
    let mut cursor = match first_page(&mut session, input, form) {
        Ok(cursor) => cursor,
        Err(code) => return code,
    };
    let mut attempt = 0;
    let mut asked = RequestAttempts::default();
    loop {
        let before = cursor;
        let problem = match follow(&mut session, &mut cursor, input, form, &mut asked) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(problem) => problem,
        };
        session.disconnect();
        if cursor > before {
            (attempt, asked) = (0, RequestAttempts::default());
        }
        if let Err(problem) = asked.lost(&home) {
            return output::fault(form, &problem);
        }
        attempt += 1;
        if attempt > ATTEMPTS_MAX {
            return output::fault(form, &problem);
        }
        std::thread::sleep(start::pause(attempt));
    }
}

fn first_page(session: &mut Session, input: &Value, form: OutputFormat) -> Result<u64, ExitCode> {
    let answer = super::log_pages::ask(session, input).map_err(|trouble| output::show(form, Err(trouble)))?;
    let page: Value = serde_json::from_str(answer.json.get()).unwrap_or_default();
    match form {
        OutputFormat::Text => output::print(&comity_core::display::visible_lines(&answer.text)),
        OutputFormat::Json => {
            for entry in page["entries"].as_array().into_iter().flatten() {
                output::print(&entry.to_string());
            }
        }
    }
    Ok(page["head"].as_u64().unwrap_or_default())
}

fn follow(
    session: &mut Session,
    cursor: &mut u64,
    input: &Value,
    form: OutputFormat,
    asked: &mut RequestAttempts,
) -> Result<(), String> {
    let after =
        serde_json::value::to_raw_value(&json!({ "after": *cursor })).map_err(|error| error.to_string())?;
    session.connection()?;
    let request = session.request("$follow", Some(&after));
    let line = serde_json::to_string(&request).map_err(|error| error.to_string())?;
    let request = serde_json::from_str(&line).map_err(|error| error.to_string())?;
    let client = session.connection()?;
    client.send(request).map_err(|error| error.to_string())?;
    asked.sent(client.server());
    loop {
        let reply = client.receive().map_err(|error| error.to_string())?;
        if let Some(error) = reply.error {
            return Err(error.get().to_owned());
        }
        let Some(event) = reply.event else { continue };
        let entry: Shown = serde_json::from_str(event.get()).map_err(|error| error.to_string())?;
        *cursor = entry.seq;
        if !wanted(&entry, input) {
            continue;
        }
        let shown = match form {
            OutputFormat::Json => event.get().to_owned(),
            OutputFormat::Text => {
                let Shown { seq, at_ms, action, summary, .. } = &entry;
                let at = comity_app::ledger::local(*at_ms);
                format!("{seq:>6}  {at}  {action:<16}  {}", comity_core::display::visible(summary))
            }
        };
        use std::io::Write;
        if writeln!(std::io::stdout().lock(), "{shown}").is_err() {
            return Ok(());
        }
    }
}

fn wanted(entry: &Shown, input: &Value) -> bool {
    let agent = input["agent"].as_str();
    let kind = input["type"].as_str();
    let concerns = |agent: &str| entry.concerns.iter().any(|one| one.agent == agent || one.name == agent);
    agent.is_none_or(|agent| entry.agent.as_deref() == Some(agent) || entry.actor == agent || concerns(agent))
        && match kind {
            Some(kind) => event::is_type(kind, (&entry.action, &entry.event)),
            None => input["all"] == true || !event::is_housekeeping(&entry.action),
        }
}
