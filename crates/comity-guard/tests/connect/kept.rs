//! What is not ours stays as it was, in files of every shape.

use serde_json::Value;

use comity_guard::Dialect;
use comity_guard::connect::{SettingsKind, connect, disconnect, plain_json};

use crate::{connected, connection, json_files};

/// Files as people and programs write them.
const FILES: &[&str] = &[
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "\n{\n\n}\n\n",
    "{\"a\":1}",
    "{ \"a\": 1 }\n",
    "{\"a\":1,\"hooks\":{},\"mcpServers\":{},\"mcp\":{}}",
    "{\"hooks\": { }, \"mcpServers\":{\n}}",
    "{\n  \"a\": 1\n}\n",
    "{\n    \"a\": {\n        \"b\": []\n    }\n}",
    "{\n\t\"a\": 1,\n\t\"hooks\": {},\n\t\"mcpServers\": {}\n}\n",
    "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n  },\r\n  \"mcp\": {}\r\n}\r\n",
    "{\r\n}\r\n",
    "{\n\"a\": 1\n}",
    "{\n  \"größe\": \"\u{1f4a5} \\ud83d\\ude00 \\\" \\\\\",\n  \"\u{4e2d}\": \"}]\"\n}\n",
    // Half of a surrogate pair and a number that no float holds are JSON, too.
    "{\"lone\": \"\\ud800\", \"large\": 1e999}",
    "{\"a\":1 ,\"b\" :2 , \"hooks\" : { \"Stop\" :[ ] } }",
    "{\n  \"a\": 1,\n  \"a\": 2\n}\n",
    r#"{
  "permissions": {"allow": ["Bash(ls:*)"]},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "say 'a comity-hook'"}]}
    ],
    "BeforeTool": [],
    "preToolUse": [{"command": "./guard.sh"}, {"bash": "./guard.sh"}],
    "Stop": [{"hooks": [{"type": "command", "command": "notify"}]}]
  },
  "mcpServers": {
    "github": {"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "x"}}
  },
  "mcp": {
    "github": {"type": "local", "command": ["npx"]}
  },
  "model": "opus"
}
"#,
    r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[]}],"PostToolUse":[],"disabled":["x"]}}"#,
    "{\"version\":1}",
    "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": {},\n  \"version\": 1\n}\n",
    "{\n  \"hooks\": {\n    \"preToolUse\": []\n  },\n  \"version\": 1\n}\n",
    "{\"hooks\":{},\"z\":1}",
];

#[test]
fn everything_else_stays_byte_for_byte() {
    for (dialect, kind) in json_files() {
        for existing in FILES {
            let text = connected(dialect, kind, Some(existing));
            assert_eq!(text.contains("\r\n"), existing.contains("\r\n"), "line ends: {text:?}");
            assert_eq!(
                text.contains('\n'),
                existing.contains('\n') || *existing == "{}" || *existing == "{ }"
            );
            assert_eq!(text.ends_with('\n'), existing.ends_with('\n'), "the end of the file: {text:?}");
        }
    }
}

/// Files with comments, as programs that read them have them.
const COMMENTED: &[&str] = &[
    "// mine\n{}\n",
    "/* mine */ { /* nothing yet */ }\n",
    "{ // nothing yet\n}\n",
    "{\n  // \"a\": 1\n}\n",
    "{\n  \"a\": 1 // the best, they say\n}\n",
    "{\n  \"a\": 1, // one\n  \"b\": 2 /* two */\n  // \"c\": 3\n}\n",
    "{\r\n  \"a\": \"http://x/*y*/\", // \u{e9}t\u{e9}\r\n  \"b\": \"\\\"//\" // \"\r\n}\r\n// end\r\n",
    "{ \"a\": 1 } // one line\n",
    "{\"a\":1/* one line */}",
    "{ // first\n  // hooks\n  \"hooks\": { // none\n  },\n  \"mcpServers\": {} // none\n, \"mcp\": {/**/}\n}",
    "{\n  \"mcp\": {\n    \"a\": {} // a\n  }, // servers\n  \"mcpServers\": {\n    \"a\": {} // a\n  } // servers\n}\n",
];
/// The same with commas behind the last item.
const TRAILING: &[&str] = &[
    "{\"a\":1,}",
    "{\n  \"a\": 1,\n}\n",
    "{\n  \"a\": 1, // one\n}\n",
    "{\n  \"a\": [1, 2,], // \",]\"\n  // end\n}\n",
    "{\n  \"mcp\": {\n    \"a\": {}, // a\n  },\n  \"mcpServers\": {\n    \"a\": {}, // a\n  }, // servers\n}\n",
    "{\n  \"a\": 1 /* one */,\n}\n",
];

fn comments_of(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split_once(" // ").map(|(_, comment)| comment)).collect()
}

