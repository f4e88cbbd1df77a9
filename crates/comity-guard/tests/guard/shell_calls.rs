//! The input of tools that run commands: what is one line for certain, and what counts where fields contradict.

use comity_guard::payload::{shell_call, tool};
use serde_json::{Value, json};

fn seen(input: Value) -> String {
    let (_, effects, _) = tool("Bash", &input);
    effects.writes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[test]
fn one_line_and_nothing_that_changes_it() {
    let check = |input: Value, expected: Option<(&str, &str)>| {
        let read = shell_call("Bash", &input).map(|call| (call.command, call.directory));
        let expected = expected.map(|(command, directory)| (command.to_owned(), directory.to_owned()));
        assert_eq!(read, expected, "{input}");
    };
    check(json!("ls"), Some(("ls", "")));
    check(json!({ "command": "ls" }), Some(("ls", "")));
    check(json!({ "command": "ls", "description": "look", "timeout": 5 }), Some(("ls", "")));
    check(json!({ "cmd": "ls", "workdir": "sub", "shell": "/bin/bash", "login": true }), Some(("ls", "sub")));
    check(json!({ "command": "ls", "env": null }), Some(("ls", "")));
    for changed in [
        json!({ "command": "ls", "env": { "PATH": "." } }),
        json!({ "command": "ls", "shell": "/tmp/sh" }),
        json!({ "command": "ls", "shell": "python3" }),
        json!({ "command": "ls", "shell": ["bash", "-c"] }),
        json!({ "command": "ls", "cmd": "rm x" }),
        json!({ "command": "ls", "script": "ls" }),
        json!({ "command": "ls", "workdir": "a", "directory": "b" }),
        json!({ "command": "ls", "workdir": 1 }),
        json!({ "command": "ls", "tty": true }),
        json!({ "command": "ls", "sessionId": "main" }),
        json!({ "command": "ls", "stdin": "rm x" }),
        json!({ "command": "ls", "unheard_of": 1 }),
        json!({ "command": ["bash", "-c", "ls"] }),
        json!({ "description": "ls" }),
        json!(["ls"]),
    ] {
        check(changed, None);
    }
    assert_eq!(shell_call("powershell", &json!({ "command": "ls" })), None, "another language");
    assert_eq!(shell_call("Write", &json!({ "command": "ls" })), None, "another tool");
}

#[test]
fn of_several_fields_all_count() {
    assert_eq!(seen(json!({ "command": "ls", "cmd": "rm x" })), "delete x");
    assert_eq!(seen(json!({ "command": "rm x", "script": "rm y" })), "delete x; delete y");
    assert_eq!(seen(json!({ "command": "rm x", "workdir": "a", "dir_path": "b" })), "delete a/x; delete b/x");
    assert_eq!(seen(json!({ "command": ["rm", "x"], "cmd": "rm y" })), "delete x; delete y");
    let (_, _, commands) = tool("Bash", &json!({ "command": "ls", "cmd": "rm x" }));
    let commands = commands.expect("commands");
    assert!(!commands.is_all && commands.single.is_none() && commands.parts.len() == 2, "{commands:?}");
}

/// A rule that allows a command allows it with nothing that would make it another.
#[test]
fn only_a_command_alone_is_a_single_command() {
    let single = |tool: &str, input: serde_json::Value| {
        let (_, _, commands) = comity_guard::payload::tool(tool, &input);
        commands.expect("commands").single.map(|words| words.join(" "))
    };
    for (tool, input) in [
        ("Bash", json!({ "command": "cargo test" })),
        ("Bash", json!({ "command": "cargo test", "description": "tests", "timeout": 5 })),
        ("exec_command", json!({ "cmd": "cargo test", "workdir": "src", "login": true })),
        ("shell", json!({ "command": ["cargo", "test"], "workdir": "src" })),
        ("Bash", json!("cargo test")),
    ] {
        assert_eq!(single(tool, input.clone()).as_deref(), Some("cargo test"), "{tool} {input}");
    }
    for (tool, input) in [
        ("Bash", json!({ "command": "cargo test", "env": { "PATH": "/tmp/evil" } })),
        ("Bash", json!({ "command": "cargo test", "shell": "/tmp/evil" })),
        ("Bash", json!({ "command": "cargo test", "shell": "/bin/bash" })),
        ("Bash", json!({ "command": "cargo test", "Command": "rm x" })),
        ("Bash", json!({ "command": "cargo test", "cmd": "rm x" })),
        ("Bash", json!({ "command": "cargo test", "unknown_field": "rm x" })),
        ("shell", json!({ "command": ["cargo", "test"], "env": {} })),
        ("mcp__x__run", json!({ "command": "cargo test" })),
    ] {
        assert_eq!(single(tool, input.clone()), None, "{tool} {input}");
    }
}
