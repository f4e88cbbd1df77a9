//! What is written, as a person sees it.

use comity_guard::Dialect::{self, Codex, CopilotCli, Cursor, GeminiCli, OpenCode};
use comity_guard::connect::SettingsKind;
use expect_test::{Expect, expect};

use crate::connected;

pub(crate) fn check(dialect: Dialect, kind: SettingsKind, existing: Option<&str>, expect: Expect) {
    expect.assert_eq(&connected(dialect, kind, existing));
}

#[test]
fn codex() {
    check(
        Codex,
        SettingsKind::Hooks,
        None,
        expect![[r#"
            {
              "hooks": {
                "PreToolUse": [
                  {
                    "matcher": "^(apply_patch|Bash|shell|local_shell|shell_command|exec_command|read_file|grep_files|view_image|mcp__([^c]|c[^o]|co[^m]|com[^i]|comi[^t]|comit[^y]|comity[^_]|comity_[^_]).*)$",
                    "hooks": [
                      {
                        "type": "command",
                        "command": "test -x '/opt/comity/bin/comity-hook' && exec '/opt/comity/bin/comity-hook' codex; echo 'Comity: /opt/comity/bin/comity-hook is gone, so nothing judges this call, and it is blocked. Install Comity again, or take the hooks that name comity-hook out of the settings.' >&2; exit 2",
                        "timeout": 10
                      }
                    ]
                  }
                ],
                "PostToolUse": [
                  {
                    "matcher": "^([^m].*|m([^c].*)?|mc([^p].*)?|mcp([^_].*)?|mcp_([^_].*)?|mcp__([^c]|c[^o]|co[^m]|com[^i]|comi[^t]|comit[^y]|comity[^_]|comity_[^_]).*)$",
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' codex",
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
                        "command": "exec '/opt/comity/bin/comity-hook' codex",
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
                        "command": "exec '/opt/comity/bin/comity-hook' codex",
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
                        "command": "exec '/opt/comity/bin/comity-hook' codex",
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
                        "command": "exec '/opt/comity/bin/comity-hook' codex",
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
                        "command": "exec '/opt/comity/bin/comity-hook' codex",
                        "timeout": 10
                      },
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' codex --wait",
                        "timeout": 604800,
                        "async": true
                      }
                    ]
                  }
                ]
              }
            }
        "#]],
    );
}

