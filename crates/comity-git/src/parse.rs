//! Parses git's output.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use comity_core::CaseRule;

use crate::git::UnknownState;

/// The parts of an output, each ended by NUL.
pub(crate) fn parts(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|part| !part.is_empty())
}

pub(crate) fn to_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}

/// A pathspec for one path from the top, or below it, without globs.
pub(crate) fn pathspec(path: &Path, case: CaseRule) -> OsString {
    let magic = match case {
        CaseRule::Exact => ":(top,literal)",
        CaseRule::Folded => ":(top,literal,icase)",
    };
    [OsStr::new(magic), path.as_os_str()].into_iter().collect()
}

pub(crate) fn unreadable(command: &str, output: &[u8]) -> UnknownState {
    let output = String::from_utf8_lossy(output);
    UnknownState::new(format!("{command} printed {output:?}, which Comity can't read"))
}

/// The path in an entry like `<fields> TAB <path>`.
pub(crate) fn behind_tab(entry: &[u8]) -> Option<(&[u8], &Path)> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    Some((&entry[..tab], Path::new(OsStr::from_bytes(&entry[tab + 1..]))))
}
