//! The sizes of the log's files: while a server runs, only the server itself makes them smaller.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::held_dir::HeldDir;

const FILES: [&str; 2] = ["log.db", "log.db-wal"];

/// The known sizes. They are looked up by name: closing one of SQLite's files would give up its locks.
#[derive(Debug)]
pub(super) struct Sizes {
    home: HeldDir,
    known: Mutex<[u64; 2]>,
}

/// Nobody else writes to the log or empties its write-ahead log meanwhile.
pub(super) struct ExclusiveLog<'a> {
    home: &'a HeldDir,
    known: MutexGuard<'a, [u64; 2]>,
}

impl Sizes {
    pub(super) fn of(home: &Path) -> io::Result<Sizes> {
        let sizes = Sizes { home: HeldDir::open(home)?, known: Mutex::default() };
        sizes.hold().note();
        Ok(sizes)
    }

    pub(super) fn hold(&self) -> ExclusiveLog<'_> {
        ExclusiveLog { home: &self.home, known: self.known.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Reports which file was truncated, if one was.
    pub(super) fn check(&self) -> Result<(), String> {
        self.hold().check()
    }
}

impl ExclusiveLog<'_> {
    /// Reports which file was truncated, if one was. One that is gone is still complete for whoever has it open.
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, known) in FILES.into_iter().zip(*self.known) {
            if let Some(bytes) = self.home.bytes_of(name).filter(|bytes| *bytes < known) {
                let path = self.home.path().join(name);
                let path = path.display();
                return Err(format!("{path} was cut from {known} to {bytes} bytes while the server ran"));
            }
        }
        Ok(())
    }

    /// Remembers the current sizes, after a write or a checkpoint.
    pub(super) fn note(&mut self) {
        *self.known = [0, 1].map(|at| self.home.bytes_of(FILES[at]).unwrap_or(self.known[at]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_is_noticed_and_one_that_grows_or_goes_is_not() {
        let home = tempfile::tempdir().expect("a directory");
        let (log, wal) = (home.path().join("log.db"), home.path().join("log.db-wal"));
        std::fs::write(&log, [0; 100]).expect("written");
        let sizes = Sizes::of(home.path()).expect("sizes");
        std::fs::write(&log, [0; 200]).expect("written");
        std::fs::write(&wal, [0; 50]).expect("written");
        assert_eq!(sizes.check(), Ok(()));
        sizes.hold().note();
        for (path, bytes) in [(&log, 199), (&wal, 0)] {
            let whole = std::fs::read(path).expect("read");
            std::fs::write(path, vec![0; bytes]).expect("written");
            assert!(sizes.check().is_err_and(|cut| cut.contains(&format!("to {bytes} bytes"))));
            std::fs::write(path, whole).expect("written");
        }
        std::fs::remove_file(&wal).expect("removed");
        assert_eq!(sizes.check(), Ok(()));
    }
}