#[test]
fn comments_stay_where_they_are() {
    for (dialect, kind) in json_files() {
        let files: Vec<&str> = match dialect {
            Dialect::GeminiCli => COMMENTED.to_vec(),
            Dialect::OpenCode | Dialect::Cursor => [COMMENTED, TRAILING].concat(),
            Dialect::ClaudeCode | Dialect::Codex | Dialect::CopilotCli => vec![],
        };
        for existing in files {
            let text = connected(dialect, kind, Some(existing));
            assert_eq!(comments_of(&text), comments_of(existing), "{text}");
            let value: Value = serde_json::from_str(&plain_json(dialect, &text)).expect(&text);
            let before: Value = serde_json::from_str(&plain_json(dialect, existing)).expect(existing);
            for (key, own) in before.as_object().expect("an object") {
                assert!(own.is_object() || value[key] == *own, "{key}: {text}");
            }
        }
    }
    let text = connected(Dialect::OpenCode, SettingsKind::Mcp, Some("{\n  \"a\": 1, // one\n}\n"));
    assert!(text.starts_with("{\n  \"a\": 1, // one\n  \"mcp\": {"), "a comment stays with its item: {text}");
    // What came behind ours stays valid when ours goes.
    let longer = text.replace("\n  },\n}", "\n  }, // ours\n  \"z\": 2\n}");
    assert_ne!(longer, text);
    let without = disconnect(Dialect::OpenCode, SettingsKind::Mcp, &longer).expect("edited").expect("theirs");
    let value: Value = serde_json::from_str(&plain_json(Dialect::OpenCode, &without)).expect(&without);
    assert_eq!(value, serde_json::json!({ "a": 1, "z": 2 }), "{without}");
    assert!(without.contains("// one"), "{without}");
}

#[test]
fn a_file_that_is_not_there_or_empty_is_made_and_goes_again() {
    for (dialect, kind) in json_files() {
        let text = connected(dialect, kind, None);
        assert!(serde_json::from_str::<Value>(&text).expect("JSON").is_object());
        assert_eq!(connected(dialect, kind, Some("")), text);
        assert_eq!(connected(dialect, kind, Some(" \n")), text);
    }
}

#[test]
fn deep_nesting_is_no_trouble() {
    let deep = format!("{{\"a\":{}1{}}}", "[{\"b\":".repeat(5_000), "}]".repeat(5_000));
    for (dialect, kind) in json_files() {
        connected(dialect, kind, Some(&deep));
    }
}

#[test]
fn what_came_behind_ours_stays() {
    use comity_guard::Dialect::ClaudeCode;
    use comity_guard::connect::{SettingsKind::Mcp, disconnect};
    let text = connected(ClaudeCode, Mcp, Some("{\n  \"a\": 1\n}\n"));
    let longer = text.replace("\n}\n", ",\n  \"z\": 2\n}\n");
    let without = disconnect(ClaudeCode, Mcp, &longer).expect("edited");
    assert_eq!(without.as_deref(), Some("{\n  \"a\": 1,\n  \"z\": 2\n}\n"));
    let first = text.replace("\"a\": 1,\n  ", "").replace("\n}\n", ",\n  \"z\": 2\n}\n");
    let without = disconnect(ClaudeCode, Mcp, &first).expect("edited");
    assert_eq!(without.as_deref(), Some("{\n  \"z\": 2\n}\n"));
}

#[test]
fn our_version_goes_with_our_hooks_wherever_others_came() {
    use comity_guard::Dialect::Cursor;
    use comity_guard::connect::{SettingsKind::Hooks, disconnect};
    let text = connected(Cursor, Hooks, Some("{\"a\":1}"));
    let longer = text.replace("\"version\":1}", "\"version\":1,\"z\":2}");
    assert_ne!(longer, text);
    assert_eq!(disconnect(Cursor, Hooks, &longer), Ok(Some("{\"a\":1,\"z\":2}".to_owned())));
}

#[test]
fn variables_of_the_users_own_stay() {
    let prefix = "{\n  \"env\": {\n    \"CLAUDE_CODE_SHELL_PREFIX\": \"/srv/ann/wrap\"\n  }\n}\n";
    let text =
        connect(Dialect::ClaudeCode, SettingsKind::Hooks, Some(prefix), &connection()).expect("connected");
    assert!(text.contains("/srv/ann/wrap") && !text.contains("comity-confine"), "{text}");
    assert_eq!(
        disconnect(Dialect::ClaudeCode, SettingsKind::Hooks, &text).expect("edited").as_deref(),
        Some(prefix)
    );
    for existing in ["", "A=1\n", "A=1", "# mine\n\nexport A=\"1\"\n"] {
        connected(Dialect::GeminiCli, SettingsKind::Variables, Some(existing));
    }
    let users = "BASH_ENV=/srv/ann/env\n";
    let text =
        connect(Dialect::GeminiCli, SettingsKind::Variables, Some(users), &connection()).expect("connected");
    assert_eq!(text, users);
}
