//! Programs that start another program, which has to be proven, too.

use super::doubt::{Doubt, Proven};
use super::options::{self, NONE, Options};
use super::table::{Program, builtin, own};
use super::variables::may_be_set_to;
use super::walk::Walk;
use super::words::{Argument, Open};

pub(super) const PROGRAMS: &[Program] = &[
    own("env", env),
    own("nice", nice),
    own("timeout", timeout),
    own("xargs", xargs),
    builtin("command", command),
];

/// `env`, alone or before a program; its options may run or change anything.
fn env(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    let mut rest = arguments;
    while let Some((first, behind)) = rest.split_first() {
        let Some((name, value)) = first.known().and_then(|text| text.split_once('=')) else { break };
        may_be_set_to(name, &Argument::Known(value.to_owned()))?;
        rest = behind;
    }
    match rest {
        [] => Ok(()),
        program => walk.run(program),
    }
}

fn nice(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    let given = options::read(&NONE.values("n").long(&[&["adjustment="]]).stops(), arguments)?;
    match &given.operands[..] {
        [] => Ok(()),
        program => walk.run(program),
    }
}

fn timeout(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    const TIMEOUT: Options =
        NONE.flags("v").values("ks").long(&[&["kill-after=", "preserve-status", "signal="]]).stops();
    let given = options::read(&TIMEOUT, arguments)?;
    match &given.operands[..] {
        [Argument::Known(_), program @ ..] if !program.is_empty() => walk.run(program),
        _ => Err(Doubt::because("it needs a time that is written down, and a program")),
    }
}

/// `command -v` looks for a program; `command` alone runs one.
fn command(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    match arguments {
        [first, rest @ ..] if first.is("-v") || first.is("-V") => options::read(&NONE, rest).map(drop),
        program => walk.run(program),
    }
}

/// `xargs`, which gives what it reads to another program: each of these may look like an option.
fn xargs(walk: &mut Walk, arguments: &[Argument]) -> Proven {
    const XARGS: Options = NONE
        .flags("0rtx")
        .values("dEILnPs")
        .long(&[&[
            "delimiter=",
            "max-args=",
            "max-lines=",
            "max-procs=",
            "no-run-if-empty",
            "null",
            "replace=",
            "verbose",
        ]])
        .stops();
    let given = options::read(&XARGS, arguments)?;
    let marks: Vec<&Argument> = given.values(&["I", "replace"]).collect();
    let mut program = given.operands.clone();
    match &marks[..] {
        [] => program.push(Argument::anything("what xargs reads", true)),
        [Argument::Known(mark)] if !mark.is_empty() => {
            for word in &mut program {
                fill(word, mark);
            }
        }
        _ => return Err(Doubt::because("what it fills in is not clear")),
    }
    match &given.operands[..] {
        [] => Ok(()),
        _ => walk.run(&program),
    }
}

/// Makes a word unknown from where a mark stands in it for something else.
pub(super) fn fill(word: &mut Argument, mark: &str) {
    let shown = word.shown().to_owned();
    let prefix = match word {
        Argument::Known(text) => text.clone(),
        Argument::Open(open) => open.prefix.clone(),
    };
    if let Some((prefix, _)) = prefix.split_once(mark) {
        let many = matches!(word, Argument::Open(open) if open.many);
        *word = Argument::Open(Open { shown, prefix: prefix.to_owned(), many });
    }
}
