//! What is to run, and how it ended.

use std::fmt;
use std::path::PathBuf;

use comity_confine::Sandbox;
use serde::{Deserialize, Serialize};

/// Columns and rows of a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Size {
    pub columns: u16,
    pub rows: u16,
}

/// A program to run as an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The program and its arguments; no shell reads them.
    pub command: Vec<String>,
    /// The whole environment; nothing else is inherited.
    pub environment: Vec<(String, String)>,
    pub directory: PathBuf,
    /// The terminal to make for it. A pane has one already.
    pub terminal: Option<Size>,
    /// Goes on when the server ends, for the next one to take over.
    pub survives: bool,
    /// What it sees of the machine, if it is not to see all of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sandbox: Option<Sandbox>,
}

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// Its guardian was killed, so nobody saw how.
    Unseen,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "killed by signal {signal}"),
            Self::Unseen => f.write_str("killed together with its guardian"),
        }
    }
}
