//! What a command reads from its input, if the command line shows that.

use std::rc::Rc;

use super::search;
use super::walk::Walk;
use crate::arguments::Argument;
use crate::effects::FileTarget;
use crate::shell::Parsed;
use crate::shell::syntax::{Body, Command, Operator, Redirect, Simple, Word};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum CommandInput {
    Text(String),
    /// Names of files, one per line.
    Found(Rc<[FileTarget]>),
    File,
    /// Nothing that can be seen.
    Unknown,
}

impl CommandInput {
    /// The input that a redirection provides, if it does.
    pub(super) fn from_redirect(redirect: &Redirect, parsed: &Parsed) -> Option<CommandInput> {
        match redirect.operator {
            Operator::Document => {
                parsed.document(redirect).map(|document| CommandInput::Text(document.text.clone()))
            }
            Operator::Text => {
                Some(redirect.target.literal().map_or(CommandInput::Unknown, CommandInput::Text))
            }
            Operator::Read | Operator::ReadWrite => Some(CommandInput::File),
            Operator::Write | Operator::Append | Operator::DuplicateInput | Operator::DuplicateOutput => None,
        }
    }

    /// The input of the next command in a pipeline.
    pub(super) fn from_output(command: &Command, parsed: &Parsed, walk: &Walk<'_>) -> CommandInput {
        let Body::Simple(simple) = &command.body else { return CommandInput::Unknown };
        let input =
            command.redirects.iter().rev().find_map(|redirect| CommandInput::from_redirect(redirect, parsed));
        output(simple, input, walk).unwrap_or(CommandInput::Unknown)
    }
}

fn output(simple: &Simple, input: Option<CommandInput>, walk: &Walk<'_>) -> Option<CommandInput> {
    let arguments = walk.arguments(&simple.words);
    let (name, rest) = arguments.split_first()?;
    match name.plain()? {
        "cat" if rest.iter().all(|argument| argument.is("-")) => input,
        "echo" => {
            let words = simple.words[1..].iter().map(Word::literal).collect::<Option<Vec<_>>>()?;
            let is_flag = |word: &&String| matches!(word.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
            let flags = words.iter().take_while(is_flag).count();
            Some(CommandInput::Text(words[flags..].join(" ")))
        }
        "printf" => {
            let words = rest.iter().map(Argument::plain).collect::<Option<Vec<_>>>()?;
            let (format, values) = words.split_first()?;
            match (*format, values) {
                ("%s" | "%s\\n" | "%s\\0", values) => Some(CommandInput::Text(values.join("\n"))),
                (format, []) if !format.contains(['%', '\\']) => Some(CommandInput::Text(format.to_owned())),
                _ => None,
            }
        }
        "find" => search::found(walk, rest).map(|found| CommandInput::Found(found.into())),
        "grep" | "egrep" | "rg" => {
            listed(walk, name.plain()?, rest).map(|found| CommandInput::Found(found.into()))
        }
        _ => None,
    }
}

/// The files that `grep -l` may list: those that it searches.
fn listed(walk: &Walk<'_>, name: &str, arguments: &[Argument]) -> Option<Vec<FileTarget>> {
    let given = crate::table::program(name)?.options.guess(arguments);
    if !given.has(&["l", "L", "files-with-matches", "files-without-match", "files"]) {
        return None;
    }
    let has_pattern = given.has(&["e", "f", "regexp", "file", "files"]);
    let searched = given.operands.iter().skip(usize::from(!has_pattern));
    let mut targets: Vec<FileTarget> = searched.flat_map(|argument| walk.base.targets(argument)).collect();
    let recursive = name == "rg" || given.has(&["r", "R", "recursive"]);
    if targets.is_empty() {
        targets.extend(walk.base.here().filter(|_| recursive).map(FileTarget::Path));
    }
    let targets =
        targets.into_iter().map(|target| if recursive { super::walk::below(target) } else { target });
    Some(targets.collect())
}
