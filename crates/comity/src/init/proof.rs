//! Proves a guard: a write to a file that somebody else has locked has to be denied, by what the program's settings
//! say.

use comity_app::catalog::name_of;
use comity_app::operations::agents::Join;
use comity_app::operations::ledger::CANARY;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use comity_guard::Dialect;
use comity_guard::connect::ShellStart;
use comity_wire::Home;
use serde_json::{Value, json};

use super::configured::Configured;
use crate::session::{Session, SessionError, random_key};

/// The file that only its holder may write, and its contents.
const FILE: &str = "canary.txt";
const CONTENT: &str = "canary\n";

/// A commit that needs nothing of the user's: no name, no hooks, no signature.
const COMMIT: [&str; 12] = [
    "-c",
    "user.name=Comity",
    "-c",
    "user.email=comity@localhost",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "commit.gpgSign=false",
    "commit",
    "--quiet",
    "--message",
    "canary",
];

/// The result of proving one program.
pub(super) struct ProgramProof {
    pub(super) guard: GuardProof,
    /// Whether its shell commands are confined; otherwise why not.
    pub(super) shell: Result<(), String>,
}

impl ProgramProof {
    pub(super) fn of(
        dialect: Dialect,
        configured: &Configured,
        canary: &Result<Canary<'_>, String>,
    ) -> ProgramProof {
        let canary = canary.as_ref().map_err(Clone::clone);
        let guard = match (&configured.hook, &canary) {
            (Err(why), _) => GuardProof::NotConnected(why.clone()),
            (Ok(_), Err(why)) => GuardProof::NotProven(why.clone()),
            (Ok(line), Ok(canary)) => match canary.denies(line, dialect) {
                Ok(()) => match configured.active(dialect) {
                    Ok(()) => GuardProof::Proven,
                    Err(why) => GuardProof::NotActive(why),
                },
                Err(why) => GuardProof::NotProven(why),
            },
        };
        let start = configured.shell.as_ref().map_err(Clone::clone);
        ProgramProof { guard, shell: start.and_then(|start| canary?.confines(start)) }
    }
}

/// Whether a write by a tool is denied.
pub(super) enum GuardProof {
    Proven,
    /// The program does not ask us.
    NotConnected(String),
    /// Its settings name a hook that denies the write, but it was not observed to run it.
    NotActive(String),
    /// It asks us, and the write is not denied.
    NotProven(String),
}

impl GuardProof {
    pub(super) fn problem(&self) -> Option<&str> {
        match self {
            GuardProof::Proven => None,
            GuardProof::NotConnected(why) | GuardProof::NotActive(why) | GuardProof::NotProven(why) => {
                Some(why)
            }
        }
    }
}

/// A repository in which somebody has locked a file that somebody else will try to write.
pub(super) struct Canary<'a> {
    home: &'a Home,
    dir: tempfile::TempDir,
    name: String,
    holder: String,
    writer: String,
}

