//! What is written for Claude Code, as a person sees it.

use comity_guard::Dialect::ClaudeCode;
use comity_guard::connect::SettingsKind;
use expect_test::expect;

use crate::written::check;

#[test]
fn claude_code() {
    check(
        ClaudeCode,
        SettingsKind::Hooks,
        None,
        expect![[r#"
            {
              "hooks": {
                "PreToolUse": [
                  {
                    "matcher": "^(Write|Edit|MultiEdit|NotebookEdit|Bash|Read|NotebookRead|Grep|mcp__.*)$",
                    "hooks": [
                      {
                        "type": "command",
                        "command": "test -x '/opt/comity/bin/comity-hook' && exec '/opt/comity/bin/comity-hook' claude; echo 'Comity: /opt/comity/bin/comity-hook is gone, so nothing judges this call, and it is blocked. Install Comity again, or take the hooks that name comity-hook out of the settings.' >&2; exit 2",
                        "timeout": 10,
                        "onFailure": "block"
                      }
                    ]
                  }
                ],
                "PostToolUse": [
                  {
                    "matcher": "^(?!mcp__comity__).*$",
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude",
                        "timeout": 10
                      }
                    ]
                  }
                ],
                "PostToolUseFailure": [
                  {
                    "matcher": "^(Bash|mcp__(?!comity__).*)$",
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude",
                        "timeout": 10
                      }
                    ]
                  }
                ],
                "SessionStart": [
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude",
                        "timeout": 10
                      }
                    ]
                  }
                ],
                "SubagentStart": [
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude",
                        "timeout": 10
                      }
                    ]
                  }
                ],
                "SubagentStop": [
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude",
                        "timeout": 10
                      }
                    ]
                  }
                ],
                "UserPromptSubmit": [
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude",
                        "timeout": 10
                      }
                    ]
                  }
                ],
                "Stop": [
                  {
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude",
                        "timeout": 10
                      },
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude --wait",
                        "timeout": 604800,
                        "async": true,
                        "asyncRewake": true
                      }
                    ]
                  }
                ]
              },
              "env": {
                "CLAUDE_CODE_SHELL_PREFIX": "/opt/comity/bin/comity-confine"
              }
            }
        "#]],
    );
    check(
        ClaudeCode,
        SettingsKind::Mcp,
        None,
        expect![[r#"
        {
          "mcpServers": {
            "comity": {
              "type": "stdio",
              "command": "/opt/comity/bin/comity",
              "args": [
                "mcp"
              ],
              "alwaysLoad": true
            }
          }
        }
    "#]],
    );
}
