//! Why a file is left unchanged.

use std::fmt;

/// What prevents an edit, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EditProblem {
    pub message: String,
    pub hint: String,
}

impl EditProblem {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> EditProblem {
        EditProblem { message: message.into(), hint: hint.into() }
    }

    pub(super) fn wrong_type(name: &str, wanted: &str) -> EditProblem {
        EditProblem::new(
            format!("\"{name}\" is not {wanted}"),
            format!("make it {wanted}, or take it out; the program itself would not understand it"),
        )
    }
}

impl fmt::Display for EditProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.hint)
    }
}

impl std::error::Error for EditProblem {}
