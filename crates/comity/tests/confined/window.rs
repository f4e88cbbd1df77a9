//! Windows of a terminal in which programs run.

use std::process::Command;

use crate::support::{Place, eventually};

/// A program in a window of its own tmux.
pub(crate) struct Window {
    socket: String,
    _dir: tempfile::TempDir,
}

impl Window {
    /// Runs a command there, with the environment that it has.
    pub(crate) fn open(place: &Place, command: &Command) -> Window {
        let dir = tempfile::tempdir().expect("a directory");
        let window = Window { socket: dir.path().join("t").display().to_string(), _dir: dir };
        let mut tmux = place.program("tmux");
        tmux.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        tmux.args(["-S", &window.socket, "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "50"]);
        tmux.arg(command.get_program()).args(command.get_args());
        assert!(tmux.status().expect("tmux").success());
        window
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let ran = Command::new("tmux").args(["-S", &self.socket]).args(arguments).output().expect("tmux");
        assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    pub(crate) fn types(&self, line: &str) {
        self.tmux(&["send-keys", "-l", line]);
        self.tmux(&["send-keys", "Enter"]);
    }

    pub(crate) fn presses(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Waits until a line of the screen is this, or begins so.
    pub(crate) fn shows(&self, wanted: &str) {
        eventually(&format!("the screen shows {wanted}"), || {
            self.screen().lines().any(|line| line.starts_with(wanted))
        });
    }

    /// Waits until this program has the terminal.
    pub(crate) fn runs(&self, program: &str) {
        eventually(&format!("{program} has the terminal"), || {
            self.tmux(&["display-message", "-p", "#{pane_current_command}"]).trim() == program
        });
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let screen = Command::new("tmux").args(["-S", &self.socket, "capture-pane", "-p"]).output();
            eprintln!(
                "{}",
                screen.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default()
            );
        }
        let _ = Command::new("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}
