//! The command line: every operation of the catalog, and what concerns the server itself.

mod agent_programs;
mod arguments;
mod bench;
mod confinement;
mod docs;
mod doctor;
mod follow;
mod inbox;
mod lease_run;
mod log_files;
mod log_pages;
#[cfg(test)]
mod named_commands;
pub(crate) mod output;
mod people;
mod project_settings;
mod server;
mod spool;
mod state_files;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use comity_app::catalog::name_of;
use comity_app::catalog::{self, CATALOG, CatalogEntry};
use comity_app::operation::{AtTerminal, Audience};
use comity_app::operations::mail::AcknowledgeMail;
use comity_guard::Dialect;
use comity_wire::Home;

use crate::session::{Session, SessionError};
use crate::{init, mcp, serve};
use output::{OutputFormat, USAGE};

const AFTER_HELP: &str = "\
Environment:
  COMITY_HOME   the state directory
  COMITY_TOKEN  which agent calls; without it, you

Exit codes: 0 done, 1 fault, 2 usage, 3 refused.";

/// Verbs of a group in the list of all commands.
const VERBS_SHOWN_MAX: usize = 6;

/// Runs one command.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let mut arguments: Vec<OsString> = arguments.collect();
    if let [_, word, rest @ ..] = &arguments[..]
        && word == "bench"
    {
        // It reads its own words: there, --json names a file.
        return bench::run(rest);
    }
    if let [_, word, rest @ ..] = &arguments[..]
        && word == "hook"
    {
        // Agents wait for it before every call: no tree of commands is built.
        return comity_hook::run(rest.iter().cloned());
    }
    if let [_, word, rest @ ..] = &arguments[..]
        && word == "confine"
    {
        // It becomes the command: nothing may be started before.
        return comity_hook::run_confined(rest.iter().cloned());
    }
    inbox::spell_out(&mut arguments);
    let tree = meant(&arguments[1..]).map_or_else(command, command_of);
    let matches = match tree.try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
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
        "mcp" => mcp::run(home, inner.get_one::<String>("name").cloned(), offer(inner)),
        "init" => {
            let what = match (inner.get_flag("undo"), inner.get_flag("dry-run")) {
                (true, false) => init::InitMode::Undo,
                (true, true) => init::InitMode::ShowUndo,
                (false, true) => init::InitMode::Show,
                (false, false) => init::InitMode::Do,
            };
            let only: Vec<String> = inner.get_many("client").unwrap_or_default().cloned().collect();
            init::run(&home, what, &only, form)
        }
        "completions" => docs::completions(inner, command()),
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

/// The operation that these words can only mean, if they mean one: its command alone is built then.
fn meant(arguments: &[OsString]) -> Option<&'static CatalogEntry> {
    let words = arguments.iter().filter(|word| *word != "--json").map_while(|word| word.to_str());
    let words: Vec<&str> = words.take_while(|word| !word.starts_with('-')).collect();
    let begins = |entry: &&CatalogEntry| {
        let count = entry.words().count();
        count > 0 && words.len() >= count && entry.words().zip(&words).all(|(own, word)| own == *word)
    };
    let entry = CATALOG.iter().filter(begins).max_by_key(|entry| entry.words().count())?;
    // Groups have commands that are no operations, such as `comity log recover`.
    let is_group = catalog::about_group(entry.words().next()?).is_some() && entry.words().count() == 1;
    (!is_group).then_some(entry)
}

/// The command of one operation, below those that its words name.
fn command_of(entry: &'static CatalogEntry) -> Command {
    add(root(), entry, &entry.words().collect::<Vec<_>>())
}

