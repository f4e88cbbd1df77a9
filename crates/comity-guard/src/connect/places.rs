//! Where agent programs keep their users' settings.

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;

/// A file with settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SettingsFile {
    pub base: SettingsRoot,
    pub path: &'static str,
    /// An alternative name that the program accepts; it counts if it exists and the first does not.
    pub other: Option<&'static str>,
    /// What we put into it.
    pub kind: SettingsKind,
}

/// A directory that settings are relative to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingsRoot {
    Home,
    /// The directory that an environment variable names.
    ConfigDir {
        variable: &'static str,
        /// The directory below the home if the variable is not set; empty for the home itself.
        otherwise: &'static str,
    },
}

/// What we put into a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingsKind {
    Hooks,
    Mcp,
    HooksAndMcp,
    /// A whole file: our program, run within the agent's.
    Plugin,
    /// An environment variable, among the user's own.
    Variables,
}

impl SettingsKind {
    /// Whether this file makes a program ask before a tool call.
    pub fn calls_hooks(self) -> bool {
        matches!(self, SettingsKind::Hooks | SettingsKind::HooksAndMcp | SettingsKind::Plugin)
    }
}

impl SettingsFile {
    /// The path for a user with this home and environment. An empty variable counts as unset.
    pub fn file(&self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        self.folder(home, variable).join(self.path)
    }

    /// The path by its other name.
    pub fn other_file(&self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        Some(self.folder(home, variable).join(self.other?))
    }

    fn folder(&self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        match self.base {
            SettingsRoot::Home => home.to_owned(),
            SettingsRoot::ConfigDir { variable: name, otherwise } => {
                let named = variable(name).filter(|folder| !folder.as_os_str().is_empty());
                named.unwrap_or_else(|| home.join(otherwise))
            }
        }
    }
}

/// The files to edit to connect a program.
pub fn places(dialect: Dialect) -> &'static [SettingsFile] {
    match dialect {
        Dialect::ClaudeCode => &CLAUDE_PLACES,
        Dialect::Codex => &CODEX_PLACES,
        Dialect::GeminiCli => &GEMINI_PLACES,
        Dialect::CopilotCli => &COPILOT_PLACES,
        Dialect::Cursor => &CURSOR_PLACES,
        Dialect::OpenCode => &OPENCODE_PLACES,
    }
}

/// The files, relative to a repository's top directory, that connect a program for everybody who works on it.
pub fn project_places(dialect: Dialect) -> &'static [SettingsFile] {
    match dialect {
        Dialect::ClaudeCode => &CLAUDE_PROJECT,
        Dialect::Codex => &CODEX_PROJECT,
        Dialect::GeminiCli => &GEMINI_PROJECT,
        Dialect::CopilotCli => &COPILOT_PROJECT,
        Dialect::Cursor => &CURSOR_PLACES,
        Dialect::OpenCode => &OPENCODE_PROJECT,
    }
}

const CLAUDE_PROJECT: [SettingsFile; 2] = [
    place(SettingsRoot::Home, ".claude/settings.json", SettingsKind::Hooks),
    place(SettingsRoot::Home, ".mcp.json", SettingsKind::Mcp),
];
const CODEX_PROJECT: [SettingsFile; 2] = [
    place(SettingsRoot::Home, ".codex/hooks.json", SettingsKind::Hooks),
    place(SettingsRoot::Home, ".codex/config.toml", SettingsKind::Mcp),
];
const GEMINI_PROJECT: [SettingsFile; 1] =
    [place(SettingsRoot::Home, ".gemini/settings.json", SettingsKind::HooksAndMcp)];
/// It reads Claude Code's servers.
const COPILOT_PROJECT: [SettingsFile; 2] = [
    place(SettingsRoot::Home, ".github/hooks/comity.json", SettingsKind::Hooks),
    place(SettingsRoot::Home, ".mcp.json", SettingsKind::Mcp),
];
const OPENCODE_PROJECT: [SettingsFile; 2] = [
    SettingsFile {
        other: Some("opencode.jsonc"),
        ..place(SettingsRoot::Home, "opencode.json", SettingsKind::Mcp)
    },
    place(SettingsRoot::Home, ".opencode/plugins/comity.js", SettingsKind::Plugin),
];

const CLAUDE_PLACES: [SettingsFile; 2] = [
    place(CLAUDE, "settings.json", SettingsKind::Hooks),
    // Without the variable, this file lies beside the other one's directory.
    place(
        SettingsRoot::ConfigDir { variable: "CLAUDE_CONFIG_DIR", otherwise: "" },
        ".claude.json",
        SettingsKind::Mcp,
    ),
];
const CODEX_PLACES: [SettingsFile; 2] =
    [place(CODEX, "hooks.json", SettingsKind::Hooks), place(CODEX, "config.toml", SettingsKind::Mcp)];
const GEMINI_PLACES: [SettingsFile; 2] = [
    place(SettingsRoot::Home, ".gemini/settings.json", SettingsKind::HooksAndMcp),
    place(SettingsRoot::Home, ".gemini/.env", SettingsKind::Variables),
];
const COPILOT_PLACES: [SettingsFile; 2] = [
    place(COPILOT, "hooks/comity.json", SettingsKind::Hooks),
    place(COPILOT, "mcp-config.json", SettingsKind::Mcp),
];
const CURSOR_PLACES: [SettingsFile; 2] = [
    place(SettingsRoot::Home, ".cursor/hooks.json", SettingsKind::Hooks),
    place(SettingsRoot::Home, ".cursor/mcp.json", SettingsKind::Mcp),
];
const OPENCODE_PLACES: [SettingsFile; 2] = [
    SettingsFile {
        other: Some("opencode/opencode.jsonc"),
        ..place(CONFIG, "opencode/opencode.json", SettingsKind::Mcp)
    },
    place(CONFIG, "opencode/plugins/comity.js", SettingsKind::Plugin),
];

const CLAUDE: SettingsRoot = SettingsRoot::ConfigDir { variable: "CLAUDE_CONFIG_DIR", otherwise: ".claude" };
const CODEX: SettingsRoot = SettingsRoot::ConfigDir { variable: "CODEX_HOME", otherwise: ".codex" };
const COPILOT: SettingsRoot = SettingsRoot::ConfigDir { variable: "COPILOT_HOME", otherwise: ".copilot" };
const CONFIG: SettingsRoot = SettingsRoot::ConfigDir { variable: "XDG_CONFIG_HOME", otherwise: ".config" };

const fn place(base: SettingsRoot, path: &'static str, kind: SettingsKind) -> SettingsFile {
    SettingsFile { base, path, other: None, kind }
}
