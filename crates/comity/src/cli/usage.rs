//! Commands that were not understood, for programs: one JSON document, as for any other error.

use std::process::ExitCode;

use clap::error::ErrorKind;

use super::output::{self, OutputFormat};

/// Shows what was wrong with a command, and what may have been meant.
pub(super) fn as_json(error: &clap::Error) -> ExitCode {
    let (problem, hint) = told(error.kind(), &error.render().to_string());
    output::bad_input(OutputFormat::Json, &problem, &hint)
}

/// The sentence and the next step in what is meant for people: paragraphs, the first of them about what is wrong.
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
