//! Shell builtins, and `date`.

use super::doubt::{Doubt, Proven, shown};
use super::prover::Prover;
use super::words::{is_name, may_be_set};
use crate::arguments::Argument;
use crate::table::ParsedArguments;

/// `echo`, `true` and others, which only print their arguments, or ignore them.
pub(crate) fn anything(_: &mut Prover, _: &[Argument]) -> Proven {
    Ok(())
}

pub(crate) fn cd(prover: &mut Prover, _: &ParsedArguments) -> Proven {
    prover.moves = true;
    Ok(())
}

/// `printf`, for which zsh evaluates numbers, and bash sets variables with `%n`.
pub(crate) fn printf(_: &mut Prover, arguments: &[Argument]) -> Proven {
    let format = arguments.first().and_then(Argument::plain).filter(|format| !format.starts_with('-'));
    let is_text =
        |format: &str| format.replace("%%", "").split('%').skip(1).all(|kind| kind.starts_with(['s', 'b']));
    match format.is_some_and(is_text) {
        true => Ok(()),
        false => Err(Doubt::because("only a format with `%s` and `%b` is known to only print")),
    }
}

/// `read` sets the variables that it names.
pub(crate) fn read(_: &mut Prover, given: &ParsedArguments) -> Proven {
    for operand in &given.operands {
        match operand.plain().filter(|name| is_name(name)) {
            Some(name) => may_be_set(name)?,
            None => {
                return Err(Doubt::because(format!(
                    "`{}` isn't the name of a variable",
                    shown(operand.shown())
                )));
            }
        }
    }
    Ok(())
}

/// How strict the shell is with failures, and nothing else.
pub(crate) fn set(_: &mut Prover, arguments: &[Argument]) -> Proven {
    const STRICT: [&[&str]; 6] =
        [&["-e"], &["-u"], &["-eu"], &["-o", "pipefail"], &["-eo", "pipefail"], &["-euo", "pipefail"]];
    let texts: Vec<&str> = arguments.iter().filter_map(Argument::plain).collect();
    match texts.len() == arguments.len() && STRICT.contains(&&texts[..]) {
        true => Ok(()),
        false => Err(Doubt::because("only `set -euo pipefail` and parts of it are known to change nothing")),
    }
}

/// A status, or a number of loops; zsh would evaluate anything else.
pub(crate) fn status(_: &mut Prover, arguments: &[Argument]) -> Proven {
    let is_number = |argument: &Argument| {
        argument
            .plain()
            .is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match arguments.iter().all(is_number) && arguments.len() <= 1 {
        true => Ok(()),
        false => Err(Doubt::because("a status that isn't a number may be a calculation")),
    }
}

/// `command -v` looks for a program; `command` alone runs one.
pub(crate) fn command(prover: &mut Prover, given: &ParsedArguments) -> Proven {
    if given.has(&["v", "V"]) { Ok(()) } else { prover.run(&given.operands) }
}

/// `date` shows a time in a format; any other operand would set the clock.
pub(crate) fn date(_: &mut Prover, given: &ParsedArguments) -> Proven {
    match given.operands.iter().find(|operand| !operand.plain().is_some_and(|text| text.starts_with('+'))) {
        None => Ok(()),
        Some(operand) => Err(Doubt::because(format!("`{}` would set the clock", shown(operand.shown())))),
    }
}
