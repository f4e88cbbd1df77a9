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

/// Whether the hook denies the write that a program would make; else why not. The agents that try it join through `session`.
pub(super) fn denies(session: &mut Session, home: &Home, hook: &str, dialect: Dialect) -> Result<(), String> {
    let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    let repository = dir.path();
    let made = Command::new("git").args(["init", "--quiet"]).arg(repository).stdin(Stdio::null()).output();
    match made {
        Ok(made) if made.status.success() => {}
        Ok(made) => return Err(String::from_utf8_lossy(&made.stderr).trim().to_owned()),
        Err(error) => return Err(format!("git: {error}")),
    }
    let mut join = |name: &str| {
        let joined: Value = answer(session.ask("agent_join", &json!({ "name": name })))?;
        joined["token"].as_str().map(str::to_owned).ok_or_else(|| format!("{name} got no token"))
    };
    let act = |token: &str, arguments: &[&str]| act_as(home, token, repository, arguments);
    let name = format!("canary-{}", &random_key()?[..8]);
    let holder = join(&name)?;
    let tried = act(&holder, &["lock", CANARY, "--reason", "a canary"]).and_then(|()| {
        // The hook judges for an agent of its own, whoever runs this.
        let writer = join(&format!("{name}-writer"))?;
        let judged = judge(home, (hook, &writer), dialect, repository, &name);
        act(&writer, &["agent", "bye"]).and(judged)
    });
    // Whatever came of it: the canary goes.
    act(&holder, &["agent", "bye"]).and(tried)
}

/// Runs a command as an agent.
fn act_as(home: &Home, token: &str, repository: &Path, arguments: &[&str]) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(repository).stdin(Stdio::null());
    command.env("COMITY_HOME", home.path()).env("COMITY_TOKEN", token);
    let done = command.output().map_err(|error| error.to_string())?;
    match done.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
    }
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