fn root() -> Command {
    Command::new("comity")
        .version(comity_wire::version())
        .about("Lets several coding agents share one repository, one machine and one browser")
        .after_help(AFTER_HELP)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(flag("json", "Print one JSON document").global(true))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// The whole tree of commands.
pub(crate) fn command() -> Command {
    let mut root = root()
        .subcommand(
            Command::new("up")
                .about("Starts the server, or restarts an older one that nobody uses, and says where it is"),
        )
        .subcommand(Command::new("down").about("Stops the server; nothing is lost"))
        .subcommand(
            Command::new("restart")
                .about("Stops the server and starts it with this program; nothing is lost"),
        );
    for entry in CATALOG {
        root = add(root, entry, &entry.words().collect::<Vec<_>>());
    }
    root = root.mut_subcommand("token", people::commands);
    root = root.mut_subcommand("mail", spool::commands).mut_subcommand("lease", lease_run::commands);
    root = root.mut_subcommand("log", log_files::commands);
    root = root.mut_subcommands(with_verbs);
    root = root.subcommand(log_files::backup_command()).subcommand(log_files::restore_command());
    root.subcommand(Command::new("doctor").about("Looks for what is wrong, and says what to do"))
        .subcommand(
            Command::new("serve")
                .about("Runs the server in the foreground")
                .arg(flag("detached", "Report readiness on standard output, then be silent").hide(true)),
        )
        .subcommand(
            Command::new("mcp")
                .about("Speaks MCP on standard input and output, for one agent")
                .arg(Arg::new("name").long("name").value_name("NAME").help("The name the agent would like"))
                .arg(flag("browser", "Offer the tools of the shared browser, too"))
                .arg(flag("all-tools", "Offer every operation, not only those that agents need")),
        )
        .subcommand(
            Command::new("init")
                .about(
                    "Connects the agent programs found on this machine, and guards this repository's commits",
                )
                .arg(flag("undo", "Take everything back"))
                .arg(flag("dry-run", "Only show what would be changed"))
                .arg(
                    Arg::new("client")
                        .long("client")
                        .value_name("NAME")
                        .action(ArgAction::Append)
                        .value_parser(Dialect::ALL.map(Dialect::name))
                        .help("Only this one; may be repeated"),
                ),
        )
        .subcommand(
            Command::new("hook")
                .about(
                    "Judges the tool call on standard input: what agent programs run before and after a tool",
                )
                .disable_help_flag(true)
                .arg(Arg::new("args").num_args(..).value_name("CLIENT")),
        )
        .subcommand(
            Command::new("confine")
                .about("Runs a command where what others hold is read-only: what agent programs start their shell through")
                .disable_help_flag(true)
                .arg(Arg::new("args").num_args(..).trailing_var_arg(true).allow_hyphen_values(true).value_name("COMMAND")),
        )
        .subcommand(
            Command::new("bench").about("Measures the figures that we promise").disable_help_flag(true).arg(
                Arg::new("args")
                    .num_args(..)
                    .trailing_var_arg(true)
                    .allow_hyphen_values(true)
                    .value_name("ARGS"),
            ),
        )
        .subcommand(docs::completions_command())
        .subcommand(docs::command())
}

/// What a group is about, and the verbs of its first commands.
fn with_verbs(group: Command) -> Command {
    let Some(about) = group.get_about().filter(|_| group.is_subcommand_required_set()) else { return group };
    let shown: Vec<&str> =
        group.get_subcommands().filter(|verb| !verb.is_hide_set()).map(Command::get_name).collect();
    let about = match &shown[..] {
        [] => return group,
        [verbs @ .., last] if verbs.len() < VERBS_SHOWN_MAX => {
            let verbs = verbs.iter().map(|verb| format!("{verb}, ")).collect::<String>();
            format!("{about}: {verbs}{last}")
        }
        verbs => format!("{about}: {}, and more", verbs[..VERBS_SHOWN_MAX].join(", ")),
    };
    group.about(about)
}

/// Which tools `comity mcp` offers.
fn offer(flags: &clap::ArgMatches) -> crate::http::ToolSet {
    match (flags.get_flag("all-tools"), flags.get_flag("browser")) {
        (true, _) => crate::http::ToolSet::All,
        (false, true) => crate::http::ToolSet::Browser,
        (false, false) => crate::http::ToolSet::Usual,
    }
}

/// Adds one operation below the commands that its words name.
fn add(parent: Command, entry: &'static CatalogEntry, words: &[&'static str]) -> Command {
    let [first, rest @ ..] = words else { return parent };
    if parent.find_subcommand(first).is_none() {
        let child = Command::new(*first);
        return parent.subcommand(match rest {
            [] => leaf(child, entry),
            _ => {
                let about = catalog::about_group(first).unwrap_or_default();
                let group = child.subcommand_required(true).arg_required_else_help(true).about(about);
                add(group.hide(entry.audience == Audience::Internal), entry, rest)
            }
        });
    }
    parent.mut_subcommand(*first, |child| match rest {
        [] => leaf(child, entry),
        _ => add(child.args_conflicts_with_subcommands(true), entry, rest),
    })
}

fn leaf(command: Command, entry: &'static CatalogEntry) -> Command {
    let command = arguments::add(command, entry).hide(entry.audience == Audience::Internal);
    match entry.at_terminal {
        AtTerminal::ReadsPages => command.arg(flag("follow", "Go on showing what happens").short('f')),
        _ => command,
    }
}

/// What was offered was shown, or could not be: then it is offered again.
fn acknowledge(session: &mut Session, receipt: u64) {
    let is_out = std::io::Write::flush(&mut std::io::stdout().lock()).is_ok() && output::all_was_written();
    let shown = is_out && !output::is_discarded();
    let input = serde_json::json!({ "receipt": receipt, "returned": !shown });
    // If this fails it is offered again, and says so.
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
    let input = match arguments::input(entry, inner) {
        Ok(input) => input,
        Err(problem) => {
            return output::bad_input(form, &problem, &format!("see: comity {} --help", entry.command()));
        }
    };
    if entry.at_terminal == AtTerminal::AsksWhoRuns
        && let Some(code) = server::unless_running(&home, form)
    {
        return code;
    }
    if entry.at_terminal == AtTerminal::ReadsPages && inner.get_flag("follow") {
        return follow::go_on(home, &input, form);
    }
    let mut session = Session::from_env(home.clone());
    let answer = match entry.at_terminal {
        AtTerminal::Asks | AtTerminal::AsksWhoRuns | AtTerminal::LeavesInFile => {
            session.ask(entry.name, &input)
        }
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
    let code = output::show(form, answer);
    if let Some(receipt) = receipt {
        acknowledge(&mut session, receipt);
    }
    inbox::tell(&mut session, entry, form);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_shown_says_what_it_does() {
        let mut left = vec![command()];
        while let Some(command) = left.pop() {
            for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
                let about = below.get_about().map(ToString::to_string).unwrap_or_default();
                assert!(!about.is_empty(), "{} {}", command.get_name(), below.get_name());
                left.push(below.clone());
            }
        }
    }
}
