//! Help in groups, and usage errors.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Command;
use clap::error::ErrorKind;
use comity_app::operation::HelpSection;

use super::output::USAGE;
use super::{terminal, tree, usage};

const EXAMPLES: &str = "\
Examples:
  comity up                                      start, and see where everything is
  comity init                                    connect your agent programs
  comity lock src/login.rs --reason \"fixing it\"  nobody else edits it now
  comity inbox                                   what is waiting for you
  comity log --follow                            watch what happens

Environment:
  COMITY_HOME   the state directory
  COMITY_TOKEN  who is calling: an agent's token, or a script's; without it, you
  COMITY_PAGER  what shows long output at a terminal, before PAGER; empty: nothing
  NO_COLOR      no colors, even at a terminal

Exit codes: 0 done, 1 fault, 2 usage, 3 refused.

Words such as fence, lapsed, orphaned and lease are explained in docs/guide/glossary.md.";

const NEXT: &str = "`comity COMMAND -h` shows a command's options, `comity COMMAND --help` explains them.";

/// Lists the commands of the tree in sections.
pub(super) fn in_sections(root: Command) -> Command {
    let listed = list(&root);
    root.help_template("{about}\n\n{usage-heading} {usage}{after-help}")
        .after_help(format!("{listed}\nOptions: --json prints one JSON document, --version the version.\n{NEXT}"))
        .after_long_help(format!(
            "{listed}\nOptions:\n      --json     Print one JSON document\n  -h, --help     Print help; -h is shorter\n  \
             -V, --version  Print version\n\n{EXAMPLES}\n\n{NEXT}"
        ))
}

fn list(root: &Command) -> String {
    let mut shown: Vec<&Command> = root.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    shown.sort_by_key(|command| tree::listed(command.get_name()).1);
    let width = shown.iter().map(|command| command.get_name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for section in HelpSection::ALL {
        let _ = writeln!(text, "{}:", section.title());
        for command in shown.iter().filter(|command| tree::listed(command.get_name()).0 == section) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            // A group names its verbs.
            let about = if command.is_subcommand_required_set() { &about } else { brief(&about) };
            let _ = writeln!(text, "  {:width$}  {about}", command.get_name());
        }
        text.push('\n');
    }
    text
}

/// The part of a description that fits on one line.
pub(super) fn brief(text: &str) -> &str {
    let ends = [". ", ": ", "; "].iter().filter_map(|end| text.find(end));
    text[..ends.min().unwrap_or(text.len())].trim_end_matches('.')
}

/// Shows requested help, or a usage error.
pub(super) fn show(error: &clap::Error, wants_json: bool) -> ExitCode {
    if error.kind() == ErrorKind::DisplayHelp {
        terminal::show(&terminal::styled(&error.render()));
        return ExitCode::SUCCESS;
    }
    if !wants_json || !error.use_stderr() {
        let _ = error.print();
        return if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
    }
    usage::as_json(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tree::command;

    #[test]
    fn every_command_has_one_section_and_one_line() {
        let tree = command();
        let list = list(&tree);
        for command in tree.get_subcommands().filter(|command| !command.is_hide_set()) {
            let count = list.matches(&format!("\n  {} ", command.get_name())).count();
            assert_eq!(count, 1, "{}", command.get_name());
        }
        for line in list.lines() {
            assert!(line.chars().count() <= 96, "{line}");
        }
    }

    #[test]
    fn descriptions_are_cut_where_a_sentence_ends() {
        assert_eq!(brief("Lock paths. All or none."), "Lock paths");
        assert_eq!(brief("Show one task in full."), "Show one task in full");
        assert_eq!(brief("Submit your plan; you are told: yes or no."), "Submit your plan");
    }

    #[test]
    fn examples_can_be_typed() {
        for entry in comity_app::catalog::CATALOG {
            for example in entry.examples {
                let mut words = vec!["comity".into()];
                words.extend(split(example).into_iter().map(std::ffi::OsString::from));
                super::super::inbox::spell_out(&mut words);
                super::super::spelling::spell_out(&mut words);
                let typed = command().try_get_matches_from(words);
                assert!(typed.is_ok(), "{example}: {}", typed.expect_err("an error"));
            }
        }
    }

    /// As a shell does, for quotes that are not nested.
    fn split(line: &str) -> Vec<String> {
        let (mut words, mut quote, mut word) = (Vec::new(), None, String::new());
        for c in line.chars() {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), _) if open == c => quote = None,
                (None, ' ') => words.push(std::mem::take(&mut word)),
                _ => word.push(c),
            }
        }
        words.push(word);
        words
    }
}
