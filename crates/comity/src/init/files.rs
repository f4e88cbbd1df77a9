//! Edits of the user's files: shown, written atomically, with a backup, and undone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use comity_guard::Dialect;
use comity_guard::connect::{SettingsFile, SettingsRoot};
use comity_wire::Home;
use serde::{Deserialize, Serialize};

/// Suffix of a file's backup.
const BACKUP: &str = ".before-comity";

/// One file as it is and as it should be.
#[derive(Debug)]
pub(super) struct FileEdit {
    pub(super) file: PathBuf,
    before: Option<String>,
    after: Option<String>,
    /// The mode of the file if it is new.
    pub(super) new_mode: u32,
    /// Whether a backup of it is kept next to it.
    pub(super) keeps_copy: bool,
    pub(super) outcome: FileOutcome,
}

/// What is, or would be, done to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum FileOutcome {
    /// Nothing: it is as it should be.
    Same,
    Created,
    Changed,
    /// It is removed, because we created it.
    Removed,
    /// It could not be edited.
    Failed(String),
    /// It is left to its user, for this reason.
    Left(String),
}

/// What was done to which files, so that it can be undone.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct InitRecord {
    created: Vec<PathBuf>,
    /// The git hooks that contain our lines, in any repository.
    #[serde(default)]
    pub(super) commit_hooks: Vec<PathBuf>,
    /// The settings by which agent programs ask us: the server keeps agents from writing them.
    #[serde(default)]
    guarding: Vec<PathBuf>,
    /// The file by which each program has its calls judged: settings that are checked in leave them to it.
    #[serde(default)]
    connected: BTreeMap<String, ConnectedHooks>,
}

/// The user's own hooks of a program.
#[derive(Serialize, Deserialize)]
struct ConnectedHooks {
    file: PathBuf,
    /// The variable with the file's location, and its value.
    variable: Option<String>,
    value: Option<PathBuf>,
}

