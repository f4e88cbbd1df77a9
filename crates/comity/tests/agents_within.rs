//! Agents inside agents: sub-agents of a program, and programs that an agent starts, are agents of their own.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use support::clients::{self, CODEX_PLAIN};
use support::model::{Call, Model};
use support::{BINARY, Place, Ran};

fn write(place: &Place, file: &str, content: &str) -> Call {
    Call::new("Write", json!({ "file_path": place.repo.join(file), "content": content }))
}

fn bash(command: &str) -> Call {
    Call::new("Bash", json!({ "command": command, "description": "x" }))
}

fn comity(words: &str) -> String {
    format!("COMITY='{BINARY}'; $COMITY {words}")
}

fn sub_agent(prompt: &str) -> Call {
    Call::new("Agent", json!({ "description": "x", "prompt": prompt, "subagent_type": "general-purpose" }))
}

/// Claude Code, set up as its user would.
fn claude(test: &str, place: &Place, model: &Model) -> Option<Ran> {
    let claude = clients::claude(test, place, model)?;
    if !place.dir().join("bin").exists() {
        clients::install(place);
    }
    clients::init(place, "claude", &claude);
    Some(clients::run(place, claude))
}

/// The name of each agent that joined, and of the one above it.
fn families(place: &Place) -> Vec<(String, Option<String>)> {
    let joined = place.log_of("agent_joined");
    let name_of = |id: &Value| {
        let found = joined.iter().find(|entry| entry["details"]["agent"] == *id);
        found.map(|entry| entry["details"]["profile"]["name"].as_str().expect("a name").to_owned())
    };
    let family = |entry: &Value| {
        let profile = &entry["details"]["profile"];
        (profile["name"].as_str().expect("a name").to_owned(), name_of(&profile["parent"]))
    };
    // Those of `comity init` tried the guard.
    joined.iter().map(family).filter(|(name, _)| !name.starts_with("canary")).collect()
}

/// Who got a lock on a path, by name, in order.
fn holders(place: &Place, path: &str) -> Vec<String> {
    let joined = place.log_of("agent_joined");
    let acquired =
        place.log_of("lock_acquired").into_iter().filter(|entry| entry["details"]["pattern"] == path);
    let name_of = |entry: Value| {
        let found = joined.iter().find(|joined| joined["details"]["agent"] == entry["details"]["holder"]);
        found.expect("known")["details"]["profile"]["name"].as_str().expect("a name").to_owned()
    };
    acquired.map(name_of).collect()
}

#[test]
fn two_sub_agents_do_not_overwrite_each_other() {
    let place = Place::new();
    let model = Model::of_several(vec![
        ("FIRST-WORKER", vec![write(&place, "src/shared.rs", "// first\n")]),
        ("SECOND-WORKER", vec![write(&place, "src/shared.rs", "// second\n")]),
        ("", vec![sub_agent("FIRST-WORKER"), sub_agent("SECOND-WORKER")]),
    ]);
    let test = "two_sub_agents_do_not_overwrite_each_other";
    let Some(ran) = claude(test, &place, &model) else { return };
    let known = families(&place);
    let below = |name: &str| (name.to_owned(), Some("claude".to_owned()));
    let own = ("claude".to_owned(), None);
    let kinds = [own, below("claude.general-purpose"), below("claude.general-purpose-2")];
    assert_eq!(known, kinds, "{ran:?}");
    let refused: Vec<&str> = ["FIRST-WORKER", "SECOND-WORKER"]
        .into_iter()
        .filter(|word| {
            let asked = Value::from(model.asked_with(word)).to_string();
            asked.contains("src/shared.rs is locked by claude")
                || asked.contains("its files are being looked at")
        })
        .collect();
    let [refused] = &refused[..] else { panic!("refused: {refused:?}; {ran:?}") };
    let kept = if *refused == "FIRST-WORKER" { "// second\n" } else { "// first\n" };
    let content = std::fs::read_to_string(place.repo.join("src/shared.rs")).expect("written");
    assert_eq!(content, kept, "the second write was refused");
    assert_eq!(holders(&place, "src/shared.rs").len(), 1);
}

