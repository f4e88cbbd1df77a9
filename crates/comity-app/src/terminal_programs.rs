//! Programs that host people's terminals and sessions. They are the person's, whatever else runs below them.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

use crate::lineage::LineageProcess;

/// Terminal emulators, as the system installs them.
const WINDOWS: [&str; 14] = [
    "alacritty",
    "foot",
    "ghostty",
    "gnome-terminal-",
    "kgx",
    "kitty",
    "konsole",
    "mate-terminal",
    "ptyxis-agent",
    "terminator",
    "tilix",
    "wezterm-gui",
    "xfce4-terminal",
    "xterm",
];
/// Programs that keep terminals, and open more on request.
const MULTIPLEXERS: [&str; 8] =
    ["tmux", "screen", "SCREEN", "zellij", "dtach", "abduco", "mosh-server", "wezterm-mux-ser"];
/// Programs that log people in, or start what was scheduled earlier.
const SESSIONS: [&str; 11] =
    ["sshd", "dropbear", "login", "su", "sudo", "doas", "systemd", "init", "cron", "crond", "atd"];

/// Whether a process hosts terminals or sessions, as installed by the system: never an agent's program.
pub(crate) fn is_host(link: &LineageProcess) -> bool {
    let is_named = is_one_of(&SESSIONS, link) || is_multiplexer(link) || has_windows(&link.name);
    is_named && is_the_systems(link)
}

/// By its name.
pub(crate) fn is_multiplexer(link: &LineageProcess) -> bool {
    is_one_of(&MULTIPLEXERS, link)
}

fn is_one_of(names: &[&str], link: &LineageProcess) -> bool {
    // `tmux: server`, `sshd-session`
    let name = link.name.split([':', '-']).next().unwrap_or_default();
    names.contains(&name) || names.contains(&&*link.name)
}

/// Whether it is a terminal emulator that only the system can replace.
pub(crate) fn is_window(link: &LineageProcess) -> bool {
    has_windows(&link.name) && is_the_systems(link)
}

fn has_windows(name: &str) -> bool {
    WINDOWS.iter().any(|window| name.starts_with(window))
}

/// Whether only the system can replace its program. One that cannot be inspected runs with privileges that the system
/// gave it.
fn is_the_systems(link: &LineageProcess) -> bool {
    match std::fs::metadata(format!("/proc/{}/exe", link.process.pid)) {
        Ok(file) => file.uid() == 0 && file.mode() & 0o022 == 0,
        Err(error) => error.kind() == ErrorKind::PermissionDenied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_makes_no_host() {
        let own = crate::lineage::link(std::process::id()).expect("this process");
        let named = |pid: u32, name: &str| LineageProcess {
            process: comity_core::agents::Process { pid, ..own.process },
            name: name.into(),
            ..own.clone()
        };
        // Cargo has built this one; the system has installed the other.
        let mut sleep = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        for name in ["tmux: server", "sshd-session", "systemd", "xterm"] {
            assert!(is_host(&named(sleep.id(), name)), "{name}");
        }
        for name in ["claude", "node", "tmuxinator", "sleep"] {
            assert!(!is_host(&named(sleep.id(), name)), "{name}");
        }
        sleep.kill().and_then(|()| sleep.wait()).expect("an end");
        assert!(!is_host(&named(u32::MAX, "tmux: server")));
    }
}
