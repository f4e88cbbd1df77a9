//! Where agent programs keep the settings of their user.

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;

/// A file with settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The folder that its path begins at.
    pub base: Base,
    /// Its path from there.
    pub path: &'static str,
    /// What it holds of ours.
    pub kind: Kind,
}

/// A folder that settings are found from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// The user's home.
    Home,
    /// The folder that a variable of the environment names.
    ConfigDir {
        /// The variable.
        variable: &'static str,
        /// The folder below the home, if the variable is not set; empty for the home itself.
        otherwise: &'static str,
    },
}

/// What a file holds of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The calls of our hook.
    Hooks,
    /// Our MCP server.
    Mcp,
    /// Both.
    HooksAndMcp,
    /// Nothing else: it is a program of ours that runs within the agent's.
    Plugin,
    /// A variable of the environment, among those of the user.
    Variables,
}

impl Kind {
    /// Whether by this file a program asks before a tool call.
    pub fn calls_hooks(self) -> bool {
        matches!(self, Kind::Hooks | Kind::HooksAndMcp | Kind::Plugin)
    }
}

impl Place {
    /// The file, for a user with this home and this environment. A variable that is empty is like none.
    pub fn file(&self, home: &Path, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
        let folder = match self.base {
            Base::Home => home.to_owned(),
            Base::ConfigDir { variable: name, otherwise } => {
                let named = variable(name).filter(|folder| !folder.as_os_str().is_empty());
                named.unwrap_or_else(|| home.join(otherwise))
            }
        };
        folder.join(self.path)
    }
}

/// The files that a program is connected by.
pub fn places(dialect: Dialect) -> &'static [Place] {
    match dialect {
        Dialect::ClaudeCode => &CLAUDE_PLACES,
        Dialect::Codex => &CODEX_PLACES,
        Dialect::GeminiCli => &GEMINI_PLACES,
        Dialect::CopilotCli => &COPILOT_PLACES,
        Dialect::Cursor => &CURSOR_PLACES,
        Dialect::OpenCode => &OPENCODE_PLACES,
    }
}

const CLAUDE_PLACES: [Place; 2] = [
    place(CLAUDE, "settings.json", Kind::Hooks),
    // Without the variable, this one lies beside the folder of the other.
    place(Base::ConfigDir { variable: "CLAUDE_CONFIG_DIR", otherwise: "" }, ".claude.json", Kind::Mcp),
];
const CODEX_PLACES: [Place; 2] =
    [place(CODEX, "hooks.json", Kind::Hooks), place(CODEX, "config.toml", Kind::Mcp)];
const GEMINI_PLACES: [Place; 2] = [
    place(Base::Home, ".gemini/settings.json", Kind::HooksAndMcp),
    place(Base::Home, ".gemini/.env", Kind::Variables),
];
const COPILOT_PLACES: [Place; 2] =
    [place(COPILOT, "hooks/comity.json", Kind::Hooks), place(COPILOT, "mcp-config.json", Kind::Mcp)];
const CURSOR_PLACES: [Place; 2] =
    [place(Base::Home, ".cursor/hooks.json", Kind::Hooks), place(Base::Home, ".cursor/mcp.json", Kind::Mcp)];
const OPENCODE_PLACES: [Place; 2] = [
    place(CONFIG, "opencode/opencode.json", Kind::Mcp),
    place(CONFIG, "opencode/plugins/comity.js", Kind::Plugin),
];

const CLAUDE: Base = Base::ConfigDir { variable: "CLAUDE_CONFIG_DIR", otherwise: ".claude" };
const CODEX: Base = Base::ConfigDir { variable: "CODEX_HOME", otherwise: ".codex" };
const COPILOT: Base = Base::ConfigDir { variable: "COPILOT_HOME", otherwise: ".copilot" };
const CONFIG: Base = Base::ConfigDir { variable: "XDG_CONFIG_HOME", otherwise: ".config" };

const fn place(base: Base, path: &'static str, kind: Kind) -> Place {
    Place { base, path, kind }
}
