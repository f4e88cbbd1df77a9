//! Where agent programs keep the settings of their user.

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;

/// A file with settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SettingsFile {
    /// The folder that its path begins at.
    pub base: SettingsRoot,
    pub path: &'static str,
    /// Another name that the program knows it by; it counts if it is there and the first is not.
    pub other: Option<&'static str>,
    /// What it holds of ours.
    pub kind: SettingsKind,
}

/// A folder that settings are found from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingsRoot {
    Home,
    /// The folder that a variable of the environment names.
    ConfigDir {
        variable: &'static str,
        /// The folder below the home, if the variable is not set; empty for the home itself.
        otherwise: &'static str,
    },
}

/// What a file holds of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingsKind {
    /// The calls of our hook.
    Hooks,
    Mcp,
    HooksAndMcp,
    /// Nothing else: it is a program of ours that runs within the agent's.
    Plugin,
    /// A variable of the environment, among those of the user.
    Variables,
}

impl SettingsKind {
    /// Whether by this file a program asks before a tool call.
    pub fn calls_hooks(self) -> bool {
        matches!(self, SettingsKind::Hooks | SettingsKind::HooksAndMcp | SettingsKind::Plugin)
    }
}

impl SettingsFile {
    /// The file, for a user with this home and this environment. A variable that is empty is like none.
    pub fn file(&self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        self.folder(home, variable).join(self.path)
    }

    /// The file by its other name.
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

/// The files that a program is connected by.
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

/// The files by which a program is connected for everybody who works on a repository, from its top directory.
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
/// It reads the servers that Claude Code reads.
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
    // Without the variable, this one lies beside the folder of the other.
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
