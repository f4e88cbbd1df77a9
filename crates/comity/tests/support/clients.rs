//! Real agent programs as npm has installed them, set up to talk to a scripted model and to nobody else.
//!
//! They are looked for below `COMITY_CLIENTS_DIR`; the tests of one that is not there are skipped.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use super::model::Model;
use super::{HUMAN, Place, Ran, beside, has_ended, has_program, skip};

/// How long a client may take from its start to its end.
const RUN_MAX: Duration = Duration::from_secs(150);
/// Any text does: the model does not look at it.
const KEY: &str = "dummy";

/// A program or directory of npm's.
fn installed(test: &str, paths: &[&str]) -> Option<PathBuf> {
    let Some(dir) = std::env::var_os("COMITY_CLIENTS_DIR").map(PathBuf::from) else {
        skip(test, "COMITY_CLIENTS_DIR is not set");
        return None;
    };
    let found = paths.iter().map(|path| dir.join("node_modules").join(path)).find(|path| path.exists());
    if found.is_none() {
        skip(test, "it is not installed in COMITY_CLIENTS_DIR");
    }
    found
}

/// Claude Code, about to answer one prompt.
pub(crate) fn claude(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut command = claude_program(test, place, model)?;
    command.args(["--print", "go on", "--permission-mode", "bypassPermissions"]);
    Some(command)
}

/// Claude Code, about to be used at a terminal, by somebody who has used it here before.
pub(crate) fn claude_at_a_terminal(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut command = claude_program(test, place, model)?;
    command.args(["--strict-mcp-config", "--permission-mode", "default", "go on"]);
    let known = json!({
        "hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": { "approved": [KEY] },
        "projects": { place.repo.to_str().expect("a text"): { "hasTrustDialogAccepted": true } },
    });
    write(&place.dir().join("claude/.claude.json"), &known.to_string());
    Some(command)
}

fn claude_program(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let paths = ["@anthropic-ai/claude-code-linux-x64/claude", "@anthropic-ai/claude-code/bin/claude"];
    let mut command = place.program(installed(test, &paths)?);
    command
        .env("ANTHROPIC_BASE_URL", &model.url)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("CLAUDE_CONFIG_DIR", place.dir().join("claude"))
        .env("IS_SANDBOX", "1");
    Some(command)
}

/// A model that Codex does not know: it is given the tools of servers at once, others have to search for them.
pub(crate) const CODEX_UNKNOWN: &str = "gpt-5";
/// A model that Codex gives its own tools directly.
pub(crate) const CODEX_PLAIN: &str = "gpt-5.5";
/// A model that Codex gives a single tool, which runs programs that call the others.
pub(crate) const CODEX_CODING: &str = "gpt-6-sol";

/// Codex, about to answer one prompt; its settings are these and what is needed here.
pub(crate) fn codex(
    test: &str,
    place: &Place,
    model: &Model,
    called: &str,
    settings: &str,
) -> Option<Command> {
    let mut command = codex_program(test, place, model, called, "approval_policy = \"never\"", settings)?;
    command
        .args(["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"])
        .args(["--dangerously-bypass-hook-trust", "go on"]);
    Some(command)
}

/// Codex, about to be used at a terminal, by somebody who has used it here before.
pub(crate) fn codex_at_a_terminal(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let known = format!(
        "[projects.{:?}]\ntrust_level = \"trusted\"\n[notice.model_migrations]\n\"{CODEX_PLAIN}\" = \"{CODEX_CODING}\"\n",
        place.repo,
    );
    let asks = "approval_policy = \"on-request\"\nsandbox_mode = \"danger-full-access\"";
    let mut command = codex_program(test, place, model, CODEX_PLAIN, asks, &known)?;
    command.args(["--dangerously-bypass-hook-trust", "go on"]);
    Some(command)
}

/// The program of Codex, set up by whoever starts it.
pub(crate) fn codex_alone(test: &str) -> Option<PathBuf> {
    let paths = [
        "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex",
        "@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex",
    ];
    installed(test, &paths)
}

