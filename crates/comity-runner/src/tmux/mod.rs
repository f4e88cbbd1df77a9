//! Panes in tmux: beside the leader in the user's own window, or tiled in a session of our own.
//!
//! tmux takes a whole sequence of commands at once and runs it in order, so all panes of one call cost one start of its
//! client. No shell is between tmux and the program, and nothing is typed.

mod column;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use column::Column;

use crate::panes::{Pane, PaneCommand, PaneError};

const TMUX: &str = "tmux";
/// What tmux says of a new pane.
const PANE: &str = "#{pane_id} #{pane_pid}";
/// The part of the width that goes to the workers beside a leader.
const WORKERS_WIDTH: &str = "70%";
/// Panes in one window of our own session; more get a window of their own.
const TILES_MAX: usize = 16;
/// What a new session of our own is as large as, until somebody attaches.
const COLUMNS: &str = "220";
const ROWS: &str = "60";

/// Where the panes are made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TmuxPlace {
    /// Beside this pane of the user's server.
    Beside { server: PathBuf, pane: String },
    /// In a session on a server of our own, named by its socket.
    Own { socket: String, session: String },
}

/// One place in tmux with the panes that were made there.
#[derive(Debug)]
pub struct Tmux {
    program: PathBuf,
    place: TmuxPlace,
    /// In the order in which they were made.
    panes: Vec<Pane>,
}

impl Tmux {
    /// A place where no pane was made yet.
    pub fn new(program: &Path, place: TmuxPlace) -> Self {
        Self { program: program.to_owned(), place, panes: Vec::new() }
    }

    /// Makes panes and starts a program in each.
    pub fn open(&mut self, commands: &[PaneCommand]) -> Result<Vec<Pane>, PaneError> {
        let made = match self.place.clone() {
            TmuxPlace::Beside { pane, .. } => self.open_beside(&pane, commands)?,
            TmuxPlace::Own { session, .. } => self.open_own(&session, commands)?,
        };
        self.panes.extend(made.iter().cloned());
        Ok(made)
    }

    pub(crate) fn adopt(&mut self, pane: Pane) -> Pane {
        self.panes.push(pane.clone());
        pane
    }

    /// Presses keys in a pane, by tmux's names for them.
    pub fn press(&self, pane: &Pane, keys: &[&str]) -> Result<(), PaneError> {
        self.run(vec![[vec!["send-keys", "-t", &pane.id], keys.to_vec()].concat()]).map(drop)
    }

    /// Types a text into a pane. Whoever knows pastes gets it as one, so that what follows is a key press of its own.
    pub fn paste(&self, pane: &Pane, text: &str) -> Result<(), PaneError> {
        let buffer = format!("comity-{}", pane.id.trim_start_matches('%'));
        let set = ["set-buffer", "-b", &buffer, "--", text].map(str::to_owned).to_vec();
        let paste =
            ["paste-buffer", "-p", "-r", "-d", "-b", &buffer, "-t", &pane.id].map(str::to_owned).to_vec();
        self.run(vec![set, paste]).map(drop)
    }

    /// What stands in a pane, without colours.
    pub fn read(&self, pane: &Pane) -> Result<String, PaneError> {
        self.run(vec![vec!["capture-pane", "-p", "-J", "-S", "-", "-t", &pane.id]])
    }

    /// Closes a pane if it is still the one that was made.
    pub fn close(&self, pane: &Pane) -> Result<(), PaneError> {
        if self.live()?.contains(pane) {
            self.run(vec![vec!["kill-pane", "-t", &pane.id]])?;
        }
        Ok(())
    }

    /// The command that shows a pane to a person.
    pub fn attach_command(&self, pane: &Pane) -> Vec<String> {
        let target = match &self.place {
            TmuxPlace::Beside { server, .. } => vec!["-S".into(), server.display().to_string()],
            TmuxPlace::Own { socket, .. } => vec!["-L".into(), socket.clone()],
        };
        let select = ["attach-session", "-t", &pane.id, ";", "select-pane", "-t", &pane.id];
        let program = self.program.display().to_string();
        [vec![program], target, select.map(str::to_owned).to_vec()].concat()
    }

    fn open_beside(&self, leader: &str, commands: &[PaneCommand]) -> Result<Vec<Pane>, PaneError> {
        let Some((first, rest)) = commands.split_first() else { return Ok(Vec::new()) };
        let live = self.live()?;
        let mut ours: Vec<Pane> = self.panes.iter().filter(|pane| live.contains(pane)).cloned().collect();
        if !ours.is_empty() {
            return self.stack(&ours, commands);
        }
        let split = split(&["-h", "-l", WORKERS_WIDTH, "-t", leader], first);
        let made = panes_in(&self.run(vec![words(&split)])?);
        ours.extend(made.iter().cloned());
        Ok([made, self.stack(&ours, rest)?].concat())
    }

