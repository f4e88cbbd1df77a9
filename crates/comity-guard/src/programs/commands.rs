//! Which commands a command line runs, however nested.

use super::base::CallDirs;
use super::feed::CommandInput;
use super::walk::Walk;
use crate::arguments::{Argument, KnownVariables, ReadingEffort, of_word};
use crate::effects::Unknown;
use crate::limits::EFFECTS_MAX;
use crate::shell;
use crate::shell::syntax::{Body, Command, ListOperator, Simple};

/// The commands in one command line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShellCommands {
    /// The words, if it is one plain command: nothing else runs, nothing is redirected or set, nothing needs
    /// expansion.
    pub single: Option<Vec<String>>,
    /// The words of every command, including those that others start; `None` for a word that only running would tell.
    pub parts: Vec<Vec<Option<String>>>,
    pub is_all: bool,
}

/// The commands of a command line.
pub fn commands(line: &str) -> ShellCommands {
    let place = CallDirs::default();
    let mut walk = Walk::new(&place);
    walk.run = Some(Vec::new());
    walk.line(line);
    ShellCommands { single: single(line), ..of_walk(&walk) }
}

/// The commands that a program with these arguments runs, without a shell.
pub fn commands_of_arguments(arguments: &[String]) -> ShellCommands {
    let place = CallDirs::default();
    let mut walk = Walk::new(&place);
    walk.run = Some(Vec::new());
    let plain: Vec<Argument> = arguments.iter().cloned().map(Argument::Plain).collect();
    walk.program(&plain, &CommandInput::Unknown);
    let single = (!arguments.is_empty()).then(|| arguments.to_vec());
    ShellCommands { single, ..of_walk(&walk) }
}

fn of_walk(walk: &Walk<'_>) -> ShellCommands {
    let word = |argument: &Argument| argument.plain().map(str::to_owned);
    let run = walk.run.as_deref().unwrap_or_default();
    let parts = run.iter().map(|arguments| arguments.iter().map(word).collect()).collect();
    let is_all = match &walk.found.unknown {
        _ if run.len() >= EFFECTS_MAX => false,
        None => true,
        // It is not known which files are written, but who writes them.
        Some(Unknown::InPlace(_) | Unknown::Patch(_) | Unknown::PatchFile(_) | Unknown::Field(_)) => true,
        Some(Unknown::Bound(_) | Unknown::Unreadable(_) | Unknown::Code(_) | Unknown::Hidden(_)) => false,
    };
    ShellCommands { single: None, parts, is_all }
}

fn single(line: &str) -> Option<Vec<String>> {
    let parsed = shell::parse(line);
    let ([step], None, true) = (&parsed.script.steps[..], &parsed.problem, parsed.documents.is_empty())
    else {
        return None;
    };
    let ([Command { body: Body::Simple(simple), redirects }], ListOperator::Then) =
        (&step.pipeline[..], step.joint)
    else {
        return None;
    };
    let Simple { assignments, words } = simple;
    if !assignments.is_empty() || !redirects.is_empty() || words.is_empty() {
        return None;
    }
    let effort = ReadingEffort::new();
    let known = KnownVariables { home: None, variables: &[], effort: &effort };
    let arguments = words.iter().flat_map(|word| of_word(word, known));
    arguments.map(|argument| argument.plain().map(str::to_owned)).collect()
}
