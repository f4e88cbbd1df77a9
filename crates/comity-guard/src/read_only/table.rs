//! The programs that are known to only read, and with which arguments.

use super::doubt::Proven;
use super::options::{self, Options};
use super::walk::Walk;
use super::words::Argument;
use super::{archives, awk, builtins, conditions, filters, find, git, listings, runners, search, sed};

/// A program of the table.
pub(super) struct Program {
    pub(super) name: &'static str,
    /// Where it is found.
    pub(super) home: Home,
    judge: Judge,
}

/// Where a program is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// In the shell alone.
    Shell,
    /// In a directory of the system, and perhaps in the shell, too.
    System,
}

/// How its arguments are judged.
enum Judge {
    /// By the list of its options.
    Options(Options),
    /// By rules of its own.
    Own(fn(&mut Walk, &[Argument]) -> Proven),
}

/// A program that only reads with these options.
pub(super) const fn program(name: &'static str, options: Options) -> Program {
    Program { name, home: Home::System, judge: Judge::Options(options) }
}

/// A program with rules of its own.
pub(super) const fn own(name: &'static str, judge: fn(&mut Walk, &[Argument]) -> Proven) -> Program {
    Program { name, home: Home::System, judge: Judge::Own(judge) }
}

/// A command that only shells have.
pub(super) const fn builtin(name: &'static str, judge: fn(&mut Walk, &[Argument]) -> Proven) -> Program {
    Program { name, home: Home::Shell, judge: Judge::Own(judge) }
}

impl Program {
    /// Proves that it only reads, given these arguments.
    pub(super) fn judge(&self, walk: &mut Walk, arguments: &[Argument]) -> Proven {
        match &self.judge {
            Judge::Options(known) => options::read(known, arguments).map(drop),
            Judge::Own(judge) => judge(walk, arguments),
        }
    }
}

/// The families, one file each.
const FAMILIES: [&[Program]; 11] = [
    listings::PROGRAMS,
    filters::PROGRAMS,
    search::PROGRAMS,
    find::PROGRAMS,
    sed::PROGRAMS,
    awk::PROGRAMS,
    git::PROGRAMS,
    archives::PROGRAMS,
    runners::PROGRAMS,
    conditions::PROGRAMS,
    builtins::PROGRAMS,
];

/// The program of this name, if it is known.
pub(super) fn of(name: &str) -> Option<&'static Program> {
    FAMILIES.iter().flat_map(|family| family.iter()).find(|program| program.name == name)
}
