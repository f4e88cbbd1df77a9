//! Which files a patch changes.
//!
//! A malformed patch is reported as such; it never counts as one that changes nothing.

mod envelope;
mod unified;

use std::fmt;

pub use envelope::envelope;
pub use unified::{Strip, unified};

use crate::effects::Unknown;

/// What is wrong with a patch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// From 1.
    pub line: usize,
    pub why: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for Malformed {}

impl From<Malformed> for Unknown {
    fn from(malformed: Malformed) -> Unknown {
        Unknown::Patch(malformed.to_string())
    }
}
