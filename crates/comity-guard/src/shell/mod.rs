//! Reads a POSIX or bash command line, without running or judging anything.
//!
//! The reader goes through the text once. What it cannot read it says, together with all commands before that place:
//! a shell, too, runs the lines before the one that it stumbles over.

mod compound;
mod dollar;
mod parser;
mod quotes;
mod redirects;
pub mod syntax;
mod words;

use std::fmt;

use crate::limits::{COMMAND_BYTES_MAX, NESTING_MAX};
use syntax::{HereDocument, Redirect, Script};

/// A command line, taken apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parsed {
    /// Its commands; without what comes after a problem.
    pub script: Script,
    /// The here-documents of all its commands.
    pub documents: Vec<HereDocument>,
    /// Why it is not all there, if so.
    pub problem: Option<ParseProblem>,
    /// The first thing in it that not every shell reads alike: POSIX shells, bash and zsh, interactive or not.
    pub differs: Option<&'static str>,
}

impl Parsed {
    /// The here-document that a redirection reads.
    pub fn document(&self, redirect: &Redirect) -> Option<&HereDocument> {
        self.documents.get(redirect.document?)
    }
}

/// Why a command line was not read to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ParseProblem {
    /// It is longer than [`COMMAND_BYTES_MAX`].
    TooLong,
    /// Something is nested deeper than [`NESTING_MAX`].
    TooDeep,
    /// To tell what its parentheses are, too much would be read twice.
    TooMuchAhead,
    /// Something was begun and not ended; what.
    Unterminated(&'static str),
    /// There is something that does not belong where it is; at which byte.
    Unexpected(usize),
}

impl fmt::Display for ParseProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseProblem::TooLong => write!(f, "it is longer than {COMMAND_BYTES_MAX} bytes"),
            ParseProblem::TooDeep => write!(f, "it is nested deeper than {NESTING_MAX} levels"),
            ParseProblem::TooMuchAhead => f.write_str("its parentheses are too many"),
            ParseProblem::Unterminated(what) => write!(f, "{what} does not end"),
            ParseProblem::Unexpected(at) => write!(f, "unexpected character at byte {at}"),
        }
    }
}

impl std::error::Error for ParseProblem {}

/// Takes a command line apart.
pub fn parse(text: &str) -> Parsed {
    if text.len() > COMMAND_BYTES_MAX {
        return Parsed { problem: Some(ParseProblem::TooLong), ..Parsed::default() };
    }
    parser::Parser::new(text).parse()
}
