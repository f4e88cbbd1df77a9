//! A guard is called proven only if its program was seen to run it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::clients;
use crate::{User, client};

#[test]
fn a_program_that_switches_hooks_off_elsewhere_is_not_called_proven() {
    let user = User::new();
    user.write("repo/.claude/settings.local.json", "{\"disableAllHooks\": true}\n");
    let done = user.init(&["--json"]).document();
    let claude = client(&done, "claude");
    assert!(claude["proven"] == false && claude["connected"] == true && done["ok"] == true, "{claude}");
    assert!(
        claude["problem"].as_str().is_some_and(|why| why.contains("settings.local.json switches")),
        "{claude}"
    );
    let doctor = user.doctor();
    let found = doctor.out.lines().find(|line| line.contains("agent programs")).expect("a finding");
    assert!(
        found.starts_with("BAD") && found.contains("NOT ACTIVE: claude: disableAllHooks in"),
        "{doctor:?}"
    );
}

#[test]
fn variables_that_lead_past_comity_are_named() {
    let user = User::new();
    for name in ["COMITY_HOME", "CLAUDE_CODE_SHELL_PREFIX"] {
        let settings = json!({ "env": { "OTHER": "1", name: "/tmp/mine" } });
        user.write("repo/.claude/settings.local.json", &settings.to_string());
        let done = user.init(&["--client", "claude", "--json"]).document();
        let claude = client(&done, "claude");
        let said = format!("{name} in ");
        assert!(claude["problem"].as_str().is_some_and(|why| why.contains(&said)), "{name}: {claude}");
        let doctor = user.doctor();
        assert!(doctor.out.contains(&format!("NOT ACTIVE: claude: {said}")), "{doctor:?}");
    }
    user.write("repo/.claude/settings.local.json", "{\"env\": {\"OTHER\": \"1\"}}\n");
    let doctor = user.doctor();
    assert!(!doctor.out.contains("NOT ACTIVE: claude"), "{doctor:?}");
}

#[test]
fn codex_is_proven_once_its_user_trusts_the_hooks() {
    let test = "codex_is_proven_once_its_user_trusts_the_hooks";
    let Some(codex) = clients::codex_alone(test) else { return };
    let user = User::new();
    std::os::unix::fs::symlink(&codex, user.file("clients/codex")).expect("linked");
    let init = || user.init(&["--client", "codex", "--json"]).json();
    let done = init();
    let found = client(&done, "codex");
    assert!(found["connected"] == true && found["proven"] == false, "{found}");
    assert!(found["problem"].as_str().is_some_and(|why| why.contains("trust Comity's in /hooks")), "{found}");
    // What /hooks writes, in Codex's own words.
    let mut settings = user.text(".codex/config.toml");
    for hook in codex_hooks(&user, &codex) {
        let (key, hash) =
            (hook["key"].as_str().expect("a key"), hook["currentHash"].as_str().expect("a hash"));
        settings.push_str(&format!("\n[hooks.state.{key:?}]\ntrusted_hash = {hash:?}\n"));
    }
    user.write(".codex/config.toml", &settings);
    let done = init();
    assert_eq!(client(&done, "codex")["proven"], true, "{done}");
    // A hook that was changed has to be trusted again.
    let hooks = user.text(".codex/hooks.json").replace("\"timeout\": 10", "\"timeout\": 9");
    user.write(".codex/hooks.json", &hooks);
    let done = init();
    assert_eq!(client(&done, "codex")["proven"], true, "init wrote what was trusted: {done}");
    user.write(".codex/config.toml", &settings.replace("sha256:", "sha256:0"));
    let doctor = user.doctor();
    assert!(
        doctor.out.contains("NOT ACTIVE: codex: Codex runs hooks only once you trust them"),
        "{doctor:?}"
    );
}

/// The hooks that Codex finds.
fn codex_hooks(user: &User, codex: &Path) -> Vec<Value> {
    let mut command = user.place.program(codex);
    command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let asked = [
        json!({ "id": 0, "method": "initialize", "params": { "clientInfo": { "name": "test", "version": "0" } } }),
        json!({ "method": "initialized" }),
        json!({ "id": 1, "method": "hooks/list", "params": { "cwds": [user.place.repo] } }),
    ];
    asked.iter().for_each(|line| writeln!(stdin, "{line}").expect("written"));
    let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.expect("text")).expect("JSON"));
    let answer = lines.find(|line| line["id"] == 1).expect("an answer");
    drop(stdin);
    child.wait().expect("an end");
    answer["result"]["data"][0]["hooks"].as_array().expect("hooks").clone()
}

#[test]
fn the_doctor_says_what_a_program_cannot_do() {
    let user = User::new();
    user.write_program("clients/gemini", "#!/bin/sh\nexit 1\n");
    user.write_program("clients/opencode", "#!/bin/sh\nexit 1\n");
    assert_eq!(user.init(&[]).code, 0);
    let shared = user.doctor().out;
    assert!(shared.contains("codex (one agent with all its windows)"), "{shared}");
    let config = user.text(".codex/config.toml");
    user.write(".codex/config.toml", &format!("{config}\n[features]\ndaemon_auto_start = false\n"));
    let doctor = user.doctor();
    let found = doctor.out.lines().find(|line| line.contains("agent programs")).expect("a finding");
    for (name, limits) in [
        ("claude", ""),
        ("codex", ""),
        ("gemini", " (one agent with all its sub-agents, not woken while it is idle)"),
        ("opencode", " (not woken while it is idle)"),
    ] {
        let is_said =
            found.contains(&format!("{name}{limits}, ")) || found.ends_with(&format!("{name}{limits}"));
        assert!(is_said, "{name}{limits}: {found}");
    }
}
