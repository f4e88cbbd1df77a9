//! Shells, `eval`, `cd`, variables, and interpreters of other languages.

use super::base::CommandDir;
use super::feed::CommandInput;
use super::runners::run_word;
use super::walk::{ProgramCall, Walk};
use super::{inplace, names};
use crate::arguments::Argument;
use crate::effects::{Unknown, WriteKind};
use crate::shell;
use crate::shell::syntax::{Body, Command, Part, Pipeline};

pub(crate) fn cd(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let is_option = |argument: &&Argument| matches!(argument.shown(), "-L" | "-P" | "-e" | "--");
    let operand = call.arguments.iter().find(|argument| !is_option(argument));
    walk.base = match (call.name, operand) {
        ("popd", _) => CommandDir::Lost,
        (_, Some(directory)) if directory.is("-") || directory.shown().starts_with('+') => CommandDir::Lost,
        (_, Some(directory)) => walk.base.enter(directory),
        ("cd", None) => match walk.home {
            Some(home) => CommandDir::At(home.to_owned()),
            None => CommandDir::Lost,
        },
        (_, None) => CommandDir::Lost,
    };
}

/// `export x=value`, and `read x`, after which the value is unknown.
pub(crate) fn sets(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    for operand in &call.given.operands {
        match operand.shown().split_once('=') {
            Some((name, value)) if operand.plain().is_some() => walk.set(name, vec![value.to_owned()]),
            Some((name, _)) => walk.set(name, Vec::new()),
            None if call.name == "read" => walk.set(operand.shown(), Vec::new()),
            None => {}
        }
    }
}

/// `bash`, `sh` and others, which read a line, their input, or a file.
pub(crate) fn shell(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    if given.has(&["c"]) {
        let Some(line) = given.operands.first() else { return };
        return line_of(walk, call, line);
    }
    if !given.operands.is_empty() && !given.has(&["s"]) {
        return walk.runs_unseen(call.name);
    }
    match call.feed {
        CommandInput::Text(text) => walk.apart(|walk| walk.line(text)),
        CommandInput::Found(_) | CommandInput::Unknown => walk.unknown(Unknown::Code(call.name.to_owned())),
        CommandInput::File => {}
    }
}

pub(crate) fn eval(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let words: Option<Vec<&str>> = call.arguments.iter().map(Argument::plain).collect();
    match words {
        Some(words) => walk.line(&words.join(" ")),
        None => walk.unknown(Unknown::Code(call.name.to_owned())),
    }
}

/// `trap`, whose first word is a line that is run later.
pub(crate) fn trap(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if let [line, _, ..] = &call.given.operands[..] {
        line_of(walk, call, line);
    }
}

/// `alias`, after which other words run what it stands for.
pub(crate) fn alias(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    for operand in &call.given.operands {
        let Some((_, line)) = operand.shown().split_once('=') else { continue };
        walk.runs_unseen(call.name);
        // It writes nothing by itself.
        if walk.run.is_some() && operand.plain().is_some() {
            walk.apart(|walk| walk.line(line));
        }
    }
}

/// Reads the line for another shell.
pub(super) fn line_of(walk: &mut Walk<'_>, call: &ProgramCall<'_>, line: &Argument) {
    match line {
        Argument::Plain(line) => walk.apart(|walk| walk.line(line)),
        Argument::Unclear(unclear) => {
            // The variables may contain commands, too.
            walk.unknown(Unknown::Code(call.name.to_owned()));
            if let Some(line) = with_variables(&unclear.text) {
                walk.apart(|walk| walk.line(&line));
            }
        }
        Argument::Glob(_) | Argument::Pipe | Argument::Found(_) => {
            walk.unknown(Unknown::Code(call.name.to_owned()))
        }
    }
}

/// A line without its quotes, with variables as written.
fn with_variables(text: &str) -> Option<String> {
    let parsed = shell::parse(text);
    let [Pipeline { pipeline, .. }] = &parsed.script.steps[..] else { return None };
    let [Command { body: Body::Simple(simple), .. }] = &pipeline[..] else { return None };
    let [word] = &simple.words[..] else { return None };
    word.parts.iter().try_fold(String::new(), |line, part| match part {
        Part::Bare(text) | Part::Quoted(text) => Some(line + text),
        Part::Expansion { text, scripts } if scripts.is_empty() => Some(line + text),
        Part::Expansion { .. } | Part::Substitution(_) | Part::Process(_) => None,
    })
}

/// `python`, `node` and others: in code from the line or their input only names are looked at.
pub(crate) fn interpreter(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    // A module is a program: `python -m black`.
    if let Some(module) = given.value(&["m"]).filter(|_| call.name.starts_with("python")) {
        let program: Vec<Argument> = [module].into_iter().chain(&given.operands).cloned().collect();
        return walk.program(&program, call.feed);
    }
    let inline = ["c", "e", "E", "p", "eval", "print", if call.name == "php" { "r" } else { "" }];
    let from_input = given.operands.first().is_none_or(|script| script.is("-"));
    let looks = given.has(&["version", "V", "v", "help", "h"]);
    if given.has(&inline) || (from_input && !looks) {
        code(walk, call, given.values(&inline));
    }
}

/// `bun` and `deno` run code, but also have subcommands.
pub(crate) fn word_or_code(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let word = call.arguments.first().map(Argument::shown).unwrap_or_default();
    match word {
        "fmt" => inplace::formatter(walk, call),
        "x" => run_word(walk, call),
        _ if word.starts_with('-') || word.is_empty() => interpreter(walk, call),
        "eval" => code(walk, call, call.arguments.iter().skip(1)),
        _ => {}
    }
}

/// Code in another language: if it has words that write, everything that it names may be written.
pub(super) fn code<'a>(
    walk: &mut Walk<'_>,
    call: &ProgramCall<'_>,
    texts: impl Iterator<Item = &'a Argument>,
) {
    walk.unknown(Unknown::Code(call.name.to_owned()));
    let mut texts: Vec<&str> = texts.map(Argument::shown).collect();
    if let CommandInput::Text(text) = call.feed {
        texts.push(text);
    }
    for path in texts.iter().flat_map(|text| names::written(text)) {
        walk.writes(&Argument::Plain(path), WriteKind::Edit);
    }
}
