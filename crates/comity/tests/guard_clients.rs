//! Real agent programs, with a scripted model on loopback, are kept from writing what somebody else has locked.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use comity_guard::Dialect;
use comity_guard::connect::{ProgramPaths, SettingsKind, connect};
use std::process::Command;

use serde_json::{Value, json};
use support::clients::{self, CODEX_CODING, CODEX_PLAIN, codex_home};
use support::model::{Call, Model};
use support::{BINARY, HUMAN, Place, Ran};

const BEFORE: &str = "fn main() {}\n";
const WRITTEN: &str = "// written by an agent\n";
/// How long a client waits for the hook, in seconds.
const HOOK_WAIT: u32 = 20;

/// A place where bob has locked `src/a.rs`.
fn place() -> Place {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/a.rs", "--reason", "fixing login", "--ttl", "30m"]);
    place
}

/// The two files that a client writes: bob's, and one that is nobody's.
fn files(place: &Place) -> [String; 2] {
    ["src/a.rs", "src/free.rs"].map(|file| place.repo.join(file).to_str().expect("a text").to_owned())
}

/// The hooks before and after a tool call in the form that Claude Code and Codex share.
fn hooks(client: &str) -> Value {
    let hook = json!({
        "type": "command", "command": format!("'{BINARY}' hook {client}"), "timeout": HOOK_WAIT, "onFailure": "block",
    });
    let all = json!([{ "matcher": "*", "hooks": [hook] }]);
    json!({ "hooks": { "PreToolUse": all, "PostToolUse": all } })
}

/// Bob's file is untouched and the model knows whose it is; the free one is written, and was locked meanwhile.
///
/// What the model was told of its calls: all were to be denied, except for the last one.
fn check(place: &Place, told: &[String], ran: &Ran, name: &str) {
    let Some((written, denied)) = told.split_last() else { panic!("{name} was told nothing: {ran:?}") };
    let is_denied = |told: &String| told.contains("src/a.rs is locked by bob");
    assert!(!denied.is_empty() && denied.iter().all(is_denied), "{name} was told {denied:?}: {ran:?}");
    assert!(!written.contains("locked"), "{name} was told {written}: {ran:?}");
    assert_eq!(content(place, "src/a.rs").as_deref(), Some(BEFORE));
    assert_eq!(content(place, "src/free.rs").as_deref(), Some(WRITTEN), "{told:?}: {ran:?}");

    let joined = place.log_of("agent_joined");
    let [_bob, joined] = &joined[..] else { panic!("{joined:?}") };
    assert_eq!(joined["details"]["profile"]["name"], name);
    let agent = &joined["details"]["agent"];
    let acquired = place.log_of("lock_acquired");
    let [_bob, acquired] = &acquired[..] else { panic!("{acquired:?}") };
    assert_eq!(&acquired["details"]["holder"], agent);
    assert_eq!(acquired["details"]["pattern"], "src/free.rs", "{acquired}");
    assert_eq!(acquired["details"]["reason"], "locked automatically on write");
    let ended = place.follow().until_action("agent_terminated");
    assert_eq!(&ended["details"]["agent"], agent, "{ended}");
    let at = [joined, acquired, &ended].map(|entry| entry["seq"].as_u64().expect("a number"));
    assert!(at.is_sorted(), "it was locked while the agent was there: {at:?}");
}

fn content(place: &Place, file: &str) -> Option<String> {
    std::fs::read_to_string(place.repo.join(file)).ok()
}

fn claude(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut claude = clients::claude(test, place, model)?;
    let settings = place.dir().join("claude/settings.json");
    clients::write(&settings, &hooks("claude").to_string());
    claude.arg("--strict-mcp-config");
    Some(claude)
}

#[test]
fn claude_code_cannot_write_a_locked_file() {
    let place = place();
    let write = |file| Call::new("Write", json!({ "file_path": file, "content": WRITTEN }));
    let model = Model::start(files(&place).map(write).into());
    let Some(claude) = claude("claude_code_cannot_write_a_locked_file", &place, &model) else { return };
    let ran = clients::run(&place, claude);
    check(&place, &model.told(), &ran, "claude");
}

/// What Claude Code is told of its commands.
fn commands(place: &Place, commands: &[&str], test: &str) -> Option<(Vec<String>, Ran)> {
    let bash = |command: &&str| Call::new("Bash", json!({ "command": command, "description": "writes" }));
    let model = Model::start(commands.iter().map(bash).collect());
    let ran = clients::run(place, claude(test, place, &model)?);
    Some((model.told(), ran))
}

