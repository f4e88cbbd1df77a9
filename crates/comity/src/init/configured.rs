//! An agent program's current setup, from its files.

use std::fs;
use std::path::{Path, PathBuf};

use comity_guard::Dialect;
use comity_guard::connect::{
    Connected, ProgramPaths, SettingsFile, SettingsKind, ShellStart, disconnect, hook_command, is_connected,
    places, plain_json, sandbox, shares_server, shell_start, zsh_dir,
};

use super::{User, active};

/// An agent program as it would start now.
pub(crate) struct Configured {
    /// The command that it runs before a tool call, or why it asks nobody.
    pub(crate) hook: Result<String, String>,
    /// The file that names it.
    pub(crate) hook_file: Option<PathBuf>,
    /// What its shell commands start through, if that is ours and works; otherwise why not.
    pub(crate) shell: Result<ShellStart, String>,
}

impl Configured {
    pub(crate) fn look(dialect: Dialect, user: &User, connection: &ProgramPaths) -> Configured {
        let files: Vec<(&SettingsFile, String, Result<String, std::io::Error>)> = places(dialect)
            .iter()
            .map(|place| {
                let file = user.file(place);
                (place, file.display().to_string(), fs::read_to_string(file))
            })
            .collect();
        let hooks = files.iter().filter(|(place, ..)| place.kind.calls_hooks());
        let hook = hooks.map(|(place, file, text)| hook(dialect, place, file, text, connection)).next();
        let starts = files.iter().filter_map(|(place, file, text)| {
            let text = text.as_deref().unwrap_or_default();
            Some(works(shell_start(dialect, place.kind, text)?, file, connection))
        });
        let hook_file = places(dialect).iter().find(|place| place.kind.calls_hooks());
        Configured {
            hook_file: hook_file.map(|place| user.file(place)),
            hook: hook.unwrap_or_else(|| Err("it has no hooks".into())),
            shell: starts.into_iter().next().unwrap_or_else(|| Err(no_setting(dialect).into())),
        }
    }

    /// Whether the program itself runs that command; otherwise what prevents it, and what to do.
    pub(crate) fn active(&self, dialect: Dialect) -> Result<(), String> {
        self.hook_file.as_deref().map_or(Ok(()), |file| active::look(dialect, file))
    }

    /// Where a program's shell commands are not confined although it is set up.
    pub(crate) fn exceptions(dialect: Dialect, user: &User, connection: &ProgramPaths) -> Vec<String> {
        let takes_users_shell = matches!(dialect, Dialect::Codex | Dialect::OpenCode);
        let shell = std::env::var("SHELL").ok().filter(|_| takes_users_shell);
        let other = shell.filter(|shell| match Path::new(shell).file_name().and_then(|name| name.to_str()) {
            Some("zsh") => !confines_zsh(dialect, user, connection),
            name => name.is_some_and(|name| name != "bash"),
        });
        let of_shell = other.map(|shell| match shell.ends_with("zsh") {
            true => format!("in your shell, {shell}: run comity init again"),
            false => format!("in your shell, {shell}: only in bash and zsh"),
        });
        let config =
            places(dialect).iter().find(|place| dialect == Dialect::Codex && place.kind == SettingsKind::Mcp);
        let text = config.and_then(|place| fs::read_to_string(user.file(place)).ok());
        let of_sandbox = text.and_then(|text| sandbox(&text)).map(|why| format!("in its own sandbox: {why}"));
        of_shell.into_iter().chain(of_sandbox).collect()
    }

    /// Whether all windows of a program share one process, and so are one agent.
    pub(crate) fn shares_server(dialect: Dialect, user: &User) -> bool {
        let mut configs = places(dialect).iter().filter(|place| place.kind == SettingsKind::Mcp);
        dialect == Dialect::Codex
            && configs.any(|place| shares_server(&fs::read_to_string(user.file(place)).unwrap_or_default()))
    }

    /// Whether anything of ours is in a program's files.
    pub(crate) fn has_traces(dialect: Dialect, user: &User) -> bool {
        places(dialect).iter().any(|place| {
            let text = fs::read_to_string(user.file(place)).unwrap_or_default();
            disconnect(dialect, place.kind, &text).is_ok_and(|without| without.as_deref() != Some(&text))
        })
    }
}

/// Whether a zsh that the program starts restarts through us.
fn confines_zsh(dialect: Dialect, user: &User, connection: &ProgramPaths) -> bool {
    let named = places(dialect).iter().find_map(|place| {
        let text = fs::read_to_string(user.file(place)).ok()?;
        zsh_dir(dialect, place.kind, &text)
    });
    let (file, text) = connection.zshenv();
    named.is_some_and(|dir| dir == connection.zsh_dir())
        && fs::read_to_string(file).is_ok_and(|found| found == text)
}

fn hook(
    dialect: Dialect,
    place: &SettingsFile,
    file: &str,
    text: &Result<String, std::io::Error>,
    connection: &ProgramPaths,
) -> Result<String, String> {
    let text = match text {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!("there is no {file}"));
        }
        Err(error) => return Err(format!("can't read {file}: {error}")),
    };
    match is_connected(dialect, place.kind, text, connection) {
        Connected::Yes => {}
        Connected::Otherwise => {
            return Err(format!("{file} is set up for another version or place of Comity"));
        }
        Connected::No => return Err(format!("{file} doesn't call Comity's hook")),
    }
    if let Some(switch) = switched_off(dialect, text) {
        return Err(format!("{switch} in {file} switches its hooks off"));
    }
    hook_command(dialect, place.kind, text).ok_or_else(|| format!("{file} doesn't call Comity's hook"))
}

/// The setting by which a user has switched all hooks off, if so.
fn switched_off(dialect: Dialect, text: &str) -> Option<&'static str> {
    let settings: serde_json::Value = serde_json::from_str(&plain_json(dialect, text)).ok()?;
    match dialect {
        Dialect::ClaudeCode => (settings["disableAllHooks"] == true).then_some("disableAllHooks"),
        Dialect::GeminiCli => (settings["hooksConfig"]["enabled"] == false).then_some("hooksConfig.enabled"),
        Dialect::Codex | Dialect::CopilotCli | Dialect::Cursor | Dialect::OpenCode => None,
    }
}

/// Whether what the settings name exists and is what we write.
fn works(start: ShellStart, file: &str, connection: &ProgramPaths) -> Result<ShellStart, String> {
    match &start {
        ShellStart::Prefix(program) if *program == connection.confine() && Path::new(program).is_file() => {
            Ok(start)
        }
        ShellStart::Prefix(program) if Path::new(program).is_file() => {
            Err(format!("{file} names {program}, of another Comity"))
        }
        ShellStart::Prefix(program) => Err(format!("{file} names {program}, which is missing")),
        ShellStart::BashEnv(script) => match fs::read_to_string(script) {
            Ok(text) if text == connection.bash_env_script() => Ok(start),
            Ok(_) => Err(format!("{file} names {script}, of another Comity")),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(format!("{file} names {script}, which is missing"))
            }
            Err(error) => Err(format!("{file} names {script}, which can't be read: {error}")),
        },
        ShellStart::Users { setting, value } => Err(format!("{setting} in {file} is your own: {value}")),
        ShellStart::Plain => Err(format!("nothing in {file} says so")),
    }
}

fn no_setting(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::CopilotCli => "only if you start it with BASH_ENV and --bash-env=on",
        Dialect::Cursor => "not possible with Cursor yet",
        Dialect::ClaudeCode | Dialect::Codex | Dialect::GeminiCli | Dialect::OpenCode => {
            "it has no setting for it"
        }
    }
}
