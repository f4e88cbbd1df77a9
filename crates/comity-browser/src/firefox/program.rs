//! Finds Firefox and starts it.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::inside::DEBUGGER;
use super::private_socket;
use crate::error::{BrowserError, Result};
use crate::options::Display;

/// The names that Firefox goes by, in the order in which they are looked for.
pub const NAMES: [&str; 2] = ["firefox-esr", "firefox"];

/// The given program, otherwise `firefox-esr` or `firefox` on the PATH.
pub fn find_firefox(path: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = path {
        let looked_for = format!("{} isn't a program that can be run", path.display());
        return if is_program(path) { Ok(path.into()) } else { Err(BrowserError::NoBrowser { looked_for }) };
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    find_on(&search).ok_or_else(|| BrowserError::NoBrowser {
        looked_for: format!("neither {} is on the PATH", NAMES.join(" nor ")),
    })
}

/// Starts Firefox with a profile, in its own process group, so that a Ctrl-C in a terminal does not reach it.
pub(crate) fn start(program: &Path, profile: &Path, display: Display) -> Result<Child> {
    let mut command = Command::new(program);
    if display == Display::Headless {
        command.arg("--headless");
    }
    command
        .args(["--no-remote", "--profile"])
        .arg(profile)
        .arg("--start-debugger-server")
        .arg(private_socket::named_by_firefox(profile, DEBUGGER))
        .current_dir(profile)
        // These would open a port, or more.
        .env_remove("MOZ_MARIONETTE")
        .env_remove("MOZ_REMOTE_ALLOW_SYSTEM_ACCESS")
        // A running Firefox is not asked to open a window for us, and does not ask us.
        .env("MOZ_NO_REMOTE", "1")
        .env("MOZ_CRASHREPORTER_DISABLE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command
        .spawn()
        .map_err(|error| BrowserError::not_started(format!("{} did not start: {error}", program.display())))
}

fn find_on(search: &OsStr) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(search).collect();
    let candidates = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    { candidates }.find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extended_support_release_is_preferred_wherever_it_is() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let search = std::env::join_paths([one.path(), two.path()]).unwrap();
        assert_eq!(find_on(&search), None);
        let put = |path: PathBuf, mode| {
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            path
        };
        put(one.path().join("firefox-esr"), 0o600);
        let firefox = put(one.path().join("firefox"), 0o700);
        assert_eq!(find_on(&search), Some(firefox), "what can't be run isn't a program");
        let esr = put(two.path().join("firefox-esr"), 0o700);
        assert_eq!(find_on(&search), Some(esr));
    }

    #[test]
    fn a_missing_program_is_told_with_a_remedy() {
        let nowhere = Path::new("nowhere/firefox");
        let told = find_firefox(Some(nowhere)).unwrap_err().to_string();
        assert!(told.contains("nowhere/firefox") && told.contains("apt-get install firefox-esr"), "{told}");
    }
}
