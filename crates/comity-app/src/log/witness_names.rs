//! The names of the witness: `log.witness`, and a hard link in `ledger/`, so that losing the log's files loses the
//! witness only together with the sealed part. It is one file, and costs nothing to keep; file systems without hard
//! links have only one name.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::plain_file;

pub(super) fn path(home: &Path) -> PathBuf {
    home.join("log.witness")
}

fn second_name(home: &Path) -> PathBuf {
    home.join("ledger/witness")
}

/// Its contents, by either name, and which name; `None` if there is none.
pub(super) fn read(home: &Path) -> Result<Option<(PathBuf, Vec<u8>)>, String> {
    for path in [path(home), second_name(home)] {
        match plain_file::read(&path) {
            Ok(bytes) => return Ok(Some((path, bytes))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(format!("{}: {error}", path.display())),
        }
    }
    Ok(None)
}

/// Restores its first name, if that is gone.
pub(super) fn restore_first(home: &Path) {
    if !path(home).exists() {
        let _ = fs::hard_link(second_name(home), path(home));
    }
}

/// Gives it its second name, which may be taken by an earlier one.
pub(super) fn name_again(home: &Path, file: &File) {
    let (Ok(own), second) = (file.metadata(), second_name(home)) else { return };
    let is_own = |found: fs::Metadata| (found.dev(), found.ino()) == (own.dev(), own.ino());
    if !fs::symlink_metadata(&second).is_ok_and(is_own) {
        let fresh = second.with_extension("unfinished");
        let _ = fs::remove_file(&fresh);
        let _ = fs::hard_link(path(home), &fresh).and_then(|()| fs::rename(&fresh, &second));
    }
}
