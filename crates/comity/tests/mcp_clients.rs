//! Real agent programs call Comity's tools over MCP, with a scripted model on loopback.
//!
//! They are looked for below `COMITY_CLIENTS_DIR`, where npm has installed them; without it these tests are skipped:
//! `npm install --prefix DIR @anthropic-ai/claude-code-linux-x64 @openai/codex`.

#[path = "mcp_clients/model.rs"]
mod model;
#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::path::PathBuf;

use model::Model;
use serde_json::json;
use support::{Place, Ran, skip};

/// A program that npm has installed.
fn client(test: &str, paths: &[&str]) -> Option<PathBuf> {
    let Some(dir) = std::env::var_os("COMITY_CLIENTS_DIR").map(PathBuf::from) else {
        skip(test, "COMITY_CLIENTS_DIR is not set");
        return None;
    };
    let found = paths.iter().map(|path| dir.join("node_modules").join(path)).find(|path| path.is_file());
    if found.is_none() {
        skip(test, "it is not installed in COMITY_CLIENTS_DIR");
    }
    found
}

/// The model was told of the grant, and the log has the agent and its lock.
fn check(place: &Place, model: &Model, ran: &Ran, name: &str) {
    let told = model.tool_results();
    assert!(told.contains("locked src/a.rs for 5m (fence "), "{name} was told {told:?}: {ran:?}");
    let joined = place.log_of("agent_joined");
    assert_eq!(joined.len(), 1, "{joined:?}");
    let shown = joined[0]["details"]["profile"]["name"].as_str().expect("a name");
    assert!(shown.contains(name), "it is called {shown}");
    let acquired = place.log_of("lock_acquired");
    assert_eq!(acquired.len(), 1, "{acquired:?}");
    assert_eq!(acquired[0]["details"]["holder"], joined[0]["details"]["agent"]);
    assert_eq!(acquired[0]["details"]["reason"], "fixing login");
    place.follow().until_action("agent_terminated");
    assert_eq!(place.json(&["status"])["locks"], 0, "its locks went with it");
}

#[test]
fn claude_code_locks_a_file() {
    let paths = ["@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code/bin/claude"];
    let Some(claude) = client("claude_code_locks_a_file", &paths) else { return };
    let place = Place::new();
    let model = Model::start(json!({ "paths": ["src/a.rs"], "reason": "fixing login" }));
    let servers = json!({ "mcpServers": { "comity": {
        "command": support::BINARY, "args": ["mcp"], "env": { "COMITY_HOME": place.home },
    }}});
    let config = place.dir().join("mcp.json");
    std::fs::write(&config, servers.to_string()).expect("written");
    let mut command = place.program(claude);
    command
        .args(["--print", "lock src/a.rs", "--permission-mode", "bypassPermissions", "--strict-mcp-config"])
        .arg("--mcp-config")
        .arg(&config)
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", "dummy")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("CLAUDE_CONFIG_DIR", place.dir().join("claude"))
        .env("IS_SANDBOX", "1");
    let ran = Ran::of(command.output().expect("claude runs"));
    check(&place, &model, &ran, "claude");
}

#[test]
fn codex_locks_a_file() {
    let paths = [
        "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex",
    ];
    let Some(codex) = client("codex_locks_a_file", &paths) else { return };
    let place = Place::new();
    let model = Model::start(json!({ "paths": ["src/a.rs"], "reason": "fixing login" }));
    let home = place.dir().join("codex");
    std::fs::create_dir(&home).expect("made");
    let quoted = |path: &std::path::Path| json!(path).to_string();
    let config = format!(
        "model = \"gpt-5\"\nmodel_provider = \"fake\"\napproval_policy = \"never\"\n\
         [model_providers.fake]\nname = \"fake\"\nbase_url = \"{}/v1\"\nenv_key = \"FAKE_KEY\"\n\
         wire_api = \"responses\"\nsupports_websockets = false\n\
         [mcp_servers.comity]\ncommand = {}\nargs = [\"mcp\"]\nrequired = true\n\
         env = {{ COMITY_HOME = {}, CODEX_HOME = {} }}\n",
        model.url,
        quoted(std::path::Path::new(support::BINARY)),
        quoted(&place.home),
        quoted(&home),
    );
    std::fs::write(home.join("config.toml"), config).expect("written");
    let mut command = place.program(codex);
    command
        .args(["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"])
        .arg("lock src/a.rs")
        .env("CODEX_HOME", &home)
        .env("FAKE_KEY", "dummy");
    let ran = Ran::of(command.output().expect("codex runs"));
    check(&place, &model, &ran, "codex");
}
