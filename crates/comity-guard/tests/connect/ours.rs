//! What is ours, and only that, is replaced and removed.

use comity_guard::Dialect::{ClaudeCode, Codex, CopilotCli, Cursor, GeminiCli};
use comity_guard::connect::{
    Connected, SettingsKind, connect, disconnect, hook_command, is_connected, places,
};
use serde_json::{Value, json};

use crate::connection;

/// Whether a line counts as a call of our hook.
fn is_ours(line: &str) -> bool {
    let text = json!({ "hooks": { "Stop": [{ "hooks": [{ "command": line }] }], "a": 1 } }).to_string();
    is_connected(ClaudeCode, SettingsKind::Hooks, &text, &connection()) == Connected::Otherwise
}

#[test]
fn our_hook_is_known_by_its_program() {
    let ours = [
        "exec '/opt/comity/bin/comity-hook' claude",
        "test -x '/opt/comity/bin/comity-hook' && exec '/opt/comity/bin/comity-hook' claude; echo gone >&2; exit 2",
        "exec '/opt/comity/bin/comity-hook' claude --wait",
        "/usr/bin/comity-hook claude",
        "comity-hook",
        "  exec   \"/opt/with space/comity-hook\" claude",
        r"exec '/opt/it'\''s/comity-hook' claude",
        r"/opt/with\ space/comity-hook claude",
    ];
    for line in ours {
        assert!(is_ours(line), "{line}");
    }
    let others = [
        "echo comity-hook",
        "my-comity-hook",
        "comity-hook-wrapper",
        "/opt/comity-hook/run",
        "exec",
        "",
        "'comity-hook claude'",
        "bash -lc 'comity-hook claude'",
    ];
    for line in others {
        assert!(!is_ours(line), "{line}");
    }
}

#[test]
fn quotes_in_a_path_reach_the_shell_as_they_are() {
    let mut connection = connection();
    connection.hook = "/opt/it's $HOME \"here\"/comity-hook".to_owned();
    let text = connect(CopilotCli, SettingsKind::Hooks, None, &connection).expect("connected");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let line =
        value["hooks"]["postToolUse"][0]["bash"].as_str().expect("a line").replace("exec ", "printf %s ");
    let printed = std::process::Command::new("bash").args(["-c", &line]).output().expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&printed.stdout), format!("{}copilot", connection.hook));
    assert_eq!(is_connected(CopilotCli, SettingsKind::Hooks, &text, &connection), Connected::Yes);
    assert_eq!(disconnect(CopilotCli, SettingsKind::Hooks, &text), Ok(None));
}

#[test]
fn a_hook_that_is_gone_blocks_calls_and_nothing_else() {
    let mut connection = connection();
    connection.hook = "/nowhere/it's/comity-hook".to_owned();
    let run = |line: &Value| {
        let line = line.as_str().expect("a line");
        std::process::Command::new("sh").args(["-c", line]).output().expect("sh runs")
    };
    for dialect in [ClaudeCode, Codex, CopilotCli, Cursor, GeminiCli] {
        let place = places(dialect).iter().find(|place| place.kind.calls_hooks()).expect("a place");
        let text = connect(dialect, place.kind, None, &connection).expect("connected");
        let gate = run(&hook_command(dialect, place.kind, &text).expect("a line").into());
        let said = String::from_utf8_lossy(&gate.stderr).into_owned();
        assert_eq!(gate.status.code(), Some(2), "{dialect}: the one code that all take for a no: {said}");
        assert!(
            said.starts_with("Comity: /nowhere/it's/comity-hook is gone") && said.contains("Install"),
            "{dialect}: {said}"
        );
    }
    let text = connect(Codex, SettingsKind::Hooks, None, &connection).expect("connected");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    for event in ["Stop", "SessionStart", "PostToolUse"] {
        let ran = run(&value["hooks"][event][0]["hooks"][0]["command"]);
        assert_ne!(ran.status.code(), Some(2), "{event} would block");
    }
}

#[test]
fn a_confinement_that_is_gone_says_how_to_get_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("comity-confine.sh");
    let mut connection = connection();
    connection.hook = "/nowhere/comity-hook".to_owned();
    std::fs::write(&script, connection.bash_env_script()).expect("written");
    let run = |line: &str| {
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", line]).env("BASH_ENV", &script).output().expect("bash runs")
    };
    let command = run("echo it ran");
    let said = String::from_utf8_lossy(&command.stderr).into_owned();
    assert_eq!((command.status.code(), &*command.stdout), (Some(126), &b""[..]), "{said}");
    assert!(said.contains("/nowhere/comity-confine is gone") && said.contains("take BASH_ENV out"), "{said}");
    let (_, for_zsh) = connection.zshenv();
    if std::process::Command::new("zsh").arg("--version").output().is_ok() {
        std::fs::write(folder.path().join(".zshenv"), for_zsh).expect("written");
        let mut zsh = std::process::Command::new("zsh");
        let ran = zsh.args(["-c", "echo it ran"]).env("ZDOTDIR", folder.path()).output().expect("zsh runs");
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!((ran.status.code(), &*ran.stdout), (Some(126), &b""[..]), "{said}");
        assert!(
            said.contains("/nowhere/comity-confine is gone") && said.contains("take ZDOTDIR out"),
            "{said}"
        );
    }
    // Copilot CLI's own hooks are started by the same bash: they say it themselves.
    let text = connect(CopilotCli, SettingsKind::Hooks, None, &connection).expect("connected");
    let gate = run(&hook_command(CopilotCli, SettingsKind::Hooks, &text).expect("a line"));
    assert_eq!(gate.status.code(), Some(2), "{gate:?}");
    assert!(String::from_utf8_lossy(&gate.stderr).contains("/nowhere/comity-hook is gone"), "{gate:?}");
}

