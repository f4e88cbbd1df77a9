//! Where in its project a physical path is.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use comity_core::paths::fold;
use comity_core::{CaseRule, Refusal};

use crate::Repository;
use crate::case;
use crate::dot_git::{self, DotGit};
use crate::resolve::below;
use crate::walk::PathWalk;

/// One way to spell where a walk ended.
pub(crate) struct Spelling {
    /// From the top of the worktree, without what is missing.
    pub(crate) names: Vec<String>,
    /// The case rule for what is missing.
    pub(crate) case: CaseRule,
}

/// The worktree that a walk ended in.
struct TreeInfo<'a> {
    root: Cow<'a, Path>,
    /// Case-insensitive directories on the way from its top, in a project that is not, by the length of their path.
    folding: Vec<usize>,
}

/// How to spell where the walk ended. If a directory on the way is case-insensitive and the project is not, there are
/// two ways: as the directories list it, and folded. Everybody who means the same file has the second, whoever lists
/// it the first.
pub(crate) fn spellings(
    repository: &Repository,
    walk: &PathWalk,
    text: &str,
) -> Result<Vec<Spelling>, Refusal> {
    let Some(TreeInfo { root, folding }) = ground(repository, walk, text)? else {
        return Err(if is_in_git_dir(repository, walk.at()) { git_owns(text) } else { outside(text) });
    };
    // A worktree may be in git's directory, but git's directory may be in a worktree, too.
    let (at, git_dir) = (walk.at().as_os_str().as_bytes(), repository.common_dir().as_os_str().as_bytes());
    let root = root.as_os_str().as_bytes();
    if below(git_dir, at).is_some() && below(git_dir, root).is_none() {
        return Err(git_owns(text));
    }
    let rest = below(root, at).ok_or_else(|| outside(text))?;
    let names = || rest.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    let case = repository.case();
    if folding.is_empty() {
        let names = names().map(|written| name(written, case, text)).collect::<Result<_, _>>()?;
        return Ok(vec![Spelling { names, case }]);
    }
    let mut listed = Spelling { names: Vec::new(), case };
    let mut folded = Spelling { names: Vec::new(), case };
    let mut dir = Path::new(OsStr::from_bytes(root)).to_owned();
    for written in names() {
        let at = dir.join(OsStr::from_bytes(written));
        if folding.contains(&dir.as_os_str().len()) {
            let found = case::name_on_disk(&dir, &at);
            let found = found.as_deref().map_or(written, OsStrExt::as_bytes);
            folded.names.push(name(written, CaseRule::Folded, text)?);
            listed.names.push(name(found, case, text)?);
        } else {
            let name = name(written, case, text)?;
            folded.names.push(name.clone());
            listed.names.push(name);
        }
        dir = at;
    }
    if folding.contains(&walk.dir().as_os_str().len()) {
        folded.case = CaseRule::Folded;
    }
    Ok(vec![listed, folded])
}

/// A name in the form in which names are compared.
pub(crate) fn name(name: &[u8], case: CaseRule, text: &str) -> Result<String, Refusal> {
    let unfit = |problem| Refusal::bad_pattern(text, problem, "rename it, or lock the directory above it");
    if case == CaseRule::Exact && name != b".git" && name.iter().all(|byte| is_plain(*byte)) {
        // Most names: nothing to check, nothing to fold.
        return Ok(String::from_utf8_lossy(name).into_owned());
    }
    let name = str::from_utf8(name).map_err(|_| unfit("a name on its way is not UTF-8"))?;
    // The text itself was checked; the names of directories that it leads through were not.
    if name.chars().any(char::is_control) {
        return Err(unfit("a name on its way has control characters"));
    }
    if name.contains('\\') {
        return Err(unfit("a name on its way has a backslash"));
    }
    let name = fold(name, case);
    if name == ".git" { Err(git_owns(text)) } else { Ok(name.into_owned()) }
}

/// Whether a byte is literal in names and in globs.
pub(crate) fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'@' | b' ')
}

pub(crate) fn unreadable(text: &str, error: &io::Error) -> Refusal {
    Refusal::bad_input(format!("can't look at {text:?}: {error}"), "make it readable, or give another path")
}

/// The worktree of this project that the walk ended in, if any.
fn ground<'a>(
    repository: &'a Repository,
    walk: &PathWalk,
    text: &str,
) -> Result<Option<TreeInfo<'a>>, Refusal> {
    let (root, dir) = (repository.root(), walk.dir());
    let mut folding = Vec::new();
    let mut look = |dir: &Path| {
        let folds = repository.dir_folds(dir, walk.stamp(dir));
        if folds {
            folding.push(dir.as_os_str().len());
        }
        folds
    };
    if !dir.starts_with(root) {
        // Another worktree, or the same one in another case.
        let root = match dot_git::nearest(dir) {
            Ok(Some((root, dirs))) if repository.is_same_project(&dirs.common_dir) => root,
            Ok(_) => return Ok(None),
            Err(error) => return Err(unreadable(text, &error)),
        };
        for dir in dir.ancestors().take_while(|dir| dir.starts_with(&root)) {
            look(dir);
        }
        return Ok(Some(TreeInfo { root: root.into(), folding }));
    }
    let mut entry = dir.join(".git");
    while let Some(dir) = entry.parent().filter(|dir| *dir != root) {
        let stamp = walk.stamp(dir);
        if stamp.is_some_and(|stamp| repository.plain().knows(stamp)) {
            // Looked at before, and nothing was added or removed in it since.
        } else if rustix::fs::lstat(&entry).is_ok() {
            look(dir);
            match dot_git::look(dir).map_err(|error| unreadable(text, &error))? {
                DotGit::Leads(dirs) if repository.is_same_project(&dirs.common_dir) => {
                    return Ok(Some(TreeInfo { root: dir.to_owned().into(), folding }));
                }
                DotGit::Leads(_) => return Err(nested(dir.strip_prefix(root).unwrap_or(dir), text)),
                DotGit::Broken | DotGit::None => {}
            }
        } else if !look(dir)
            && let Some(stamp) = stamp
        {
            repository.plain().remember(stamp);
        }
        entry.pop();
        entry.pop();
        entry.push(".git");
    }
    if repository.root_folds() {
        folding.push(root.as_os_str().len());
    }
    Ok(Some(TreeInfo { root: root.into(), folding }))
}

fn is_in_git_dir(repository: &Repository, path: &Path) -> bool {
    let is_git = |name: &OsStr| name.to_str().is_some_and(|name| fold(name, repository.case()) == ".git");
    path.starts_with(repository.common_dir()) || path.iter().any(is_git)
}

fn outside(text: &str) -> Refusal {
    Refusal::OutsideRepository { path: text.to_owned() }
}

fn nested(repository: &Path, text: &str) -> Refusal {
    let problem = format!("{text:?} is in another repository: {:?} has its own .git", repository.display());
    Refusal::bad_input(problem, "go into it and ask there")
}

fn git_owns(text: &str) -> Refusal {
    Refusal::bad_input(
        format!("{text:?} is in git's own directory"),
        "lock the files that you change; git guards its own",
    )
}
