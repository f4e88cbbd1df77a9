//! What a server takes from whoever starts it: settings, the search path, and the umask for repositories.
//!
//! Any client starts a server, including an agent's. Only a person's environment counts: an agent that kills the
//! server and starts it again with other settings gets the previous ones.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use comity_app::config::ENVIRONMENT;
use comity_app::{identity, processes};
use comity_wire::Home;

use super::state_dir;

/// Variables that a server and what it starts have use for, besides the settings.
const NAMES: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TZ",
    "TMPDIR",
    "TMUX_TMPDIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "COMITY_HOME",
    "COMITY_TRACE",
    // Where agent programs find their logins, and how they reach their models.
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];
/// Prefixes of further ones.
const BEGINNINGS: [&str; 2] = ["XDG_", "LC_"];
/// Where tests plant panics.
const PLANTS: &str = "COMITY_PANIC";

type Variables = BTreeMap<String, String>;

/// The umask is remembered under this name, among the variables.
const UMASK: &str = "umask";

/// Remembers the environment and the umask; or, if an agent starts this server, begins again with those of last time and
/// nothing of the agent's. From here on all that the server starts is marked as not the person's. Gives the umask.
pub(super) fn settle(home: &Home, umask: u32) -> Result<u32, String> {
    let path = home.path().join("environment.json");
    let is_an_agents = identity::is_below_an_agent_program();
    // Now: in its new environment nothing else may tell that an agent started it.
    processes::mark_one(std::process::id(), processes::ProcessMark::TokenUser);
    let mut now = wanted();
    now.insert(UMASK.into(), format!("{umask:03o}"));
    if !is_an_agents {
        remember(&path, &now).map_err(|error| format!("{}: {error}", path.display()))?;
        return Ok(umask);
    }
    let mut variables = remembered(&path).unwrap_or(now);
    // An older server did not remember it.
    let wanted_umask = octal(variables.remove(UMASK).as_ref()).unwrap_or(umask);
    variables.insert("COMITY_HOME".into(), home.path().display().to_string());
    if is_all_there_is(&variables) && wanted_umask == umask {
        return Ok(umask);
    }
    Err(begin_again(variables, wanted_umask).to_string())
}

fn is_all_there_is(variables: &Variables) -> bool {
    let mut count = 0;
    let is_meant = |(name, value): (OsString, OsString)| {
        count += 1;
        name.to_str().and_then(|name| variables.get(name)).is_some_and(|meant| **meant == *value)
    };
    std::env::vars_os().all(is_meant) && count == variables.len()
}

fn wanted() -> Variables {
    let is_wanted = |name: &str| {
        NAMES.contains(&name)
            || (cfg!(debug_assertions) && name == PLANTS)
            || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
            || ENVIRONMENT.iter().any(|(setting, ..)| *setting == name)
    };
    let texts = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts.filter(|(name, _)| is_wanted(name)).collect()
}

fn octal(digits: Option<&String>) -> Option<u32> {
    u32::from_str_radix(digits?, 8).ok().filter(|umask| *umask <= 0o777)
}

fn remembered(path: &Path) -> Option<Variables> {
    serde_json::from_slice(&comity_app::plain_file::read(path).ok()?).ok()
}

fn remember(path: &Path, variables: &Variables) -> io::Result<()> {
    if remembered(path).as_ref() == Some(variables) {
        return Ok(());
    }
    let mut file = state_dir::private_file(path)?;
    file.set_len(0)?;
    serde_json::to_writer(&mut file, variables).map_err(io::Error::other)
}

/// The same program in another environment; it comes back only if that fails.
fn begin_again(variables: Variables, umask: u32) -> io::Error {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
    match std::env::current_exe() {
        Ok(program) => {
            Command::new(program).args(std::env::args_os().skip(1)).env_clear().envs(variables).exec()
        }
        Err(error) => error,
    }
}
