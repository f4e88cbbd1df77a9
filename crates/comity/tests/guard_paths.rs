//! However a tool spells a path, and whatever the tool is called: what somebody else has locked is not written to.

#[path = "guard_paths/servers.rs"]
mod servers;
#[path = "guard_paths/strangers.rs"]
mod strangers;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use support::wire::{No, Wire};
use support::{Agent, Place};

const CLIENTS: [&str; 6] = ["claude", "codex", "gemini", "copilot", "cursor", "opencode"];

/// A repository in which ann has locked `src/a.rs`, the directory `deep` and a glob; bob has nothing, and asks.
struct Yard {
    place: Place,
    wire: Wire,
    ann: Agent,
}

impl Yard {
    fn new() -> Yard {
        let place = Place::new();
        let at = |path: &str| place.repo.join(path);
        std::fs::create_dir_all(at("deep/er")).expect("made");
        for file in ["deep/er/d.rs", "src/g1.txt"] {
            std::fs::write(at(file), "x\n").expect("written");
        }
        symlink("src", at("sources")).expect("linked");
        symlink("src/a.rs", at("link.rs")).expect("linked");
        symlink("/proc/self/cwd/src", at("magic")).expect("linked");
        std::fs::hard_link(at("src/a.rs"), at("twin.rs")).expect("linked");
        std::fs::hard_link(at("src/a.rs"), place.dir().join("outside.rs")).expect("linked");
        std::fs::hard_link(at("deep/er/d.rs"), at("src/deep-twin.rs")).expect("linked");
        std::fs::hard_link(at("src/g1.txt"), place.dir().join("glob-twin.txt")).expect("linked");
        std::fs::hard_link(at("src/b.rs"), at("free-twin.rs")).expect("linked");
        let (ann, bob) = (place.join(&["ann"]), place.join(&["bob"]));
        place.json_as(&ann, &["lock", "src/a.rs", "deep/", "src/g*.txt"]);
        let wire = Wire::connect(&place).asking_as(&bob);
        Yard { place, wire, ann }
    }

    /// What a client is told about a call: the reason of a no.
    fn judge(&mut self, client: &str, tool: Option<&str>, input: &Value) -> Option<String> {
        let payload = payload(client, tool, input, self.place.repo.to_str().expect("a text"));
        let spoken = match self.wire.ask("guard", json!({ "client": client, "payload": payload })) {
            Ok(spoken) => spoken,
            Err(No::Refused(error)) => return Some(error["message"].to_string()),
            Err(No::Broken(error)) => panic!("{error}"),
        };
        let said = format!("{}{}", spoken["stdout"].as_str().unwrap_or_default(), spoken["stderr"]);
        let is_no = spoken["exit"] != 0 || said.contains("deny");
        is_no.then_some(said)
    }

    /// Gives back what bob was given meanwhile.
    fn tidy(&mut self) {
        let _ = self.wire.ask("unlock", json!({ "all": true }));
    }

    fn denied(&mut self, client: &str, tool: &str, input: &Value) {
        let no = self.judge(client, Some(tool), input);
        assert!(no.is_some(), "{client} {tool} {input} was let pass");
        self.tidy();
    }

    fn passes(&mut self, client: &str, tool: &str, input: &Value) {
        let no = self.judge(client, Some(tool), input);
        assert_eq!(no, None, "{client} {tool} {input}");
        self.tidy();
    }
}

/// A call in the form in which a client tells its hook of it.
fn payload(client: &str, tool: Option<&str>, input: &Value, cwd: &str) -> Value {
    let mut payload = match client {
        "claude" => json!({ "session_id": "s", "hook_event_name": "PreToolUse", "tool_input": input }),
        "codex" => {
            json!({ "session_id": "s", "turn_id": "1", "hook_event_name": "PreToolUse", "tool_input": input })
        }
        "gemini" => {
            json!({ "session_id": "s", "hook_event_name": "BeforeTool", "timestamp": "t", "tool_input": input })
        }
        "copilot" => json!({ "sessionId": "s", "timestamp": 1, "toolArgs": input.to_string() }),
        "cursor" => {
            json!({ "conversation_id": "c", "hook_event_name": "beforeMCPExecution", "tool_input": input.to_string() })
        }
        "opencode" => json!({ "event": "tool.execute.before", "session": "s", "args": input }),
        _ => panic!("{client}"),
    };
    payload["cwd"] = cwd.into();
    let name = match client {
        "copilot" => "toolName",
        "opencode" => "tool",
        _ => "tool_name",
    };
    match tool {
        Some(tool) => payload[name] = tool.into(),
        // Copilot CLI is known by it.
        None if client == "copilot" => payload["hook_event_name"] = "preToolUse".into(),
        None => {}
    }
    payload
}

