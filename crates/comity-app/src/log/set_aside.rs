//! Where the files of an old log go: nothing is deleted, and nothing that was set aside is overwritten.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub(super) struct OldFilesDir {
    pub(super) dir: PathBuf,
}

impl OldFilesDir {
    /// A directory for this moment; created for the first file.
    pub(super) fn of(home: &Path) -> OldFilesDir {
        let now = crate::ledger::date(crate::clock::wall_ms()).replace(':', "-");
        OldFilesDir { dir: home.join("set-aside").join(now) }
    }

    /// Moves a file or directory there, if it exists.
    pub(super) fn take(&self, path: &Path) -> Result<(), String> {
        self.put(path, |from, to| fs::rename(from, to))
    }

    pub(super) fn copy(&self, path: &Path) -> Result<(), String> {
        self.put(path, |from, to| fs::copy(from, to).map(drop))
    }

    fn put(&self, path: &Path, put: impl FnOnce(&Path, &Path) -> io::Result<()>) -> Result<(), String> {
        let Some(name) = path.file_name().filter(|_| fs::symlink_metadata(path).is_ok()) else {
            return Ok(());
        };
        let put_aside = || -> io::Result<()> {
            fs::create_dir_all(&self.dir)?;
            put(path, &self.free(name))?;
            File::open(&self.dir)?.sync_all()
        };
        put_aside().map_err(|error| format!("{} can't be set aside: {error}", path.display()))
    }

    /// A free name: `log.db`, otherwise `log.db.2`.
    fn free(&self, name: &std::ffi::OsStr) -> PathBuf {
        let numbered = (2_u32..).map(|number| {
            let mut name = name.to_owned();
            name.push(format!(".{number}"));
            self.dir.join(name)
        });
        let mut names = std::iter::once(self.dir.join(name)).chain(numbered);
        let is_free = |path: &PathBuf| fs::symlink_metadata(path).is_err();
        names.find(is_free).unwrap_or_else(|| self.dir.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_aside_is_never_written_over() {
        let home = tempfile::tempdir().expect("a directory");
        let (aside, log) = (OldFilesDir::of(home.path()), home.path().join("log.db"));
        for text in ["first", "second", "third"] {
            fs::write(&log, text).expect("written");
            aside.take(&log).expect("taken");
        }
        fs::write(&log, "fourth").expect("written");
        aside.copy(&log).expect("copied");
        aside.take(&home.path().join("nothing")).expect("nothing to take");
        let read = |name: &str| fs::read_to_string(aside.dir.join(name)).expect("read");
        let found = ["log.db", "log.db.2", "log.db.3", "log.db.4"].map(read);
        assert_eq!(found, ["first", "second", "third", "fourth"]);
        assert_eq!(fs::read_dir(&aside.dir).expect("read").count(), 4);
    }
}