#[test]
fn a_group_that_is_shared_keeps_what_is_theirs() {
    let text = r#"{"hooks":{"PreToolUse":[{"matcher":"Write","hooks":[{"command":"a"},
        {"command":"exec /old/comity-hook claude"},{"command":"b"},{"command":"/older/comity-hook"}]}]}}"#;
    let without = disconnect(ClaudeCode, SettingsKind::Hooks, text).expect("edited").expect("theirs");
    assert_eq!(
        without,
        r#"{"hooks":{"PreToolUse":[{"matcher":"Write","hooks":[{"command":"a"},{"command":"b"}]}]}}"#
    );
    let with = connect(ClaudeCode, SettingsKind::Hooks, Some(text), &connection()).expect("edited");
    let value: Value = serde_json::from_str(&with).expect("JSON");
    let list = value["hooks"]["PreToolUse"].as_array().expect("a list");
    assert_eq!(list[0], json!({ "matcher": "Write", "hooks": [{ "command": "a" }, { "command": "b" }] }));
    assert_eq!(list.len(), 2);
    assert_eq!(disconnect(ClaudeCode, SettingsKind::Hooks, &with), Ok(Some(without)));
}

#[test]
fn repeats_and_events_of_older_versions_go() {
    let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"/a/comity-hook"}]},
        {"hooks":[{"command":"mine"}]},{"hooks":[{"command":"/b/comity-hook"}]}],
        "Notification":[{"hooks":[{"command":"/a/comity-hook notice"}]}]}}"#;
    assert_eq!(is_connected(ClaudeCode, SettingsKind::Hooks, text, &connection()), Connected::Otherwise);
    let with = connect(ClaudeCode, SettingsKind::Hooks, Some(text), &connection()).expect("edited");
    let value: Value = serde_json::from_str(&with).expect("JSON");
    let list = value["hooks"]["PreToolUse"].as_array().expect("a list");
    assert_eq!(list.len(), 2);
    let line = list[0]["hooks"][0]["command"].as_str().expect("a line");
    assert!(line.contains(" && exec '/opt/comity/bin/comity-hook' claude; "), "{line}");
    assert_eq!(list[1]["hooks"][0]["command"], "mine");
    assert_eq!(value["hooks"].get("Notification"), None);
    let without = disconnect(ClaudeCode, SettingsKind::Hooks, &with).expect("edited");
    assert_eq!(without.as_deref(), Some(r#"{"hooks":{"PreToolUse":[{"hooks":[{"command":"mine"}]}]}}"#));
}

#[test]
fn a_hook_that_is_missing_is_noticed() {
    let text = connect(ClaudeCode, SettingsKind::Hooks, None, &connection()).expect("connected");
    let weaker = [
        text.replace("\"block\"", "\"allow\""),
        text.replace("PreToolUse", "Other"),
        text.replace("10", "9"),
    ];
    for weaker in weaker {
        assert_eq!(
            is_connected(ClaudeCode, SettingsKind::Hooks, &weaker, &connection()),
            Connected::Otherwise
        );
        let mended =
            connect(ClaudeCode, SettingsKind::Hooks, Some(&weaker), &connection()).expect("connected");
        assert_eq!(is_connected(ClaudeCode, SettingsKind::Hooks, &mended, &connection()), Connected::Yes);
        assert_eq!(disconnect(ClaudeCode, SettingsKind::Hooks, &mended), Ok(None));
    }
}

#[test]
fn a_reformatted_file_loses_ours_and_nothing_else() {
    let existing = json!({ "hooks": { "preToolUse": [{ "command": "mine" }] }, "version": 1, "z": [1] });
    let text =
        connect(Cursor, SettingsKind::Hooks, Some(&existing.to_string()), &connection()).expect("connected");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    for text in [serde_json::to_string_pretty(&value).expect("text"), value.to_string()] {
        assert_eq!(is_connected(Cursor, SettingsKind::Hooks, &text, &connection()), Connected::Yes);
        let without = disconnect(Cursor, SettingsKind::Hooks, &text).expect("edited").expect("theirs");
        assert_eq!(serde_json::from_str::<Value>(&without).expect("JSON"), existing);
    }
}

#[test]
fn nothing_of_ours_is_nothing_to_do() {
    for text in ["", "{}", "{\"hooks\":{}}", "{\"hooks\":{\"Stop\":\"odd\"}}", "[]", "{,}"] {
        assert_eq!(
            is_connected(ClaudeCode, SettingsKind::Hooks, text, &connection()),
            Connected::No,
            "{text}"
        );
    }
    for text in ["", "{ }", "{\"hooks\": []}", "{\"mcpServers\": 1}"] {
        assert_eq!(disconnect(GeminiCli, SettingsKind::HooksAndMcp, text), Ok(Some(text.to_owned())));
    }
}
