//! Terminals that people type into.

use std::process::Command;

use crate::support::{Place, eventually};

/// A person's shell in a terminal of its own, outside of every agent.
pub(crate) struct Terminal {
    pub(crate) socket: String,
    _dir: tempfile::TempDir,
}

impl Terminal {
    pub(crate) fn open(place: &Place) -> Terminal {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = dir.path().join("t").display().to_string();
        let mut tmux = place.program("tmux");
        tmux.args(["-S", &socket, "-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "50", "sh"]);
        assert!(tmux.status().expect("tmux").success());
        Terminal { socket, _dir: dir }
    }

    /// Runs a command of tmux.
    pub(crate) fn tmux(&self, arguments: &[&str]) -> String {
        let ran = Command::new("tmux").args(["-S", &self.socket]).args(arguments).output().expect("tmux");
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    /// Types a line and gives what the command printed.
    pub(crate) fn types(&self, place: &Place, line: &str) -> String {
        let said = place.dir().join(format!("typed-{}", line.len()));
        let _ = std::fs::remove_file(&said);
        let text = format!("{line} >{0}.part 2>&1; mv {0}.part {0}", said.display());
        for keys in [&["-l", &*text][..], &["Enter"]] {
            let mut tmux = Command::new("tmux");
            assert!(
                tmux.args(["-S", &self.socket, "send-keys"]).args(keys).status().expect("tmux").success()
            );
        }
        eventually("it answered", || said.exists());
        std::fs::read_to_string(said).expect("an answer")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}
