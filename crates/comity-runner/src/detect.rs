//! Where agents appear when nobody says: decided once, from what surrounded us at the start.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::panes::PanePlace;
use crate::tmux::TmuxPlace;

/// What the choice depends on, as it was when the user called: later it may be another one's.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Surroundings {
    /// `TMUX`: the server's socket, its process and the session.
    pub tmux: Option<String>,
    pub tmux_pane: Option<String>,
    pub term_program: Option<String>,
    /// The session of iTerm2.
    pub iterm_session: Option<String>,
}

impl Surroundings {
    /// Of this process.
    pub fn capture() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            tmux: variable("TMUX"),
            tmux_pane: variable("TMUX_PANE"),
            term_program: variable("TERM_PROGRAM"),
            iterm_session: variable("ITERM_SESSION_ID"),
        }
    }

    /// The tmux server and the pane that we were called in.
    pub fn leader(&self) -> Option<TmuxPlace> {
        let server = self.tmux.as_deref()?.split(',').next().filter(|server| !server.is_empty())?;
        Some(TmuxPlace::Beside { server: server.into(), pane: self.tmux_pane.clone()? })
    }
}

/// The first that there is: the user's tmux window, tmux at all, iTerm2. None: terminals that nobody sees.
pub fn detect(surroundings: &Surroundings, path: &OsStr, own: TmuxPlace) -> Option<PanePlace> {
    if let Some(program) = find("tmux", path) {
        return Some(PanePlace::Tmux { program, place: surroundings.leader().unwrap_or(own) });
    }
    detect_iterm2(surroundings, path)
}

/// A session of iTerm2 that can be split.
pub fn detect_iterm2(surroundings: &Surroundings, path: &OsStr) -> Option<PanePlace> {
    let leader = surroundings.iterm_session.clone()?;
    let is_iterm2 = surroundings.term_program.as_deref() == Some("iTerm.app");
    let it2 = find("it2", path).filter(|it2| is_iterm2 && lists_sessions(it2))?;
    Some(PanePlace::Iterm2 { it2, leader })
}

/// A program on a PATH.
pub fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path).map(|directory| directory.join(name)).find(|file| is_executable(file))
}

/// Installed is not enough: the user has to have allowed iTerm2's API.
fn lists_sessions(it2: &Path) -> bool {
    let mut command = Command::new(it2);
    command.args(["session", "list"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_order_of_the_choice() {
        let dir = tempfile::tempdir().unwrap();
        // Two of `it2`: its user has allowed iTerm2's API to one of them.
        let bin = |name: &str, programs: &[(&str, &str)]| {
            let bin = dir.path().join(name);
            fs::create_dir_all(&bin).unwrap();
            for (program, script) in programs {
                fs::write(bin.join(program), format!("#!/bin/sh\n{script}\n")).unwrap();
                fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
            }
            bin
        };
        let (works, fails) = (("it2", "[ \"$1 $2\" = 'session list' ]"), ("it2", "exit 3"));
        let tmux = bin("tmux", &[("tmux", "")]);
        let (it2, it2_off) = (bin("it2", &[works]), bin("it2-off", &[fails]));
        let (both, none) = (bin("both", &[("tmux", ""), works]), bin("none", &[]));
        let own = TmuxPlace::Own { socket: "comity".into(), session: "s".into() };
        let check = |path: &Path, tmux: (&str, &str), iterm2: (&str, &str), expected: &str| {
            let set = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let surroundings = Surroundings {
                tmux: set(tmux.0),
                tmux_pane: set(tmux.1),
                term_program: set(iterm2.0),
                iterm_session: set(iterm2.1),
            };
            let place = match detect(&surroundings, path.as_os_str(), own.clone()) {
                Some(PanePlace::Tmux { place: TmuxPlace::Beside { server, pane }, .. }) => {
                    format!("beside {pane} of {}", server.display())
                }
                Some(PanePlace::Tmux { .. }) => "own tmux".to_owned(),
                Some(PanePlace::Iterm2 { leader, .. }) => format!("iterm2 beside {leader}"),
                None => "process".to_owned(),
            };
            assert_eq!(place, expected, "{} {tmux:?} {iterm2:?}", path.display());
        };
        let (inside, outside) = (("/s,1,0", "%3"), ("", ""));
        let (iterm2, other) = (("iTerm.app", "w0t0p0:A"), ("WezTerm", "w0t0p0:A"));
        check(&both, inside, iterm2, "beside %3 of /s");
        check(&both, outside, iterm2, "own tmux");
        // Half of what tmux sets proves no pane.
        check(&tmux, ("/s,1,0", ""), other, "own tmux");
        check(&tmux, ("", "%3"), other, "own tmux");
        check(&tmux, (",1,0", "%3"), other, "own tmux");
        check(&it2, outside, iterm2, "iterm2 beside w0t0p0:A");
        check(&it2_off, outside, iterm2, "process");
        check(&it2, outside, other, "process");
        check(&it2, outside, ("iTerm.app", ""), "process");
        // Inside tmux without its program, as in a container that got the environment only.
        check(&none, inside, other, "process");
        check(&it2, inside, iterm2, "iterm2 beside w0t0p0:A");
    }
}
