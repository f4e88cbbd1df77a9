//! The short name of a worktree, from which its folder and its branch are named.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::failure::WorktreeError;
use super::names::{is_legal_ref, plain_text, segment_problem};

pub const SLUG_CHARS_MAX: usize = 64;
/// Comes before the slug in the name of its branch.
const BRANCH_PREFIX: &str = "comity/";
/// Names that mean a device on some systems, alone or before a dot.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];
/// The same with a digit after them.
const NUMBERED_DEVICES: &[&str] = &["com", "lpt"];

/// A worktree's short name: safe as a folder, as a part of a branch, and on every file system.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slug(String);

impl Slug {
    /// Checks a given name.
    pub fn parse(text: &str) -> Result<Slug, WorktreeError> {
        match problem(text) {
            None => Ok(Slug(text.to_owned())),
            Some(problem) => Err(WorktreeError::bad_name(text, problem)),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The default branch of a worktree with this name.
    pub fn branch(&self) -> String {
        format!("{BRANCH_PREFIX}{}", self.0)
    }

    /// The folder of the worktree. No two slugs have the same, and none is inside another.
    pub fn folder(&self) -> String {
        self.0.replace('/', "+")
    }
}

plain_text!(Slug);

fn problem(text: &str) -> Option<&'static str> {
    if text.chars().count() > SLUG_CHARS_MAX {
        return Some("it has more than 64 characters");
    }
    text.split('/').find_map(|segment| segment_problem(segment).or_else(|| device_problem(segment))).or_else(
        || {
            (!is_legal_ref(&format!("{BRANCH_PREFIX}{text}")))
                .then_some("git does not take it as a part of a branch")
        },
    )
}

fn device_problem(segment: &str) -> Option<&'static str> {
    let stem = segment.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|number| matches!(number.as_bytes(), [b'1'..=b'9']))
    };
    let is_device =
        DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.iter().any(|device| is_numbered(device));
    is_device.then_some("it means a device on some systems")
}
