//! Whether a program runs the hooks that its settings name, as far as it tells: a line in a file alone stops nothing.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use comity_guard::Dialect;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::found;

/// How long Codex may take to report its hooks.
const CODEX_MAX: Duration = Duration::from_secs(15);
/// Bytes of its report.
const CODEX_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Whether a program runs the hooks in this file; otherwise what prevents it, and what to do.
pub(crate) fn look(dialect: Dialect, hooks: &Path) -> Result<(), String> {
    let Some(program) = found::program(dialect) else {
        return Err(format!(
            "{} isn't on your PATH, so it is not known whether it reads these settings; once it is, run comity init again",
            found::names(dialect).join(" or ")
        ));
    };
    match dialect {
        Dialect::ClaudeCode => claude(hooks),
        Dialect::Codex => codex(&program, hooks),
        Dialect::OpenCode => match std::env::var_os("OPENCODE_PURE").is_some_and(|set| !set.is_empty()) {
            true => Err("OPENCODE_PURE is set, so OpenCode loads no plugins; unset it".into()),
            false => Ok(()),
        },
        Dialect::GeminiCli | Dialect::CopilotCli | Dialect::Cursor => Ok(()),
    }
}

/// Settings besides the user's that switch all hooks off or redirect them and commands.
fn claude(own: &Path) -> Result<(), String> {
    let own = own.canonicalize().ok();
    let here = std::env::current_dir().unwrap_or_default();
    let of_project = here
        .ancestors()
        .flat_map(|dir| ["settings.json", "settings.local.json"].map(|name| dir.join(".claude").join(name)));
    let managed = PathBuf::from("/etc/claude-code/managed-settings.json");
    for file in of_project.chain([managed]) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let settings: Value = serde_json::from_str(&text).unwrap_or_default();
        let switches = ["disableAllHooks", "allowManagedHooksOnly"];
        if let Some(switch) = switches.into_iter().find(|switch| settings[switch] == true) {
            return Err(format!("{switch} in {} switches these hooks off; take it out", file.display()));
        }
        // Above a project in the home directory are the user's own settings, with ours in them.
        if file.canonicalize().ok() == own {
            continue;
        }
        let variables = settings["env"].as_object().into_iter().flat_map(|env| env.keys());
        let leads_elsewhere = |name: &&String| {
            name.starts_with("COMITY_") || matches!(&***name, "CLAUDE_CODE_SHELL_PREFIX" | "HOME")
        };
        if let Some(name) = variables.into_iter().find(leads_elsewhere) {
            return Err(format!(
                "{name} in {} leads hooks or commands past this server; take it out",
                file.display()
            ));
        }
    }
    Ok(())
}

/// Codex runs a hook only after its user has trusted it, and reports which it does.
fn codex(program: &Path, file: &Path) -> Result<(), String> {
    let hooks = codex_hooks(program).map_err(|why| {
        format!("Codex did not say whether it runs these hooks ({why}); start codex and look in /hooks")
    })?;
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let ours: Vec<&Value> = hooks
        .iter()
        .filter(|hook| {
            hook["sourcePath"]
                .as_str()
                .is_some_and(|path| Path::new(path).canonicalize().ok() == Some(file.clone()))
        })
        .filter(|hook| hook["command"].as_str().is_some_and(|line| line.contains("comity-hook")))
        .collect();
    if ours.is_empty() {
        return Err("Codex does not list these hooks; start codex and look in /hooks".into());
    }
    if ours.iter().any(|hook| hook["enabled"] == false) {
        return Err("Codex has them switched off; start codex and enable Comity's in /hooks".into());
    }
    match ours.iter().all(|hook| matches!(hook["trustStatus"].as_str(), Some("trusted" | "managed"))) {
        true => Ok(()),
        false => {
            Err("Codex runs hooks only once you trust them: start codex and trust Comity's in /hooks".into())
        }
    }
}

/// All hooks that Codex finds from here, according to its own server.
fn codex_hooks(program: &Path) -> Result<Vec<Value>, String> {
    let mut command = Command::new(program);
    command.arg("app-server").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let told = ask_codex(&mut child);
    let _ = child.kill();
    let _ = child.wait();
    told
}

fn ask_codex(child: &mut Child) -> Result<Vec<Value>, String> {
    let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("it has no pipes".into());
    };
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let client = json!({ "name": "comity", "version": comity_wire::version() });
    let asked = [
        json!({ "id": 0, "method": "initialize", "params": { "clientInfo": client } }),
        json!({ "method": "initialized" }),
        json!({ "id": 1, "method": "hooks/list", "params": { "cwds": [here] } }),
    ];
    let asked: String = asked.iter().map(|line| format!("{line}\n")).collect();
    stdin.write_all(asked.as_bytes()).map_err(|error| error.to_string())?;
    let deadline = Instant::now() + CODEX_MAX;
    let (mut said, mut seen) = (Vec::new(), 0);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(|error| error.to_string())?;
        let ready = poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Some(&timeout));
        if left.is_zero() || ready.is_ok_and(|ready| ready == 0) || said.len() > CODEX_BYTES_MAX {
            return Err("it did not answer".into());
        }
        let mut part = [0; 16 * 1024];
        match stdout.read(&mut part).map_err(|error| error.to_string())? {
            0 => return Err("it ended without an answer".into()),
            count => said.extend_from_slice(&part[..count]),
        }
        while let Some(end) = said[seen..].iter().position(|byte| *byte == b'\n') {
            let line: Value = serde_json::from_slice(&said[seen..seen + end]).unwrap_or_default();
            seen += end + 1;
            if line["id"] == 1 {
                let data = line["result"]["data"].as_array().ok_or("it does not know the question")?;
                return Ok(data
                    .iter()
                    .filter_map(|entry| entry["hooks"].as_array())
                    .flatten()
                    .cloned()
                    .collect());
            }
        }
    }
}
