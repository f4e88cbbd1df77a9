//! `test`, `[` and `[[`: which of their operators only look.

use super::doubt::{Doubt, Proven, shown};
use super::table::{Program, own};
use super::variables::is_name;
use super::walk::Walk;
use super::words::Argument;

pub(super) const PROGRAMS: &[Program] = &[own("test", plain), own("[", bracket)];

/// Operators with one operand that look at a file or a text.
const LOOKING: [&str; 22] = [
    "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-G", "-L",
    "-N", "-O", "-S", "-n", "-z",
];
/// Operators that compare two texts or files.
const COMPARING: [&str; 6] = ["=", "==", "!=", "-nt", "-ot", "-ef"];
/// Operators that calculate, and run what stands in a calculation.
const CALCULATING: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
/// Values that are numbers, whatever happens.
const NUMBERS: [&str; 4] = ["$?", "$#", "\"$?\"", "\"$#\""];

fn bracket(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    match arguments.split_last() {
        Some((last, arguments)) if last.is("]") => plain(walk, arguments),
        Some(_) | None => Err(Doubt::because("`[` has no `]`")),
    }
}

/// The arguments of `test`, which are told apart by their number: none may become several.
fn plain(_: &mut Walk, arguments: &[Argument]) -> Proven {
    for argument in arguments {
        if matches!(argument, Argument::Open(open) if open.many) && !is_number(argument) {
            let part = shown(argument.shown());
            return Err(Doubt::because(format!("`{part}` may become several words; put it in quotes")));
        }
    }
    expression(arguments)
}

/// The words between `[[` and `]]`.
pub(super) fn test(words: &[Argument]) -> Proven {
    let is_joint = |word: &Argument| word.is("&&") || word.is("||");
    for (at, part) in words.split(is_joint).enumerate() {
        // A POSIX shell would run what follows `&&`; it finds no program whose name begins with a dash.
        let is_option = |word: &Argument| word.known().is_some_and(|word| word.starts_with('-'));
        if at > 0 && !part.first().is_some_and(is_option) {
            return Err(Doubt::because("a shell without `[[` would run what follows `&&` or `||`"));
        }
        if part
            .iter()
            .any(|word| matches!(word.known(), Some("<" | ">" | "(" | ")" | ";" | "&" | "|" | "\n")))
        {
            return Err(Doubt::because("a shell without `[[` would read this operator as its own"));
        }
        match part {
            [_, operator, _] if operator.is("=~") => {}
            part => expression(part)?,
        }
    }
    Ok(())
}

fn expression(words: &[Argument]) -> Proven {
    let doubt = || {
        let texts: Vec<&str> = words.iter().map(Argument::shown).collect();
        let part = shown(&texts.join(" "));
        Err(Doubt::because(format!("the condition `{part}` is not known to only look")))
    };
    match words {
        [] | [_] => Ok(()),
        [not, rest @ ..] if not.is("!") => expression(rest),
        [operator, operand] => match operator.known() {
            Some(operator) if LOOKING.contains(&operator) => Ok(()),
            Some("-t") if is_number(operand) => Ok(()),
            Some("-v") if operand.known().is_some_and(is_name) => Ok(()),
            Some(_) | None => doubt(),
        },
        [left, operator, right] => match operator.known() {
            Some(operator) if COMPARING.contains(&operator) => Ok(()),
            Some(operator) if CALCULATING.contains(&operator) && is_number(left) && is_number(right) => {
                Ok(())
            }
            Some(_) | None => doubt(),
        },
        _ => doubt(),
    }
}

/// Whether a word is a number for certain.
fn is_number(word: &Argument) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match word {
        Argument::Known(text) => digits(text.strip_prefix('-').unwrap_or(text)),
        Argument::Open(open) => NUMBERS.contains(&open.shown.as_str()),
    }
}
