//! Parses a POSIX or bash command line, without running or judging anything.
//!
//! The parser goes through the text once. It reports what it cannot read, together with all commands before that: a
//! shell, too, runs the lines before the one that it stumbles over.

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

/// A parsed command line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parsed {
    /// Its commands, up to the problem if there is one.
    pub script: Script,
    pub documents: Vec<HereDocument>,
    /// Why it is incomplete, if it is.
    pub problem: Option<ParseProblem>,
    /// The first thing in it that shells read differently: POSIX shells, bash and zsh, interactive or not.
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
    TooLong,
    TooDeep,
    /// Telling what its parentheses are would take too much reading ahead.
    TooMuchAhead,
    /// Something was begun and not ended.
    Unterminated(&'static str),
    /// Something is out of place; at this byte.
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

/// Parses a command line.
pub fn parse(text: &str) -> Parsed {
    if text.len() > COMMAND_BYTES_MAX {
        return Parsed { problem: Some(ParseProblem::TooLong), ..Parsed::default() };
    }
    parser::Parser::new(text).parse()
}
