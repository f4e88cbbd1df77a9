//! The command line: every operation of the catalog, and commands about the server itself.

mod agent_programs;
mod arguments;
mod attach;
mod bench;
mod confinement;
mod docs;
mod doctor;
mod document;
mod follow;
mod follow_output;
mod help;
mod inbox;
mod install;
mod lease_run;
mod log_files;
mod log_pages;
mod manual;
#[cfg(test)]
mod named_commands;
pub(crate) mod output;
mod people;
mod project_settings;
mod server;
mod spelling;
mod spool;
mod state_files;
mod terminal;
mod tree;
mod usage;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::ArgMatches;
use comity_app::catalog::CATALOG;
use comity_app::catalog::name_of;
use comity_app::operation::AtTerminal;
use comity_app::operations::mail::AcknowledgeMail;
use comity_runner::Surroundings;
use comity_runner::guardian::{self, Containment};
use comity_wire::Home;

use crate::session::{ServerAnswer, Session, SessionError};
use crate::{init, mcp, serve};
use inbox::Waiting;
use output::{OutputFormat, USAGE};

pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut arguments: Vec<OsString> = arguments.collect();
    if let [_, word, rest @ ..] = &arguments[..]
        && word == "bench"
    {
        // It parses its own arguments: there, --json names a file.
        return bench::run(rest);
    }
    if let [_, word, rest @ ..] = &arguments[..]
        && word == "hook"
    {
        // Agents wait for it before every call, so no command tree is built.
        return comity_hook::run(rest.iter().cloned());
    }
    if let [_, word, rest @ ..] = &arguments[..]
        && word == "confine"
    {
        // It becomes the command: nothing may be started before.
        return comity_hook::run_confined(rest.iter().cloned());
    }
    if let [_, word, socket, key] = &arguments[..]
        && word == "guardian"
    {
        let key = key.to_string_lossy();
        return guardian::run(std::path::Path::new(socket), &key, Containment::Group);
    }
    inbox::spell_out(&mut arguments);
    spelling::spell_out(&mut arguments);
    let wants_json = arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let tree = tree::meant(&arguments[1..]);
    let matches = match tree.clone().try_get_matches_from(&arguments) {
        Ok(matches) => matches,
        Err(mut error) => {
            usage::tell_to_repeat(&mut error, &tree, &arguments);
            return help::show(&error, wants_json);
        }
    };
    let form = if matches.get_flag("json") { OutputFormat::Json } else { OutputFormat::Text };
    let home = match Home::from_env() {
        Ok(home) => home,
        Err(error) => return output::fault(form, &error.to_string()),
    };
    let Some((name, inner)) = matches.subcommand() else { return ExitCode::from(USAGE) };
    match name {
        "up" => server::up(&home, form),
        "down" => server::down(&home, form),
        "restart" => server::restart(&home, form),
        "serve" if inner.get_flag("detached") => serve::serve(&home, serve::StartMode::Detached),
        "serve" => serve::serve(&home, serve::StartMode::Foreground),
        "doctor" => doctor::run(&home, form),
        "token" if inner.subcommand_name() == Some("first") => people::first_token(&home, form),
        "mcp" => mcp::run(home, inner.get_one::<String>("name").cloned(), tree::offer(inner)),
        "init" => {
            let what = match (inner.get_flag("undo"), inner.get_flag("dry-run")) {
                (true, false) => init::InitMode::Undo,
                (true, true) => init::InitMode::ShowUndo,
                (false, true) => init::InitMode::Show,
                (false, false) => init::InitMode::Do,
            };
            let only: Vec<String> = inner.get_many("client").unwrap_or_default().cloned().collect();
            let scope = match inner.get_one::<String>("scope").map(String::as_str) {
                Some("project") => init::InitScope::Project,
                Some(_) | None => init::InitScope::User,
            };
            init::run(&home, what, scope, &only, form)
        }
        "install" => install::run(inner, form),
        "completions" => docs::completions(inner, form),
        "man" => manual::run(inner, form),
        "docs" => docs::run(inner),
        "mail" => match inner.subcommand() {
            Some(("tail", _)) => follow::mail(home, form),
            Some(("spool", inner)) => spool::spool(&home, inner, form),
            Some(("spooled", inner)) => spool::spooled(&home, inner, form),
            _ => operation(&matches, home, form),
        },
        "lease" => match inner.subcommand() {
            Some(("run", inner)) => lease_run::run(home, inner, form),
            _ => operation(&matches, home, form),
        },
        "log" if inner.subcommand_name() == Some("recover") => {
            log_files::recover(&home, inner.subcommand().map_or(inner, |(_, inner)| inner), form)
        }
        "backup" => log_files::backup(&home, inner, form),
        "restore" => log_files::restore(&home, inner, form),
        _ => operation(&matches, home, form),
    }
}

