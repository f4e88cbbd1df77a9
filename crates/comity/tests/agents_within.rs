//! Agents inside agents: sub-agents of a program, and programs that an agent starts, are agents of their own.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

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

#[test]
fn a_client_that_a_client_starts_is_an_agent_of_its_own() {
    let place = Place::new();
    let test = "a_client_that_a_client_starts_is_an_agent_of_its_own";
    let patch = "*** Begin Patch\n*** Add File: src/below.rs\n+// codex\n*** End Patch\n";
    let start = format!(". '{}'", place.dir().join("codex.sh").display());
    let main = vec![write(&place, "src/above.rs", "// claude\n"), bash(&start)];
    let below = vec![Call::new("apply_patch", patch)];
    let model = Model::of_several(vec![("BELOW-CLAUDE", below), ("", main)]);
    let Some(codex) = clients::codex(test, &place, &model, CODEX_PLAIN, "") else { return };
    clients::install(&place);
    clients::init(&place, "codex", &codex);
    let quoted =
        |word: &std::ffi::OsStr| format!("'{}'", word.to_str().expect("a text").replace('\'', r"'\''"));
    let variables: Vec<String> = codex
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, quoted(value?))))
        .collect();
    let mut words: Vec<String> =
        std::iter::once(codex.get_program()).chain(codex.get_args()).map(quoted).collect();
    words.pop();
    let line = format!("env {} {} 'BELOW-CLAUDE' </dev/null\n", variables.join(" "), words.join(" "));
    clients::write(&place.dir().join("codex.sh"), &line);
    let Some(ran) = claude(test, &place, &model) else { return };
    let own = |name: &str, above: Option<&str>| (name.to_owned(), above.map(str::to_owned));
    let families = families(&place);
    assert_eq!(families, [own("claude", None), own("codex", Some("claude"))], "{ran:?} {:?}", model.told());
    assert_eq!(holders(&place, "src/above.rs"), ["claude"]);
    assert_eq!(holders(&place, "src/below.rs"), ["codex"]);
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
    let mut log = place.follow_on();
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| claude(test, &place, &model));
        if std::env::var_os("COMITY_CLIENTS_DIR").is_some() {
            while log.until_action("agent_joined")["details"]["profile"]["name"] != "claude" {}
            place.json(&["mode", "claude", "full"]);
            clients::write(&ready, "");
        }
        running.join().expect("it ran")
    });
    let Some(ran) = ran else { return };
    let asked = place.log_of("permission_asked");
    let [asked] = &asked[..] else { panic!("{asked:?} {ran:?} {:?}", model.told()) };
    let joined = place.log_of("agent_joined");
    let id = |name: &str| {
        let is_it = |entry: &&Value| entry["details"]["profile"]["name"] == name;
        joined.iter().find(is_it).expect("joined")["details"]["agent"].clone()
    };
    assert_eq!(asked["details"]["asker"], id("claude.general-purpose"));
    assert_eq!(asked["details"]["to"], id("claude"), "{asked}");
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