impl Canary<'_> {
    /// The agents join through `session`.
    pub(super) fn new<'a>(session: &mut Session, home: &'a Home) -> Result<Canary<'a>, String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        git(dir.path(), &["init", "--quiet"])?;
        fs::write(dir.path().join(FILE), CONTENT).map_err(|error| error.to_string())?;
        // Nothing in it is uncommitted work, which would outlive its holder.
        git(dir.path(), &["add", FILE])?;
        git(dir.path(), &COMMIT)?;
        let mut join = |name: &str| {
            let joined: Value = answer(session.ask(name_of::<Join>(), &json!({ "name": name })))?;
            joined["token"].as_str().map(str::to_owned).ok_or_else(|| format!("{name} got no token"))
        };
        let name = format!("{CANARY}{}", &random_key()?[..8]);
        let holder = join(&name)?;
        let mut canary = Canary { home, dir, name, holder, writer: String::new() };
        // The hook judges for an agent of its own, whoever runs this.
        canary.writer = join(&format!("{}-writer", canary.name))?;
        canary.act(&canary.holder, &["lock", FILE, "--reason", "a canary"])?;
        Ok(canary)
    }

    /// Whether the settings' command denies the write that the program would make.
    fn denies(&self, line: &str, dialect: Dialect) -> Result<(), String> {
        let mut command = Command::new("/bin/sh"); // shell: that is how agent programs run it
        command.args(["-c", line]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let spawned = self.as_agent(&mut command, &self.writer).spawn();
        let mut child = spawned.map_err(|error| format!("can't start {line}: {error}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            let payload = write_call(dialect, &self.dir.path().join(FILE)).to_string();
            // It may answer without reading it.
            let _ = stdin.write_all(payload.as_bytes());
        }
        let said = child.wait_with_output().map_err(|error| error.to_string())?;
        let (out, err) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        let is_no = out.contains("\"deny\"") || said.status.code() == Some(2);
        match is_no && (out.contains(&self.name) || err.contains(&self.name)) {
            true => Ok(()),
            false => Err(format!("the write was not denied: {} {}{}", said.status, out.trim(), err.trim())),
        }
    }

    /// Whether a shell command that starts as the settings say can't write the file.
    fn confines(&self, start: &ShellStart) -> Result<(), String> {
        const RAN: &str = "it ran";
        let line = format!("echo '{RAN}'; echo changed >{FILE}");
        // What another program did to it is not this one's fault.
        fs::write(self.dir.path().join(FILE), CONTENT).map_err(|error| error.to_string())?;
        let mut command = match start {
            ShellStart::Prefix(program) => {
                let mut command = Command::new(program);
                command.arg(line);
                command
            }
            ShellStart::BashEnv(file) => {
                let mut command = Command::new("bash"); // shell: its start is what is tried
                command.args(["-c", &line]).env("BASH_ENV", file);
                command
            }
            ShellStart::Users { .. } | ShellStart::Plain => {
                return Err("it does not start through Comity".into());
            }
        };
        // With this Claude Code marks commands that are not the agent's.
        command.env_remove("AI_AGENT").stdin(Stdio::null());
        let said = self.as_agent(&mut command, &self.writer).output();
        let Output { stdout, stderr, .. } = said.map_err(|error| format!("can't start it: {error}"))?;
        let is_unchanged = fs::read_to_string(self.dir.path().join(FILE)).is_ok_and(|text| text == CONTENT);
        match (is_unchanged, String::from_utf8_lossy(&stdout).contains(RAN)) {
            (true, true) => Ok(()),
            (true, false) => {
                Err(format!("the command did not run: {}", String::from_utf8_lossy(&stderr).trim()))
            }
            (false, _) => Err("the command wrote to a file that somebody else has locked".into()),
        }
    }

    /// Runs a command of ours as an agent.
    fn act(&self, token: &str, arguments: &[&str]) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(program);
        let done = self.as_agent(command.args(arguments).stdin(Stdio::null()), token).output();
        let done = done.map_err(|error| error.to_string())?;
        match done.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
        }
    }

    fn as_agent<'c>(&self, command: &'c mut Command, token: &str) -> &'c mut Command {
        command.current_dir(self.dir.path()).env("COMITY_HOME", self.home.path());
        command.env("COMITY_TOKEN", token).env_remove("COMITY_GUARD_POLICY")
    }
}

fn git(dir: &Path, words: &[&str]) -> Result<(), String> {
    let mut git = Command::new("git");
    match git.arg("-C").arg(dir).args(words).stdin(Stdio::null()).output() {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
        Err(error) => Err(format!("git: {error}")),
    }
}

impl Drop for Canary<'_> {
    /// Ends both agents, whatever the result, and leaves nothing.
    fn drop(&mut self) {
        let _ = fs::write(self.dir.path().join(FILE), CONTENT);
        // Later nobody could see any more that nothing was left there.
        if !self.holder.is_empty() {
            let _ = self.act(&self.holder, &["unlock", FILE]);
        }
        for token in [&self.writer, &self.holder] {
            if !token.is_empty() {
                let _ = self.act(token, &["agent", "bye"]);
            }
        }
    }
}

/// A write, as the program would report it to its hook.
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

fn answer(answered: Result<crate::session::ServerAnswer, SessionError>) -> Result<Value, String> {
    match answered {
        Ok(answer) => serde_json::from_str(answer.json.get()).map_err(|error| error.to_string()),
        Err(SessionError::Refused { fault, .. }) => Err(fault.message),
        Err(SessionError::Fault(problem)) => Err(problem),
    }
}
