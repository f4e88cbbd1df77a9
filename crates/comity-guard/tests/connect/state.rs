//! Hooks and servers ask the same server, whatever environment an agent program gives them.

use comity_guard::Dialect::{self, Codex};
use comity_guard::connect::{Connected, SettingsKind, connect, hook_command, is_connected, places};
use expect_test::{Expect, expect};
use serde_json::Value;

use crate::moved;

#[test]
fn servers_are_told_where_the_state_is_and_no_token() {
    let check = |dialect: Dialect, kind: SettingsKind, member: &str, expect: Expect| {
        let text = connect(dialect, kind, None, &moved()).expect("connected");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        expect.assert_eq(&value[member]["comity"].to_string());
    };
    check(
        Dialect::ClaudeCode,
        SettingsKind::Mcp,
        "mcpServers",
        expect![[
            r#"{"alwaysLoad":true,"args":["mcp"],"command":"/srv/new/comity","env":{"COMITY_HOME":"/srv/new/state"},"type":"stdio"}"#
        ]],
    );
    check(
        Dialect::GeminiCli,
        SettingsKind::HooksAndMcp,
        "mcpServers",
        expect![[r#"{"args":["mcp"],"command":"/srv/new/comity","env":{"COMITY_HOME":"/srv/new/state"}}"#]],
    );
    check(
        Dialect::CopilotCli,
        SettingsKind::Mcp,
        "mcpServers",
        expect![[
            r#"{"args":["mcp"],"command":"/srv/new/comity","env":{"COMITY_HOME":"/srv/new/state"},"tools":["*"],"type":"local"}"#
        ]],
    );
    check(
        Dialect::Cursor,
        SettingsKind::Mcp,
        "mcpServers",
        expect![[r#"{"args":["mcp"],"command":"/srv/new/comity","env":{"COMITY_HOME":"/srv/new/state"}}"#]],
    );
    check(
        Dialect::OpenCode,
        SettingsKind::Mcp,
        "mcp",
        expect![[
            r#"{"command":["/srv/new/comity","mcp"],"enabled":true,"environment":{"COMITY_HOME":"/srv/new/state"},"type":"local"}"#
        ]],
    );
}

#[test]
fn hooks_are_told_where_the_state_is() {
    let mut connection = moved();
    connection.home = Some("/srv/it's new/state".to_owned());
    // What a shell makes of the line: the program is replaced by one that shows its environment and words.
    let run = |line: &str| {
        let line = line.replace("'/srv/new/comity-hook'", "sh -c 'echo \"$COMITY_HOME|$0\"'");
        let ran = std::process::Command::new("sh").args(["-c", &line]).output().expect("sh runs");
        String::from_utf8_lossy(&ran.stdout).into_owned()
    };
    for dialect in Dialect::ALL {
        let place = places(dialect).iter().find(|place| place.kind.calls_hooks()).expect("a place");
        let text = connect(dialect, place.kind, None, &connection).expect("connected");
        let line = hook_command(dialect, place.kind, &text).expect("a line");
        let line = line.split_once("&& ").map_or(&*line, |(_, line)| line);
        assert_eq!(run(line), format!("/srv/it's new/state|{dialect}\n"), "{line}");
    }
    assert!(
        connection.bash_env_script().contains("\n  export COMITY_HOME='/srv/it'\\''s new/state'\n  exec ")
    );
    assert!(connection.zshenv().1.contains("\n  export COMITY_HOME='/srv/it'\\''s new/state'\n"));
    connection.home = None;
    assert!(
        !connection.bash_env_script().contains("COMITY_HOME")
            && !connection.bash_env_script().contains("@HOME")
    );
}

#[test]
fn an_environment_of_the_users_own_is_added_to() {
    let server = "[mcp_servers.comity]\ncommand = \"/srv/new/comity\"\nargs = [\"mcp\"]\n";
    let policy = "\n[shell_environment_policy.set]\nZDOTDIR = \"/srv/new/state/comity-zsh\"\n\
                  BASH_ENV = \"/srv/new/state/comity-confine.sh\"\n";
    let ours = "COMITY_HOME = \"/srv/new/state\"";
    for (users, with_ours) in [
        ("", format!("env = {{ {ours} }}\n")),
        ("env = { A = \"1\" }\n", format!("env = {{ A = \"1\", {ours} }}\n")),
        ("env = { COMITY_HOME = \"/old\", A = \"1\" }\n", format!("env = {{ {ours}, A = \"1\" }}\n")),
        ("env.A = \"1\"\n", format!("env.{ours}\nenv.A = \"1\"\n")),
        ("[mcp_servers.comity.env]\nA = \"1\"\n", format!("[mcp_servers.comity.env]\n{ours}\nA = \"1\"\n")),
    ] {
        let text = format!("{server}{users}{policy}");
        let with = connect(Codex, SettingsKind::Mcp, Some(&text), &moved()).expect("connected");
        let read: toml_edit::DocumentMut = with.parse().expect("TOML");
        let env = &read["mcp_servers"]["comity"]["env"];
        assert_eq!(env["COMITY_HOME"].as_str(), Some("/srv/new/state"), "{with}");
        assert_eq!(env.get("A").is_some(), users.contains('A'), "{with}");
        let lines = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(lines(&with), lines(&format!("{server}{with_ours}{policy}")), "{with}");
        assert_eq!(is_connected(Codex, SettingsKind::Mcp, &with, &moved()), Connected::Yes);
    }
}
