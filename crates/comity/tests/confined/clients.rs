//! Real agent programs, set up by `comity init`, with a scripted model.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{place, place_with, ways};
use crate::support::Place;
use crate::support::clients::{self, CODEX_PLAIN, codex_home};
use crate::support::model::{Call, Model};

/// A write that no reader of the command sees, one that the user's own rule forbids, and one that is free. Where all has
/// to be confined, one that only reads comes first: it shows that the shell starts through us.
pub(super) const HIDDEN: &str = "perl -e '$f = pack(\"H*\", \"7372632f612e7273\"); open(F, \">\", $f) || die \"$f: $!\"; print F \"more\"'";
const FORBIDDEN: &str = "touch forbidden.txt";
pub(super) const READS: &str = "pwd";
pub(super) const FREE: &str = "echo free >free.txt && cat free.txt && exit 5";

/// Why one is denied of whose shell nothing is known.
pub(super) const UNSEEN: &str = "your commands were not seen to start through Comity";
const TRIED: [&str; 5] = [FREE, READS, HIDDEN, FORBIDDEN, FREE];

/// Runs a client under each of the settings that confine, by what makes it ready where it is to run.
fn check(call: impl Fn(&str) -> Call, ready: impl Fn(&Place, &Model) -> Option<Command>) {
    for policy in ["auto", "required"] {
        let (place, _bob) = place_with(&format!("[guard]\nconfine = \"{policy}\"\n"));
        let model = Model::start(TRIED.map(&call).into());
        let Some(client) = ready(&place, &model) else { return };
        check_one(policy, &place, &model, client);
    }
}

/// Sets a client up as its user would.
pub(super) fn init(place: &Place, name: &str, client: &Command) {
    clients::install(place);
    let ran = clients::init(place, name, client);
    assert!(ran.out.contains("confined what others hold is read-only"), "{ran:?}");
}

