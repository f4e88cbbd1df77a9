//! What an agent that speaks ACP wants to do, in the words of the tools that the rules know.

use comity_runner::AcpToolCall;
use serde_json::{Value, json};

/// Characters of a tool's name that are kept.
const NAME_CHARS_MAX: usize = 60;
/// How Gemini CLI writes that a tool is of our server.
const OWN_SERVER: &str = " (comity MCP Server)";
/// How Codex's adapter does.
const OWN_TOOLS: &str = "mcp.comity.";

/// A tool and its exact input.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ToolAsk {
    pub(super) tool: String,
    pub(super) input: Value,
}

/// What a call would do. What cannot be read makes it harder to allow, never easier.
pub(super) fn tool_ask(call: &AcpToolCall) -> ToolAsk {
    let input = call.input.as_deref().and_then(|input| serde_json::from_str::<Value>(input).ok());
    // Where its own name is told, so is its own input.
    if let (Some(tool), Some(input)) = (&call.tool, &input) {
        return ToolAsk { tool: name(tool), input: input.clone() };
    }
    if let Some(name) = own_tool(call, input.as_ref()) {
        return ToolAsk { tool: format!("comity__{name}"), input: input.unwrap_or_default() };
    }
    match (&*call.kind, paths(call)) {
        ("execute", _) => shell(call, input.as_ref()),
        ("edit" | "move", paths) if !paths.is_empty() => {
            exactly(call, input, files("Update", "Edit", &paths))
        }
        ("delete", paths) if !paths.is_empty() => exactly(call, input, files("Delete", "Delete", &paths)),
        ("read", paths) if paths.len() == 1 => {
            ToolAsk { tool: "Read".into(), input: json!({ "file_path": paths[0] }) }
        }
        _ => {
            let name_of = call.title.strip_suffix(OWN_SERVER);
            let own = name_of.map(|name| format!("comity__{name}"));
            let tool = own.or_else(|| call.tool.clone()).unwrap_or_else(|| call.title.clone());
            let input = input.unwrap_or_else(|| json!({ "title": call.title, "files": paths(call) }));
            ToolAsk { tool: name(&tool), input }
        }
    }
}

/// Which of Comity's tools Codex would call. It gives them the kind of a command, whose title is its line: a line with
/// more than a word, or with a command in its input, is none.
fn own_tool<'c>(call: &'c AcpToolCall, input: Option<&Value>) -> Option<&'c str> {
    let name = call.title.strip_prefix(OWN_TOOLS)?;
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let has_command = ["command", "cmd"].iter().any(|field| input.is_some_and(|it| it.get(field).is_some()));
    (is_word && !has_command).then_some(name)
}

/// The files that it names, each once.
fn paths(call: &AcpToolCall) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let changed = call.changes.iter().map(|change| &change.path);
    for path in changed.chain(&call.locations) {
        if !paths.contains(path) {
            paths.push(path.clone());
        }
    }
    paths
}

fn shell(call: &AcpToolCall, input: Option<&Value>) -> ToolAsk {
    let command = input.and_then(|input| input.get("command").or_else(|| input.get("cmd")));
    let line = match command {
        Some(Value::String(line)) => Some(line.clone()),
        Some(Value::Array(words)) => line_of(words),
        Some(_) | None => None,
    };
    match line {
        Some(line) => ToolAsk { tool: "Bash".into(), input: json!({ "command": line }) },
        // A title may be shortened or in words: nothing is proven from it.
        None => ToolAsk { tool: "execute".into(), input: json!({ "title": call.title, "input": input }) },
    }
}

