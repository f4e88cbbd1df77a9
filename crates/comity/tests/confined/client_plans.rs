//! Agents in plan mode in real agent programs, set up by `comity init`: their shells live with everything read-only.

use std::process::Command;

use serde_json::json;

use super::clients::{FREE, HIDDEN, READS, UNSEEN, copilot, copilots_bash, init};
use super::{place, ways};
use crate::support::Place;
use crate::support::clients::{self, CODEX_PLAIN};
use crate::support::model::{Call, Model};

/// The first shows how the shell starts. The others look, write where nobody sees it, into the private /tmp, and in plain words,
/// and go on in another directory.
const TRIED: [&str; 6] = [
    READS,
    "bash -c 'cat src/b.rs'",
    HIDDEN,
    "perl -e '$f = pack(\"H*\", \"2f746d702f6f776e\"); open(F, \">\", $f) || die \"$!\"; print F \"it is there\"; close F; exec \"cat\", $f'",
    FREE,
    "cd src && bash -c pwd",
];

fn check(call: impl Fn(&str) -> Call, ready: impl Fn(&Place, &Model) -> Option<Command>) {
    let (place, _bob) = place();
    let ann = place.join(&["ann"]);
    place.json(&["mode", "ann", "plan"]);
    let model = Model::start(TRIED.map(call).into());
    let Some(mut client) = ready(&place, &model) else { return };
    client.env("COMITY_TOKEN", &ann.token);
    let before = files(&place);
    let ran = clients::run(&place, client);
    let told = model.told();
    let [reads, looks, hidden, own, free, below] = &told[..] else { panic!("{told:?}: {ran:?}") };
    let repo = place.repo.to_str().expect("a text");
    assert!(reads.contains(repo) && !reads.contains(UNSEEN), "{reads}: {ran:?}");
    assert!(looks.contains("something()"), "{looks}: {ran:?}");
    assert!(hidden.contains("Read-only file system"), "{hidden}: {ran:?}");
    assert!(own.contains("it is there"), "the private /tmp: {own}: {ran:?}");
    assert!(!std::path::Path::new("/tmp/own").exists(), "it was private");
    assert!(free.contains("plan mode"), "{free}: {ran:?}");
    assert!(below.contains(&format!("{repo}/src")), "{below}: {ran:?}");
    // What the programs write for themselves after a command is not there for them: they do not stumble over that.
    for (line, said) in TRIED.iter().zip(&told) {
        let own_trouble =
            said.replace(&format!("{repo}/src/a.rs"), "").replace("src/a.rs: Read-only file system", "");
        assert!(*line == HIDDEN || !own_trouble.contains("Read-only file system"), "{line}: {said}");
        assert!(!said.contains("No such file"), "{line}: {said}");
    }
    assert!(ways::is_untouched(&place.repo));
    assert_eq!(files(&place), before, "nothing is new in the repository");
}

fn files(place: &Place) -> Vec<String> {
    let listed =
        place.program("git").args(["status", "--porcelain", "--ignored"]).output().expect("git runs");
    String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn who_plans_looks_in_claude_code() {
    let call = |line: &str| Call::new("Bash", json!({ "command": line, "description": "x" }));
    check(call, |place, model| {
        let mut claude = clients::claude("who_plans_looks_in_claude_code", place, model)?;
        init(place, "claude", &claude);
        claude.arg("--strict-mcp-config");
        Some(claude)
    });
}

#[test]
fn who_plans_looks_in_codex() {
    let call = |line: &str| Call::new("exec_command", json!({ "cmd": line }));
    check(call, |place, model| {
        let mut codex = clients::codex("who_plans_looks_in_codex", place, model, CODEX_PLAIN, "")?;
        init(place, "codex", &codex);
        codex.env("SHELL", "/bin/bash");
        Some(codex)
    });
}

#[test]
fn who_plans_looks_in_gemini_cli() {
    let call = |line: &str| Call::new("run_shell_command", json!({ "command": line, "description": "x" }));
    check(call, |place, model| {
        let gemini = clients::gemini("who_plans_looks_in_gemini_cli", place, model, json!({}))?;
        init(place, "gemini", &gemini);
        Some(gemini)
    });
}

#[test]
fn who_plans_looks_in_opencode() {
    let call = |line: &str| Call::new("bash", json!({ "command": line, "description": "x" }));
    check(call, |place, model| {
        let mut opencode = clients::opencode("who_plans_looks_in_opencode", place, model, "")?;
        init(place, "opencode", &opencode);
        opencode.env("SHELL", "/bin/bash");
        Some(opencode)
    });
}

#[test]
fn who_plans_looks_in_copilot_cli() {
    check(copilots_bash, |place, model| {
        let mut copilot = copilot("who_plans_looks_in_copilot_cli", place, model)?;
        copilot.arg("--bash-env=on");
        Some(copilot)
    });
}