fn codex_program(
    test: &str,
    place: &Place,
    model: &Model,
    called: &str,
    asks: &str,
    settings: &str,
) -> Option<Command> {
    let program = codex_alone(test)?;
    let config = format!(
        "model = \"{called}\"\nmodel_provider = \"fake\"\n{asks}\n\
         [model_providers.fake]\nname = \"fake\"\nbase_url = \"{}/v1\"\nenv_key = \"FAKE_KEY\"\n\
         wire_api = \"responses\"\nsupports_websockets = false\n{settings}",
        model.url,
    );
    write(&codex_home(place).join("config.toml"), &config);
    let mut command = place.program(program);
    command.env("CODEX_HOME", codex_home(place)).env("FAKE_KEY", KEY);
    Some(command)
}

pub(crate) fn codex_home(place: &Place) -> PathBuf {
    place.dir().join("codex")
}

/// Gemini CLI, about to answer one prompt; its settings are these and what is needed here.
pub(crate) fn gemini(test: &str, place: &Place, model: &Model, settings: Value) -> Option<Command> {
    let mut command = gemini_program(test, place, model, settings)?;
    command.args(["--prompt", "go on", "--approval-mode", "yolo"]);
    Some(command)
}

/// Gemini CLI, about to be used at a terminal.
pub(crate) fn gemini_at_a_terminal(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut command = gemini_program(test, place, model, json!({}))?;
    command.args(["--prompt-interactive", "go on"]);
    Some(command)
}

fn gemini_program(test: &str, place: &Place, model: &Model, mut settings: Value) -> Option<Command> {
    let script = installed(test, &["@google/gemini-cli/bundle/gemini.js"])?;
    if !has_program("node") {
        skip(test, "there is no node here");
        return None;
    }
    settings["security"] = json!({ "auth": { "selectedType": "gemini-api-key" } });
    settings["privacy"] = json!({ "usageStatisticsEnabled": false });
    settings["general"] = json!({ "enableAutoUpdate": false, "enableAutoUpdateNotification": false });
    write(&place.dir().join(".gemini/settings.json"), &settings.to_string());
    let mut command = place.program("node");
    command
        .arg(script)
        .args(["--model", "gemini-2.5-flash", "--skip-trust"])
        .env("GEMINI_API_KEY", KEY)
        .env("GOOGLE_GEMINI_BASE_URL", &model.url);
    Some(command)
}

/// OpenCode, about to answer one prompt, with a plugin.
pub(crate) fn opencode(test: &str, place: &Place, model: &Model, plugin: &str) -> Option<Command> {
    let mut command = opencode_program(test, place, model, plugin, json!({}))?;
    command.args(["run", "--format", "json", "go on"]);
    Some(command)
}

/// OpenCode, about to be used at a terminal by somebody who wants to be asked about commands.
pub(crate) fn opencode_at_a_terminal(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut command = opencode_program(test, place, model, "", json!({ "bash": "ask" }))?;
    command.args(["--prompt", "go on"]);
    Some(command)
}

fn opencode_program(
    test: &str,
    place: &Place,
    model: &Model,
    plugin: &str,
    permission: Value,
) -> Option<Command> {
    let program = installed(test, &["opencode-linux-x64/bin/opencode"])?;
    let home = place.dir().join(".config/opencode");
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "fake", "models": { "scripted": { "name": "scripted" } },
        "options": { "baseURL": format!("{}/v1", model.url), "apiKey": KEY },
    });
    let config = json!({
        "provider": { "fake": provider }, "model": "fake/scripted", "small_model": "fake/scripted",
        "autoupdate": false, "share": "disabled", "permission": permission,
    });
    write(&home.join("opencode.json"), &config.to_string());
    write(&home.join("plugins/comity.js"), plugin);
    // It fetches the package for plugins unless that was noted as installed; ours does not need it.
    let noted = json!({ "packages": { "": { "dependencies": { "@opencode-ai/plugin": "*" } } } });
    write(&home.join("package-lock.json"), &noted.to_string());
    std::fs::create_dir(home.join("node_modules")).expect("made");
    let mut command = place.program(program);
    command.env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    Some(command)
}

