//! Proves a guard: a write to a file that somebody else has locked has to be denied.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use comity_guard::Dialect;
use comity_wire::Home;
use serde_json::{Value, json};

use crate::session::{Session, Trouble, random_key};

/// The file that nobody but its holder may write.
const CANARY: &str = "canary.txt";

/// Whether the hook denies the write that a program would make; else why not.
pub(super) fn denies(home: &Home, hook: &str, dialect: Dialect) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let repository = dir.path();
    let made = Command::new("git").args(["init", "--quiet"]).arg(repository).stdin(Stdio::null()).output();
    match made {
        Ok(made) if made.status.success() => {}
        Ok(made) => return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned()),
        Err(error) => return Err(format!("git: {error}")),
    }
    let name = format!("canary-{}", &random_key()?[..8]);
    let mut session = Session::from_env(home.clone());
    let joined: Value = answer(session.ask("agent_join", &json!({ "name": name })))?;
    let token = joined["token"].as_str().ok_or("the canary got no token")?.to_owned();
    let mut holder = Session::as_agent(home.clone(), token, repository);
    answer(holder.ask("lock", &json!({ "paths": [CANARY], "reason": "a canary" })))?;
    // The hook is another agent's, whoever runs this.
    let writer = format!("{name}-writer");
    let attached: Value = answer(session.ask("agent_attach", &json!({ "name": writer })))?;
    let token = attached["token"].as_str().ok_or("the writer got no token")?.to_owned();
    let judged = judge(home, (hook, &token), dialect, repository, &name);
    let mut writer = Session::as_agent(home.clone(), token, repository);
    answer(writer.ask("agent_bye", &json!({ "reason": "the guard was tried" })))?;
    // Whatever came of it: the canary goes.
    answer(holder.ask("agent_bye", &json!({ "reason": "the guard was tried" })))?;
    judged
}

fn judge(
    home: &Home,
    (hook, token): (&str, &str),
    dialect: Dialect,
    repository: &Path,
    holder: &str,
) -> Result<(), String> {
    let mut child = Command::new(hook)
        .arg(dialect.name())
        .current_dir(repository)
        .env("COMITY_HOME", home.path())
        .env("COMITY_TOKEN", token)
        .env_remove("COMITY_GUARD_POLICY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{hook} cannot be started: {error}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        let payload = write_call(dialect, &repository.join(CANARY)).to_string();
        stdin.write_all(payload.as_bytes()).map_err(|error| error.to_string())?;
    }
    let said = child.wait_with_output().map_err(|error| error.to_string())?;
    let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
    let is_no = out.contains("\"deny\"") || said.status.code() == Some(2);
    match is_no && (out.contains(holder) || err.contains(holder)) {
        true => Ok(()),
        false => Err(format!("it was not denied: {} {}{}", said.status, out.trim(), err.trim())),
    }
}

/// A write, as the program would tell its hook of it.
fn write_call(dialect: Dialect, file: &Path) -> Value {
    let session = "comity-init-canary";
    let cwd = file.parent();
    let input = json!({ "file_path": file, "content": "changed" });
    match dialect {
        Dialect::ClaudeCode | Dialect::Codex => json!({
            "session_id": session, "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": input,
        }),
        Dialect::GeminiCli => json!({
            "session_id": session, "cwd": cwd, "hook_event_name": "BeforeTool", "tool_name": "write_file", "tool_input": input,
        }),
        Dialect::CopilotCli => json!({
            "sessionId": session, "cwd": cwd, "toolName": "create", "toolArgs": { "path": file, "file_text": "changed" },
        }),
        Dialect::Cursor => json!({
            "conversation_id": session, "cwd": cwd, "hook_event_name": "preToolUse", "tool_name": "Write", "tool_input": input,
        }),
        Dialect::OpenCode => json!({
            "event": "tool.execute.before", "session": session, "cwd": cwd, "tool": "write",
            "args": { "filePath": file, "content": "changed" },
        }),
    }
}

fn answer(answered: Result<crate::session::Answer, Trouble>) -> Result<Value, String> {
    match answered {
        Ok(answer) => serde_json::from_str(answer.json.get()).map_err(|error| error.to_string()),
        Err(Trouble::Refused(_, fault)) => Err(fault.message),
        Err(Trouble::Fault(problem)) => Err(problem),
    }
}
