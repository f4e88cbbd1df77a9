//! The usual case, resolved without a walk: plain names below the root, through directories that were walked a moment
//! ago.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use comity_core::{CaseRule, PathPattern};
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::Repository;
use crate::resolve::below;
use crate::spelling::is_plain;

/// The canonical form of the path; `None` if that takes more than one look at the file.
pub(crate) fn resolve(repository: &Repository, cwd: &Path, text: &str) -> Option<PathPattern> {
    if repository.case() != CaseRule::Exact || repository.root_folds() {
        return None;
    }
    let root = repository.root().as_os_str().as_bytes();
    let mut path = Vec::with_capacity(cwd.as_os_str().len() + 1 + text.len() + 1);
    if !text.starts_with('/') {
        path.extend_from_slice(cwd.as_os_str().as_bytes());
        path.push(b'/');
    }
    path.extend_from_slice(text.as_bytes());
    let names = below(root, &path)?.strip_prefix(b"/")?;
    let is_plain_name = |name: &[u8]| {
        !matches!(name, b"" | b"." | b".." | b".git") && name.iter().all(|byte| is_plain(*byte))
    };
    if !names.split(|byte| *byte == b'/').all(is_plain_name) {
        return None;
    }
    let is_gits = below(repository.common_dir().as_os_str().as_bytes(), &path).is_some();
    if is_gits || !repository.plain().is_plain_way(&path, root.len() + 1) {
        return None;
    }
    match rustix::fs::lstat(&*path) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory | FileType::Symlink => return None,
            _ => {}
        },
        Err(Errno::NOENT) => {}
        Err(_) => return None,
    }
    PathPattern::file(str::from_utf8(names).ok()?, CaseRule::Exact).ok()
}
