//! Usage errors for programs: a JSON document, as for any other error.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgAction, Command};

use super::output::{self, OutputFormat};

/// Shows what was wrong with a command, and what may have been meant.
pub(super) fn as_json(error: &clap::Error) -> ExitCode {
    let (problem, hint) = told(error.kind(), &error.render().to_string());
    output::bad_input(OutputFormat::Json, &problem, &hint)
}

/// Says that a list takes a flag for each value, if one was given two.
pub(super) fn tell_to_repeat(error: &mut clap::Error, tree: &Command, arguments: &[OsString]) {
    let Some(ContextValue::String(extra)) = error.get(ContextKind::InvalidArg).cloned() else { return };
    let Some(at) = arguments.iter().position(|word| *word == *extra).filter(|at| *at > 1) else { return };
    let (value, before) = (&arguments[at - 1], &arguments[..at - 1]);
    let Some(flag) = before.last().and_then(|word| word.to_str()?.strip_prefix("--")) else { return };
    let mut command = tree;
    for word in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        let Some(inner) = command.find_subcommand(word) else { break };
        command = inner;
    }
    let is_list = command
        .get_arguments()
        .any(|known| known.get_long() == Some(flag) && matches!(known.get_action(), ArgAction::Append));
    if error.kind() == ErrorKind::UnknownArgument && is_list {
        let value = value.to_string_lossy();
        let tip = format!("--{flag} takes one value, repeat it for more: --{flag} {value} --{flag} {extra}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// The sentence and the next step from a text for people, whose first paragraph says what is wrong.
fn told(kind: ErrorKind, text: &str) -> (String, String) {
    let help = "see how it is used with --help".to_owned();
    if kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return ("no command was named".into(), help);
    }
    let paragraphs = || text.split("\n\n").map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let problem = paragraphs().next().unwrap_or_default();
    let problem = problem.strip_prefix("error: ").unwrap_or(&problem);
    // All commands are in the help.
    let problem = problem.split(" [subcommands: ").next().unwrap_or(problem).to_owned();
    let tip = paragraphs().find_map(|text| text.strip_prefix("tip: ").map(str::to_owned));
    (problem, tip.unwrap_or(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paragraph_and_the_tip() {
        let text = "error: the following required arguments were not provided:\n  <PATH>...\n\nUsage: comity lock\n\n\
                    For more information, try '--help'.\n";
        let (problem, hint) = told(ErrorKind::MissingRequiredArgument, text);
        assert_eq!(problem, "the following required arguments were not provided: <PATH>...");
        assert_eq!(hint, "see how it is used with --help");
        let text = "error: unrecognized subcommand 'lok'\n\n  tip: a similar subcommand exists: 'lock'\n\nUsage: comity\n";
        let (problem, hint) = told(ErrorKind::InvalidSubcommand, text);
        assert_eq!(
            (&*problem, &*hint),
            ("unrecognized subcommand 'lok'", "a similar subcommand exists: 'lock'")
        );
    }
}
