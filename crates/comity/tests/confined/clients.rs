//! Real agent programs, set up by `comity init`, with a scripted model.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{place, ways};
use crate::support::Place;
use crate::support::clients::{self, CODEX_PLAIN, codex_home};
use crate::support::model::{Call, Model};

/// A write that no reader of the command sees, one that the user's own rule forbids, and one that is free.
const HIDDEN: &str = "python3 -c 'open(bytes.fromhex(\"7372632f612e7273\"), \"w\").write(\"more\")'";
const FORBIDDEN: &str = "touch forbidden.txt";
const FREE: &str = "echo free >free.txt && cat free.txt && exit 5";

/// Sets a client up as its user would.
fn init(place: &Place, name: &str, client: &Command) {
    clients::install(place);
    let ran = clients::init(place, name, client);
    assert!(ran.out.contains("confined what others hold is read-only"), "{ran:?}");
}

/// Runs the three commands in a client, and checks what each of them came to.
fn check(place: &Place, model: &Model, client: Command) {
    let ran = clients::run(place, client);
    let told = model.told();
    let [hidden, forbidden, free] = &told[..] else { panic!("{told:?}: {ran:?}") };
    assert!(ways::is_untouched(&place.repo), "{hidden}: {ran:?}");
    assert!(hidden.contains("Read-only file system"), "{hidden}: {ran:?}");
    assert!(!place.repo.join("forbidden.txt").exists(), "the user's own rule still matches: {forbidden}");
    assert_eq!(
        fs::read_to_string(place.repo.join("free.txt")).ok().as_deref(),
        Some("free\n"),
        "{free}: {ran:?}"
    );
    assert!(free.contains("free"), "{free}");
    let history = model.history();
    for command in [HIDDEN, FORBIDDEN, FREE] {
        let text = Value::from(command).to_string();
        // As JSON, or as JSON in a text of JSON.
        let is_kept =
            [text.trim_matches('"'), Value::from(text.as_str()).to_string().trim_matches(['"', '\\'])]
                .iter()
                .any(|text| history.contains(text));
        assert!(is_kept, "{command} is in the history as it was: {history}");
    }
    assert!(!history.contains("comity-confine"), "nobody sees us: {history}");
    assert!(history.contains("src/a.rs is locked by bob"), "it is told who holds it: {history}");
}

fn calls(call: impl Fn(&str) -> Call) -> Model {
    Model::start([HIDDEN, FORBIDDEN, FREE].map(call).into())
}

#[test]
fn claude_code_is_confined() {
    let (place, _bob) = place();
    let model = calls(|line| Call::new("Bash", json!({ "command": line, "description": "x" })));
    let Some(mut claude) = clients::claude("claude_code_is_confined", &place, &model) else { return };
    let rules = json!({ "permissions": { "deny": ["Bash(touch:*)"] } });
    clients::write(&place.dir().join("claude/settings.json"), &rules.to_string());
    init(&place, "claude", &claude);
    claude.arg("--strict-mcp-config");
    check(&place, &model, claude);
}

#[test]
fn codex_is_confined() {
    let (place, _bob) = place();
    let model = calls(|line| Call::new("exec_command", json!({ "cmd": line })));
    let Some(mut codex) = clients::codex("codex_is_confined", &place, &model, CODEX_PLAIN, "") else {
        return;
    };
    let rule = "prefix_rule(pattern = [\"touch\"], decision = \"forbidden\")\n";
    clients::write(&codex_home(&place).join("rules/default.rules"), rule);
    init(&place, "codex", &codex);
    codex.env("SHELL", "/bin/bash");
    check(&place, &model, codex);
}

#[test]
fn gemini_cli_is_confined() {
    let (place, _bob) = place();
    let model = calls(|line| Call::new("run_shell_command", json!({ "command": line, "description": "x" })));
    let Some(gemini) = clients::gemini("gemini_cli_is_confined", &place, &model, json!({})) else { return };
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch\"\ndecision = \"deny\"\npriority = 900\n";
    clients::write(&place.dir().join(".gemini/policies/own.toml"), rule);
    init(&place, "gemini", &gemini);
    check(&place, &model, gemini);
}

#[test]
fn opencode_is_confined() {
    let (place, _bob) = place();
    let model = calls(|line| Call::new("bash", json!({ "command": line, "description": "x" })));
    let Some(mut opencode) = clients::opencode("opencode_is_confined", &place, &model, "") else { return };
    let config = place.dir().join(".config/opencode/opencode.json");
    let mut settings: Value =
        serde_json::from_str(&fs::read_to_string(&config).expect("text")).expect("JSON");
    settings["permission"] = json!({ "bash": { "*": "allow", "touch *": "deny" } });
    clients::write(&config, &settings.to_string());
    init(&place, "opencode", &opencode);
    opencode.env("SHELL", "/bin/bash");
    check(&place, &model, opencode);
}

#[test]
fn copilot_cli_is_confined() {
    let (place, _bob) = place();
    let model = calls(|line| Call::new("bash", json!({ "command": line, "description": "x" })));
    let Some(mut copilot) = clients::copilot("copilot_cli_is_confined", &place, &model) else { return };
    clients::install(&place);
    clients::init(&place, "copilot", &copilot);
    // What `comity init` asks its user to do by hand.
    copilot.args(["--bash-env=on", "--deny-tool", "shell(touch)"]);
    copilot.env("BASH_ENV", place.home.join("comity-confine.sh"));
    check(&place, &model, copilot);
}

/// Tries a part of all ways, as one session has only so much time.
fn check_ways(part: usize) {
    let (place, _bob) = place();
    let bash = |line: String| Call::new("Bash", json!({ "command": line, "description": "x" }));
    let all = ways::ways(&place.repo);
    let each = all.len().div_ceil(PARTS);
    let calls: Vec<Call> = all.into_iter().skip(part * each).take(each).map(bash).collect();
    let count = calls.len();
    let model = Model::start(calls);
    let Some(mut claude) = clients::claude("no_way_gets_through_claude_code", &place, &model) else { return };
    init(&place, "claude", &claude);
    claude.arg("--strict-mcp-config");
    let ran = clients::run(&place, claude);
    assert!(ways::is_untouched(&place.repo), "{:?}", model.told());
    assert_eq!(model.told().len(), count, "all were tried: {ran:?}");
}

/// How many sessions try all ways together.
const PARTS: usize = 4;

#[test]
fn no_way_gets_through_claude_code_1() {
    check_ways(0);
}

#[test]
fn no_way_gets_through_claude_code_2() {
    check_ways(1);
}

#[test]
fn no_way_gets_through_claude_code_3() {
    check_ways(2);
}

#[test]
fn no_way_gets_through_claude_code_4() {
    check_ways(3);
}
