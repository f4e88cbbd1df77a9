//! Mail without a server: letters are left in files, which the next server takes over.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use comity_app::catalog::name_of;
use comity_app::operations::mail::TakeOverMail;
use comity_app::operations::people::Whoami;
use comity_app::spool::NO_TEAM;
use comity_hook::is_read_only;
use comity_mailbox::{BoxName, Mailboxes, MessageDraft};
use comity_wire::{Client, Home};
use serde_json::{Value, json};

use super::output::{self, OutputFormat};
use crate::session::{Session, SessionError};

/// Commands about these files, below `comity mail`.
pub(super) fn commands(mail: Command) -> Command {
    let team = || Arg::new("team").long("team").value_name("TEAM").help("The team of the box");
    let agent = || Arg::new("agent").value_name("AGENT").required(true).help("Whose box");
    let message = Arg::new("message").short('m').long("message").value_name("TEXT").required(true);
    mail.subcommand(Command::new("tail").about("Show mail as it is sent, until interrupted"))
        .subcommand(
            Command::new("spool")
                .about("Leave a message in a file; this needs no server, and the next one delivers it")
                .arg(agent())
                .arg(message.help("What you have to say"))
                .arg(team())
                .arg(Arg::new("from").long("from").value_name("NAME").help("Who you are")),
        )
        .subcommand(
            Command::new("spooled")
                .about("Read the messages waiting in a file, and mark them read; this needs no server")
                .arg(agent())
                .arg(team()),
        )
}

/// Leaves a message in a file.
pub(super) fn spool(home: &Home, matches: &ArgMatches, form: OutputFormat) -> ExitCode {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let from = text("from").map_or_else(own_name, str::to_owned);
    let (agent, message) = (text("agent").unwrap_or_default(), text("message").unwrap_or_default());
    if is_read_only(home.path()) {
        let problem = format!(
            "{} is read-only, for a confined command or because its disk is: no letter can be left in a file there",
            home.path().display()
        );
        let hint = format!("send it through the server: comity mail send {agent} -m TEXT");
        return output::refused(form, &problem, &hint);
    }
    match leave(home, text("team").unwrap_or(NO_TEAM), agent, &from, message, None) {
        Ok(left) => show(form, &left),
        Err(problem) => output::fault(form, &problem),
    }
}

/// Reads what waits in a file.
pub(super) fn spooled(home: &Home, matches: &ArgMatches, form: OutputFormat) -> ExitCode {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let agent = text("agent").unwrap_or_default();
    if let Err(problem) = check_owner(home, agent) {
        return output::refused(form, &problem, "read your own with: comity mail read");
    }
    let place = BoxName::new(text("team").unwrap_or(NO_TEAM), agent);
    let mail = match place.and_then(|place| Mailboxes::under(home.path()).read(&place)) {
        Ok(mail) => mail,
        Err(problem) => return output::fault(form, &problem.to_string()),
    };
    let messages: Vec<Value> = mail
        .messages
        .iter()
        .map(|message| {
            json!({ "id": message.id.as_str(), "from": message.from, "text": message.text, "at": message.timestamp })
        })
        .collect();
    let damaged: Vec<String> =
        mail.damage.iter().map(|damage| damage.set_aside.display().to_string()).collect();
    match form {
        OutputFormat::Json => output::print(&json!({ "messages": messages, "damaged": damaged }).to_string()),
        OutputFormat::Text if messages.is_empty() => output::print("nothing waits in this file"),
        OutputFormat::Text => {
            for message in &mail.messages {
                let shown = comity_core::display::visible_lines(&message.text).replace('\n', "\n  | ");
                output::print(&format!(
                    "from {} (unverified)\n  | {shown}",
                    comity_core::display::visible(&message.from)
                ));
            }
        }
    }
    damaged.iter().for_each(|file| output::complain(&format!("note: a damaged file was set aside: {file}")));
    ExitCode::SUCCESS
}

/// Refuses to read another agent's box. Without a server nobody can be told from anybody.
fn check_owner(home: &Home, agent: &str) -> Result<(), String> {
    if Client::connect(home).is_err() {
        return Ok(());
    }
    let answer = match Session::from_env(home.clone()).ask(name_of::<Whoami>(), &json!({})) {
        Ok(answer) => answer,
        Err(SessionError::Refused { fault, .. }) => return Err(fault.message),
        Err(SessionError::Fault(problem)) => return Err(problem),
    };
    let known: Value = serde_json::from_str(answer.json.get()).map_err(|error| error.to_string())?;
    match known["you"].as_str().unwrap_or_default() {
        "human" => Ok(()),
        you if you == agent && !is_read_only(home.path()) => Ok(()),
        you if you == agent => Err(format!(
            "{} is read-only here, as it is for a confined command: files of letters are not to be had, and the server has \
             taken yours over",
            home.path().display()
        )),
        you => Err(format!("these letters are for {agent}, and you are {you}")),
    }
}

/// Sends through files what could not be sent through a server.
pub(super) fn instead(home: &Home, input: &Value, why: &str, form: OutputFormat) -> ExitCode {
    let to: Vec<&str> = input["to"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if let Some(group) = to.iter().find(|to| to.contains(':') || ["team", "all", "human"].contains(to)) {
        let problem = format!("{why}; without a server you can only write to agents, and {group} isn't one");
        return output::fault(form, &problem);
    }
    let (text, summary) = (input["message"].as_str().unwrap_or_default(), input["subject"].as_str());
    let mut left = Vec::new();
    for agent in to {
        match leave(home, NO_TEAM, agent, &own_name(), text, summary) {
            Ok(one) => left.push(one),
            Err(problem) => {
                return output::fault(form, &format!("{why}; nor could it be left in a file: {problem}"));
            }
        }
    }
    output::complain(&format!("note: no server could be asked ({why})"));
    match form {
        OutputFormat::Json => output::print(&json!({ "spooled": left }).to_string()),
        OutputFormat::Text => {
            for one in &left {
                show(form, one);
            }
        }
    }
    ExitCode::SUCCESS
}

fn leave(
    home: &Home,
    team: &str,
    agent: &str,
    from: &str,
    text: &str,
    summary: Option<&str>,
) -> Result<Value, String> {
    home.check().map_err(|problem| problem.to_string())?;
    let place = BoxName::new(team, agent).map_err(|problem| problem.to_string())?;
    let draft = MessageDraft { from, text, summary, id: None };
    let spooled =
        Mailboxes::under(home.path()).spool(&place, &draft).map_err(|problem| problem.to_string())?;
    // A server that has come up meanwhile would not look by itself.
    if Client::connect(home).is_ok() {
        let _ = Session::from_env(home.clone()).ask(name_of::<TakeOverMail>(), &json!({}));
    }
    Ok(json!({ "id": spooled.id.as_str(), "box": place.to_string() }))
}

fn show(form: OutputFormat, left: &Value) -> ExitCode {
    match form {
        OutputFormat::Json => output::print(&left.to_string()),
        OutputFormat::Text => output::print(&format!(
            "left for {} as {}; it is delivered when the agent and a server are there",
            left["box"].as_str().unwrap_or_default(),
            left["id"].as_str().unwrap_or_default()
        )),
    }
    ExitCode::SUCCESS
}

fn own_name() -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    set("COMITY_NAME").or_else(|| set("USER")).unwrap_or_else(|| "somebody".into())
}
