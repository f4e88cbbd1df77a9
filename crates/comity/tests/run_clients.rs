//! Real agent programs that Comity starts have its tools and its guard, and nothing of their user's files changes.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::clients;
use support::model::{Call, Model};
use support::{Place, eventually};

const WRITTEN: &str = "// written by an agent\n";

/// A client, and what the model calls in it: a tool of ours, a file that is bob's, and one that is nobody's.
struct Case {
    name: &'static str,
    mode: &'static str,
    set_up: fn(&str, &Place, &Model) -> Option<Command>,
    /// How many of the arguments of that command belong to the program.
    own_arguments: usize,
    calls: fn(&Place) -> Vec<Call>,
    /// Where its user's settings are.
    settings: &'static str,
}

fn file(place: &Place, name: &str) -> String {
    place.repo.join(name).to_str().expect("a text").to_owned()
}

fn lock() -> Value {
    json!({ "paths": ["src/c.rs"], "reason": "because" })
}

/// The client at its work, started as an agent, and what its user's settings were before.
struct Started {
    place: Place,
    model: Model,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

fn start(test: &str, case: &Case) -> Option<Started> {
    let place = Place::new();
    let bob = place.join(&["bob"]);
    place.json_as(&bob, &["lock", "src/a.rs", "--reason", "fixing login", "--ttl", "30m"]);
    place.json(&["down"]);
    let model = Model::start((case.calls)(&place));
    let client = (case.set_up)(test, &place, &model)?;
    place.set(&format!("[roles.maker]\nprompt = \"You make things.\"\nmode = \"{}\"\n", case.mode));
    let bin = clients::put_on_path(&place, case.name, &client, case.own_arguments);
    let before = contents(&place.dir().join(case.settings));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let up = place.comity(&["up"]).env("PATH", path).output().expect("up");
    assert!(up.status.success(), "{up:?}");
    place.json(&["spawn", "maker", "--name", "ann", "--agent", case.name, "--prompt", "go on"]);
    Some(Started { place, model, before })
}

fn check(test: &str, case: &Case) {
    let Some(Started { place, model, before }) = start(test, case) else { return };
    eventually_or(&place, "it has done all three", || model.told().len() >= 3);

    let told = model.told();
    let [locked, denied, written] = &told[..] else { panic!("{told:?}") };
    assert!(locked.contains("locked src/c.rs (fence "), "{locked}");
    assert!(denied.contains("is locked by bob") || denied.contains("is being edited by bob"), "{denied}");
    assert!(!written.contains("locked"), "{written}");
    assert_eq!(std::fs::read_to_string(file(&place, "src/a.rs")).expect("a file"), "fn main() {}\n");
    assert_eq!(std::fs::read_to_string(file(&place, "src/free.rs")).expect("a file").trim(), WRITTEN.trim());
    // It is one agent, and what it locked is its own.
    let joined = place.log_of("agent_joined");
    let names: Vec<&Value> = joined.iter().map(|entry| &entry["details"]["profile"]["name"]).collect();
    assert_eq!(names, ["bob", "ann"]);
    for entry in &place.log_of("lock_acquired")[1..] {
        assert_eq!(entry["details"]["holder"], joined[1]["details"]["agent"], "{entry}");
    }
    // What it does is known, and what it has used where it writes that down.
    let activity = place.json(&["runs"])["runs"][0]["activity"].clone();
    assert!(activity["last_tool"].is_string(), "{activity}");
    let tells = matches!(case.name, "claude" | "codex");
    assert_eq!(activity["input_tokens"].as_u64().is_some_and(|tokens| tokens > 0), tells, "{activity}");
    assert_eq!(place.json(&["show", "ann"])["used"]["last_tool"], activity["last_tool"]);
    place.json(&["stop", "ann", "--force"]);
    eventually("it has ended", || place.json(&["agents"])["agents"].as_array().map(Vec::len) == Some(1));
    for (file, text) in before {
        let now = std::fs::read(&file).unwrap_or_default();
        let is_ours = String::from_utf8_lossy(&now).contains("comity");
        assert!(!is_ours || now == text, "{} was changed: {}", file.display(), String::from_utf8_lossy(&now));
    }
    let now: Vec<PathBuf> = contents(&place.dir().join(case.settings)).into_keys().collect();
    let hooks = now.iter().filter(|file| file.ends_with("hooks.json") || file.ends_with("comity.json"));
    assert_eq!(hooks.count(), 0, "{now:?}");
    assert_eq!(
        std::fs::read_dir(place.home.join("runs")).expect("a directory").flatten().count(),
        left(&place)
    );
}

/// What is left below `runs`: the socket, and no directory of an agent.
fn left(place: &Place) -> usize {
    let entries = std::fs::read_dir(place.home.join("runs")).expect("a directory").flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir())).count()
}