/// Runs the commands in a client, and checks what each of them came to.
fn check_one(policy: &str, place: &Place, model: &Model, client: Command) {
    let ran = clients::run(place, client);
    let told = model.told();
    let [first, reads, hidden, forbidden, free] = &told[..] else { panic!("{policy}: {told:?}: {ran:?}") };
    let is_denied = first.contains(UNSEEN);
    assert_eq!(is_denied, policy == "required", "nothing is known yet: {first}: {ran:?}");
    assert!(reads.contains(place.repo.to_str().expect("a text")), "{policy}: {reads}: {ran:?}");
    assert!(ways::is_untouched(&place.repo), "{policy}: {hidden}: {ran:?}");
    assert!(hidden.contains("Read-only file system"), "{policy}: {hidden}: {ran:?}");
    let is_there = place.repo.join("forbidden.txt").exists();
    assert!(!is_there, "the user's own rule still matches: {policy}: {forbidden}");
    assert_eq!(
        fs::read_to_string(place.repo.join("free.txt")).ok().as_deref(),
        Some("free\n"),
        "{policy}: {free}: {ran:?}"
    );
    assert!(free.contains("free"), "{policy}: {free}");
    let is_told = ["code 5", "code: 5"].iter().any(|code| free.to_lowercase().contains(code));
    // OpenCode tells its model no codes.
    let is_opencode = place.dir().join(".config/opencode").exists();
    assert_eq!(is_told, !is_opencode, "the model learns how it ended: {policy}: {free}");
    let history = model.history();
    for command in TRIED {
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

#[test]
fn claude_code_is_confined() {
    let call = |line: &str| Call::new("Bash", json!({ "command": line, "description": "x" }));
    check(call, |place, model| {
        let mut claude = clients::claude("claude_code_is_confined", place, model)?;
        let rules = json!({ "permissions": { "deny": ["Bash(touch:*)"] } });
        clients::write(&place.dir().join("claude/settings.json"), &rules.to_string());
        // An agent can write this one: its commands do not pass for the program's own by it.
        let variables = json!({ "env": { "AI_AGENT": "x_harness" } });
        clients::write(&place.repo.join(".claude/settings.local.json"), &variables.to_string());
        init(place, "claude", &claude);
        claude.env("AI_AGENT", "x_harness");
        claude.arg("--strict-mcp-config");
        Some(claude)
    });
}

/// A server that goes on behind its command: it serves on, and is confined to its end.
fn check_server(
    behind: impl Fn(&str) -> Call,
    call: impl Fn(&str) -> Call,
    ready: impl Fn(&Place, &Model) -> Option<Command>,
) {
    let (place, _bob) = place();
    let server = "import os, socket
s = socket.socket(socket.AF_UNIX); s.bind('door'); s.listen()
open('ready', 'w').close()
for asked in ('one', 'two'):
    c, _ = s.accept()
    try: open('src/a.rs', 'w').write('more'); said = 'written'
    except OSError as error: said = error.strerror
    c.sendall((asked + ': ' + said).encode()); c.close()
";
    fs::write(place.repo.join("server.py"), server).expect("written");
    let asks = "import socket, time, os
while not os.path.exists('ready'): time.sleep(0.01)
s = socket.socket(socket.AF_UNIX); s.connect('door'); print(s.recv(100).decode())";
    fs::write(place.repo.join("asks.py"), asks).expect("written");
    let asks = || call("python3 asks.py");
    let model = Model::start(vec![behind("python3 server.py"), asks(), asks()]);
    let Some(client) = ready(&place, &model) else { return };
    let ran = clients::run(&place, client);
    let told = model.told();
    assert!(told.len() >= 3, "{told:?}: {ran:?}");
    assert!(told[1].contains("one: Read-only file system"), "{told:?}: {ran:?}");
    assert!(told[2].contains("two: Read-only file system"), "{told:?}: {ran:?}");
    assert!(ways::is_untouched(&place.repo), "{told:?}");
}

#[test]
fn a_server_in_claude_codes_background_serves_on_and_stays_confined() {
    let call = |line: &str| Call::new("Bash", json!({ "command": line, "description": "x" }));
    let behind = |line: &str| {
        Call::new("Bash", json!({ "command": line, "description": "x", "run_in_background": true }))
    };
    check_server(behind, call, |place, model| {
        let test = "a_server_in_claude_codes_background_serves_on_and_stays_confined";
        let mut claude = clients::claude(test, place, model)?;
        init(place, "claude", &claude);
        claude.arg("--strict-mcp-config");
        Some(claude)
    });
}

#[test]
fn a_server_in_a_session_of_codex_serves_on_and_stays_confined() {
    let call = |line: &str| Call::new("exec_command", json!({ "cmd": line }));
    // It goes on in a session of its own.
    let behind = |line: &str| Call::new("exec_command", json!({ "cmd": line, "yield_time_ms": 500 }));
    check_server(behind, call, |place, model| {
        let test = "a_server_in_a_session_of_codex_serves_on_and_stays_confined";
        let mut codex = clients::codex(test, place, model, CODEX_PLAIN, "")?;
        init(place, "codex", &codex);
        codex.env("SHELL", "/bin/bash");
        Some(codex)
    });
}

#[test]
fn a_server_behind_a_command_of_opencode_serves_on_and_stays_confined() {
    let call = |line: &str| Call::new("bash", json!({ "command": line, "description": "x" }));
    let behind = |line: &str| call(&format!("{line} >/dev/null 2>&1 &"));
    check_server(behind, call, |place, model| {
        let test = "a_server_behind_a_command_of_opencode_serves_on_and_stays_confined";
        let mut opencode = clients::opencode(test, place, model, "")?;
        init(place, "opencode", &opencode);
        opencode.env("SHELL", "/bin/bash");
        Some(opencode)
    });
}

#[test]
fn codex_is_confined() {
    let call = |line: &str| Call::new("exec_command", json!({ "cmd": line }));
    check(call, |place, model| {
        let mut codex = clients::codex("codex_is_confined", place, model, CODEX_PLAIN, "")?;
        let rule = "prefix_rule(pattern = [\"touch\"], decision = \"forbidden\")\n";
        clients::write(&codex_home(place).join("rules/default.rules"), rule);
        init(place, "codex", &codex);
        codex.env("SHELL", "/bin/bash");
        Some(codex)
    });
}

#[test]
fn gemini_cli_is_confined() {
    let call = |line: &str| Call::new("run_shell_command", json!({ "command": line, "description": "x" }));
    check(call, |place, model| {
        let gemini = clients::gemini("gemini_cli_is_confined", place, model, json!({}))?;
        let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"touch\"\ndecision = \"deny\"\npriority = 900\n";
        clients::write(&place.dir().join(".gemini/policies/own.toml"), rule);
        init(place, "gemini", &gemini);
        Some(gemini)
    });
}

#[test]
fn opencode_is_confined() {
    let call = |line: &str| Call::new("bash", json!({ "command": line, "description": "x" }));
    check(call, |place, model| {
        let mut opencode = clients::opencode("opencode_is_confined", place, model, "")?;
        let config = place.dir().join(".config/opencode/opencode.json");
        let mut settings: Value =
            serde_json::from_str(&fs::read_to_string(&config).expect("text")).expect("JSON");
        settings["permission"] = json!({ "bash": { "*": "allow", "touch *": "deny" } });
        clients::write(&config, &settings.to_string());
        init(place, "opencode", &opencode);
        opencode.env("SHELL", "/bin/bash");
        Some(opencode)
    });
}

/// Nothing can be asked and nothing mounted in there: commands are judged by the hook alone, and none runs that has to be
/// confined.
#[test]
fn codex_in_its_own_sandbox_is_not_confined_and_is_not_taken_for_it() {
    let test = "codex_in_its_own_sandbox_is_not_confined_and_is_not_taken_for_it";
    let script = "bash ./script.sh";
    for (policy, mode, denied) in [
        ("auto", "default", None),
        ("required", "default", Some(UNSEEN)),
        ("auto", "plan", Some("plan mode")),
    ] {
        let (place, _bob) = place_with(&format!("[guard]\nconfine = \"{policy}\"\n"));
        let ann = place.join(&["ann"]);
        if mode == "plan" {
            place.json(&["mode", "ann", mode]);
        }
        fs::write(place.repo.join("script.sh"), "echo the script ran\n").expect("written");
        let call = |line: &str| Call::new("exec_command", json!({ "cmd": line }));
        let model = Model::start([READS, script, HIDDEN, FREE].map(call).into());
        let Some(codex) = clients::codex(test, &place, &model, CODEX_PLAIN, "") else { return };
        init(&place, "codex", &codex);
        let mut sandboxed = place.program(codex.get_program());
        sandboxed.envs(codex.get_envs().filter_map(|(key, value)| Some((key, value?))));
        sandboxed.args(["exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write"]);
        sandboxed.args(["--dangerously-bypass-hook-trust", "go on"]);
        // Below the directory for temporary files it would not make the program that its sandbox runs.
        let temporary = place.dir().join("temporary");
        fs::create_dir_all(&temporary).expect("made");
        sandboxed.env("TMPDIR", temporary).env("COMITY_TOKEN", &ann.token);
        let ran = clients::run(&place, sandboxed);
        let told = model.told();
        let [reads, script, hidden, free] = &told[..] else { panic!("{policy}, {mode}: {told:?}: {ran:?}") };
        assert!(reads.contains(place.repo.to_str().expect("a text")), "{policy}, {mode}: {reads}: {ran:?}");
        let is_free = denied.is_none();
        assert_eq!(script.contains("the script ran"), is_free, "{policy}, {mode}: {script}");
        assert_eq!(ways::is_untouched(&place.repo), !is_free, "{policy}, {mode}: {hidden}");
        assert_eq!(place.repo.join("free.txt").exists(), is_free, "{policy}, {mode}: {free}");
        let why = denied.unwrap_or(UNSEEN);
        assert_eq!([script, hidden, free].map(|told| told.contains(why)), [!is_free; 3], "{told:?}");
    }
}

/// Copilot CLI, set up but for what `comity init` asks its user to do by hand.
pub(super) fn copilot(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut copilot = clients::copilot(test, place, model)?;
    clients::install(place);
    clients::init(place, "copilot", &copilot);
    copilot.env("BASH_ENV", place.home.join("comity-confine.sh"));
    Some(copilot)
}

pub(super) fn copilots_bash(line: &str) -> Call {
    Call::new("bash", json!({ "command": line, "description": "x" }))
}

#[test]
fn copilot_cli_is_confined() {
    check(copilots_bash, |place, model| {
        let mut copilot = copilot("copilot_cli_is_confined", place, model)?;
        copilot.args(["--bash-env=on", "--deny-tool", "shell(touch)"]);
        Some(copilot)
    });
}

/// What its environment says is not what it does: it starts bash without reading the variable.
#[test]
fn a_client_that_only_seems_to_be_set_up_is_not_believed() {
    let test = "a_client_that_only_seems_to_be_set_up_is_not_believed";
    for (policy, mode, why) in [
        ("required", "default", UNSEEN),
        ("auto", "plan", "you are in plan mode"),
        ("required", "plan", UNSEEN),
    ] {
        let (place, _bob) = place_with(&format!("[guard]\nconfine = \"{policy}\"\n"));
        let ann = place.join(&["ann"]);
        if mode == "plan" {
            place.json(&["mode", "ann", mode]);
        }
        let model = Model::start([READS, HIDDEN, FREE].map(copilots_bash).into());
        let Some(mut copilot) = copilot(test, &place, &model) else { return };
        copilot.env("COMITY_TOKEN", &ann.token);
        let ran = clients::run(&place, copilot);
        let told = model.told();
        let [reads, hidden, free] = &told[..] else { panic!("{told:?}: {ran:?}") };
        assert!(reads.contains(place.repo.to_str().expect("a text")), "what only reads may run: {told:?}");
        assert!(ways::is_untouched(&place.repo), "{policy}, {mode}: {hidden}");
        assert!(!place.repo.join("free.txt").exists(), "{policy}, {mode}: {free}");
        assert!(
            hidden.contains(why) && (free.contains(why) || free.contains("plan mode")),
            "{policy}, {mode}: {told:?}"
        );
    }
}

/// Tries a part of all ways, as one session has only so much time.
fn check_ways(part: usize) {
    let (place, _bob) = place();
    let bash = |line: String| Call::new("Bash", json!({ "command": line, "description": "x" }));
    let all = ways::lines();
    let each = all.len().div_ceil(PARTS);
    let ways: Vec<String> = all.into_iter().skip(part * each).take(each).collect();
    // Before each, everything else is as it was: what fails for want of another file shows nothing.
    let restore =
        |way: &String| format!("sh '{}' '{}'\n{way}", place.dir().join("restore").display(), ways::own(way));
    let model = Model::start(ways.iter().map(|way| bash(restore(way))).collect());
    let Some(mut claude) = clients::claude("no_way_gets_through_claude_code", &place, &model) else { return };
    init(&place, "claude", &claude);
    let first = place.dir().join("first");
    ways::restore(&place.repo, &first);
    let script = format!(
        "cd '{}' && rm -rf .git Cargo.toml scratch new src/b.rs src/*.bak && mkdir -p \"$1\" src || exit
         cp -a '{first}/.git' '{first}/Cargo.toml' . && cp '{first}/src/b.rs' src/b.rs && echo restored",
        place.repo.display(),
        first = first.display()
    );
    clients::write(&place.dir().join("restore"), &script);
    claude.arg("--strict-mcp-config");
    let ran = clients::run(&place, claude);
    assert!(ways::is_untouched(&place.repo), "{:?}", model.told());
    let told = model.told();
    assert_eq!(told.len(), ways.len(), "all were tried: {ran:?}");
    let restored = told.iter().filter(|told| told.contains("restored")).count();
    let denied = told.iter().filter(|told| told.contains("Comity refused this")).count();
    // What was not denied has run, and all that it needs was there.
    let neither = |told: &&String| !told.contains("restored") && !told.contains("Comity refused this");
    let left: Vec<&String> = told.iter().filter(neither).collect();
    assert!(restored > 0 && left.is_empty(), "{restored} and {denied}, but {left:?}");
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
