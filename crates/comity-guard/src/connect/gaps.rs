//! What the guard cannot close in each program, in words for its users.

use crate::dialect::Dialect;

/// Ways around the guard that a program leaves open.
pub fn gaps(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::ClaudeCode => &[
            "Claude Code before 2.1.295 ignores \"onFailure\": there a hook that is missing, fails or takes \
             too long lets the call pass.",
            "Versions of Claude Code that run no hooks for subagents, or do not say which one runs: all are one agent there.",
            "Without comity-confine, to which CLAUDE_CODE_SHELL_PREFIX in its settings leads, Claude Code starts neither \
             commands nor hooks: take that out if Comity was removed without comity init --undo.",
            "An idle agent is woken in sessions at a terminal, by versions that know \"asyncRewake\" (2.1.325 does).",
            SHELL,
            MCP,
        ],
        Dialect::Codex => &[
            "Codex runs hooks only after they were trusted in /hooks, and says nothing of those that it \
             leaves out; a changed hook has to be trusted again.",
            "A hook that is missing, fails or takes too long lets the call pass.",
            "Tools that are called in code mode do not ask hooks.",
            "What Comity's tools do for a sub-agent counts as the main agent's: Codex does not say who calls them.",
            "Several windows of Codex share its background server (0.166), and are one agent then, unless its config.toml has \
             daemon_auto_start = false below [features]; codex exec is one of its own.",
            "Commands are not confined inside of Codex's own sandbox, nor in a shell other than bash and zsh.",
            "An idle agent is woken in sessions at a terminal, by versions that know \"async\" hooks and \"codex queue\" (0.166 does).",
            SHELL,
            MCP,
        ],
        Dialect::GeminiCli => &[
            "A hook that fails or takes too long lets the call pass.",
            "Commands are not confined in a project with a .env file of its own: Gemini CLI reads only that one.",
            "All sub-agents of one Gemini CLI are one agent: it does not say which of them runs.",
            "Versions of Gemini CLI that do not name the tools of MCP servers mcp_… do not ask about them.",
            NOT_WOKEN,
            SHELL,
            MCP,
        ],
        Dialect::CopilotCli => &[
            "A hook that takes too long lets the call pass.",
            "Commands are confined only if you start Copilot CLI with BASH_ENV and --bash-env=on.",
            "All sub-agents of one Copilot CLI are one agent: it does not say which of them runs.",
            WOKEN_AT_STOP,
            SHELL,
            MCP,
        ],
        Dialect::Cursor => &[
            "Versions of Cursor that do not know \"failClosed\" let the call pass when a hook is missing, \
             fails or takes too long.",
            "What Cursor does was read in its documentation, not tried; so was that it asks about the tools of MCP servers.",
            "Commands are not confined.",
            "All sub-agents of one Cursor are one agent: it does not say which of them runs.",
            NOT_WOKEN,
            SHELL,
            MCP,
        ],
        Dialect::OpenCode => &[
            "The guard is a plugin: OpenCode asks nobody if it is started without plugins or can't load it.",
            "Commands are not confined in a shell other than bash and zsh.",
            "What Comity's tools and commands do for a sub-agent counts as the main agent's: OpenCode does not say who runs them.",
            "Some versions of OpenCode do not ask plugins about tools that its batch tool calls.",
            NOT_WOKEN,
            SHELL,
            MCP,
        ],
    }
}

const NOT_WOKEN: &str = "An idle agent is not woken: what comes for it waits for its next turn.";
const WOKEN_AT_STOP: &str =
    "What comes while it works is given to it before it stops; once it is idle it is not woken.";
const SHELL: &str = "Shell commands are judged as far as they can be read; where they are not confined, a program that \
                     a command starts may write what no reader of the command sees.";
const MCP: &str =
    "Tools of other MCP servers are judged by their names and arguments; what else they write is not seen.";
