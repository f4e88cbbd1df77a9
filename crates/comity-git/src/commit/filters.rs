//! Paths whose contents git would pass through a filter: a program that the repository names, which we do not run.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::git::{Git, UnknownState};
use crate::parse::{to_path, unreadable};

/// Values that mean no filter.
const NONE: &[&[u8]] = &[b"unspecified", b"unset", b"set"];

/// The paths that have a filter, with its name.
pub(crate) fn filtered<'p>(
    git: &Git<'_>,
    paths: impl Iterator<Item = &'p Path>,
) -> Result<Vec<(PathBuf, String)>, UnknownState> {
    let paths: Vec<&Path> = paths.collect();
    if paths.is_empty() || !may_have_filters(git, &paths) {
        return Ok(Vec::new());
    }
    let input: Vec<u8> =
        paths.iter().flat_map(|path| [path.as_os_str().as_bytes(), b"\0"].concat()).collect();
    let output = git.call("check-attr").args(["-z", "--stdin", "filter"]).input(input).done()?;
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let mut found = Vec::new();
    // <path> NUL filter NUL <value> NUL
    for triple in fields.chunks(3) {
        match triple {
            [_, b"filter", value] if NONE.contains(value) => {}
            [path, b"filter", value] => {
                found.push((to_path(path), String::from_utf8_lossy(value).into_owned()));
            }
            [b""] => {}
            _ => return Err(unreadable("git check-attr", &output)),
        }
    }
    Ok(found)
}

/// Whether git knows any filter, or the paths may have one that git does not know here; if not, this saves a call.
fn may_have_filters(git: &Git<'_>, paths: &[&Path]) -> bool {
    let is_there = |file: PathBuf| file.symlink_metadata().is_ok();
    if git.has_filters() || git.has_setting("core.attributesfile") {
        return true;
    }
    let (root, git_dir) = (&git.worktree().root, &git.worktree().git_dir);
    // The one in the git directory belongs to all worktrees; git knows where that is.
    if git_dir.join("commondir").exists() || is_there(git_dir.join("info/attributes")) {
        return true;
    }
    let dirs: BTreeSet<&Path> = paths.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    is_there(user_attributes()) || dirs.iter().any(|dir| is_there(root.join(dir).join(".gitattributes")))
}

/// The user's attributes for all repositories.
fn user_attributes() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config"))).unwrap_or_default();
    config.join("git/attributes")
}