    /// Puts new panes below ours, all of the same height.
    fn stack(&self, ours: &[Pane], commands: &[PaneCommand]) -> Result<Vec<Pane>, PaneError> {
        let (Some(last), false) = (ours.last(), commands.is_empty()) else { return Ok(Vec::new()) };
        let listed = self.run(vec![vec!["list-panes", "-t", &last.id, "-F", "#{pane_id} #{pane_height}"]])?;
        let height = |pane: &Pane| {
            let height = listed.lines().find_map(|line| line.strip_prefix(&pane.id)?.trim().parse().ok());
            height.ok_or_else(|| refused(format!("pane {} is gone", pane.id)))
        };
        let heights = ours.iter().map(height).collect::<Result<Vec<usize>, _>>()?;
        let column = Column::plan(&heights, commands.len());
        let column = column.ok_or(PaneError::NoRoom { panes: commands.len() })?;

        // The last of ours keeps what is over; the new ones are cut from it.
        let resized = ours.iter().zip(&column.existing).take(ours.len() - 1).map(|(pane, height)| {
            ["resize-pane", "-t", &pane.id, "-y", &height.to_string()].map(OsString::from).to_vec()
        });
        // Each new pane comes directly below the last of ours, so the last one of them is made first.
        let heights = column.new.iter().zip(commands).rev();
        let made = heights
            .map(|(height, command)| split(&["-v", "-l", &height.to_string(), "-t", &last.id], command));
        let sequence: Vec<Vec<OsString>> = resized.chain(made).collect();
        let mut made = panes_in(&self.run(sequence.iter().map(|command| words(command)).collect())?);
        made.reverse();
        Ok(made)
    }

    fn open_own(&self, session: &str, commands: &[PaneCommand]) -> Result<Vec<Pane>, PaneError> {
        let live = self.live().unwrap_or_default();
        let before = self.panes.iter().filter(|pane| live.contains(pane)).count();
        let mut has_session = before > 0;
        let mut sequence: Vec<Vec<OsString>> = Vec::new();
        let window = format!("={session}:");
        for (tiles, command) in (before..).zip(commands) {
            if !has_session {
                let options =
                    ["new-session", "-d", "-s", session, "-x", COLUMNS, "-y", ROWS, "-P", "-F", PANE];
                sequence.push(started(&options, command));
                sequence.push(["set-option", "-g", "mouse", "on"].map(OsString::from).to_vec());
                has_session = true;
            } else if tiles.is_multiple_of(TILES_MAX) {
                sequence.push(started(&["new-window", "-t", &window, "-P", "-F", PANE], command));
            } else {
                sequence.push(split(&["-t", &window], command));
                sequence.push(["select-layout", "-t", &window, "tiled"].map(OsString::from).to_vec());
            }
        }
        if sequence.is_empty() {
            return Ok(Vec::new());
        }
        Ok(panes_in(&self.run(sequence.iter().map(|command| words(command)).collect())?))
    }

    /// All panes of the server.
    fn live(&self) -> Result<Vec<Pane>, PaneError> {
        Ok(panes_in(&self.run(vec![vec!["list-panes", "-a", "-F", PANE]])?))
    }

    /// Runs a sequence of commands by one client.
    fn run<S: AsRef<std::ffi::OsStr>>(&self, sequence: Vec<Vec<S>>) -> Result<String, PaneError> {
        let mut client = Command::new(&self.program);
        match &self.place {
            TmuxPlace::Beside { server, .. } => client.arg("-S").arg(server),
            // The user's settings stay out of it: their plugins would start a second time.
            TmuxPlace::Own { socket, .. } => client.args(["-L", socket, "-f", "/dev/null"]),
        };
        for (index, command) in sequence.iter().enumerate() {
            if index > 0 {
                client.arg(";");
            }
            client.args(command.iter().map(|word| escaped(word.as_ref())));
        }
        client.env_remove("TMUX").env_remove("TMUX_PANE").stdin(Stdio::null());
        let output = client.output().map_err(|error| PaneError::NotStarted { program: TMUX, error })?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(refused(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        }
    }
}

fn refused(says: String) -> PaneError {
    PaneError::Refused { program: TMUX, says }
}

/// A word that ends in a semicolon would end the command.
fn escaped(word: &std::ffi::OsStr) -> OsString {
    match word.to_str().and_then(|word| word.strip_suffix(';')) {
        Some(rest) => format!("{rest}\\;").into(),
        None => word.to_owned(),
    }
}

fn split(options: &[&str], command: &PaneCommand) -> Vec<OsString> {
    started(&[&["split-window", "-d", "-P", "-F", PANE], options].concat(), command)
}

fn started(options: &[&str], command: &PaneCommand) -> Vec<OsString> {
    let mut words: Vec<OsString> = options.iter().map(OsString::from).collect();
    words.extend([OsString::from("-c"), command.directory.clone().into(), "--".into()]);
    words.extend(command.command.iter().cloned());
    words
}

fn words(command: &[OsString]) -> Vec<&OsString> {
    command.iter().collect()
}

fn panes_in(output: &str) -> Vec<Pane> {
    let pane = |line: &str| {
        let (id, pid) = line.trim().split_once(' ')?;
        Some(Pane { id: id.to_owned(), pid: Some(pid.parse().ok()?) })
    };
    output.lines().filter_map(pane).collect()
}