impl FileEdit {
    /// Reads a file, and computes what it would become.
    pub(super) fn of(
        file: &Path,
        edit: impl FnOnce(Option<&str>) -> Result<Option<String>, String>,
    ) -> FileEdit {
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let mut change = FileEdit {
            file,
            before: None,
            after: None,
            new_mode: 0o600,
            keeps_copy: true,
            outcome: FileOutcome::Same,
        };
        let before = match fs::read_to_string(&change.file) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                change.outcome = FileOutcome::Failed(error.to_string());
                return change;
            }
        };
        match edit(before.as_deref()) {
            Err(problem) => change.outcome = FileOutcome::Failed(problem),
            Ok(after) => {
                change.outcome = match (&before, &after) {
                    (None, None) => FileOutcome::Same,
                    (None, Some(_)) => FileOutcome::Created,
                    (Some(before), Some(after)) if before == after => FileOutcome::Same,
                    (Some(_), Some(_)) => FileOutcome::Changed,
                    (Some(_), None) => FileOutcome::Removed,
                };
                (change.before, change.after) = (before, after);
            }
        }
        change
    }

    /// Whether there is anything to do, or to say.
    pub(super) fn is_change(&self) -> bool {
        self.outcome != FileOutcome::Same
    }

    /// Added and removed lines, for people.
    pub(super) fn difference(&self) -> String {
        let (before, after) =
            (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        similar::TextDiff::from_lines(before, after).unified_diff().context_radius(1).to_string()
    }

    pub(super) fn write(&mut self, record: &mut InitRecord) {
        let done = match self.outcome {
            FileOutcome::Same | FileOutcome::Failed(_) | FileOutcome::Left(_) => Ok(()),
            FileOutcome::Created => {
                record.created.retain(|file| *file != self.file);
                record.created.push(self.file.clone());
                self.replace(self.after.as_deref().unwrap_or_default())
            }
            FileOutcome::Changed => {
                self.back_up().and_then(|()| self.replace(self.after.as_deref().unwrap_or_default()))
            }
            FileOutcome::Removed => self.remove(record),
        };
        if let Err(error) = done {
            self.outcome = FileOutcome::Failed(self.why_not(&error));
        }
    }

    /// What is wrong with a file that should have stayed as it is.
    pub(super) fn damage(&self) -> Option<String> {
        let file = self.file.display();
        match &self.outcome {
            FileOutcome::Same | FileOutcome::Removed | FileOutcome::Left(_) => None,
            FileOutcome::Created => Some(format!("{file} is gone")),
            FileOutcome::Changed => Some(format!("{file} is not as comity init wrote it")),
            FileOutcome::Failed(why) => Some(format!("{file}: {why}")),
        }
    }

    /// The text that the file should have.
    pub(super) fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }

    /// Removes the file, or restores its original.
    fn remove(&mut self, record: &mut InitRecord) -> io::Result<()> {
        let is_ours = record.created.contains(&self.file);
        record.created.retain(|file| *file != self.file);
        match fs::read_to_string(self.backup()) {
            Ok(before) if !is_ours => {
                self.outcome = FileOutcome::Changed;
                self.replace(&before)
            }
            Ok(_) | Err(_) => match fs::remove_file(&self.file) {
                // Two programs may share a file.
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                removed => removed,
            },
        }
    }

    fn why_not(&self, error: &io::Error) -> String {
        let dir = self.file.parent().unwrap_or(Path::new("/")).display();
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                format!("you can't write to {dir}; make it writable for you, and run this again")
            }
            _ => format!("can't write it: {error}"),
        }
    }

    fn backup(&self) -> PathBuf {
        let mut name = self.file.as_os_str().to_owned();
        name.push(BACKUP);
        name.into()
    }

    /// Keeps the original file, readable for nobody else than before.
    fn back_up(&self) -> io::Result<()> {
        if !self.keeps_copy {
            return Ok(());
        }
        let original = fs::metadata(&self.file)?;
        match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.backup()) {
            Ok(mut backup) => {
                backup.write_all(self.before.as_deref().unwrap_or_default().as_bytes())?;
                make_like(&backup, &original)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let backup = fs::metadata(self.backup())?.mode();
                let closed = fs::Permissions::from_mode(backup & original.mode() & 0o7777);
                fs::set_permissions(self.backup(), closed)
            }
            Err(error) => Err(error),
        }
    }

    /// Replaces the file atomically, keeping its mode and owner.
    fn replace(&self, text: &str) -> io::Result<()> {
        let dir = self.file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(dir)?;
        let mut unfinished = tempfile::NamedTempFile::new_in(dir)?;
        unfinished.write_all(text.as_bytes())?;
        match fs::metadata(&self.file) {
            Ok(before) => make_like(unfinished.as_file(), &before)?,
            Err(_) => unfinished.as_file().set_permissions(fs::Permissions::from_mode(self.new_mode))?,
        }
        unfinished.as_file().sync_all()?;
        unfinished.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Gives a file the owner and the mode of the one that it is a copy of.
fn make_like(copy: &fs::File, original: &fs::Metadata) -> io::Result<()> {
    let own = copy.metadata()?;
    let mut mode = original.mode() & 0o7777;
    if own.uid() != original.uid() || own.gid() != original.gid() {
        let given = fchown(copy, Some(original.uid()), Some(original.gid()));
        if given.is_err() {
            // It stays ours: what its owner's group may read is not for another group.
            mode &= 0o700;
        }
    }
    copy.set_permissions(fs::Permissions::from_mode(mode))
}

impl InitRecord {
    pub(super) fn read(home: &Home) -> Result<InitRecord, String> {
        match fs::read_to_string(file(home)) {
            Ok(text) => {
                serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file(home).display()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(InitRecord::default()),
            Err(error) => Err(format!("{}: {error}", file(home).display())),
        }
    }

    /// Created files that no longer exist, one line each.
    pub(super) fn missing(&self) -> Vec<String> {
        // Whoever removes a repository removes its hooks.
        let is_left = |file: &&PathBuf| !file.exists() && file.parent().is_some_and(Path::is_dir);
        self.created.iter().filter(is_left).map(|file| format!("{} is gone", file.display())).collect()
    }

    /// Records in which repositories commits are guarded.
    pub(super) fn note_commit_hooks(&mut self, hooks: &[FileEdit], is_undo: bool) {
        hooks.iter().for_each(|hook| note(&mut self.commit_hooks, hook, is_undo));
    }

    /// Records settings by which an agent program asks us.
    pub(super) fn note_guarding(&mut self, settings: &FileEdit, is_undo: bool) {
        note(&mut self.guarding, settings, is_undo);
    }

    /// Records by which file a program has its calls judged.
    pub(super) fn note_connected(
        &mut self,
        dialect: Dialect,
        place: &SettingsFile,
        change: &FileEdit,
        is_undo: bool,
    ) {
        if matches!(change.outcome, FileOutcome::Failed(_) | FileOutcome::Left(_)) {
            return;
        }
        self.connected.remove(dialect.name());
        let variable = match place.base {
            SettingsRoot::Home => None,
            SettingsRoot::ConfigDir { variable, .. } => Some(variable),
        };
        let value = variable.and_then(std::env::var_os).filter(|value| !value.is_empty()).map(PathBuf::from);
        let hooks =
            ConnectedHooks { file: change.file.clone(), variable: variable.map(str::to_owned), value };
        if !is_undo {
            self.connected.insert(dialect.name().to_owned(), hooks);
        }
    }

    pub(super) fn save(&self, home: &Home) -> Result<(), String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())?;
        fs::write(file(home), text).map_err(|error| format!("{}: {error}", file(home).display()))
    }
}

fn note(files: &mut Vec<PathBuf>, change: &FileEdit, is_undo: bool) {
    if matches!(change.outcome, FileOutcome::Failed(_) | FileOutcome::Left(_)) {
        return;
    }
    files.retain(|known| *known != change.file);
    if !is_undo {
        files.push(change.file.clone());
    }
}

fn file(home: &Home) -> PathBuf {
    home.path().join("init.json")
}
