//! Panes that a terminal program makes for us: tmux or iTerm2.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::iterm2::Iterm2;
use crate::tmux::{Tmux, TmuxPlace};

/// Where panes are made, and by which program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PanePlace {
    Tmux {
        program: PathBuf,
        place: TmuxPlace,
    },
    /// Beside this session of iTerm2's.
    Iterm2 {
        it2: PathBuf,
        leader: String,
    },
}

/// A program for a pane.
#[derive(Clone, Debug)]
pub struct PaneCommand {
    pub command: Vec<OsString>,
    pub directory: PathBuf,
}

/// A pane that was made, and by which it is known again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pane {
    pub id: String,
    /// The process that was started in it; iTerm2 does not tell.
    pub pid: Option<u32>,
}

/// Why there are no panes.
#[derive(Debug)]
pub enum PaneError {
    /// There is no such program, or it could not be started.
    NotStarted { program: &'static str, error: io::Error },
    /// It refused a command.
    Refused { program: &'static str, says: String },
    /// So many panes do not fit into the window.
    NoRoom { panes: usize },
}

impl fmt::Display for PaneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted { program, error } => write!(f, "can't start {program}: {error}"),
            Self::Refused { program, says } => write!(f, "{program}: {says}"),
            Self::NoRoom { panes } => write!(f, "the tmux window has no room for {panes} more panes"),
        }
    }
}

impl std::error::Error for PaneError {}

/// Makes and reaches the panes of one place.
#[derive(Debug)]
pub(crate) enum PaneHost {
    Tmux(Tmux),
    Iterm2(Iterm2),
}

impl PaneHost {
    pub(crate) fn new(place: PanePlace) -> Self {
        match place {
            PanePlace::Tmux { program, place } => Self::Tmux(Tmux::new(&program, place)),
            PanePlace::Iterm2 { it2, leader } => Self::Iterm2(Iterm2::new(it2, leader)),
        }
    }

    pub(crate) fn open(&mut self, commands: &[PaneCommand]) -> Result<Vec<Pane>, PaneError> {
        match self {
            Self::Tmux(tmux) => tmux.open(commands),
            Self::Iterm2(iterm2) => iterm2.open(commands),
        }
    }

    /// Takes over a pane that was made for an earlier runner.
    pub(crate) fn adopt(&mut self, pane: Pane) -> Pane {
        match self {
            Self::Tmux(tmux) => tmux.adopt(pane),
            Self::Iterm2(iterm2) => iterm2.adopt(pane),
        }
    }

    pub(crate) fn escape(&self, pane: &Pane) -> Result<(), PaneError> {
        match self {
            Self::Tmux(tmux) => tmux.press(pane, &["Escape"]),
            Self::Iterm2(iterm2) => iterm2.send(pane, "\u{1b}"),
        }
    }

    /// Types lines, each with Enter.
    pub(crate) fn type_lines(&self, pane: &Pane, text: &str) -> Result<(), PaneError> {
        for line in text.split_inclusive(['\r', '\n']) {
            let words = line.trim_end_matches(['\r', '\n']);
            match self {
                Self::Tmux(tmux) => {
                    if !words.is_empty() {
                        tmux.paste(pane, words)?;
                    }
                    if words.len() < line.len() {
                        tmux.press(pane, &["Enter"])?;
                    }
                }
                Self::Iterm2(iterm2) => iterm2.send(pane, &line.replace('\n', "\r"))?,
            }
        }
        Ok(())
    }

    /// What stands in a pane.
    pub(crate) fn read(&self, pane: &Pane) -> Result<String, PaneError> {
        match self {
            Self::Tmux(tmux) => tmux.read(pane),
            Self::Iterm2(iterm2) => iterm2.read(pane),
        }
    }

    /// The command that shows a pane to a person.
    pub(crate) fn attach_command(&self, pane: &Pane) -> Vec<String> {
        match self {
            Self::Tmux(tmux) => tmux.attach_command(pane),
            Self::Iterm2(iterm2) => iterm2.attach_command(pane),
        }
    }
}