#[test]
fn what_a_sub_agent_does_is_its_own() {
    let place = Place::new();
    let lock = |path: &str| Call::new("mcp__comity__lock", json!({ "paths": [path] }));
    let worker = [
        bash(&comity("lock src/by-command.rs && $COMITY mail send claude -m letter-to-the-main-agent")),
        lock("src/by-tool.rs"),
        write(&place, "src/by-write.rs", "// worker\n"),
    ];
    let main = [
        sub_agent("THE-WORKER"),
        bash(&comity(
            "whoami; until test -e src/by-write.rs; do sleep 0.05; done; $COMITY lock src/main-by-command.rs",
        )),
        lock("src/main-by-tool.rs"),
    ];
    let model = Model::of_several(vec![("THE-WORKER", worker.into()), ("", main.into())]);
    let test = "what_a_sub_agent_does_is_its_own";
    let Some(ran) = claude(test, &place, &model) else { return };
    for path in ["src/by-command.rs", "src/by-tool.rs", "src/by-write.rs"] {
        assert_eq!(holders(&place, path), ["claude.general-purpose"], "{path}: {ran:?}");
    }
    for path in ["src/main-by-command.rs", "src/main-by-tool.rs"] {
        assert_eq!(holders(&place, path), ["claude"], "{path}: {ran:?}");
    }
    let is_told = |asked: Vec<Value>| Value::from(asked).to_string().contains("Comity has mail for you");
    assert!(!is_told(model.asked_with("THE-WORKER")), "a letter is for whom it was sent to");
    let told = Value::from(model.asked_with("")).to_string();
    assert!(told.contains("Comity has mail for you") && told.contains("letter-to-the-main-agent"), "{told}");
    // Its work is its program's agent's again, once it is done.
    let given = place.log_of("lock_handed_over");
    assert!(given.iter().any(|entry| entry["details"]["path"] == "src/by-write.rs"), "{given:?}");
}

/// A line for a shell that starts a client as it is set up here, with another prompt.
fn start_line(place: &Place, file: &str, client: &Command, prompt: &str) -> String {
    let quoted = |word: &OsStr| format!("'{}'", word.to_str().expect("a text").replace('\'', r"'\''"));
    let variables: Vec<String> = client
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, quoted(value?))))
        .collect();
    let words: Vec<String> = std::iter::once(client.get_program())
        .chain(client.get_args())
        .map(|word| if word == "go on" { format!("'{prompt}'") } else { quoted(word) })
        .collect();
    let line = format!("env {} {} </dev/null\n", variables.join(" "), words.join(" "));
    let script = place.dir().join(file);
    clients::write(&script, &line);
    format!(". '{}'", script.display())
}

fn codex_below(test: &str, place: &Place, model: &Model) -> Option<String> {
    let codex = clients::codex(test, place, model, CODEX_PLAIN, "")?;
    clients::install(place);
    clients::init(place, "codex", &codex);
    Some(start_line(place, "codex.sh", &codex, "BELOW-CLAUDE"))
}

fn add_file(file: &str) -> Call {
    Call::new("apply_patch", format!("*** Begin Patch\n*** Add File: {file}\n+// codex\n*** End Patch\n"))
}

#[test]
fn a_client_that_a_client_starts_is_an_agent_of_its_own() {
    let place = Place::new();
    let test = "a_client_that_a_client_starts_is_an_agent_of_its_own";
    let told = place.dir().join("told");
    let until_told = format!("until test -e '{}'; do sleep 0.05; done", told.display());
    let write_to_claude =
        comity(&format!("whoami; {until_told}; $COMITY mail send claude -m letter-for-claude"));
    let below = vec![
        Call::new("exec_command", json!({ "cmd": write_to_claude })),
        add_file("src/above.rs"),
        add_file("src/below.rs"),
    ];
    let start = format!(". '{}'", place.dir().join("codex.sh").display());
    let is_there = "until $COMITY agent list --json | grep -q '\"codex\"'; do sleep 0.1; done";
    let write_to_codex = format!(
        "{start} >/dev/null 2>&1 & {}; touch '{}'; wait",
        comity(&format!("whoami; {is_there}; $COMITY mail send codex -m letter-for-codex")),
        told.display()
    );
    let main = vec![write(&place, "src/above.rs", "// claude\n"), bash(&write_to_codex)];
    let model = Model::of_several(vec![("BELOW-CLAUDE", below), ("", main)]);
    if codex_below(test, &place, &model).is_none() {
        return;
    }
    let Some(ran) = claude(test, &place, &model) else { return };
    let own = |name: &str, above: Option<&str>| (name.to_owned(), above.map(str::to_owned));
    let families = families(&place);
    assert_eq!(families, [own("claude", None), own("codex", Some("claude"))], "{ran:?} {:?}", model.told());
    let below = Value::from(model.asked_with("BELOW-CLAUDE")).to_string();
    assert!(below.contains("src/above.rs is locked by claude"), "the second write is refused: {below}");
    let content = std::fs::read_to_string(place.repo.join("src/above.rs")).expect("written");
    assert_eq!(
        (content.as_str(), holders(&place, "src/above.rs")),
        ("// claude\n", vec!["claude".to_owned()])
    );
    assert_eq!(holders(&place, "src/below.rs"), ["codex"]);
    let mail = "Comity has mail for you";
    assert!(below.contains(mail) && below.contains("letter-for-codex"), "{below}");
    let main = model
        .asked_with("")
        .into_iter()
        .map(|body| body.to_string())
        .filter(|body| !body.contains("BELOW-CLAUDE"));
    let main: Vec<String> = main.collect();
    assert!(main.iter().any(|asked| asked.contains(mail) && asked.contains("letter-for-claude")), "{main:?}");
}