/// The spellings of ann's file, all of which a program could open.
fn spellings(place: &Place) -> Vec<String> {
    let repo = place.repo.to_str().expect("a text");
    let pid = std::process::id();
    let mut all: Vec<String> = [
        "src/a.rs",
        "./src//a.rs",
        "src/../src/a.rs",
        "sources/a.rs",
        "link.rs",
        "twin.rs",
        "../outside.rs",
        "../repo/src/a.rs",
        "~/repo/src/a.rs",
        "$HOME/repo/src/a.rs",
        "~/outside.rs",
        "/proc/self/cwd/src/a.rs",
        "/proc/thread-self/cwd/src/a.rs",
        "magic/a.rs",
        "magic/new.rs",
        "/proc/self/cwd/link.rs",
        " src/a.rs ",
        "'src/a.rs'",
        "@src/a.rs",
        "src/%61.rs",
        "file:src/a.rs",
        "src/deep-twin.rs",
        "deep/er/d.rs",
        "deep/new.rs",
        "../glob-twin.txt",
        "src/g2.txt",
        "/dev/fd/3",
        "/proc/self/fd/3",
        "/dev/stdout",
    ]
    .map(str::to_owned)
    .to_vec();
    for form in [
        "{repo}/src/a.rs",
        "/proc/self/root{repo}/src/a.rs",
        "/proc/{pid}/root{repo}/src/a.rs",
        "/proc/{pid}/task/{pid}/root{repo}/src/a.rs",
        "/proc/{pid}/fd/0",
        "file://{repo}/src/a.rs",
        "file://localhost{repo}/src/a.rs",
        "FILE://{repo}/src/%61.rs",
        "//{repo}/src/a.rs",
        "file://{repo}/twin.rs",
        "/proc/self/root/proc/self/root{repo}/src/a.rs",
        "/proc/../{repo}/src/a.rs",
    ] {
        all.push(form.replace("{repo}", repo).replace("{pid}", &pid.to_string()));
    }
    all
}

/// How each client's own tool is called that writes a file.
fn own_tool(client: &str, path: &str) -> (&'static str, Value) {
    match client {
        "claude" => ("Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" })),
        "codex" => (
            "apply_patch",
            json!({ "command": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch") }),
        ),
        "gemini" => ("replace", json!({ "file_path": path, "old_string": "a", "new_string": "b" })),
        "copilot" => ("edit", json!({ "path": path, "old_str": "a", "new_str": "b" })),
        "cursor" => ("Delete", json!({ "path": path })),
        _ => ("edit", json!({ "filePath": path, "oldString": "a", "newString": "b" })),
    }
}

#[test]
fn every_spelling_in_every_clients_own_tool() {
    let mut yard = Yard::new();
    for path in spellings(&yard.place) {
        for client in CLIENTS {
            // A patch is read line by line.
            if client == "codex" && path.trim() != path {
                continue;
            }
            let (tool, input) = own_tool(client, &path);
            yard.denied(client, tool, &input);
        }
    }
    let repo = yard.place.repo.to_str().expect("a text").to_owned();
    let absolute = format!("file://{repo}/src/b.rs");
    for path in [
        "src/b.rs",
        "~/repo/src/b.rs",
        "free-twin.rs",
        "../elsewhere.txt",
        "src/c.rs",
        "new/file.rs",
        &absolute,
    ] {
        for client in CLIENTS {
            let (tool, input) = own_tool(client, path);
            yard.passes(client, tool, &input);
        }
    }
}

