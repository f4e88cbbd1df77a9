//! Why a file is left as it is.

use std::fmt;

/// What stands in the way of an edit, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What helps.
    pub hint: String,
}

impl Problem {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { message: message.into(), hint: hint.into() }
    }

    /// A value is not of the type that it has to have.
    pub(super) fn wrong_type(name: &str, wanted: &str) -> Problem {
        Problem::new(
            format!("\"{name}\" is not {wanted}"),
            format!("make it {wanted}, or take it out; the program itself would not understand it"),
        )
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.hint)
    }
}

impl std::error::Error for Problem {}
