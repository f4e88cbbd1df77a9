//! The `.git` entry at the top of a worktree, and where it leads.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Bytes of one of git's pointer files (`.git`, `commondir`, `gitdir`).
const POINTER_BYTES_MAX: u64 = 8_192;

/// What is at the place of a worktree's `.git`.
pub(crate) enum DotGit {
    /// Nothing, or nothing that git would take for a repository.
    None,
    /// A file that names a git directory which does not exist.
    Broken,
    /// The top of a worktree.
    Leads(GitDirs),
}

/// A worktree's git directory, and the one that all worktrees of the project share; symlinks resolved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GitDirs {
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
}

pub(crate) fn look(root: &Path) -> io::Result<DotGit> {
    let entry = root.join(".git");
    let Some(kind) = found(fs::metadata(&entry))? else { return Ok(DotGit::None) };
    if kind.is_dir() {
        return Ok(git_dirs(&entry)?.map_or(DotGit::None, DotGit::Leads));
    }
    let Some(text) = kind.is_file().then(|| pointer(&entry)).transpose()?.flatten() else {
        return Ok(DotGit::None);
    };
    let Some(target) = text.strip_prefix(b"gitdir: ") else { return Ok(DotGit::None) };
    let git_dir = root.join(OsStr::from_bytes(target));
    Ok(git_dirs(&git_dir)?.map_or(DotGit::Broken, DotGit::Leads))
}

/// The root of the worktree that contains `dir` (symlinks resolved). `None` in a bare repository or git's own
/// directory.
pub(crate) fn nearest(dir: &Path) -> io::Result<Option<(PathBuf, GitDirs)>> {
    for root in dir.ancestors() {
        match look(root)? {
            DotGit::Leads(dirs) => return Ok(Some((root.to_owned(), dirs))),
            DotGit::Broken => {
                let problem =
                    format!("{} names a git directory that does not exist", root.join(".git").display());
                return Err(io::Error::new(ErrorKind::InvalidData, problem));
            }
            DotGit::None if git_dirs(root)?.is_some() => return Ok(None),
            DotGit::None => {}
        }
    }
    Ok(None)
}

/// The text of one of git's pointer files, without the line end; `None` if it does not exist.
pub(crate) fn pointer(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(open) = open_plain(file)? else { return Ok(None) };
    let mut text = Vec::new();
    open.take(POINTER_BYTES_MAX).read_to_end(&mut text)?;
    while text.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        text.pop();
    }
    Ok(Some(text))
}

/// Opens a plain file, if that is what is there; nothing that could block, such as a pipe, is opened.
pub(crate) fn open_plain(file: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let open = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(file);
    let Some(open) = found(open)? else { return Ok(None) };
    Ok(open.metadata()?.is_file().then_some(open))
}

/// The same result, with `None` for what does not exist.
pub(crate) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where `git_dir` leads, if it has what git itself looks for in a git directory.
fn git_dirs(git_dir: &Path) -> io::Result<Option<GitDirs>> {
    if found(git_dir.join("HEAD").symlink_metadata())?.is_none() {
        return Ok(None);
    }
    let common_dir = match pointer(&git_dir.join("commondir"))? {
        Some(target) => git_dir.join(OsStr::from_bytes(&target)),
        None => git_dir.to_owned(),
    };
    if !common_dir.join("objects").is_dir() || !common_dir.join("refs").is_dir() {
        return Ok(None);
    }
    Ok(Some(GitDirs { git_dir: git_dir.canonicalize()?, common_dir: common_dir.canonicalize()? }))
}
