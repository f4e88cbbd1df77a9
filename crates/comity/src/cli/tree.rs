//! The command tree: one command for every operation of the catalog, and those about the server itself.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};
use comity_app::catalog::{self, CATALOG, CatalogEntry};
use comity_app::operation::{AtTerminal, Audience, HelpSection};
use comity_guard::Dialect;

use super::{arguments, docs, help, install, lease_run, log_files, manual, people, spool};

/// Verbs of a group in the list of all commands.
const VERBS_SHOWN_MAX: usize = 6;

type AddCommands = fn(Command) -> Command;

/// Operations below whose words there are further commands.
const OWN_BELOW: [(&str, AddCommands); 4] = [
    ("token", people::commands),
    ("mail", spool::commands),
    ("lease", lease_run::commands),
    ("log", log_files::commands),
];

/// The commands that these words may mean: a single one if that is clear, since building all takes time.
pub(super) fn meant(arguments: &[OsString]) -> Command {
    only_meant(arguments).unwrap_or_else(command)
}

fn only_meant(arguments: &[OsString]) -> Option<Command> {
    let words = arguments.iter().filter(|word| *word != "--json").map_while(|word| word.to_str());
    let words: Vec<&str> = words.take_while(|word| !word.starts_with('-')).collect();
    let own = server_commands()
        .into_iter()
        .chain(setup_commands())
        .find(|own| words.first() == Some(&own.get_name()));
    if let Some(own) = own {
        return Some(root().subcommand(own));
    }
    let begins = |entry: &&CatalogEntry| {
        let count = entry.words().count();
        count > 0 && words.len() >= count && entry.words().zip(&words).all(|(own, word)| own == *word)
    };
    let entry = CATALOG.iter().filter(begins).max_by_key(|entry| entry.words().count())?;
    let entry_words: Vec<&str> = entry.words().collect();
    let is_group = entry_words.len() == 1 && catalog::about_group(entry_words[0]).is_some();
    // A further command may follow that is not an operation, such as `comity log recover`.
    let has_own_below = OWN_BELOW.iter().any(|(group, _)| *group == entry_words[0]);
    let is_operand = entry.operands().next().is_some() && words.len() > 1 && !has_own_below;
    (!is_group || is_operand).then(|| add(root(), entry, &entry_words))
}

fn root() -> Command {
    Command::new("comity")
        .version(comity_wire::version())
        .about("Lets several coding agents share one repository, one machine and one browser")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .arg(flag("json", "Print one JSON document").global(true))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

pub(crate) fn command() -> Command {
    let mut root = root().subcommands(server_commands());
    for entry in CATALOG {
        root = add(root, entry, &entry.words().collect::<Vec<_>>());
    }
    for (group, commands) in OWN_BELOW {
        root = root.mut_subcommand(group, commands);
    }
    help::in_sections(root.mut_subcommands(with_verbs).subcommands(setup_commands()))
}

/// The server's commands that are not operations.
fn server_commands() -> [Command; 7] {
    [
        Command::new("up").about("Start the server if it isn't running, and print how to reach it"),
        Command::new("down").about("Stop the server; nothing is lost"),
        Command::new("restart").about("Stop the server and start it with this program; nothing is lost"),
        Command::new("doctor").about("Look for what is wrong, and say what to do"),
        log_files::backup_command(),
        log_files::restore_command(),
        Command::new("serve")
            .about("Run the server in the foreground")
            .arg(flag("detached", "Report readiness on standard output, then be silent").hide(true)),
    ]
}

/// The other commands that are not operations, and below no operation's words.
fn setup_commands() -> [Command; 9] {
    [
        install::command(),
        Command::new("init")
            .about("Connect the agent programs found here, and guard this repository's commits")
            .arg(flag("undo", "Undo everything that init did"))
            .arg(flag("dry-run", "Only show what would change"))
            .arg(
                Arg::new("scope")
                    .long("scope")
                    .value_parser(["user", "project"])
                    .default_value("user")
                    .help("Whose settings: yours, or those that are checked in here, for everybody with Comity on the PATH"),
            )
            .arg(
                Arg::new("client")
                    .long("client")
                    .value_name("NAME")
                    .action(ArgAction::Append)
                    .value_parser(Dialect::ALL.map(Dialect::name))
                    .help("Only this program; may be repeated"),
            ),
        Command::new("mcp")
            .about("Speak MCP on standard input and output, for one agent")
            .arg(Arg::new("name").long("name").value_name("NAME").help("The name the agent would like to have"))
            .arg(flag("browser", "Also offer the tools of the shared browser"))
            .arg(flag("all-tools", "Offer every operation, not just those that agents need")),
        Command::new("hook")
            .about("Judge the tool call on standard input: what agent programs run before and after a tool")
            .disable_help_flag(true)
            .arg(Arg::new("args").num_args(..).value_name("CLIENT")),
        passed_on("confine", "COMMAND").about(
            "Run a command where what others hold is read-only: what agent programs start their shell through",
        ),
        passed_on("bench", "ARGS").about("Measure what Comity costs on this machine"),
        docs::completions_command(),
        manual::command(),
        docs::command(),
    ]
}

/// A command's position in the list: its section, and the operation before it.
pub(super) fn listed(command: &str) -> (HelpSection, usize) {
    let is_of_server = || server_commands().iter().any(|own| own.get_name() == command);
    let own = || if is_of_server() { HelpSection::Server } else { HelpSection::Setup };
    catalog::listed(command).unwrap_or_else(|| (own(), 0))
}

/// A command whose arguments are passed on.
fn passed_on(name: &'static str, arguments: &'static str) -> Command {
    let all = Arg::new("args").num_args(..).trailing_var_arg(true).allow_hyphen_values(true);
    Command::new(name).disable_help_flag(true).arg(all.value_name(arguments))
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
pub(super) fn offer(flags: &clap::ArgMatches) -> crate::http::ToolSet {
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
    let mut command = arguments::add(command, entry).hide(entry.audience == Audience::Internal);
    if entry.is_watchable() {
        command = command.arg(flag("watch", "Show it again whenever something happens"));
    }
    match entry.at_terminal {
        AtTerminal::ReadsPages => command.arg(flag("follow", "Go on showing what happens").short('f')),
        AtTerminal::FollowsOutput => {
            command.arg(flag("follow", "Go on showing what it writes, until it ends").short('f'))
        }
        _ => command,
    }
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
                for argument in below.get_arguments().filter(|argument| !argument.is_hide_set()) {
                    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                    let is_passed_on = argument.get_id() == "args";
                    let says = is_passed_on || help.split_whitespace().count() > 1;
                    assert!(
                        says,
                        "{} {} {}: {help:?}",
                        command.get_name(),
                        below.get_name(),
                        argument.get_id()
                    );
                }
                left.push(below.clone());
            }
        }
    }
}