#[test]
fn every_field_is_judged() {
    let mut yard = Yard::new();
    let (free, held) = ("src/b.rs", "src/a.rs");
    let inputs = [
        json!({ "file_path": free, "path": held }),
        json!({ "path": held, "file_path": free }),
        json!({ "filePath": free, "absolute_path": held }),
        json!({ "file_path": free, "target_file": held, "notebook_path": free }),
        json!({ "file_path": free, "filename": held }),
        json!({ "file_path": [free, held] }),
        json!({ "file_path": free, "edits": [{ "path": free }, { "path": held, "new_string": "x" }] }),
        json!({ "file_path": free, "options": { "file": { "uri": held } } }),
        json!({ "files": { "src/b.rs": "text", "src/a.rs": "text" } }),
    ];
    for input in inputs {
        for (client, tool) in [
            ("claude", "Write"),
            ("claude", "Edit"),
            ("claude", "MultiEdit"),
            ("gemini", "write_file"),
            ("copilot", "create"),
            ("cursor", "search_replace"),
            ("opencode", "write"),
        ] {
            yard.denied(client, tool, &input);
        }
        for client in CLIENTS {
            yard.denied(client, "mcp__any__thing", &input);
        }
    }
    let two = json!({ "patch": "*** Begin Patch\n*** Add File: x\n+x\n*** End Patch",
        "input": "*** Begin Patch\n*** Delete File: src/a.rs\n*** End Patch" });
    yard.denied("codex", "apply_patch", &two);
    yard.passes(
        "claude",
        "Write",
        &json!({ "file_path": free, "content": "write to src/a.rs, path: src/a.rs" }),
    );
    yard.passes("claude", "NotebookEdit", &json!({ "notebook_path": "n.ipynb", "new_source": "src/a.rs" }));
}

#[test]
fn tools_of_other_servers() {
    let mut yard = Yard::new();
    let repo = yard.place.repo.to_str().expect("a text").to_owned();
    let held = "src/a.rs";
    let absolute = format!("{repo}/{held}");
    let denied = [
        ("mcp__filesystem__write_file", json!({ "path": absolute, "content": "x" })),
        ("mcp__filesystem__edit_file", json!({ "path": held, "edits": [] })),
        ("mcp__filesystem__move_file", json!({ "source": held, "destination": "x.rs" })),
        ("mcp__filesystem__move_file", json!({ "source": "src/b.rs", "destination": held })),
        ("mcp__serena__replace_symbol_body", json!({ "relative_path": held, "body": "x" })),
        ("jetbrains_create_new_file", json!({ "pathInProject": held, "text": "x" })),
        ("desktop-commander.write_file", json!({ "path": absolute })),
        ("frobnicate", json!({ "file": held })),
        ("frobnicate", json!({ "x": absolute })),
        ("frobnicate", json!({ "x": { "y": [[{ "z": absolute }]] } })),
        ("frobnicate", json!({ "x": held })),
        ("frobnicate", json!([held])),
        ("frobnicate", json!({ "files": "src/b.rs, src/a.rs" })),
        ("frobnicate", json!({ "uri": format!("file://{absolute}") })),
        ("frobnicate", json!({ "path": "twin.rs" })),
        ("frobnicate", json!({ "path": "src/*.rs" })),
        ("frobnicate", json!({ "path": "deep/new.rs" })),
        ("frobnicate", json!({ "path": "/proc/self/cwd/src/a.rs" })),
        ("mcp__fs__delete_directory", json!({ "path": "src" })),
        ("mcp__fs__rename", json!({ "path": repo, "to": "x" })),
        ("read_and_fix", json!({ "path": held })),
        ("get_file", json!({ "path": held, "content": "x" })),
    ];
    for (tool, input) in &denied {
        for client in CLIENTS {
            yard.denied(client, tool, input);
        }
    }
    let passes = [
        ("mcp__filesystem__read_text_file", json!({ "path": held })),
        ("mcp__github__get_file_contents", json!({ "path": held, "repo": "x" })),
        ("list_directory", json!({ "path": repo })),
        ("mcp__serena__find_symbol", json!({ "relative_path": held, "name_path": "a" })),
        ("mcp__serena__activate_project", json!({ "project": repo })),
        ("mcp__github__create_issue", json!({ "title": held, "body": "see src/a.rs" })),
        ("WebFetch", json!({ "url": "https://example.org/src/a.rs", "prompt": "x" })),
        ("TodoWrite", json!({ "todos": [{ "content": held, "status": "pending" }] })),
        ("Task", json!({ "prompt": "edit src/a.rs", "description": "edit" })),
        ("frobnicate", json!({ "path": "src/b.rs" })),
        ("frobnicate", json!({ "profile": "default", "limit": 3 })),
        ("mcp__comity__lock", json!({ "paths": ["src/b.rs"] })),
        ("mcp__comity__check", json!({ "path": held })),
        ("comity_lock", json!({ "paths": [held], "wait": "1s" })),
    ];
    for (tool, input) in &passes {
        for client in CLIENTS {
            yard.passes(client, tool, input);
        }
    }
    // A tool that may write locks what it names, as every other one does.
    assert_eq!(yard.judge("claude", Some("frobnicate"), &json!({ "path": "src/b.rs" })), None);
    let locks = yard.place.json(&["locks"]).to_string();
    assert!(locks.contains("src/b.rs"), "{locks}");
    // Its own holder is not in its own way.
    let mut wire = Wire::connect(&yard.place).asking_as(&yard.ann);
    let call = payload("claude", Some("frobnicate"), &json!({ "path": "twin.rs" }), &repo);
    assert_eq!(wire.ask("guard", json!({ "client": "claude", "payload": call })).expect("judged")["exit"], 0);
}

