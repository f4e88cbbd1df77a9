//! Tools and events that nobody has told us about: what looks like a write is one.

use serde_json::json;

use super::{Yard, payload};

#[test]
fn commands_and_patches_in_the_arguments_of_other_servers_tools() {
    let mut yard = Yard::new();
    let diff = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-x\n+y\n";
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** End Patch\n";
    for (tool, input) in [
        ("mcp__box__execute", json!({ "cmd": "echo x > src/a.rs" })),
        ("mcp__box__run", json!({ "command": "rm src/a.rs" })),
        ("mcp__box__apply", json!({ "patch": diff })),
        ("mcp__box__change", json!({ "diff": patch })),
        ("mcp__box__apply_patch", json!({ "input": patch })),
        ("mcp__box__save", json!({ "directory": "src", "file": "a.rs" })),
        ("mcp__box__save", json!({ "cwd": "src", "path": "a.rs" })),
        ("mcp__box__save", json!({ "root": "src", "name": "a.rs" })),
        ("Bash", json!({ "command": "rm $PWD/src/a.rs" })),
        ("Bash", json!({ "command": format!("echo {} ; rm src/a.rs", "x".repeat(300_000)) })),
    ] {
        let no = yard.judge("claude", Some(tool), &input);
        assert!(no.is_some(), "{tool} {}", &input.to_string()[..80.min(input.to_string().len())]);
    }
    let free = json!({ "cmd": "echo x > src/c.rs" });
    assert_eq!(yard.judge("claude", Some("mcp__box__execute"), &free), None);
}

#[test]
fn a_call_under_a_name_that_is_not_known_is_judged() {
    let mut yard = Yard::new();
    let mut payload = payload("claude", Some("Write"), &json!({ "file_path": "src/a.rs" }), "/");
    payload["cwd"] = yard.place.repo.to_str().into();
    payload["hook_event_name"] = "PreToolUse2".into();
    let spoken =
        yard.wire.ask("guard", json!({ "client": "claude", "payload": payload })).expect("an answer");
    assert!(spoken["exit"] == 2 || spoken["stdout"].to_string().contains("deny"), "{spoken}");
}