/// Fails with what its terminal shows.
fn eventually_or(place: &Place, what: &str, is_so: impl FnMut() -> bool) {
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        support::eventually_within(support::PATIENCE * 2, what, is_so);
    }));
    assert!(done.is_ok(), "{what}: {}", place.run(&["logs", "ann"]).out);
}

/// All files below a directory.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all.extend(contents(&entry.path())),
            Ok(kind) if kind.is_file() => {
                all.insert(entry.path(), std::fs::read(entry.path()).unwrap_or_default());
            }
            Ok(_) | Err(_) => {}
        }
    }
    all
}

fn claude() -> Case {
    Case {
        name: "claude",
        mode: "accept-edits",
        set_up: clients::claude_at_a_terminal,
        own_arguments: 0,
        calls: |place| {
            let write =
                |name| Call::new("Write", json!({ "file_path": file(place, name), "content": WRITTEN }));
            vec![Call::new("mcp__comity__lock", lock()), write("src/a.rs"), write("src/free.rs")]
        },
        settings: "claude",
    }
}

#[test]
fn claude_code_is_started_with_tools_and_guard() {
    check("claude_code_is_started_with_tools_and_guard", &claude());
}

#[test]
fn claude_code_goes_on_with_its_session_when_it_crashed() {
    let test = "claude_code_goes_on_with_its_session_when_it_crashed";
    let Some(Started { place, model, .. }) = start(test, &claude()) else { return };
    eventually_or(&place, "it has done all three", || model.told().len() >= 3);
    assert!(model.asked_with("Comity restarted you").is_empty());
    let runs = place.json(&["runs"]);
    let pid = u32::try_from(runs["runs"][0]["pid"].as_u64().expect("a process")).expect("a number");
    support::kill(pid, rustix::process::Signal::KILL);
    eventually_or(&place, "it goes on", || !model.asked_with("Comity restarted you").is_empty());
    let asked = model.asked_with("Comity restarted you");
    let history = asked[0].to_string();
    assert!(history.contains("locked src/c.rs (fence "), "it knows what it did before: {history}");
    place.json(&["stop", "ann", "--force"]);
}

#[test]
fn codex_is_started_with_tools_and_guard() {
    let case = Case {
        name: "codex",
        mode: "full",
        set_up: clients::codex_at_a_terminal,
        own_arguments: 0,
        calls: |_| {
            let text = WRITTEN.trim();
            let change = format!(
                "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-fn main() {{}}\n+{text}\n*** End Patch\n"
            );
            let add = format!("*** Begin Patch\n*** Add File: src/free.rs\n+{text}\n*** End Patch\n");
            let patches = [change, add].map(|patch| Call::new("apply_patch", patch));
            // It lets models search for the tools of servers; a command is the same agent's.
            let lock = json!({ "cmd": format!("{} lock src/c.rs --reason because", support::BINARY) });
            std::iter::once(Call::new("exec_command", lock)).chain(patches).collect()
        },
        settings: "codex",
    };
    check("codex_is_started_with_tools_and_guard", &case);
}

#[test]
fn gemini_cli_is_started_with_tools_and_guard() {
    let case = Case {
        name: "gemini",
        mode: "accept-edits",
        set_up: clients::gemini_at_a_terminal,
        own_arguments: 4,
        calls: |place| {
            let write =
                |name| Call::new("write_file", json!({ "file_path": file(place, name), "content": WRITTEN }));
            vec![Call::new("mcp_comity_lock", lock()), write("src/a.rs"), write("src/free.rs")]
        },
        settings: ".gemini",
    };
    check("gemini_cli_is_started_with_tools_and_guard", &case);
}

#[test]
fn opencode_is_started_with_tools_and_guard() {
    let case = Case {
        name: "opencode",
        mode: "accept-edits",
        set_up: clients::opencode_at_a_terminal,
        own_arguments: 0,
        calls: |place| {
            let write =
                |name| Call::new("write", json!({ "filePath": file(place, name), "content": WRITTEN }));
            vec![Call::new("comity_lock", lock()), write("src/a.rs"), write("src/free.rs")]
        },
        settings: ".config",
    };
    check("opencode_is_started_with_tools_and_guard", &case);
}

#[test]
fn copilot_cli_is_started_with_tools_and_guard() {
    let case = Case {
        name: "copilot",
        mode: "accept-edits",
        set_up: clients::copilot_at_a_terminal,
        own_arguments: 0,
        calls: |place| {
            let create =
                |name| Call::new("create", json!({ "path": file(place, name), "file_text": WRITTEN }));
            let edit =
                json!({ "path": file(place, "src/a.rs"), "old_str": "fn main() {}", "new_str": WRITTEN });
            vec![Call::new("comity-lock", lock()), Call::new("edit", edit), create("src/free.rs")]
        },
        settings: ".copilot",
    };
    check("copilot_cli_is_started_with_tools_and_guard", &case);
}
