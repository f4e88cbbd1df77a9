//! The file that lets bash begin again through `comity-confine`, and whether commands can be confined at all.

use std::path::Path;
use std::process::{Command, Stdio};

use comity_guard::Dialect;
use comity_guard::connect::{BASH_ENV_SCRIPT, Connection};

use super::files::Change;

/// The file beside the programs; it goes with an undo.
pub(super) fn change(connection: &Connection, undo: bool) -> Change {
    Change::of(Path::new(&connection.bash_env()), |text| match (undo, text) {
        (false, _) => Ok(Some(BASH_ENV_SCRIPT.to_owned())),
        (true, Some(text)) if text != BASH_ENV_SCRIPT => Ok(Some(text.to_owned())),
        (true, _) => Ok(None),
    })
}

/// Tries whether a command can be confined; else why not.
pub(crate) fn probe(confine: &str) -> Result<(), String> {
    let said = Command::new(confine).arg("--probe").stdin(Stdio::null()).output();
    let said = said.map_err(|error| format!("{confine} cannot be started: {error}"))?;
    match said.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&said.stderr).trim().to_owned()),
    }
}

/// What is left for the user to do so that a program starts its shell through us.
pub(super) fn by_hand(dialect: Dialect, connection: &Connection) -> Option<String> {
    match dialect {
        Dialect::CopilotCli => Some(format!(
            "to confine its shell commands, start it as: BASH_ENV='{}' copilot --bash-env=on (an alias in your shell's profile does)",
            connection.bash_env()
        )),
        Dialect::ClaudeCode | Dialect::Codex | Dialect::GeminiCli | Dialect::Cursor | Dialect::OpenCode => {
            None
        }
    }
}

/// What the system forbids, and how to allow it, as far as it tells.
pub(crate) fn advice() -> &'static str {
    let says = |file: &str, value: &str| {
        std::fs::read_to_string(format!("/proc/sys/{file}")).is_ok_and(|text| text.trim() == value)
    };
    if says("user/max_user_namespaces", "0") {
        "allow user namespaces: sudo sysctl user.max_user_namespaces=10000"
    } else if says("kernel/unprivileged_userns_clone", "0") {
        "allow user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1"
    } else if says("kernel/apparmor_restrict_unprivileged_userns", "1") {
        "give comity-confine an AppArmor profile with \"userns,\", or: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    } else if cfg!(target_os = "linux") {
        "in a container, let it make user namespaces (seccomp and /proc unmasked); Linux 5.12 or newer is needed"
    } else {
        "it needs Linux"
    }
}
