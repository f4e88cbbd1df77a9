//! Changes of the user's files: shown, written whole or not at all, with a backup, and taken back.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use comity_wire::Home;
use serde::{Deserialize, Serialize};

/// What is added to the name of a file's copy from before.
const BACKUP: &str = ".before-comity";

/// One file as it is and as it is to be.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) file: PathBuf,
    before: Option<String>,
    after: Option<String>,
    /// The mode of a new file, if it is to be executable.
    pub(super) mode: Option<u32>,
    pub(super) outcome: Outcome,
}

/// What is, or would be, done to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// Nothing: it is as it should be.
    Same,
    /// It is made.
    Created,
    /// It is changed.
    Changed,
    /// It goes, because we made it.
    Removed,
    /// It is left alone.
    Failed(String),
}

/// What was done to which files, so that it can be taken back.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Record {
    created: Vec<PathBuf>,
}

impl Change {
    /// Looks at a file, and at what it would become.
    pub(super) fn of(
        file: &Path,
        edit: impl FnOnce(Option<&str>) -> Result<Option<String>, String>,
    ) -> Change {
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let mut change = Change { file, before: None, after: None, mode: None, outcome: Outcome::Same };
        let before = match fs::read_to_string(&change.file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                change.outcome = Outcome::Failed(error.to_string());
                return change;
            }
        };
        match edit(before.as_deref()) {
            Err(problem) => change.outcome = Outcome::Failed(problem),
            Ok(after) => {
                change.outcome = match (&before, &after) {
                    (None, None) => Outcome::Same,
                    (None, Some(_)) => Outcome::Created,
                    (Some(before), Some(after)) if before == after => Outcome::Same,
                    (Some(_), Some(_)) => Outcome::Changed,
                    (Some(_), None) => Outcome::Removed,
                };
                (change.before, change.after) = (before, after);
            }
        }
        change
    }

    /// Lines that come and go, for people.
    pub(super) fn difference(&self) -> String {
        let (before, after) =
            (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        similar::TextDiff::from_lines(before, after).unified_diff().context_radius(1).to_string()
    }

    /// Does it.
    pub(super) fn write(&mut self, record: &mut Record) {
        let done = match self.outcome {
            Outcome::Same | Outcome::Failed(_) => Ok(()),
            Outcome::Created => {
                record.created.push(self.file.clone());
                self.replace(self.after.as_deref().unwrap_or_default())
            }
            Outcome::Changed => {
                self.back_up().and_then(|()| self.replace(self.after.as_deref().unwrap_or_default()))
            }
            Outcome::Removed if record.created.contains(&self.file) => {
                record.created.retain(|file| *file != self.file);
                fs::remove_file(&self.file)
            }
            // It was there before us, with nothing in it that would be left now.
            Outcome::Removed => {
                let before = fs::read_to_string(self.backup()).unwrap_or_else(|_| "{}\n".into());
                self.outcome = Outcome::Changed;
                self.replace(&before)
            }
        };
        if let Err(error) = done {
            self.outcome = Outcome::Failed(error.to_string());
        }
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.file.as_os_str().to_owned();
        name.push(BACKUP);
        name.into()
    }

    /// Keeps the file as it was the first time.
    fn back_up(&self) -> std::io::Result<()> {
        match fs::OpenOptions::new().write(true).create_new(true).open(self.backup()) {
            Ok(mut backup) => backup.write_all(self.before.as_deref().unwrap_or_default().as_bytes()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Puts a text in the file's place, whole or not at all, with the mode that it had.
    fn replace(&self, text: &str) -> std::io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let dir = self.file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(dir)?;
        let mut unfinished = tempfile::NamedTempFile::new_in(dir)?;
        unfinished.write_all(text.as_bytes())?;
        unfinished.as_file().sync_all()?;
        let mode = match (self.mode, fs::metadata(&self.file)) {
            (Some(mode), _) => mode,
            (None, Ok(before)) => before.permissions().mode(),
            (None, Err(_)) => 0o600,
        };
        fs::set_permissions(unfinished.path(), fs::Permissions::from_mode(mode))?;
        unfinished.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Record {
    pub(super) fn read(home: &Home) -> Result<Record, String> {
        match fs::read_to_string(file(home)) {
            Ok(text) => {
                serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file(home).display()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Record::default()),
            Err(error) => Err(format!("{}: {error}", file(home).display())),
        }
    }

    pub(super) fn save(&self, home: &Home) -> Result<(), String> {
        crate::serve::state_dir::prepare(home)?;
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(file(home), text).map_err(|error| format!("{}: {error}", file(home).display()))
    }
}

fn file(home: &Home) -> PathBuf {
    home.path().join("init.json")
}