#[test]
fn claude_code_cannot_change_a_locked_file_by_a_command() {
    let place = place();
    let write = format!("printf '%s' '{WRITTEN}' >src/free.rs");
    let lines =
        ["sed -i s/main/other/ src/a.rs", "echo more >>src/a.rs", "cd src && echo more | tee a.rs", &write];
    let test = "claude_code_cannot_change_a_locked_file_by_a_command";
    let Some((told, ran)) = commands(&place, &lines, test) else { return };
    assert_eq!(told.len(), lines.len());
    check(&place, &told, &ran, "claude");
}

#[test]
fn claude_code_is_judged_where_its_shell_is() {
    let place = place();
    let write = format!("printf '%s' '{WRITTEN}' >free.rs");
    let test = "claude_code_is_judged_where_its_shell_is";
    let Some((told, ran)) = commands(&place, &["cd src", "echo more >>a.rs", &write], test) else { return };
    check(&place, told.get(1..).unwrap_or_default(), &ran, "claude");
}

#[test]
fn claude_code_writes_nothing_while_the_server_cannot_be_asked() {
    let place = place();
    let write = |file| Call::new("Write", json!({ "file_path": file, "content": WRITTEN }));
    let model = Model::start(files(&place).map(write).into());
    let test = "claude_code_writes_nothing_while_the_server_cannot_be_asked";
    let Some(mut claude) = claude(test, &place, &model) else { return };
    // A file is where the state directory would be: no server answers there, and none can be started.
    let nowhere = place.dir().join("nowhere");
    clients::write(&nowhere, "");
    claude.env("COMITY_HOME", &nowhere);
    let ran = clients::run(&place, claude);
    let told = model.told();
    let is_blocked = |told: &String| told.contains("Comity could not judge this call, so it is blocked");
    assert!(told.len() == 2 && told.iter().all(is_blocked), "it was told {told:?}: {ran:?}");
    assert_eq!(content(&place, "src/a.rs").as_deref(), Some(BEFORE));
    assert_eq!(content(&place, "src/free.rs"), None);
}

fn codex(test: &str, place: &Place, model: &Model, called: &str) -> Option<Command> {
    let codex = clients::codex(test, place, model, called, "")?;
    clients::write(&codex_home(place).join("hooks.json"), &hooks("codex").to_string());
    Some(codex)
}

/// Patches that change bob's file and add one that is nobody's.
fn patches() -> [String; 2] {
    let (before, written) = (BEFORE.trim(), WRITTEN.trim());
    [
        format!("*** Begin Patch\n*** Update File: src/a.rs\n@@\n-{before}\n+{written}\n*** End Patch\n"),
        format!("*** Begin Patch\n*** Add File: src/free.rs\n+{written}\n*** End Patch\n"),
    ]
}

#[test]
fn codex_cannot_patch_a_locked_file() {
    let place = place();
    let model = Model::start(patches().map(|patch| Call::new("apply_patch", patch)).into());
    let Some(codex) = codex("codex_cannot_patch_a_locked_file", &place, &model, CODEX_PLAIN) else { return };
    let ran = clients::run(&place, codex);
    check(&place, &model.told(), &ran, "codex");
}

#[test]
fn codex_cannot_patch_a_locked_file_by_a_command() {
    let place = place();
    let shell = |patch: String| {
        let command = format!("apply_patch <<'EOF'\n{patch}EOF\n");
        Call::new("exec_command", json!({ "cmd": command }))
    };
    let model = Model::start(patches().map(shell).into());
    let test = "codex_cannot_patch_a_locked_file_by_a_command";
    let Some(codex) = codex(test, &place, &model, CODEX_PLAIN) else { return };
    let ran = clients::run(&place, codex);
    check(&place, &model.told(), &ran, "codex");
}

#[test]
fn codex_cannot_patch_a_locked_file_by_a_program() {
    let place = place();
    let program =
        |patch: String| Call::new("exec", format!("text(await tools.apply_patch({}));", json!(patch)));
    let model = Model::start(patches().map(program).into());
    let test = "codex_cannot_patch_a_locked_file_by_a_program";
    let Some(codex) = codex(test, &place, &model, CODEX_CODING) else { return };
    let ran = clients::run(&place, codex);
    check(&place, &model.told(), &ran, "codex");
}

#[test]
fn codex_cannot_change_a_locked_file_from_another_directory() {
    let place = place();
    let shell = |command: String| Call::new("exec_command", json!({ "cmd": command, "workdir": "src" }));
    let calls = [shell("echo more >>a.rs".into()), shell(format!("printf '%s' '{WRITTEN}' >free.rs"))];
    let model = Model::start(calls.into());
    let test = "codex_cannot_change_a_locked_file_from_another_directory";
    let Some(codex) = codex(test, &place, &model, CODEX_PLAIN) else { return };
    let ran = clients::run(&place, codex);
    check(&place, &model.told(), &ran, "codex");
}

