//! The plugin for OpenCode, run by a real JavaScript engine against stand-ins for the hook program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use comity_guard::Dialect::OpenCode;
use comity_guard::connect::{Connected, ProgramPaths, SettingsKind, connect, disconnect, is_connected};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::{connection, moved};

/// Calls both events as OpenCode does, and prints what came of it.
const CALLS: &str = r#"
const hooks = await Comity({ directory: "/srv/project" });
const input = { tool: "write", sessionID: "s1", callID: "c1" };
const args = { filePath: "a.rs", content: "x".repeat(300000) };
for (const [event, given, output] of [
  ["tool.execute.before", input, { args }],
  ["tool.execute.after", { ...input, args }, { title: "", output: "written", metadata: {} }],
]) {
  try {
    await hooks[event](given, output);
    console.log(`${event}: passed${output.output ? ` with ${JSON.stringify(output.output)}` : ""}`);
  } catch (error) {
    console.log(`${event}: ${error instanceof Error ? error.message : "no error object"}`);
  }
}
"#;

fn plugin(folder: &Path) -> String {
    let hook = folder.join("comity-hook").to_str().expect("a plain path").to_owned();
    connect(OpenCode, SettingsKind::Plugin, None, &ProgramPaths { hook, ..connection() }).expect("connected")
}

/// Whether node is here; without it a test says that it was skipped, and the summary of a run counts that.
fn has_node() -> bool {
    let has_node = Command::new("node").arg("--version").output().is_ok();
    if !has_node {
        comity_skip::skip("the plugin of OpenCode", "node is not installed");
    }
    has_node
}

/// Runs the plugin with a hook program of these lines; without any there is no program.
fn check(script: Option<&str>, expect: Expect) {
    check_changed(script, |text| text, expect);
}

fn check_changed(script: Option<&str>, change: impl Fn(String) -> String, expect: Expect) {
    if !has_node() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    if let Some(script) = script {
        let hook = folder.path().join("comity-hook");
        fs::write(&hook, format!("#!/bin/sh\ncd '{}'\n{script}\n", folder.path().display()))
            .expect("written");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("made a program");
    }
    let module = format!("{}{CALLS}", change(plugin(folder.path())));
    let file = folder.path().join("run.mjs");
    fs::write(&file, module).expect("written");
    let ran = Command::new("node").arg(&file).output().expect("node runs");
    let said = String::from_utf8_lossy(&ran.stdout).replace(folder.path().to_str().expect("plain"), "DIR");
    expect.assert_eq(&format!("{said}{}", String::from_utf8_lossy(&ran.stderr)));
}

#[test]
fn exit_code_0_lets_it_pass() {
    check(
        Some("cat >/dev/null"),
        expect![[r#"
        tool.execute.before: passed
        tool.execute.after: passed with "written"
    "#]],
    );
    // Whoever does not read everything has answered all the same.
    check(
        Some("exit 0"),
        expect![[r#"
        tool.execute.before: passed
        tool.execute.after: passed with "written"
    "#]],
    );
}

#[test]
fn exit_code_2_refuses_with_the_reason() {
    check(
        Some("cat >/dev/null; echo 'a.rs is locked by ann' >&2; exit 2"),
        expect![[r#"
        tool.execute.before: a.rs is locked by ann
        tool.execute.after: passed with "written"
    "#]],
    );
    check(
        Some("exit 2"),
        expect![[r#"
        tool.execute.before: refused by Comity
        tool.execute.after: passed with "written"
    "#]],
    );
}

#[test]
fn a_hook_that_is_missing_or_broken_lets_nothing_pass() {
    check(
        None,
        expect![[r#"
        tool.execute.before: Comity's hook can't be run (spawn DIR/comity-hook ENOENT), so this was not allowed; see: comity doctor
        tool.execute.after: passed with "written"
    "#]],
    );
    check(
        Some("exit 101"),
        expect![[r#"
        tool.execute.before: Comity's hook failed (exit code 101), so this was not allowed; see: comity doctor
        tool.execute.after: passed with "written"
    "#]],
    );
    check(
        Some("kill -9 $$"),
        expect![[r#"
        tool.execute.before: Comity's hook failed (SIGKILL), so this was not allowed; see: comity doctor
        tool.execute.after: passed with "written"
    "#]],
    );
}

#[test]
fn a_hook_that_takes_too_long_lets_nothing_pass() {
    let sooner = |text: String| {
        let changed = text.replace("ANSWER_MS_MAX = 10000;", "ANSWER_MS_MAX = 100;");
        assert_ne!(changed, text);
        changed
    };
    check_changed(
        Some("exec tail -f /dev/null"),
        sooner,
        expect![[r#"
        tool.execute.before: Comity's hook took longer than 100 ms, so this was not allowed; see: comity doctor
        tool.execute.after: passed with "written"
    "#]],
    );
}

#[test]
fn what_the_hook_tells_the_model_is_put_behind_the_output() {
    check(
        Some("cat >/dev/null; echo '{\"context\":\"bob waits for a.rs\"}'"),
        expect![[r#"
        tool.execute.before: passed
        tool.execute.after: passed with "written\n\nbob waits for a.rs"
    "#]],
    );
}

#[test]
fn the_hook_is_told_everything() {
    if !has_node() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let hook = folder.path().join("comity-hook");
    let told = folder.path().join("told");
    fs::write(&hook, format!("#!/bin/sh\necho \"$@\" >>'{0}'\ncat >>'{0}'\necho >>'{0}'\n", told.display()))
        .expect("written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("made a program");
    let module = format!("{}{CALLS}", plugin(folder.path()));
    let ran =
        Command::new("node").args(["--input-type=module", "--eval", &module]).output().expect("node runs");
    assert!(ran.status.success(), "{ran:?}");
    let told = fs::read_to_string(told).expect("told");
    let lines: Vec<&str> = told.lines().collect();
    let [first, before, second, after] = lines[..] else { panic!("{lines:?}") };
    assert_eq!((first, second), ("opencode", "opencode"));
    for (line, event) in [(before, "tool.execute.before"), (after, "tool.execute.after")] {
        let call: Value = serde_json::from_str(line).expect("JSON");
        let args = json!({ "filePath": "a.rs", "content": "x".repeat(300_000) });
        let mut expected = json!({ "event": event, "session": "s1", "call": "c1", "tool": "write", "args": args,
            "cwd": "/srv/project" });
        if event == "tool.execute.after" {
            expected["said"] = "written".into();
            expected["shows"] = true.into();
        }
        assert_eq!(call, expected);
    }
}

#[test]
fn the_plugin_is_known_as_ours() {
    let text = connect(OpenCode, SettingsKind::Plugin, None, &connection()).expect("connected");
    assert_eq!(is_connected(OpenCode, SettingsKind::Plugin, &text, &connection()), Connected::Yes);
    assert_eq!(is_connected(OpenCode, SettingsKind::Plugin, &text, &moved()), Connected::Otherwise);
    let again = connect(OpenCode, SettingsKind::Plugin, Some(&text), &moved()).expect("connected");
    assert_eq!(is_connected(OpenCode, SettingsKind::Plugin, &again, &moved()), Connected::Yes);
    assert_eq!(disconnect(OpenCode, SettingsKind::Plugin, &text), Ok(None));
    let theirs = "export const Mine = async () => ({});\n";
    assert_eq!(disconnect(OpenCode, SettingsKind::Plugin, theirs), Ok(Some(theirs.to_owned())));
}