/// What was offered was shown; if this is not said, it is offered again.
fn acknowledge(session: &mut Session, receipt: u64) {
    let is_out = std::io::Write::flush(&mut std::io::stdout().lock()).is_ok() && output::all_was_written();
    let shown = is_out && !output::is_discarded();
    let input = serde_json::json!({ "receipt": receipt, "returned": !shown });
    // If this fails it is offered again, marked as such.
    let _ = session.ask(name_of::<AcknowledgeMail>(), &input);
}

/// Runs the operation that the words name.
fn operation(matches: &ArgMatches, home: Home, form: OutputFormat) -> ExitCode {
    let (mut words, mut inner) = (Vec::new(), matches);
    while let Some((word, deeper)) = inner.subcommand() {
        words.push(word);
        inner = deeper;
    }
    let Some(entry) = CATALOG.iter().find(|entry| entry.words().eq(words.iter().copied())) else {
        return ExitCode::from(USAGE);
    };
    let mut input = match arguments::input(entry, inner) {
        Ok(input) => input,
        Err(problem) => {
            return output::bad_input(form, &problem, &format!("see: comity {} --help", entry.command()));
        }
    };
    if entry.at_terminal == AtTerminal::TellsTerminal {
        input["terminal"] = serde_json::json!(Surroundings::capture());
    }
    if entry.at_terminal == AtTerminal::AsksWhoRuns
        && let Some(code) = server::unless_running(&home, form)
    {
        return code;
    }
    if entry.at_terminal == AtTerminal::ReadsPages && inner.get_flag("follow") {
        return follow::go_on(home, &input, form);
    }
    if entry.at_terminal == AtTerminal::FollowsOutput && inner.get_flag("follow") {
        return follow_output::go_on(home, &input, form);
    }
    if entry.at_terminal == AtTerminal::Attaches && attach::is_possible(form) {
        return attach::run(home, &input, form);
    }
    if entry.is_watchable() && inner.get_flag("watch") {
        return watch::go_on(home, entry, &input, form);
    }
    let was_put_down = server::was_put_down(&home);
    let mut session = Session::from_env(home.clone());
    let answer = match entry.at_terminal {
        AtTerminal::Asks
        | AtTerminal::AsksWhoRuns
        | AtTerminal::LeavesInFile
        | AtTerminal::Attaches
        | AtTerminal::FollowsOutput
        | AtTerminal::TellsTerminal => session.ask(entry.name, &input),
        AtTerminal::ReadsPages => log_pages::ask(&mut session, &input),
        AtTerminal::AsksPassphrase | AtTerminal::AsksNewPassphrase => {
            match people::ask_with_passphrase(&mut session, entry, &input) {
                Ok(answer) => answer,
                Err((problem, hint)) => return output::bad_input(form, &problem, hint),
            }
        }
    };
    if let (AtTerminal::LeavesInFile, Err(SessionError::Fault(why))) = (entry.at_terminal, &answer) {
        return spool::instead(&home, &input, why, form);
    }
    let receipt = answer.as_ref().ok().and_then(|answer| answer.receipt);
    let waiting = Waiting::after(&answer, entry, form);
    let answer = answer.map(|answer| match waiting.as_ref().filter(|_| form == OutputFormat::Json) {
        Some(waiting) => ServerAnswer { json: waiting.add_to(&answer.json).unwrap_or(answer.json), ..answer },
        None => answer,
    });
    let place = match &answer {
        Err(SessionError::Refused { fault, .. }) => arguments::place_of_refused(entry, inner, &fault.message),
        Ok(_) | Err(SessionError::Fault(_)) => None,
    };
    let code = output::show(form, answer);
    if let Some(place) = place.filter(|_| form == OutputFormat::Text) {
        output::complain(&format!("  {place}"));
    }
    server::tell_started(&home, was_put_down);
    if let Some(receipt) = receipt {
        acknowledge(&mut session, receipt);
    }
    if let Some(waiting) = waiting.filter(|_| form == OutputFormat::Text) {
        waiting.tell();
    }
    code
}
