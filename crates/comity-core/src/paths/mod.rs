//! Paths and globs, and whether two of them can match the same file.
//!
//! A pattern is a set of alternatives (one for each way through its braces). An alternative is a literal prefix and
//! what follows it: nothing (that path), any depth (that directory), or glob components.

mod braces;
mod existing;
mod index;
mod overlap;
mod pattern;
mod segment;

pub use braces::expand;
pub use index::PatternIndex;
pub use overlap::{covers, overlaps};
pub use pattern::{
    Alternative, CaseRule, Component, PathPattern, check_pattern_text, fold, has_glob, normalize,
};
pub use segment::Segment;

#[cfg(test)]
mod oracle;