#[test]
fn gemini_cli_cannot_write_a_locked_file() {
    let place = place();
    let write = |file| Call::new("write_file", json!({ "file_path": file, "content": WRITTEN }));
    let model = Model::start(files(&place).map(write).into());
    let hook = json!({
        "type": "command", "command": format!("'{BINARY}' hook gemini"), "timeout": HOOK_WAIT * 1_000,
    });
    let all = json!([{ "matcher": "*", "hooks": [hook] }]);
    let settings = json!({ "hooks": { "BeforeTool": all, "AfterTool": all } });
    let test = "gemini_cli_cannot_write_a_locked_file";
    let Some(gemini) = clients::gemini(test, &place, &model, settings) else { return };
    let ran = clients::run(&place, gemini);
    check(&place, &model.told(), &ran, "gemini");
}

#[test]
fn opencode_cannot_write_a_locked_file() {
    let place = place();
    let write = |file| Call::new("write", json!({ "filePath": file, "content": WRITTEN }));
    let model = Model::start(files(&place).map(write).into());
    // The plugin as `comity init` writes it; the hook is found by its name.
    let hook = place.dir().join("comity-hook");
    clients::write(&hook, &format!("#!/bin/sh\nexec '{BINARY}' hook \"$@\"\n"));
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("executable");
    let text = |path: &std::path::Path| path.to_str().expect("a text").to_owned();
    let bash_env = text(&place.home.join("comity-confine.sh"));
    let connection = ProgramPaths { hook: text(&hook), comity: BINARY.into(), bash_env, home: None };
    let plugin = connect(Dialect::OpenCode, SettingsKind::Plugin, None, &connection).expect("a plugin");
    let test = "opencode_cannot_write_a_locked_file";
    let Some(opencode) = clients::opencode(test, &place, &model, &plugin) else { return };
    let ran = clients::run(&place, opencode);
    check(&place, &model.told(), &ran, "opencode");
}

/// What `comity init` connects asks before it reads, too: the log and others' letters are no agent's.
#[test]
fn claude_code_reads_nothing_of_the_state_directory() {
    let test = "claude_code_reads_nothing_of_the_state_directory";
    let place = place();
    clients::install(&place);
    let letter = place.json(&["mail", "spool", "carl", "--message", "open sesame"]);
    let spooled = place.home.join("teams/default/inboxes/carl.json");
    assert!(std::fs::read_to_string(&spooled).is_ok_and(|text| text.contains("sesame")), "{letter}");
    let text = |path: &std::path::Path| path.to_str().expect("a text").to_owned();
    let model = Model::start(vec![
        Call::new("Read", json!({ "file_path": text(&spooled) })),
        Call::new("Read", json!({ "file_path": text(&place.home.join("secret")) })),
        Call::new("Read", json!({ "file_path": text(&place.repo.join("src/a.rs")) })),
    ]);
    let Some(mut claude) = clients::claude(test, &place, &model) else { return };
    clients::init(&place, "claude", &claude);
    claude.arg("--strict-mcp-config");
    let ran = clients::run(&place, claude);
    let told = model.told();
    let [denied @ .., read] = &told[..] else { panic!("it was told nothing: {ran:?}") };
    assert_eq!(denied.len(), 2, "{told:?}");
    for told in denied {
        assert!(!told.contains("sesame") && told.contains("no agent"), "{told}: {ran:?}");
    }
    assert!(read.contains("fn main"), "bob's file may be read: {read}");
}

#[test]
fn claude_code_obeys_what_is_checked_in_only_where_comity_is_installed() {
    let test = "claude_code_obeys_what_is_checked_in_only_where_comity_is_installed";
    for has_comity in [true, false] {
        let place = place();
        clients::install(&place);
        let bin = place.dir().join("bin");
        let mut init = place.program(bin.join("comity"));
        init.args(["init", "--scope", "project", "--client", "claude"]).env("COMITY_TOKEN", HUMAN);
        assert!(init.status().expect("it runs").success());
        let [held, free] = files(&place);
        let line = format!("printf '{}' >'{held}'", WRITTEN.replace('\n', "\\n"));
        let model = Model::start(vec![
            Call::new("Bash", json!({ "command": line, "description": "x" })),
            Call::new("Write", json!({ "file_path": free, "content": WRITTEN })),
        ]);
        let Some(mut claude) = clients::claude(test, &place, &model) else { return };
        claude.arg("--strict-mcp-config");
        if has_comity {
            let path = std::env::var("PATH").unwrap_or_default();
            claude.env("PATH", format!("{}:{path}", bin.display()));
        }
        let ran = clients::run(&place, claude);
        if has_comity {
            check(&place, &model.told(), &ran, "claude");
        } else {
            for file in ["src/a.rs", "src/free.rs"] {
                assert_eq!(content(&place, file).as_deref(), Some(WRITTEN), "{:?}: {ran:?}", model.told());
            }
            assert_eq!(place.log_of("agent_joined").len(), 1, "nothing asks: {ran:?}");
        }
    }
}
