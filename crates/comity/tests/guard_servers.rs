//! Real agent programs, set up by `comity init`, are kept from writing what somebody else has locked by the tools of other
//! MCP servers.

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use support::clients::{self, CODEX_UNKNOWN};
use support::model::{Call, Model};
use support::{Place, has_program, http, skip};

const BEFORE: &str = "fn main() {}\n";
const WRITTEN: &str = "// written by a server\n";

/// A server with one tool, which writes a file wherever it is told to.
const SERVER: &str = r#"
import json, sys
TOOL = {"name": "put", "description": "Puts a text into a file", "inputSchema": {"type": "object", "properties": {
    "path": {"type": "string"}, "text": {"type": "string"}}, "required": ["path", "text"]}}
for line in sys.stdin:
    ask = json.loads(line)
    method, given = ask.get("method"), ask.get("params") or {}
    if "id" not in ask:
        continue
    answer = {"jsonrpc": "2.0", "id": ask["id"]}
    if method == "initialize":
        answer["result"] = {"protocolVersion": given.get("protocolVersion"), "capabilities": {"tools": {}},
                            "serverInfo": {"name": "files", "version": "1"}}
    elif method == "tools/list":
        answer["result"] = {"tools": [TOOL]}
    elif method == "tools/call":
        with open(given["arguments"]["path"], "w") as file:
            file.write(given["arguments"]["text"])
        answer["result"] = {"content": [{"type": "text", "text": "it is put"}]}
    elif method == "ping":
        answer["result"] = {}
    else:
        answer["error"] = {"code": -32601, "message": "unknown"}
    print(json.dumps(answer), flush=True)
"#;

/// A place where bob has locked `src/a.rs`, and a model that puts a text there, and then into a file of nobody's.
fn place(test: &str, tool: &'static str, own: &'static str) -> Option<(Place, Model)> {
    if !has_program("python3") {
        skip(test, "there is no python3 here");
        return None;
    }
    let place = Place::new();
    let bob = place.join(&["bob"]);
    // Over HTTP: below a process that has shown bob's token everybody would be bob.
    let lock = json!({ "paths": ["src/a.rs"], "reason": "fixing login", "ttl": "30m" });
    let answer = http::request(&place, Some(&bob.token), "POST", "/api/coordination/locks", Some(&lock));
    assert_eq!(answer.status, 200, "{answer:?}");
    fs::write(place.dir().join("files.py"), SERVER).expect("written");
    clients::install(&place);
    let put = |file: &str| Call::new(tool, json!({ "path": place.repo.join(file), "text": WRITTEN }));
    let model = Model::start(vec![put("src/a.rs"), put("src/free.rs"), Call::new(own, json!({}))]);
    Some((place, model))
}

/// The arguments that start the server with python3.
fn arguments(place: &Place) -> Value {
    json!([place.dir().join("files.py")])
}

/// Sets a client up, and runs it: bob's file is untouched and the model knows whose it is; the free one is written.
fn check(place: &Place, model: &Model, name: &str, client: Command) {
    clients::init(place, name, &client);
    let ran = clients::run(place, client);
    let told = model.told();
    let [denied, written, own] = &told[..] else { panic!("{name} was told {told:?}: {ran:?}") };
    assert!(denied.contains("src/a.rs is locked by bob"), "{name} was told {denied}: {ran:?}");
    assert!(written.contains("it is put"), "{name} was told {written}: {ran:?}");
    // Codex starts servers without COMITY_HOME: there nothing is locked.
    let is_listed = own.contains("src/a.rs     bob") && own.contains("src/free.rs  you");
    let is_answered = is_listed || own.contains("nothing is locked");
    assert!(is_answered, "our own tool works: {own}: {ran:?}");
    let content = |file: &str| fs::read_to_string(place.repo.join(file)).ok();
    assert_eq!(content("src/a.rs").as_deref(), Some(BEFORE));
    assert_eq!(content("src/free.rs").as_deref(), Some(WRITTEN));
    let locked = place.log_of("lock_acquired");
    assert!(locked.iter().any(|entry| entry["details"]["pattern"] == "src/free.rs"), "{locked:?}");
}

#[test]
fn claude_code_asks_about_tools_of_other_servers() {
    let test = "claude_code_asks_about_tools_of_other_servers";
    let Some((place, model)) = place(test, "mcp__files__put", "mcp__comity__locks") else { return };
    let Some(claude) = clients::claude(test, &place, &model) else { return };
    let files =
        json!({ "type": "stdio", "command": "python3", "args": arguments(&place), "alwaysLoad": true });
    let servers = json!({ "mcpServers": { "files": files } });
    clients::write(&place.dir().join("claude/.claude.json"), &servers.to_string());
    check(&place, &model, "claude", claude);
    let asked = clients::asked(&place);
    // Of our own tools it only tells which of its agents calls them.
    assert!(asked.contains("mcp__files__put") && asked.contains("mcp__comity__locks"), "{asked}");
}

#[test]
fn codex_asks_about_tools_of_other_servers() {
    let test = "codex_asks_about_tools_of_other_servers";
    let Some((place, model)) = place(test, "mcp__files__put", "mcp__comity__locks") else { return };
    // Without the last line it does not wait for the server.
    let settings = format!(
        "[mcp_servers.files]\ncommand = \"python3\"\nargs = {}\nrequired = true\n",
        arguments(&place)
    );
    let Some(codex) = clients::codex(test, &place, &model, CODEX_UNKNOWN, &settings) else { return };
    check(&place, &model, "codex", codex);
    let asked = clients::asked(&place);
    assert!(asked.contains("mcp__files__put") && !asked.contains("mcp__comity__"), "{asked}");
}

#[test]
fn gemini_cli_asks_about_tools_of_other_servers() {
    let test = "gemini_cli_asks_about_tools_of_other_servers";
    let Some((place, model)) = place(test, "mcp_files_put", "mcp_comity_locks") else { return };
    let files = json!({ "command": "python3", "args": arguments(&place), "trust": true });
    let settings = json!({ "mcpServers": { "files": files } });
    let Some(gemini) = clients::gemini(test, &place, &model, settings) else { return };
    check(&place, &model, "gemini", gemini);
}

#[test]
fn opencode_asks_about_tools_of_other_servers() {
    let test = "opencode_asks_about_tools_of_other_servers";
    let Some((place, model)) = place(test, "files_put", "comity_locks") else { return };
    let Some(opencode) = clients::opencode(test, &place, &model, "") else { return };
    let config = place.dir().join(".config/opencode/opencode.json");
    let mut settings: Value =
        serde_json::from_str(&fs::read_to_string(&config).expect("text")).expect("JSON");
    let command = json!(["python3", place.dir().join("files.py")]);
    settings["mcp"] = json!({ "files": { "type": "local", "command": command, "enabled": true } });
    clients::write(&config, &settings.to_string());
    check(&place, &model, "opencode", opencode);
}

#[test]
fn copilot_cli_asks_about_tools_of_other_servers() {
    let test = "copilot_cli_asks_about_tools_of_other_servers";
    let Some((place, model)) = place(test, "files-put", "comity-locks") else { return };
    let Some(copilot) = clients::copilot(test, &place, &model) else { return };
    let files = json!({ "type": "local", "command": "python3", "args": arguments(&place), "tools": ["*"] });
    let servers = json!({ "mcpServers": { "files": files } });
    clients::write(&place.dir().join(".copilot/mcp-config.json"), &servers.to_string());
    check(&place, &model, "copilot", copilot);
}
