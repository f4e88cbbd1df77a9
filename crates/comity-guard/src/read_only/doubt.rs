//! Why something is not proven.

use std::fmt;

use crate::limits::DOUBT_CHARS_MAX;

pub(crate) type Proven = Result<(), Doubt>;

/// Why a command is not proven, and which part of it is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Doubt {
    part: Option<String>,
    reason: String,
}

impl Doubt {
    /// A doubt about a part that the caller will name.
    pub(crate) fn because(reason: impl Into<String>) -> Doubt {
        Doubt { part: None, reason: reason.into() }
    }

    /// Names the part; the innermost name stays.
    pub(crate) fn about(self, part: &str) -> Doubt {
        Doubt { part: Some(self.part.unwrap_or_else(|| shown(part))), ..self }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.part {
            Some(part) => write!(f, "`{part}`: {}", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// A text in one short line, without invisible characters.
pub(crate) fn shown(text: &str) -> String {
    let visible = |character: char| match character {
        '!'..='~' | ' ' => character.to_string(),
        letter if letter.is_alphanumeric() => letter.to_string(),
        other => other.escape_default().to_string(),
    };
    let mut line: String = text.chars().take(DOUBT_CHARS_MAX).map(visible).collect();
    if text.chars().nth(DOUBT_CHARS_MAX).is_some() {
        line.push('…');
    }
    line
}