#[test]
fn two_clients_that_a_client_starts_do_not_overwrite_each_other() {
    let place = Place::new();
    let test = "two_clients_that_a_client_starts_do_not_overwrite_each_other";
    let done = place.dir().join("done");
    let until = |file: &Path| format!("until test -e '{}'; do sleep 0.05; done", file.display());
    let shared = place.repo.join("src/shared.rs");
    // The first is at work still when the second tries.
    let first = vec![write(&place, "src/shared.rs", "// first\n"), bash(&until(&done))];
    let second = vec![
        bash(&until(&shared)),
        write(&place, "src/shared.rs", "// second\n"),
        bash(&format!("touch '{}'", done.display())),
    ];
    let starts = ["first.sh", "second.sh"]
        .map(|file| format!("(. '{}') >/dev/null 2>&1", place.dir().join(file).display()));
    let main = vec![bash(&format!("{} & {} & wait", starts[0], starts[1]))];
    let model = Model::of_several(vec![("FIRST-BELOW", first), ("SECOND-BELOW", second), ("", main)]);
    let Some(below) = clients::claude(test, &place, &model) else { return };
    for (file, prompt) in [("first.sh", "FIRST-BELOW"), ("second.sh", "SECOND-BELOW")] {
        start_line(&place, file, &below, prompt);
    }
    let Some(ran) = claude(test, &place, &model) else { return };
    let mut known = families(&place);
    known.sort();
    let own = |name: &str, above: Option<&str>| (name.to_owned(), above.map(str::to_owned));
    let two = [own("claude", None), own("claude-2", Some("claude")), own("claude-3", Some("claude"))];
    assert_eq!(known, two, "{ran:?} {:?}", model.told());
    let refused = Value::from(model.asked_with("SECOND-BELOW")).to_string();
    assert!(refused.contains("src/shared.rs is locked by claude-"), "the second write is refused: {refused}");
    assert_eq!(std::fs::read_to_string(&shared).expect("written"), "// first\n", "{ran:?}");
}

#[test]
fn a_client_below_is_one_agent_though_it_inherits_the_token_of_the_one_above() {
    let place = Place::new();
    let test = "a_client_below_is_one_agent_though_it_inherits_the_token_of_the_one_above";
    let ann = place.join(&["ann"]);
    let lock = Call::new("mcp__comity__lock", json!({ "paths": ["src/by-tool.rs"] }));
    let below = vec![write(&place, "src/by-write.rs", "// below\n"), lock];
    let start = format!(". '{}' >/dev/null 2>&1", place.dir().join("below.sh").display());
    let main = vec![write(&place, "src/above.rs", "// above\n"), bash(&start)];
    let model = Model::of_several(vec![("BELOW-ANN", below), ("", main)]);
    let Some(mut above) = clients::claude(test, &place, &model) else { return };
    start_line(&place, "below.sh", &above, "BELOW-ANN");
    clients::install(&place);
    clients::init(&place, "claude", &above);
    above.env("COMITY_TOKEN", &ann.token);
    let ran = clients::run(&place, above);
    let own = |name: &str, above: Option<&str>| (name.to_owned(), above.map(str::to_owned));
    let families = families(&place);
    assert_eq!(families, [own("ann", None), own("claude", Some("ann"))], "{ran:?} {:?}", model.told());
    assert_eq!(holders(&place, "src/above.rs"), ["ann"]);
    for path in ["src/by-write.rs", "src/by-tool.rs"] {
        assert_eq!(holders(&place, path), ["claude"], "{path}: {ran:?} {:?}", model.told());
    }
}

