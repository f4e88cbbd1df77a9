//! Programs that start another program, which has to be proven, too.

use super::doubt::{Doubt, Proven};
use super::prover::Prover;
use crate::arguments::{Argument, Unclear};
use crate::table::ParsedArguments;

/// `env` alone, which shows the environment.
pub(crate) fn env(_: &mut Prover, given: &ParsedArguments) -> Proven {
    match &given.operands[..] {
        [] => Ok(()),
        _ => Err(Doubt::because("it may change what the program behind it does")),
    }
}

pub(crate) fn timeout(prover: &mut Prover, given: &ParsedArguments) -> Proven {
    let is_time = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    match &given.operands[..] {
        [Argument::Plain(time), program @ ..] if is_time(time) => prover.run(program),
        _ => Err(Doubt::because("it needs a time that is written down, and a program")),
    }
}

/// `xargs`, which passes its input to another program: any of it may look like an option.
pub(crate) fn xargs(prover: &mut Prover, given: &ParsedArguments) -> Proven {
    let mut program = given.operands.clone();
    let marks: Vec<&Argument> = given.values(&["I"]).collect();
    match &marks[..] {
        _ if program.is_empty() => return Ok(()),
        [] => program.push(Argument::unclear("what xargs reads", true)),
        [Argument::Plain(mark)] if !mark.is_empty() => program.iter_mut().for_each(|word| fill(word, mark)),
        _ => return Err(Doubt::because("what it fills in is not clear")),
    }
    prover.run(&program)
}

/// Makes a word unknown from the first `mark` in it, which stands for something else.
pub(super) fn fill(word: &mut Argument, mark: &str) {
    let (prefix, many) = match &*word {
        Argument::Plain(text) => (text, false),
        Argument::Unclear(unclear) => (&unclear.prefix, unclear.many),
        Argument::Glob(_) | Argument::Pipe | Argument::Found(_) => return,
    };
    if let Some((prefix, _)) = prefix.split_once(mark) {
        let (text, prefix) = (word.shown().to_owned(), prefix.to_owned());
        *word = Argument::Unclear(Unclear { text, prefix, many });
    }
}