/// Copilot CLI, about to answer one prompt.
pub(crate) fn copilot(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut command = copilot_program(test, place, model)?;
    command.args(["--prompt", "go on", "--allow-all-tools"]);
    Some(command)
}

/// Copilot CLI, about to be used at a terminal, by somebody who has used it here before.
pub(crate) fn copilot_at_a_terminal(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let mut command = copilot_program(test, place, model)?;
    command.args(["--interactive", "go on"]);
    let known = json!({ "trustedFolders": [place.repo] });
    write(&place.dir().join(".copilot/config.json"), &known.to_string());
    Some(command)
}

fn copilot_program(test: &str, place: &Place, model: &Model) -> Option<Command> {
    let program = installed(test, &["@github/copilot-linux-x64/copilot"])?;
    let mut command = place.program(program);
    command
        .env("COPILOT_OFFLINE", "true")
        .env("COPILOT_AUTO_UPDATE", "false")
        .env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", model.url))
        .env("COPILOT_PROVIDER_API_KEY", KEY)
        .env("COPILOT_MODEL", "gpt-5.2");
    Some(command)
}

/// Clients that speak ACP, each as the command line that starts it: asked about everything that writes.
pub(crate) mod over_acp {
    use std::process::Command;

    use serde_json::json;

    use super::{
        CODEX_UNKNOWN, Model, Place, claude_program, codex_program, copilot_program, gemini_program,
        installed, opencode_program,
    };

    pub(crate) fn gemini(test: &str, place: &Place, model: &Model) -> Option<String> {
        let mut command = gemini_program(test, place, model, json!({}))?;
        command.arg("--acp");
        Some(line(&command))
    }

    pub(crate) fn opencode(test: &str, place: &Place, model: &Model) -> Option<String> {
        let mut command = opencode_program(test, place, model, "", json!({ "edit": "ask" }))?;
        command.arg("acp");
        Some(line(&command))
    }

    pub(crate) fn claude(test: &str, place: &Place, model: &Model) -> Option<String> {
        let client = claude_program(test, place, model)?;
        let mut adapter = adapter(test, place, "claude-agent-acp")?;
        adapter.envs(client.get_envs().filter_map(|(name, value)| Some((name, value?))));
        adapter.env("CLAUDE_CODE_EXECUTABLE", client.get_program());
        Some(line(&adapter))
    }

    pub(crate) fn codex(test: &str, place: &Place, model: &Model) -> Option<String> {
        let asks = "approval_policy = \"on-request\"\nsandbox_mode = \"read-only\"";
        let client = codex_program(test, place, model, CODEX_UNKNOWN, asks, "")?;
        let mut adapter = adapter(test, place, "codex-acp")?;
        adapter.envs(client.get_envs().filter_map(|(name, value)| Some((name, value?))));
        adapter.env("CODEX_PATH", client.get_program());
        Some(line(&adapter))
    }

    pub(crate) fn copilot(test: &str, place: &Place, model: &Model) -> Option<String> {
        let mut command = copilot_program(test, place, model)?;
        command.arg("--acp");
        Some(line(&command))
    }

    fn adapter(test: &str, place: &Place, name: &str) -> Option<Command> {
        let path = format!("../acp/node_modules/@agentclientprotocol/{name}/dist/index.js");
        let script = installed(test, &[&path])?;
        let mut command = place.program("node");
        command.arg(script);
        Some(command)
    }

    /// Without what the place gives to every program: who it is is the agent's own.
    fn line(command: &Command) -> String {
        let quoted =
            |word: &std::ffi::OsStr| format!("'{}'", word.to_str().expect("text").replace('\'', r"'\''"));
        let set = command.get_envs().filter_map(|(name, value)| Some((name.to_str()?, value?)));
        let set = set.filter(|(name, _)| !name.starts_with("COMITY_"));
        let set: Vec<String> = set.map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        let words: Vec<String> =
            [command.get_program()].into_iter().chain(command.get_args()).map(quoted).collect();
        format!("exec env {} {}", set.join(" "), words.join(" "))
    }
}