/// The command line of a shell that is started with it, or of a program with its arguments.
fn line_of(words: &[Value]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words[..] {
        [shell, "-c" | "-lc", line] if shell.ends_with("sh") => Some(line.to_owned()),
        [] => None,
        _ => Some(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// One file by the tool for one, several as a patch.
fn files(verb: &str, tool: &str, paths: &[String]) -> ToolAsk {
    match paths {
        [path] if tool == "Edit" => ToolAsk {
            tool: tool.into(),
            input: json!({ "file_path": path, "old_string": "", "new_string": "" }),
        },
        [path] => ToolAsk { tool: tool.into(), input: json!({ "path": path }) },
        _ => {
            let lines: String =
                paths.iter().map(|path| format!("*** {verb} File: {path}\n@@\n+x\n")).collect();
            let lines = if verb == "Delete" { lines.replace("@@\n+x\n", "") } else { lines };
            let patch = format!("*** Begin Patch\n{lines}*** End Patch\n");
            ToolAsk { tool: "apply_patch".into(), input: json!({ "command": patch }) }
        }
    }
}

/// With all that is said of it, for an answer holds for exactly this.
fn exactly(call: &AcpToolCall, input: Option<Value>, mut ask: ToolAsk) -> ToolAsk {
    let texts: Vec<_> = call.changes.iter().filter_map(|change| change.text.as_ref()).collect();
    ask.input["asked"] = json!({ "input": input, "texts": texts });
    ask
}

/// As the rules take it: short, in one line.
fn name(tool: &str) -> String {
    let name: String = tool.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect();
    if name.trim().is_empty() { "tool".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use comity_guard::payload::{ToolKind, tool};
    use comity_runner::AcpChange;

    fn asked(kind: &str, title: &str, input: Option<&str>, changes: &[&str]) -> ToolAsk {
        let change = |path: &&str| AcpChange { path: (*path).into(), text: None };
        tool_ask(&AcpToolCall {
            kind: kind.into(),
            title: title.into(),
            input: input.map(Into::into),
            changes: changes.iter().map(change).collect(),
            ..AcpToolCall::default()
        })
    }

    #[test]
    fn what_is_asked_is_what_the_rules_judge() {
        let check = |asked: ToolAsk, tool: &str, input: Value| {
            assert_eq!(asked, ToolAsk { tool: tool.into(), input });
        };
        let bash = |line: &str| json!({ "command": line });
        check(asked("execute", "ls", Some(r#"{"command":"ls -l"}"#), &[]), "Bash", bash("ls -l"));
        let words = r#"{"command":["/bin/bash","-lc","rm x"],"cwd":"/"}"#;
        check(asked("execute", "rm", Some(words), &[]), "Bash", bash("rm x"));
        check(asked("execute", "rm", Some(r#"{"cmd":["rm","a b"]}"#), &[]), "Bash", bash("rm 'a b'"));
        // A title proves nothing.
        let unread = json!({ "title": "ls", "input": null });
        check(asked("execute", "ls", None, &[]), "execute", unread);
        let asked_so = json!({ "input": null, "texts": [] });
        let one = json!({ "file_path": "/r/a", "old_string": "", "new_string": "", "asked": asked_so });
        check(asked("edit", "Edit a", None, &["/r/a", "/r/a"]), "Edit", one);
        let title = json!({ "title": "odd\n", "files": [] });
        check(asked("other", "odd\n", None, &[]), "odd", title);
        check(asked("other", "comity_lock", Some("{}"), &[]), "comity_lock", json!({}));
        check(asked("execute", "mcp.comity.lock", Some("{}"), &[]), "comity__lock", json!({}));
        let named_so = Some(r#"{"command":"mcp.comity.lock"}"#);
        check(asked("execute", "mcp.comity.lock", named_so, &[]), "Bash", bash("mcp.comity.lock"));
        let more = json!({ "title": "mcp.comity.lock; rm x", "input": {} });
        check(asked("execute", "mcp.comity.lock; rm x", Some("{}"), &[]), "execute", more);
        check(asked("other", "lock (comity MCP Server)", Some("{}"), &[]), "comity__lock", json!({}));
        check(asked("edit", "\u{1}", None, &[]), "tool", json!({ "title": "\u{1}", "files": [] }));
    }

    #[test]
    fn every_file_of_a_change_is_judged() {
        let files = |kind: &str, paths: &[&str]| {
            let ToolAsk { tool: name, input } = asked(kind, "x", None, paths);
            let (kind, effects, _) = tool(&name, &input);
            assert_ne!(kind, ToolKind::Unknown, "{name}");
            assert!(effects.unknown.is_none(), "{name} {input}: {effects:?}");
            effects.writes.iter().map(|write| write.target.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(files("edit", &["/r/a"]), ["/r/a"]);
        assert_eq!(files("edit", &["/r/a", "/r/b"]), ["/r/a", "/r/b"]);
        assert_eq!(files("move", &["/r/a", "/r/b"]), ["/r/a", "/r/b"]);
        assert_eq!(files("delete", &["/r/a"]), ["/r/a"]);
        assert_eq!(files("delete", &["/r/a", "/r/b"]), ["/r/a", "/r/b"]);
    }
}
