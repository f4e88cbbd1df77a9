//! `test` and `[`: which of their operators only look.

use super::doubt::{Doubt, Proven, shown};
use super::prover::Prover;
use crate::arguments::Argument;

/// Operators with one operand that look at a file or a text.
const LOOKING: &str = "-d -e -f -h -L -n -r -s -w -x -z";
/// Operators that compare two texts or files.
const COMPARING: &str = "= != -nt -ot -ef";
/// Operators that evaluate arithmetic, which can run commands.
const CALCULATING: &str = "-eq -ne -lt -le -gt -ge";

pub(crate) fn bracket(prover: &mut Prover, arguments: &[Argument]) -> Proven {
    match arguments.split_last() {
        Some((last, arguments)) if last.is("]") => test(prover, arguments),
        Some(_) | None => Err(Doubt::because("`[` has no `]`")),
    }
}

/// The arguments of `test` are told apart by their number, so none may become several.
pub(crate) fn test(_: &mut Prover, arguments: &[Argument]) -> Proven {
    if let Some(many) = arguments.iter().find(|argument| argument.is_many() && !is_number(argument)) {
        let part = shown(many.shown());
        return Err(Doubt::because(format!("`{part}` may become several words; put it in quotes")));
    }
    let arguments = match arguments {
        [not, rest @ ..] if not.is("!") => rest,
        arguments => arguments,
    };
    let is = |list: &str, operator: &Argument| {
        operator.plain().is_some_and(|operator| list.split(' ').any(|known| known == operator))
    };
    let looks = match arguments {
        [_] => true,
        [operator, _] => is(LOOKING, operator),
        [_, operator, _] if is(COMPARING, operator) => true,
        [left, operator, right] => is(CALCULATING, operator) && is_number(left) && is_number(right),
        _ => false,
    };
    if looks { Ok(()) } else { Err(Doubt::because("this condition is not known to only look")) }
}

/// Whether a word is surely a number.
fn is_number(word: &Argument) -> bool {
    match word {
        Argument::Plain(text) => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
        other => ["$?", "$#", "\"$?\"", "\"$#\""].contains(&other.shown()),
    }
}
