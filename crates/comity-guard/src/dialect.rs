//! The agent programs whose hooks we understand.

use std::fmt;
use std::str::FromStr;

/// An agent program, and how it talks to hooks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Dialect {
    ClaudeCode,
    Codex,
    GeminiCli,
    CopilotCli,
    /// Its editor and its command line.
    Cursor,
    OpenCode,
}

impl Dialect {
    pub const ALL: [Dialect; 6] = [
        Dialect::ClaudeCode,
        Dialect::Codex,
        Dialect::GeminiCli,
        Dialect::CopilotCli,
        Dialect::Cursor,
        Dialect::OpenCode,
    ];

    /// Whether its hooks tell which of its sub-agents makes a call.
    pub fn tells_sub_agents(self) -> bool {
        match self {
            Dialect::ClaudeCode | Dialect::Codex | Dialect::OpenCode => true,
            Dialect::GeminiCli | Dialect::CopilotCli | Dialect::Cursor => false,
        }
    }

    /// Whether its idle agents can be woken by incoming mail.
    pub fn wakes_idle(self) -> bool {
        match self {
            Dialect::ClaudeCode | Dialect::Codex => true,
            Dialect::GeminiCli | Dialect::CopilotCli | Dialect::Cursor | Dialect::OpenCode => false,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Dialect::ClaudeCode => "claude",
            Dialect::Codex => "codex",
            Dialect::GeminiCli => "gemini",
            Dialect::CopilotCli => "copilot",
            Dialect::Cursor => "cursor",
            Dialect::OpenCode => "opencode",
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that is no agent program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownDialect(pub String);

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();
        write!(f, "\"{}\" isn't an agent program; known are {}", self.0, names.join(", "))
    }
}

impl std::error::Error for UnknownDialect {}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Dialect, UnknownDialect> {
        let known = Dialect::ALL.into_iter().find(|dialect| dialect.name() == name);
        known.ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}