#[test]
fn a_request_of_a_client_waits_for_the_agent_that_started_it() {
    let place = Place::new();
    place.set("[guard]\npermissions = true\n");
    let test = "a_request_of_a_client_waits_for_the_agent_that_started_it";
    let below = vec![Call::new("exec_command", json!({ "cmd": "touch src/allowed.rs" }))];
    let ready = place.dir().join("ready");
    let asked = "until $COMITY permissions list --json | grep -q touch; do sleep 0.1; done";
    let start = format!(". '{}' >/dev/null 2>&1", place.dir().join("codex.sh").display());
    let allow = comity(&format!("whoami; {start} & {asked}; $COMITY permissions allow 1; wait"));
    // Nothing is allowed before the main agent may do what it allows.
    let main = vec![bash(&format!("until test -e '{}'; do sleep 0.05; done", ready.display())), bash(&allow)];
    let model = Model::of_several(vec![("BELOW-CLAUDE", below), ("", main)]);
    if codex_below(test, &place, &model).is_none() {
        return;
    }
    let Some(ran) = claude_with_full_rights(test, &place, &model, &ready) else { return };
    let asked = place.log_of("permission_asked");
    let [asked] = &asked[..] else { panic!("{asked:?} {ran:?} {:?}", model.told()) };
    assert_eq!(asked["details"]["asker"], id_of(&place, "codex"));
    assert_eq!(asked["details"]["to"], id_of(&place, "claude"), "{asked}");
    assert!(place.repo.join("src/allowed.rs").exists(), "{ran:?} {:?}", model.told());
}

/// Runs Claude Code, which may do everything as soon as the file is there.
fn claude_with_full_rights(test: &str, place: &Place, model: &Model, ready: &Path) -> Option<Ran> {
    let mut log = place.follow_on();
    std::thread::scope(|scope| {
        let running = scope.spawn(|| claude(test, place, model));
        if std::env::var_os("COMITY_CLIENTS_DIR").is_some() {
            while log.until_action("agent_joined")["details"]["profile"]["name"] != "claude" {}
            place.json(&["mode", "claude", "full"]);
            clients::write(ready, "");
        }
        running.join().expect("it ran")
    })
}

fn id_of(place: &Place, name: &str) -> Value {
    let joined = place.log_of("agent_joined");
    let is_it = |entry: &&Value| entry["details"]["profile"]["name"] == name;
    joined.iter().find(is_it).expect("joined")["details"]["agent"].clone()
}

#[test]
fn a_request_of_a_sub_agent_waits_for_the_agent_that_started_it() {
    let place = Place::new();
    place.set("[guard]\npermissions = true\n");
    let worker = vec![bash("touch src/allowed.rs")];
    let asked = "until $COMITY permissions list --json | grep -q touch; do sleep 0.1; done";
    let allow = comity(&format!("whoami; {asked}; $COMITY permissions allow 1"));
    // Nothing is allowed before the main agent may do what it allows.
    let ready = place.dir().join("ready");
    let main = vec![
        bash(&format!("until test -e '{}'; do sleep 0.05; done", ready.display())),
        sub_agent("THE-WORKER"),
        bash(&allow),
    ];
    let model = Model::of_several(vec![("THE-WORKER", worker), ("", main)]);
    let test = "a_request_of_a_sub_agent_waits_for_the_agent_that_started_it";
    let Some(ran) = claude_with_full_rights(test, &place, &model, &ready) else { return };
    let asked = place.log_of("permission_asked");
    let [asked] = &asked[..] else { panic!("{asked:?} {ran:?} {:?}", model.told()) };
    assert_eq!(asked["details"]["asker"], id_of(&place, "claude.general-purpose"));
    assert_eq!(asked["details"]["to"], id_of(&place, "claude"), "{asked}");
    assert!(place.repo.join("src/allowed.rs").exists(), "{ran:?} {:?}", model.told());
}

#[test]
fn a_sub_agent_of_opencode_is_an_agent_of_its_own() {
    let place = Place::new();
    let write = |file: &str| {
        Call::new("write", json!({ "filePath": place.repo.join(file), "content": "// written\n" }))
    };
    let task = json!({ "description": "x", "prompt": "THE-WORKER", "subagent_type": "general" });
    let main = vec![Call::new("task", task), write("src/above.rs")];
    let model = Model::of_several(vec![("THE-WORKER", vec![write("src/below.rs")]), ("", main)]);
    let test = "a_sub_agent_of_opencode_is_an_agent_of_its_own";
    let Some(opencode) = clients::opencode(test, &place, &model, "") else { return };
    clients::install(&place);
    clients::init(&place, "opencode", &opencode);
    let ran = clients::run(&place, opencode);
    let own = |name: &str, above: Option<&str>| (name.to_owned(), above.map(str::to_owned));
    let below = own("opencode.agent", Some("opencode"));
    let families = families(&place);
    assert!(families.contains(&below), "{families:?} {ran:?} {:?}", model.told());
    assert_eq!(holders(&place, "src/below.rs"), ["opencode.agent"]);
    assert_eq!(holders(&place, "src/above.rs"), ["opencode"]);
}
