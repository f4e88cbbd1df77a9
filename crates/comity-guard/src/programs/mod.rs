//! Which files a command line changes, as far as reading it can tell.
//!
//! The walk goes through a parsed command line, follows `cd`, looks into substitutions and into lines that are given
//! to another shell, and asks the tables what each program writes. A program that no table knows has no effects.
//! Where it must assume something: a `cd` succeeds, a function is called, and every branch is taken.

mod archives;
mod arguments;
mod base;
mod braces;
mod commands;
mod copies;
mod feed;
mod files;
mod git;
mod inplace;
mod options;
mod patches;
mod runners;
mod search;
mod shells;
mod table;
mod walk;

pub use base::Place;
pub use commands::{Commands, commands, commands_of_arguments};

use crate::effects::{Effects, Unknown};
use crate::shell;
use arguments::Argument;
use feed::Feed;
use walk::Walk;

/// What a command line would do to files.
pub fn effects(command: &str, place: &Place) -> Effects {
    let mut walk = Walk::new(place);
    walk.line(command);
    walk.found.without_repeats()
}

/// What a program with these arguments would do to files; no shell reads them.
pub fn effects_of_arguments(arguments: &[String], place: &Place) -> Effects {
    let mut walk = Walk::new(place);
    let arguments: Vec<Argument> = arguments.iter().cloned().map(Argument::Plain).collect();
    walk.program(&arguments, &Feed::Unknown);
    walk.found.without_repeats()
}

impl From<shell::Problem> for Unknown {
    fn from(problem: shell::Problem) -> Unknown {
        match problem {
            shell::Problem::TooLong => Unknown::Bound("the command is too long"),
            shell::Problem::TooDeep => Unknown::Bound("the command is nested too deep"),
            shell::Problem::Unterminated(_) | shell::Problem::Unexpected(_) => {
                Unknown::Unreadable(problem.to_string())
            }
        }
    }
}
