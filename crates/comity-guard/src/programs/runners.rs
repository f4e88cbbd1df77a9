//! Programs that start other programs.

use std::rc::Rc;

use super::feed::CommandInput;
use super::search::filled;
use super::shells::line_of;
use super::walk::{ProgramCall, Walk};
use crate::arguments::Argument;
use crate::effects::{FileTarget, Unknown};

/// Programs with one subcommand that runs another program: `uv run black`, `npm exec prettier`.
const RUN_WORDS: [(&str, &[&str]); 8] = [
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("bun", &["x"]),
    ("bundle", &["exec"]),
];

/// Follows `sudo`, `env`, `timeout` and others to what they start.
pub(super) fn run(walk: &mut Walk<'_>, call: &ProgramCall<'_>, skips: usize) {
    let given = &call.given;
    // `command -v` only looks.
    if call.name == "command" && given.has(&["v", "V"]) {
        return;
    }
    if let Some(line) = given.value(&["S", "split-string"]).filter(|_| call.name == "env") {
        return line_of(walk, call, line);
    }
    let directory = match call.name {
        "env" => given.value(&["C", "chdir"]),
        "sudo" => given.value(&["D", "chdir"]),
        _ => None,
    };
    let is_assignment = |argument: &&Argument| {
        let name = argument.shown().split_once('=').map(|(name, _)| name);
        matches!(call.name, "env" | "sudo" | "doas")
            && name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    };
    let assignments = given.operands.iter().take_while(is_assignment).count();
    let program = given.operands.get(assignments + skips..).unwrap_or_default();
    match directory {
        Some(directory) => walk.apart(|walk| {
            walk.base = walk.base.enter(directory);
            walk.program(program, call.feed);
        }),
        None => walk.program(program, call.feed),
    }
}

pub(crate) fn run_word(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let words =
        RUN_WORDS.iter().find(|(program, _)| *program == call.name).map_or(&[][..], |(_, words)| words);
    let Some((word, program)) = call.given.operands.split_first() else { return };
    if !word.plain().is_some_and(|word| words.contains(&word)) {
        return;
    }
    let options = program.iter().take_while(|argument| argument.shown().starts_with('-')).count();
    walk.program(&program[options..], call.feed);
}

/// `script`, which records what a command shows.
pub(crate) fn script(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if let Some(line) = call.given.value(&["c", "command"]) {
        line_of(walk, call, line);
    }
    call.given.operands.iter().for_each(|file| walk.writes(file, crate::effects::WriteKind::Whole));
}

/// A program that passes its words to a shell as one line.
pub(crate) fn joined_line(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let words: Option<Vec<&str>> = call.given.operands.iter().map(Argument::plain).collect();
    match words {
        Some(words) => walk.apart(|walk| walk.line(&words.join(" "))),
        None => walk.unknown(Unknown::Code(call.name.to_owned())),
    }
}

/// `su`, whose line is the value of an option.
pub(crate) fn su(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    match call.given.value(&["c", "command", "session-command"]) {
        Some(line) => line_of(walk, call, line),
        None => unseen(walk, call),
    }
}

/// `comity confine -- …`, `comity lease run POOL -- …`
pub(crate) fn comity(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let is = |at: usize, word: &str| call.arguments.get(at).is_some_and(|argument| argument.is(word));
    if is(0, "confine") || (is(0, "lease") && is(1, "run")) {
        let dashes = call.arguments.iter().position(|argument| argument.is("--"));
        match dashes {
            Some(dashes) => walk.program(&call.arguments[dashes + 1..], call.feed),
            None => unseen(walk, call),
        }
    }
}

/// `parallel`, which appends what follows `:::`, or its input, to a program.
pub(crate) fn parallel(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let operands = &call.given.operands;
    let end = operands.iter().position(|operand| operand.shown().starts_with(":::"));
    let given = Argument::unclear("what parallel is given", true);
    match &operands[..end.unwrap_or(operands.len())] {
        [] => unseen(walk, call),
        // A single word with blanks is a line.
        [line] if line.shown().contains(' ') => line_of(walk, call, line),
        words => {
            let program: Vec<Argument> = words.iter().cloned().chain([given]).collect();
            walk.apart(|walk| walk.program(&program, &CommandInput::Unknown));
        }
    }
}

/// `ssh`, whose command changes no file here.
pub(crate) fn ssh(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if walk.run.is_some()
        && let [_, words @ ..] = &call.given.operands[..]
        && !words.is_empty()
    {
        let words: Vec<&str> = words.iter().map(Argument::shown).collect();
        walk.apart(|walk| walk.line(&words.join(" ")));
    }
}

/// Something that runs a script, or commands at another time: the line does not show which.
pub(crate) fn unseen(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    if !call.given.operands.is_empty() {
        walk.runs_unseen(call.name);
    }
}

/// `xargs`, which passes its input to another program.
pub(crate) fn xargs(walk: &mut Walk<'_>, call: &ProgramCall<'_>) {
    let given = &call.given;
    let found: Rc<[FileTarget]> = match call.feed {
        CommandInput::Found(targets) => Rc::clone(targets),
        CommandInput::Text(text) => {
            let names = text.split_whitespace().map(|name| Argument::Plain(name.to_owned()));
            names.flat_map(|name| walk.base.targets(&name)).collect()
        }
        CommandInput::File | CommandInput::Unknown => {
            [FileTarget::Unclear("what xargs reads".to_owned())].into()
        }
    };
    let mark = given.value(&["I", "J", "replace"]).and_then(Argument::plain);
    let mark = mark.filter(|mark| !mark.is_empty()).or(given.has(&["i", "replace"]).then_some("{}"));
    let program: Vec<Argument> = match mark {
        Some(mark) => given.operands.iter().map(|word| filled(word, mark, &found)).collect(),
        None => given.operands.iter().cloned().chain([Argument::Found(found)]).collect(),
    };
    walk.apart(|walk| walk.program(&program, &CommandInput::Unknown));
}
