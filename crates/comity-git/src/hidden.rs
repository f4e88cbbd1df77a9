//! Work that `git status` does not show: files that the index flags as unchanged, or as not in the worktree.

use std::ffi::OsString;

use comity_core::CaseRule;

use crate::git::{Git, UnknownState};
use crate::parse::{behind_tab, parts, pathspec, to_path, unreadable};
use crate::uncommitted::WorkQuery;

/// Hidden files whose contents are compared; beyond that, there may be work.
const COMPARED_MAX: usize = 256;

/// Files with a hiding flag that differ from the index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Hidden {
    Paths(Vec<Vec<u8>>),
    /// Too many to compare.
    TooMany,
}

pub(crate) fn has_hidden_work(git: &Git<'_>, meant: &WorkQuery<'_>) -> Result<bool, UnknownState> {
    Ok(hidden_work(git, &meant.pathspecs(), |path| meant.holds(path))? != Hidden::Paths(Vec::new()))
}

/// The files with a hiding flag, among those that are meant, that differ from the index.
pub(crate) fn hidden_work(
    git: &Git<'_>,
    specs: &[OsString],
    is_meant: impl Fn(&[u8]) -> bool,
) -> Result<Hidden, UnknownState> {
    let listed = git.ask("ls-files", &["-v", "-z"], specs)?;
    let (mut present, mut gone) = (Vec::new(), Vec::new());
    for entry in parts(&listed) {
        let [flag, b' ', path @ ..] = entry else { return Err(unreadable("git ls-files", entry)) };
        let is_hidden = flag.is_ascii_lowercase() || *flag == b'S';
        if !is_hidden || !is_meant(path) {
            continue;
        }
        let is_there = git.worktree().root.join(to_path(path)).symlink_metadata().is_ok();
        match (is_there, flag) {
            (true, _) => present.push(path),
            // Left out of a sparse checkout.
            (false, b'S' | b's') => {}
            (false, _) => gone.push(path.to_vec()),
        }
    }
    if present.len() > COMPARED_MAX {
        return Ok(Hidden::TooMany);
    }
    if !present.is_empty() {
        gone.extend(differing(git, &present)?);
    }
    Ok(Hidden::Paths(gone))
}

fn differing(git: &Git<'_>, paths: &[&[u8]]) -> Result<Vec<Vec<u8>>, UnknownState> {
    let specs: Vec<OsString> = paths.iter().map(|path| pathspec(&to_path(path), CaseRule::Exact)).collect();
    let files: Vec<OsString> =
        paths.iter().map(|path| git.worktree().root.join(to_path(path)).into()).collect();
    let staged = git.ask("ls-files", &["-s", "-z"], &specs)?;
    let hashed = git.ask("hash-object", &["--no-filters"], &files)?;
    let hashes: Vec<&[u8]> = hashed.split(|byte| *byte == b'\n').filter(|hash| !hash.is_empty()).collect();
    if hashes.len() != paths.len() {
        return Err(unreadable("git hash-object", &hashed));
    }
    let is_same = |path: &[u8], hash: &[u8]| {
        // <mode> SP <hash> SP <stage> TAB <path>
        parts(&staged).filter_map(behind_tab).any(|(fields, of)| {
            of == to_path(path) && fields.split(|byte| *byte == b' ').nth(1) == Some(hash)
        })
    };
    let pairs = paths.iter().zip(hashes).filter(|(path, hash)| !is_same(path, hash));
    Ok(pairs.map(|(path, _)| path.to_vec()).collect())
}
