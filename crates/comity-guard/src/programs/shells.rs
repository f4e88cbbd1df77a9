//! Shells, `eval`, `cd`, and interpreters of other languages.

use super::arguments::Argument;
use super::base::Base;
use super::feed::Feed;
use super::options::{Options, read_before_operands};
use super::walk::Walk;
use crate::effects::Unknown;
use crate::shell;
use crate::shell::syntax::{Body, Command, Part, Step};

pub(super) fn cd(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], _: &Feed) {
    let operand = arguments.iter().find(|argument| !matches!(argument.shown(), "-L" | "-P" | "-e" | "--"));
    walk.base = match (name, operand) {
        ("popd", _) => Base::Lost,
        (_, Some(directory)) if directory.is("-") || directory.shown().starts_with('+') => Base::Lost,
        (_, Some(directory)) => walk.base.enter(directory),
        ("cd", None) => match walk.home {
            Some(home) => Base::At(home.to_owned()),
            None => Base::Lost,
        },
        (_, None) => Base::Lost,
    };
}

/// `bash`, `sh` and others, which read a line, or their input, or a file.
pub(super) fn shell(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], feed: &Feed) {
    let given = read_before_operands(arguments, &Options { short: "oO", long: &["rcfile", "init-file"] });
    if given.has(&["c"]) {
        let Some(line) = given.operands.first() else { return };
        return line_of(walk, name, line);
    }
    if !given.operands.is_empty() && !given.has(&["s"]) {
        return;
    }
    match feed {
        Feed::Text(text) => walk.apart(|walk| walk.line(text)),
        Feed::Found(_) | Feed::Unknown => walk.unknown(Unknown::Code(name.to_owned())),
        Feed::File => {}
    }
}

pub(super) fn eval(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], _: &Feed) {
    let words: Option<Vec<&str>> = arguments.iter().map(Argument::plain).collect();
    match words {
        Some(words) => walk.line(&words.join(" ")),
        None => walk.unknown(Unknown::Code(name.to_owned())),
    }
}

/// Reads the line that another shell gets.
pub(super) fn line_of(walk: &mut Walk<'_>, name: &str, line: &Argument) {
    match line {
        Argument::Plain(line) => walk.apart(|walk| walk.line(line)),
        Argument::Unclear(text) => {
            // What the variables hold may be commands, too.
            walk.unknown(Unknown::Code(name.to_owned()));
            if let Some(line) = with_variables(text) {
                walk.apart(|walk| walk.line(&line));
            }
        }
        Argument::Glob(_) | Argument::Pipe | Argument::Found(_) => {
            walk.unknown(Unknown::Code(name.to_owned()))
        }
    }
}

/// A line without its quotes, in which variables stand as they were written.
fn with_variables(text: &str) -> Option<String> {
    let parsed = shell::parse(text);
    let [Step { pipeline, .. }] = &parsed.script.steps[..] else { return None };
    let [Command { body: Body::Simple(simple), .. }] = &pipeline[..] else { return None };
    let [word] = &simple.words[..] else { return None };
    word.parts.iter().try_fold(String::new(), |line, part| match part {
        Part::Bare(text) | Part::Quoted(text) => Some(line + text),
        Part::Expansion { text, scripts } if scripts.is_empty() => Some(line + text),
        Part::Expansion { .. } | Part::Substitution(_) | Part::Process(_) => None,
    })
}

/// `python`, `node` and others: code that stands in the line, or comes from their input, is not looked into.
pub(super) fn interpreter(walk: &mut Walk<'_>, name: &str, arguments: &[Argument], feed: &Feed) {
    const INTERPRETER: Options =
        Options { short: "ceEpmrWXQI", long: &["eval", "print", "require", "import"] };
    let given = read_before_operands(arguments, &INTERPRETER);
    // A module is a program: `python -m black`.
    if let Some(module) = given.value(&["m"]).filter(|_| name.starts_with("python")) {
        let mut program = vec![module.clone()];
        program.extend(given.operands.iter().copied().cloned());
        return walk.program(&program, feed);
    }
    let inline = given.has(&["c", "e", "E", "p", "eval", "print"]) || (name == "php" && given.has(&["r"]));
    let from_input = given.operands.first().is_none_or(|script| script.is("-"));
    let looks = given.has(&["version", "V", "v", "help", "h"]);
    if inline || (from_input && !looks) {
        walk.unknown(Unknown::Code(name.to_owned()));
    }
}