#[test]
fn gemini() {
    check(
        GeminiCli,
        SettingsKind::HooksAndMcp,
        None,
        expect![[r#"
            {
              "hooks": {
                "BeforeTool": [
                  {
                    "matcher": "^(write_file|replace|run_shell_command|read_file|read_many_files|search_file_content|grep_search|mcp_.*)$",
                    "hooks": [
                      {
                        "type": "command",
                        "command": "test -x '/opt/comity/bin/comity-hook' && exec '/opt/comity/bin/comity-hook' gemini; echo 'Comity: /opt/comity/bin/comity-hook is gone, so nothing judges this call, and it is blocked. Install Comity again, or take the hooks that name comity-hook out of the settings.' >&2; exit 2",
                        "timeout": 10000
                      }
                    ]
                  }
                ],
                "AfterTool": [
                  {
                    "matcher": ".*",
                    "hooks": [
                      {
                        "type": "command",
                        "command": "exec '/opt/comity/bin/comity-hook' gemini",
                        "timeout": 10000
                      }
                    ]
                  }
                ]
              },
              "mcpServers": {
                "comity": {
                  "command": "/opt/comity/bin/comity",
                  "args": [
                    "mcp"
                  ]
                }
              }
            }
        "#]],
    );
}

#[test]
fn copilot() {
    check(
        CopilotCli,
        SettingsKind::Hooks,
        None,
        expect![[r#"
        {
          "hooks": {
            "preToolUse": [
              {
                "type": "command",
                "bash": "test -x '/opt/comity/bin/comity-hook' && exec '/opt/comity/bin/comity-hook' copilot; echo 'Comity: /opt/comity/bin/comity-hook is gone, so nothing judges this call, and it is blocked. Install Comity again, or take the hooks that name comity-hook out of the settings.' >&2; exit 2",
                "timeoutSec": 10
              }
            ],
            "postToolUse": [
              {
                "type": "command",
                "bash": "exec '/opt/comity/bin/comity-hook' copilot",
                "timeoutSec": 10
              }
            ],
            "sessionStart": [
              {
                "type": "command",
                "bash": "exec '/opt/comity/bin/comity-hook' copilot",
                "timeoutSec": 10
              }
            ],
            "userPromptSubmitted": [
              {
                "type": "command",
                "bash": "exec '/opt/comity/bin/comity-hook' copilot",
                "timeoutSec": 10
              }
            ],
            "agentStop": [
              {
                "type": "command",
                "bash": "exec '/opt/comity/bin/comity-hook' copilot",
                "timeoutSec": 10
              }
            ]
          },
          "version": 1
        }
    "#]],
    );
    check(
        CopilotCli,
        SettingsKind::Mcp,
        None,
        expect![[r#"
        {
          "mcpServers": {
            "comity": {
              "type": "local",
              "command": "/opt/comity/bin/comity",
              "args": [
                "mcp"
              ],
              "tools": [
                "*"
              ]
            }
          }
        }
    "#]],
    );
}

#[test]
fn cursor() {
    check(
        Cursor,
        SettingsKind::Hooks,
        None,
        expect![[r#"
        {
          "hooks": {
            "preToolUse": [
              {
                "command": "test -x '/opt/comity/bin/comity-hook' && exec '/opt/comity/bin/comity-hook' cursor; echo 'Comity: /opt/comity/bin/comity-hook is gone, so nothing judges this call, and it is blocked. Install Comity again, or take the hooks that name comity-hook out of the settings.' >&2; exit 2",
                "timeout": 10,
                "failClosed": true
              }
            ],
            "beforeShellExecution": [
              {
                "command": "test -x '/opt/comity/bin/comity-hook' && exec '/opt/comity/bin/comity-hook' cursor; echo 'Comity: /opt/comity/bin/comity-hook is gone, so nothing judges this call, and it is blocked. Install Comity again, or take the hooks that name comity-hook out of the settings.' >&2; exit 2",
                "timeout": 10,
                "failClosed": true
              }
            ],
            "afterFileEdit": [
              {
                "command": "exec '/opt/comity/bin/comity-hook' cursor",
                "timeout": 10
              }
            ]
          },
          "version": 1
        }
    "#]],
    );
    check(
        Cursor,
        SettingsKind::Mcp,
        None,
        expect![[r#"
        {
          "mcpServers": {
            "comity": {
              "command": "/opt/comity/bin/comity",
              "args": [
                "mcp"
              ]
            }
          }
        }
    "#]],
    );
}

#[test]
fn opencode() {
    check(
        OpenCode,
        SettingsKind::Mcp,
        None,
        expect![[r#"
        {
          "mcp": {
            "comity": {
              "type": "local",
              "command": [
                "/opt/comity/bin/comity",
                "mcp"
              ],
              "enabled": true
            }
          }
        }
    "#]],
    );
}

#[test]
fn the_layout_of_the_file_goes_on() {
    check(
        OpenCode,
        SettingsKind::Mcp,
        Some("{\n\t\"model\": \"x\",\n\t\"mcp\": {\n\t\t\"a\": {}\n\t}\n}\n"),
        expect![[r#"
            {
            	"model": "x",
            	"mcp": {
            		"a": {},
            		"comity": {
            			"type": "local",
            			"command": [
            				"/opt/comity/bin/comity",
            				"mcp"
            			],
            			"enabled": true
            		}
            	}
            }
        "#]],
    );
    check(
        OpenCode,
        SettingsKind::Mcp,
        Some("{\"model\":\"x\"}"),
        expect![[
            r#"{"model":"x","mcp":{"comity":{"type":"local","command":["/opt/comity/bin/comity","mcp"],"enabled":true}}}"#
        ]],
    );
    check(
        OpenCode,
        SettingsKind::Mcp,
        Some("{ \"mcp\": { \"a\": {} } }"),
        expect![[
            r#"{ "mcp": { "a": {}, "comity":{"type":"local","command":["/opt/comity/bin/comity","mcp"],"enabled":true} } }"#
        ]],
    );
    // The space behind the bracket says that the servers were there, and empty.
    let filled = connected(OpenCode, SettingsKind::Mcp, Some("{\n    \"mcp\": {}\n}"));
    assert!(
        filled.starts_with("{\n    \"mcp\": { \n        \"comity\": {\n            \"type\""),
        "{filled}"
    );
    assert!(filled.ends_with("\n        }\n    }\n}"), "{filled}");
}