#[test]
fn a_call_without_a_tool_is_not_let_pass() {
    let mut yard = Yard::new();
    for client in CLIENTS {
        for input in [json!({ "file_path": "src/a.rs" }), json!({}), json!({ "file_path": "src/b.rs" })] {
            let no = yard.judge(client, None, &input);
            assert!(no.is_some_and(|no| no.contains("name")), "{client} {input}");
        }
        let no = yard.judge(client, Some(""), &json!({ "file_path": "src/b.rs" }));
        assert!(no.is_some(), "{client}");
    }
}

#[test]
fn commands_may_write_to_what_they_have_open() {
    let mut yard = Yard::new();
    for command in ["echo x > /dev/stderr", "echo x > /dev/null", "echo x >&2", "echo x > /proc/self/fd/1"] {
        yard.passes("claude", "Bash", &json!({ "command": command }));
    }
    for command in ["echo x > twin.rs", "echo x > /proc/self/cwd/src/a.rs", "echo x > magic/a.rs"] {
        yard.denied("claude", "Bash", &json!({ "command": command }));
    }
}

/// Spellings made by chance, and the kernel's word for what each of them is.
#[test]
fn the_kernel_agrees() {
    let mut yard = Yard::new();
    let held = std::fs::canonicalize(yard.place.repo.join("src/a.rs")).expect("a file");
    let identity = |path: &std::path::Path| {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
    };
    let (mut seed, mut denied, mut passed) = (0x9e37_79b9_7f4a_7c15_u64, 0, 0);
    let mut chance = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).expect("small")
    };
    let dirs =
        ["src", "sources", ".", "..", "deep", "deep/er", "src/..", "../repo", "sources/..", "deep/../src"];
    let ends = [
        "a.rs",
        "b.rs",
        "link.rs",
        "twin.rs",
        "free-twin.rs",
        "src/a.rs",
        "src/b.rs",
        "c.rs",
        "repo/twin.rs",
    ];
    for _ in 0..1_500 {
        let mut path = String::new();
        for _ in 0..chance(4) {
            path += dirs[chance(dirs.len())];
            path += ["/", "//", "/./"][chance(3)];
        }
        path += ends[chance(ends.len())];
        if chance(3) == 0 {
            path = format!("{}/{path}", yard.place.repo.display());
        }
        let at = yard.place.repo.join(&path);
        let is_held = match identity(&at) {
            Some(found) => {
                Some(found) == identity(&held)
                    || std::fs::canonicalize(&at).is_ok_and(|at| at.starts_with(yard.place.repo.join("deep")))
            }
            None => continue,
        };
        let no = yard.judge("claude", Some("Write"), &json!({ "file_path": path, "content": "x" }));
        assert_eq!(no.is_some(), is_held, "{path}: {no:?}");
        *(if is_held { &mut denied } else { &mut passed }) += 1;
        yard.tidy();
    }
    assert!(denied > 100 && passed > 100, "{denied} denied, {passed} passed");
}