/// A program of the client's name that starts it as its user has it, with so many of the command's arguments.
pub(crate) fn put_on_path(place: &Place, name: &str, client: &Command, own_arguments: usize) -> PathBuf {
    let bin = place.dir().join("clients");
    let mut script = String::from("#!/bin/sh\n");
    let is_own = |name: &str| !name.starts_with("COMITY") && !["PATH", "HOME"].contains(&name);
    for (variable, value) in client.get_envs() {
        if let (Some(variable), Some(value)) = (variable.to_str(), value.and_then(|value| value.to_str()))
            && is_own(variable)
        {
            script += &format!("export {variable}='{value}'\n");
        }
    }
    let own = client.get_args().take(own_arguments).map(|word| word.to_str().expect("a text"));
    let words: Vec<String> = std::iter::once(client.get_program().to_str().expect("a text"))
        .chain(own)
        .map(|word| format!("'{word}'"))
        .collect();
    script += &format!("exec {} \"$@\"\n", words.join(" "));
    let program = bin.join(name);
    write(&program, &script);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    bin
}

/// Installs our programs side by side. What the hook is asked is noted, too.
pub(crate) fn install(place: &Place) {
    let bin = place.dir().join("bin");
    fs::create_dir_all(&bin).expect("made");
    for name in ["comity", "comity-confine"] {
        place.copy_program(&beside(name).display().to_string(), &bin.join(name));
    }
    let asked = place.dir().join(ASKED);
    // It becomes the hook, as an agent is known by the program that starts that; and a variable does not confine it.
    let hook = beside("comity-hook").display().to_string();
    let line = format!("exec '{hook}' \"$@\" < <(exec tee -a '{}')", asked.display());
    let script = bin.join("comity-hook");
    fs::write(&script, format!("#!/bin/bash -p\n{line}\n")).expect("written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("executable");
}

/// Sets a client up as its user would, once our programs are installed.
pub(crate) fn init(place: &Place, name: &str, client: &Command) -> Ran {
    let mut init = place.program(place.dir().join("bin/comity"));
    init.args(["init", "--client", name])
        .envs(client.get_envs().filter_map(|(key, value)| Some((key, value?))))
        .env("COMITY_TOKEN", HUMAN);
    let ran = Ran::of(init.output().expect("it runs"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let _ = fs::remove_file(place.dir().join(ASKED));
    ran
}

/// What the hook was asked since then.
pub(crate) fn asked(place: &Place) -> String {
    fs::read_to_string(place.dir().join(ASKED)).unwrap_or_default()
}

const ASKED: &str = "asked.jsonl";

/// Runs a client to its end. Whatever it leaves behind ends with it.
pub(crate) fn run(place: &Place, mut command: Command) -> Ran {
    let file = |name: &str| place.dir().join(name);
    // Not pipes: a process that is left behind would keep them open.
    let to = |name: &str| Stdio::from(File::create(file(name)).expect("a file"));
    command.stdout(to("client.out")).stderr(to("client.err")).process_group(0);
    let mut client = command.spawn().expect("it starts");
    let pid = client.id();
    let has_ended = has_ended(pid, RUN_MAX);
    // Before its number is given back to the system: then it cannot be another's.
    if let Some(group) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let status = client.wait().expect("an end");
    let read = |name: &str| std::fs::read_to_string(file(name)).unwrap_or_default();
    let ran = Ran { code: status.code().unwrap_or(-1), out: read("client.out"), err: read("client.err") };
    assert!(has_ended, "it does not end: {ran:?}");
    ran
}

/// Writes a file, and makes the directories above it.
pub(crate) fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().expect("a directory")).expect("made");
    std::fs::write(file, text).expect("written");
}
