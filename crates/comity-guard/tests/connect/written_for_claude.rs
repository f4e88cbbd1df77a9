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
                    "matcher": "^(Write|Edit|MultiEdit|NotebookEdit|Bash|mcp__.*)$",
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' claude",
                        "timeout": 10,
                        "onFailure": "block"
                      }
                    ]
                  }
                ],
                "PostToolUse": [
                  {
                    "matcher": "^(Write|Edit|MultiEdit|NotebookEdit|Read|Bash|mcp__(?!comity__).*)$",
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
