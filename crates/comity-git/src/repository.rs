//! A worktree of a git repository, found from any directory in it.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use comity_core::{CaseRule, PathPattern, ProjectId, Refusal};

use crate::case::{self, FileIdentity};
use crate::dir_cache::{DirCache, DirStamp};
use crate::{dot_git, resolve};

/// A worktree of a git repository, found from any directory in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repository {
    root: PathBuf,
    git_dir: PathBuf,
    common_dir: PathBuf,
    case: CaseRule,
    root_case: CaseRule,
    project: ProjectId,
    common_identity: FileIdentity,
    seen: GitEntrySeen,
    plain: DirCache,
}

/// The `.git` entry as it was when the repository was found.
#[derive(Clone, PartialEq, Eq, Debug)]
struct GitEntrySeen {
    identity: FileIdentity,
    /// Its modification time, if it is a file. A directory's changes with each commit.
    written: Option<(i64, i64)>,
}

impl Repository {
    /// The repository that contains `dir`; `None` outside of all, in a bare one, or in git's own directory.
    ///
    /// A `.git` file that names a missing git directory is an error: git, too, refuses to go on there.
    pub fn containing(dir: &Path) -> io::Result<Option<Repository>> {
        let dir = dir.canonicalize()?;
        let Some((mut root, dirs)) = dot_git::nearest(&dir)? else { return Ok(None) };
        let (mut git_dir, mut common_dir) = (dirs.git_dir, dirs.common_dir);
        let (case, root_case) = (case::of_project(&common_dir), case::of_root(&root));
        if case == CaseRule::Folded || root_case == CaseRule::Folded {
            (root, common_dir) = (case::as_on_disk(&root), case::as_on_disk(&common_dir));
            git_dir = case::as_on_disk(&git_dir);
        }
        let seen = GitEntrySeen::at(&root)?;
        let common_identity = FileIdentity::of(&common_dir.metadata()?);
        let project = project(&common_dir);
        let plain = DirCache::default();
        Ok(Some(Repository {
            root,
            git_dir,
            common_dir,
            case,
            root_case,
            project,
            common_identity,
            seen,
            plain,
        }))
    }

    /// Symlinks resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Symlinks resolved.
    pub(crate) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all worktrees of the project share, symlinks resolved.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The project's case rule; single directories may have another.
    pub fn case(&self) -> CaseRule {
        self.case
    }

    /// Whether a directory of this worktree, not its root, is case-insensitive though the project is not.
    pub(crate) fn dir_folds(&self, dir: &Path, stamp: Option<DirStamp>) -> bool {
        let is_like_root = stamp.is_some_and(|stamp| stamp.device() == self.seen.identity.device());
        self.case == CaseRule::Exact
            && case::of_dir(dir, is_like_root.then_some(self.root_case)) == CaseRule::Folded
    }

    /// Whether this worktree's root is case-insensitive though the project is not.
    pub(crate) fn root_folds(&self) -> bool {
        (self.case, self.root_case) == (CaseRule::Exact, CaseRule::Folded)
    }

    /// The project, the same for all worktrees.
    pub fn project(&self) -> ProjectId {
        self.project
    }

    /// The directories of this worktree that are known to be plain.
    pub(crate) fn plain(&self) -> &DirCache {
        &self.plain
    }

    /// Whether the `.git` is still the same; a single look, so that callers can cache a repository by directory.
    ///
    /// A repository created later between the directory and the root is not noticed; paths in it are refused.
    pub fn is_current(&self) -> bool {
        GitEntrySeen::at(&self.root).is_ok_and(|seen| seen == self.seen)
    }

    /// The canonical form of a path or glob that was written in `cwd`.
    pub fn resolve(&self, cwd: &Path, text: &str) -> Result<PathPattern, Refusal> {
        resolve::resolve(self, cwd, text, resolve::GlobReading::Globs)
    }

    /// The canonical form of a path that is not a glob, whatever characters it has.
    pub fn resolve_file(&self, cwd: &Path, path: &str) -> Result<PathPattern, Refusal> {
        resolve::resolve(self, cwd, path, resolve::GlobReading::Literal)
    }

    /// Whether a common git directory, however it is spelled, is this project's.
    pub(crate) fn is_same_project(&self, common_dir: &Path) -> bool {
        common_dir == self.common_dir
            || common_dir.metadata().is_ok_and(|metadata| FileIdentity::of(&metadata) == self.common_identity)
            // Another spelling may have another inode.
            || (self.case == CaseRule::Folded && case::as_on_disk(common_dir) == self.common_dir)
    }
}

impl GitEntrySeen {
    fn at(root: &Path) -> io::Result<GitEntrySeen> {
        let metadata = root.join(".git").symlink_metadata()?;
        let written = (!metadata.is_dir()).then(|| (metadata.mtime(), metadata.mtime_nsec()));
        Ok(GitEntrySeen { identity: FileIdentity::of(&metadata), written })
    }
}

fn project(common_dir: &Path) -> ProjectId {
    let hash = blake3::hash(common_dir.as_os_str().as_bytes());
    let mut bits = [0; 8];
    bits.copy_from_slice(&hash.as_bytes()[..8]);
    ProjectId::from_bits(u64::from_le_bytes(bits))
}
