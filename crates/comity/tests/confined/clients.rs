//! Real agent programs, set up by `comity init`, with a scripted model.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{place, place_with, ways};
use crate::support::clients::{self, CODEX_PLAIN, codex_home};
use crate::support::model::{Call, Model};
use crate::support::{Place, has_program, skip};

/// A write that no reader of the command sees, one that the user's own rule forbids, and one that is free. Where all has
/// to be confined, one that only reads comes first: it shows that the shell starts through us.
const HIDDEN: &str = "perl -e '$f = pack(\"H*\", \"7372632f612e7273\"); open(F, \">\", $f) || die \"$f: $!\"; print F \"more\"'";
const FORBIDDEN: &str = "touch forbidden.txt";
const READS: &str = "pwd";
const FREE: &str = "echo free >free.txt && cat free.txt && exit 5";

/// Why one is denied of whose shell nothing is known.
const UNSEEN: &str = "your commands were not seen to start through Comity";
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
fn init(place: &Place, name: &str, client: &Command) {
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

#[test]
fn a_server_in_claude_codes_background_serves_on_and_stays_confined() {
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
    let call = |line: &str, behind: bool| {
        let input = json!({ "command": line, "description": "x", "run_in_background": behind });
        Call::new("Bash", input)
    };
    let calls =
        [call("python3 server.py", true), call("python3 asks.py", false), call("python3 asks.py", false)];
    let model = Model::start(calls.into());
    let test = "a_server_in_claude_codes_background_serves_on_and_stays_confined";
    let Some(mut claude) = clients::claude(test, &place, &model) else { return };
    init(&place, "claude", &claude);
    claude.arg("--strict-mcp-config");
    let ran = clients::run(&place, claude);
    let told = model.told();
    assert!(told.len() >= 3, "{told:?}: {ran:?}");
    assert!(told[1].contains("one: Read-only file system"), "{told:?}: {ran:?}");
    assert!(told[2].contains("two: Read-only file system"), "{told:?}: {ran:?}");
    assert!(ways::is_untouched(&place.repo), "{told:?}");
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

/// The model may name another shell, which does not read the variable by which bash starts through us. Codex starts it
/// from a bash, as long as what that one reads first is there.
#[test]
fn another_shell_that_a_model_names_in_codex_is_confined() {
    let test = "another_shell_that_a_model_names_in_codex_is_confined";
    let (place, _bob) = place();
    let forget = "import os\nfor at, _, names in os.walk(os.environ['HOME'] + '/codex/shell_snapshots'):\n    for name in names: os.unlink(at + '/' + name)\n";
    fs::write(place.repo.join("forget.py"), forget).expect("written");
    let call =
        |(line, shell): (&str, &str)| Call::new("exec_command", json!({ "cmd": line, "shell": shell }));
    let tried = [
        (HIDDEN, "/bin/sh"),
        ("python3 forget.py; rm -f ~/codex/shell_snapshots/*; mv ~/codex/shell_snapshots x", "/bin/bash"),
        (HIDDEN, "/bin/sh"),
        ("python3 forget.py", "/bin/bash"),
        (HIDDEN, "/usr/bin/zsh"),
    ];
    let model = Model::start(tried.map(call).into());
    let Some(codex) = clients::codex(test, &place, &model, CODEX_PLAIN, "") else { return };
    init(&place, "codex", &codex);
    let ran = clients::run(&place, codex);
    let told = model.told();
    assert_eq!(told.len(), tried.len(), "{told:?}: {ran:?}");
    assert!(ways::is_untouched(&place.repo), "{told:?}: {ran:?}");
    let is_read_only = |told: &String| told.contains("Read-only file system");
    assert!(is_read_only(&told[0]) && is_read_only(&told[2]), "{told:?}: {ran:?}");
}

/// Whose shell is zsh is not confined in Codex, and nobody takes it for that.
#[test]
fn codex_with_zsh_as_the_shell_is_not_confined_and_is_not_taken_for_it() {
    let test = "codex_with_zsh_as_the_shell_is_not_confined_and_is_not_taken_for_it";
    let apart = ["--user", "--map-root-user", "--mount"];
    let can_be_tried = has_program("zsh")
        && Command::new("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success());
    if !can_be_tried {
        return skip(test, "there is no zsh, or there are no user namespaces");
    }
    let is_zsh = "echo \"zsh ${ZSH_VERSION:+is it}\"";
    for policy in ["auto", "required"] {
        let (place, _bob) = place_with(&format!("[guard]\nconfine = \"{policy}\"\n"));
        let call = |line: &str| Call::new("exec_command", json!({ "cmd": line }));
        let model = Model::start([READS, is_zsh, "echo x >src/a.rs", HIDDEN, FREE].map(call).into());
        let Some(codex) = clients::codex(test, &place, &model, CODEX_PLAIN, "") else { return };
        init(&place, "codex", &codex);
        // Codex asks the system which shell its user has.
        let users = place.dir().join("passwd");
        fs::write(&users, "root:x:0:0:root:/root:/usr/bin/zsh\n").expect("written");
        let line = format!("mount --bind '{}' /etc/passwd && exec \"$@\"", users.display());
        let mut with_zsh = place.program("unshare");
        with_zsh.args(apart).args(["sh", "-c", &line, "sh"]).arg(codex.get_program()).args(codex.get_args());
        with_zsh.envs(codex.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ran = clients::run(&place, with_zsh);
        let told = model.told();
        let [reads, is_it, seen, hidden, free] = &told[..] else { panic!("{policy}: {told:?}: {ran:?}") };
        assert!(reads.contains(place.repo.to_str().expect("a text")), "{policy}: {reads}: {ran:?}");
        let is_free = policy == "auto";
        assert!(is_it.contains(if is_free { "zsh is it" } else { UNSEEN }), "{policy}: {is_it}: {ran:?}");
        assert!(seen.contains("src/a.rs is locked by bob") || seen.contains(UNSEEN), "{policy}: {seen}");
        assert_eq!(ways::is_untouched(&place.repo), !is_free, "the hook alone judges: {policy}: {hidden}");
        assert_eq!(place.repo.join("free.txt").exists(), is_free, "{policy}: {free}");
        assert_eq!([hidden, free].map(|told| told.contains(UNSEEN)), [!is_free; 2], "{policy}: {told:?}");
    }
}

/// Nothing can be asked and nothing mounted in there: commands are judged by the hook alone, and none runs that has to be
/// confined.
#[test]
fn codex_in_its_own_sandbox_is_not_confined_and_is_not_taken_for_it() {
    let script = "bash ./script.sh";
    for policy in ["auto", "required"] {
        let (place, _bob) = place_with(&format!("[guard]\nconfine = \"{policy}\"\n"));
        fs::write(place.repo.join("script.sh"), "echo the script ran\n").expect("written");
        let call = |line: &str| Call::new("exec_command", json!({ "cmd": line }));
        let model = Model::start([READS, script, HIDDEN, FREE].map(call).into());
        let test = "codex_in_its_own_sandbox_is_not_confined_and_is_not_taken_for_it";
        let Some(codex) = clients::codex(test, &place, &model, CODEX_PLAIN, "") else { return };
        init(&place, "codex", &codex);
        let mut sandboxed = place.program(codex.get_program());
        sandboxed.envs(codex.get_envs().filter_map(|(key, value)| Some((key, value?))));
        sandboxed.args(["exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write"]);
        sandboxed.args(["--dangerously-bypass-hook-trust", "go on"]);
        // Below the directory for temporary files it would not make the program that its sandbox runs.
        let temporary = place.dir().join("temporary");
        fs::create_dir_all(&temporary).expect("made");
        sandboxed.env("TMPDIR", temporary);
        let ran = clients::run(&place, sandboxed);
        let told = model.told();
        let [reads, script, hidden, free] = &told[..] else { panic!("{policy}: {told:?}: {ran:?}") };
        assert!(reads.contains(place.repo.to_str().expect("a text")), "{policy}: {reads}: {ran:?}");
        let is_free = policy == "auto";
        assert_eq!(script.contains("the script ran"), is_free, "{policy}: {script}");
        assert_eq!(ways::is_untouched(&place.repo), !is_free, "{policy}: {hidden}");
        assert_eq!(place.repo.join("free.txt").exists(), is_free, "{policy}: {free}");
        assert_eq!([script, hidden, free].map(|told| told.contains(UNSEEN)), [!is_free; 3], "{told:?}");
    }
}

/// Copilot CLI, set up but for what `comity init` asks its user to do by hand.
fn copilot(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut copilot = clients::copilot(test, place, model)?;
    clients::install(place);
    clients::init(place, "copilot", &copilot);
    copilot.env("BASH_ENV", place.home.join("comity-confine.sh"));
    Some(copilot)
}

fn copilots_bash(line: &str) -> Call {
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
