//! Commands of the shell itself.

use super::doubt::{Doubt, Proven, shown};
use super::options::{self, NONE};
use super::table::{Program, builtin, own, program};
use super::variables::{is_name, may_be_set};
use super::walk::Walk;
use super::words::Argument;

pub(super) const PROGRAMS: &[Program] = &[
    own("true", anything),
    own("false", anything),
    own("echo", anything),
    builtin(":", anything),
    program("pwd", NONE.flags("LP").operands_max(0)),
    own("printf", printf),
    builtin("cd", cd),
    builtin("type", looked_up),
    builtin("read", read),
    builtin("set", set),
    builtin("exit", status),
    builtin("return", status),
    builtin("break", status),
    builtin("continue", status),
    builtin("wait", nothing),
    builtin("jobs", nothing),
];

fn anything(_: &mut Walk, _: &[Argument]) -> Proven {
    Ok(())
}

fn nothing(_: &mut Walk, arguments: &[Argument]) -> Proven {
    match arguments {
        [] => Ok(()),
        [first, ..] => Err(Doubt::because(format!("`{}` is not known to only read", shown(first.shown())))),
    }
}

fn cd(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    walk.moves = true;
    options::read(&NONE.flags("LP").harmless(), arguments).map(drop)
}

fn looked_up(_: &mut Walk, arguments: &[Argument]) -> Proven {
    options::read(&NONE.flags("aPpt"), arguments).map(drop)
}

/// `printf` sets a variable with `-v`, and zsh calculates what it prints as a number.
fn printf(_: &mut Walk, arguments: &[Argument]) -> Proven {
    let arguments = match arguments {
        [dashes, rest @ ..] if dashes.is("--") => rest,
        arguments => arguments,
    };
    let Some((format, values)) = arguments.split_first() else { return Ok(()) };
    let Some(format) = format.known().filter(|format| !format.starts_with('-')) else {
        return Err(Doubt::because("its format is not written down"));
    };
    let is_number = |value: &Argument| {
        value
            .known()
            .is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte)))
    };
    match has_only(format, "sbq") || (has_only(format, "sdiuoxXfFeEgGc") && values.iter().all(is_number)) {
        true => Ok(()),
        false => Err(Doubt::because("a number that it prints may be a calculation; `%s` prints it as it is")),
    }
}

/// Whether a format prints nothing but these kinds of values.
fn has_only(format: &str, kinds: &str) -> bool {
    let is_width = |letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '.');
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let behind = behind.trim_start_matches(is_width);
        let Some(kind) = behind.chars().next().filter(|kind| *kind == '%' || kinds.contains(*kind)) else {
            return false;
        };
        rest = &behind[kind.len_utf8()..];
    }
    true
}

/// `read` sets the variables that it names.
fn read(_: &mut Walk, arguments: &[Argument]) -> Proven {
    let given = options::read(&NONE.flags("rs").values("dnNpt"), arguments)?;
    if given.values(&["d", "n", "N", "p", "t"]).any(|value| value.known().is_none()) {
        return Err(Doubt::because("a value of its options is not written down"));
    }
    for operand in &given.operands {
        let Some(name) = operand.known().filter(|name| is_name(name)) else {
            return Err(Doubt::because(format!("`{}` is no name of a variable", shown(operand.shown()))));
        };
        may_be_set(name)?;
    }
    Ok(())
}

/// How strict the shell is with failures, and nothing else.
fn set(_: &mut Walk, arguments: &[Argument]) -> Proven {
    const STRICT: [&str; 9] = ["-e", "-u", "-eu", "-ue", "-o", "-euo", "-eo", "+e", "pipefail"];
    match arguments.iter().find(|argument| !argument.known().is_some_and(|text| STRICT.contains(&text))) {
        None if !arguments.is_empty() => Ok(()),
        Some(_) | None => {
            Err(Doubt::because("only `set -euo pipefail` and parts of it are known to change nothing"))
        }
    }
}

/// A number for the status, or for how many loops are left; zsh would calculate anything else.
fn status(_: &mut Walk, arguments: &[Argument]) -> Proven {
    let is_number = |argument: &Argument| match argument {
        Argument::Known(text) => text.bytes().all(|byte| byte.is_ascii_digit()),
        Argument::Open(open) => open.shown == "$?",
    };
    match arguments.iter().all(is_number) {
        true => Ok(()),
        false => Err(Doubt::because("a status that is no number may be a calculation")),
    }
}
