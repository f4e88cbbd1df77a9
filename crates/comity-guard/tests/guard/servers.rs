//! Tools of MCP servers: what passes as looking, and what may write to what it is given.

use comity_guard::payload::tool;
use serde_json::{Value, json};

fn may_write(name: &str, input: &Value) -> bool {
    let (_, effects, _) = tool(&format!("mcp__{name}"), input);
    effects.guesses.iter().any(|guess| ["src", "src/a.rs"].contains(&&*guess.text))
}

#[test]
fn an_act_among_the_arguments_means_all_below_a_directory() {
    for (name, input, expected) in [
        ("x__list", json!({ "directory": "src", "delete": true }), true),
        ("x__find", json!({ "path": "src", "exec": "rm" }), true),
        ("x__tree", json!({ "root": "src", "prune": true }), true),
        ("x__get", json!({ "path": "src", "output": "b" }), false),
    ] {
        let (_, effects, _) = tool(&format!("mcp__{name}"), &input);
        let guess = effects.guesses.iter().find(|guess| guess.text == "src").expect("a guess");
        assert_eq!(guess.with_trees, expected, "{name} {input}");
    }
}

#[test]
fn an_act_among_the_arguments_is_no_look() {
    for (name, input) in [
        ("x__search", json!({ "path": "src/a.rs", "replace": "b" })),
        ("x__get", json!({ "path": "src/a.rs", "mode": "w" })),
        ("x__list", json!({ "directory": "src", "recursive": true, "delete": true })),
        ("x__query", json!({ "file": "src/a.rs", "update": true })),
        ("x__query", json!({ "file": "src/a.rs", "deleteAfter": true })),
        ("x__get_file", json!({ "path": "src/a.rs", "put": "x" })),
        ("x__show", json!({ "path": "src/a.rs", "set": { "k": 1 } })),
        ("x__find", json!({ "path": "src", "exec": "rm" })),
        ("x__tree", json!({ "root": "src", "prune": true })),
        ("x__get", json!({ "remote": "u", "local": "src/a.rs" })),
        ("x__get", json!({ "url": "u", "file": "src/a.rs" })),
        ("x__read_resource", json!({ "uri": "u", "target": "src/a.rs" })),
        ("x__get_page", json!({ "url": "u", "log": "src/a.rs" })),
        ("x__view", json!({ "command": "create", "path": "src/a.rs" })),
        ("db__read_query", json!({ "query": "VACUUM INTO 'src/a.rs'" })),
        ("db__query", json!({ "sql": "COPY t TO 'src/a.rs'" })),
        ("db__query", json!({ "statement": { "text": "select 1 into outfile \"src/a.rs\"" } })),
        ("db__read_query", json!({ "query": "attach database 'src/a.rs' as a" })),
    ] {
        assert!(may_write(name, &input), "{name} {input}");
    }
    for (name, input) in [
        ("x__list", json!({ "directory": "src", "recursive": true, "delete": false })),
        ("x__get_workflow", json!({ "path": "src/a.rs", "run_id": 12, "updated_after": "2026" })),
        ("x__read_file", json!({ "path": "src/a.rs", "put": null })),
        ("x__get_file", json!({ "owner": "ann", "repo": "r", "path": "src/a.rs" })),
        ("x__read_resource", json!({ "uri": "src/a.rs" })),
        ("x__view", json!({ "command": "view", "path": "src/a.rs" })),
        ("db__read_query", json!({ "query": "select * from files where name = 'src/a.rs'" })),
        ("db__query", json!({ "sql": "select 'src/a.rs' as copy, 1 as x", "path": "src/a.db" })),
    ] {
        assert!(!may_write(name, &input), "{name} {input}");
    }
}
