//! Where agents appear when nobody says: decided once, from what surrounded us at the start.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tmux::TmuxPlace;

/// Where agents appear.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Backend {
    Tmux {
        program: PathBuf,
        place: TmuxPlace,
    },
    /// With the program `it2`.
    Iterm2 {
        it2: PathBuf,
    },
    /// In terminals that nobody sees.
    Process,
}

/// What the choice depends on, as it was when the user called: later it may be another one's.
#[derive(Clone, Default, Debug)]
pub struct Surroundings {
    /// `TMUX`: the server's socket, its process and the session.
    pub tmux: Option<String>,
    pub tmux_pane: Option<String>,
    pub term_program: Option<String>,
    pub path: Option<String>,
}

impl Surroundings {
    /// Of this process.
    pub fn capture() -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Self {
            tmux: variable("TMUX"),
            tmux_pane: variable("TMUX_PANE"),
            term_program: variable("TERM_PROGRAM"),
            path: variable("PATH"),
        }
    }

    fn program(&self, name: &str) -> Option<PathBuf> {
        let paths = self.path.as_deref()?;
        std::env::split_paths(paths).map(|directory| directory.join(name)).find(|file| is_executable(file))
    }

    /// The server and the pane that we were called in.
    fn leader(&self) -> Option<TmuxPlace> {
        let server = self.tmux.as_deref()?.split(',').next().filter(|server| !server.is_empty())?;
        Some(TmuxPlace::Beside { server: server.into(), pane: self.tmux_pane.clone()? })
    }
}

/// The first that there is: the user's tmux window, tmux at all, iTerm2, terminals that nobody sees.
pub fn detect(surroundings: &Surroundings, own: TmuxPlace) -> Backend {
    detect_with(surroundings, own, lists_sessions)
}

fn detect_with(surroundings: &Surroundings, own: TmuxPlace, lists_sessions: fn(&Path) -> bool) -> Backend {
    if let Some(program) = surroundings.program("tmux") {
        return Backend::Tmux { program, place: surroundings.leader().unwrap_or(own) };
    }
    let is_iterm2 = surroundings.term_program.as_deref() == Some("iTerm.app");
    match surroundings.program("it2").filter(|it2| is_iterm2 && lists_sessions(it2)) {
        Some(it2) => Backend::Iterm2 { it2 },
        None => Backend::Process,
    }
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
        let bin = |programs: &[&str]| {
            let bin = dir.path().join(programs.concat());
            fs::create_dir_all(&bin).unwrap();
            for program in programs {
                fs::write(bin.join(program), "").unwrap();
                fs::set_permissions(bin.join(program), fs::Permissions::from_mode(0o755)).unwrap();
            }
            bin.to_str().unwrap().to_owned()
        };
        let (tmux, it2, both, none) = (bin(&["tmux"]), bin(&["it2"]), bin(&["tmux", "it2"]), bin(&[]));
        let own = TmuxPlace::Own { socket: "comity".into(), session: "s".into() };
        let check =
            |path: &str, tmux: Option<&str>, pane: Option<&str>, term: &str, works, expected: &str| {
                let surroundings = Surroundings {
                    tmux: tmux.map(Into::into),
                    tmux_pane: pane.map(Into::into),
                    term_program: Some(term.into()),
                    path: Some(path.into()),
                };
                let lists: fn(&Path) -> bool = if works { |_| true } else { |_| false };
                let backend = match detect_with(&surroundings, own.clone(), lists) {
                    Backend::Tmux { place: TmuxPlace::Beside { server, pane }, .. } => {
                        format!("beside {pane} of {}", server.display())
                    }
                    Backend::Tmux { .. } => "own tmux".to_owned(),
                    Backend::Iterm2 { .. } => "iterm2".to_owned(),
                    Backend::Process => "process".to_owned(),
                };
                assert_eq!(backend, expected);
            };
        check(&both, Some("/s,1,0"), Some("%3"), "iTerm.app", true, "beside %3 of /s");
        check(&both, None, None, "iTerm.app", true, "own tmux");
        // Half of what tmux sets proves no pane.
        check(&tmux, Some("/s,1,0"), None, "", false, "own tmux");
        check(&tmux, Some(""), Some("%3"), "", false, "own tmux");
        check(&it2, None, None, "iTerm.app", true, "iterm2");
        check(&it2, None, None, "iTerm.app", false, "process");
        check(&it2, None, None, "WezTerm", true, "process");
        // Inside tmux without its program, as in a container that got the environment only.
        check(&none, Some("/s,1,0"), Some("%3"), "", false, "process");
    }
}
