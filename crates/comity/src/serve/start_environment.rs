//! What a server takes from whoever starts it: settings, the search path, and the umask for repositories.
//!
//! Any client starts a server, including an agent's. Only a person's environment counts: an agent that kills the
//! server and starts it again with other settings gets the previous ones.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use comity_app::config::ENVIRONMENT;
use comity_app::processes;
use comity_wire::Home;

use super::state_dir;

/// Variables that a server uses, besides the settings.
const NAMES: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "TZ",
    "TMPDIR",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "COMITY_HOME",
    "COMITY_TRACE",
];
/// Prefixes of further ones.
const BEGINNINGS: [&str; 2] = ["XDG_", "LC_"];

type Variables = BTreeMap<String, String>;

/// The umask is remembered under this name, among the variables.
const UMASK: &str = "umask";

/// Remembers the environment and the umask, or restarts with the previous ones if an agent starts this server. From
/// here on everything that the server starts is marked as not the person's. Returns the umask.
pub(super) fn settle(home: &Home, umask: u32) -> Result<u32, String> {
    let own = std::process::id();
    let path = home.path().join("environment.json");
    let mut now = wanted();
    now.insert(UMASK.into(), format!("{umask:03o}"));
    if processes::is_marked(own) {
        if let Some(mut before) = remembered(&path) {
            // An older server did not remember it.
            let umask = octal(before.get(UMASK)).unwrap_or(umask);
            before.insert(UMASK.into(), format!("{umask:03o}"));
            if before != now {
                return Err(begin_again(before, umask).to_string());
            }
        }
    } else {
        remember(&path, &now).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    processes::mark_one(own, processes::ProcessMark::TokenUser);
    Ok(umask)
}

fn wanted() -> Variables {
    let is_wanted = |name: &str| {
        NAMES.contains(&name)
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

/// Becomes the same program in another environment; returns only if that fails.
fn begin_again(mut variables: Variables, umask: u32) -> io::Error {
    variables.remove(UMASK);
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(umask));
    match std::env::current_exe() {
        Ok(program) => {
            Command::new(program).args(std::env::args_os().skip(1)).env_clear().envs(variables).exec()
        }
        Err(error) => error,
    }
}
