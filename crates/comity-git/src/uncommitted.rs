//! Whether a project has uncommitted work on some paths.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use comity_core::paths::{Alternative, overlaps};
use comity_core::{CaseRule, PathPattern};

use crate::git::{Git, UnknownState};
use crate::hidden::Hidden;
use crate::parse::pathspec;
use crate::status::{StatusEntry, StatusQuery, WorktreeStatus};
use crate::worktree_filter::WorktreeFilter;
use crate::worktrees::AllWorktrees;
use crate::{hidden, worktrees};

/// Pathspecs that git is given; with more, it looks at everything.
const SPECS_MAX: usize = 256;

/// Whether any worktree of the project has uncommitted work on paths that overlap `pattern`.
///
/// Work is what is modified, staged, deleted, unmerged, untracked, or hidden from `git status` by an index flag, but
/// not ignored files. A project without its common directory has none.
pub fn has_uncommitted_work(
    common_dir: &Path,
    pattern: &PathPattern,
    case: CaseRule,
    deadline: Duration,
) -> Result<bool, UnknownState> {
    Ok(uncommitted_work(common_dir, (pattern, &WorktreeFilter::all()), case, deadline, 1)?.is_some())
}

/// Whether one of these worktrees has uncommitted work under `pattern`, and in which files, up to a limit; hidden
/// work is not named.
pub fn uncommitted_work(
    common_dir: &Path,
    meant: (&PathPattern, &WorktreeFilter),
    case: CaseRule,
    deadline: Duration,
    files_max: usize,
) -> Result<Option<Vec<String>>, UnknownState> {
    let mut told = uncommitted_works(common_dir, &[meant], case, deadline, files_max);
    told.pop().unwrap_or(Ok(None))
}

/// For one pattern: the files with work, if there is any.
type WorkTold = Result<Option<Vec<String>>, UnknownState>;

/// The same for several patterns, with one look at each worktree.
pub fn uncommitted_works(
    common_dir: &Path,
    meant: &[(&PathPattern, &WorktreeFilter)],
    case: CaseRule,
    deadline: Duration,
    files_max: usize,
) -> Vec<WorkTold> {
    let deadline = Instant::now() + deadline;
    let look = |all: &AllWorktrees| {
        let told = works_in(all, common_dir, meant, case, deadline, files_max);
        if told.iter().any(Result::is_err) { Err(told) } else { Ok(told) }
    };
    match worktrees::look_at_all(common_dir, look) {
        Ok(Ok(told) | Err(told)) => told,
        Err(error) => {
            let unreadable = UnknownState::new(format!("can't read {}: {error}", common_dir.display()));
            vec![Err(unreadable); meant.len()]
        }
    }
}

fn works_in(
    all: &AllWorktrees,
    common_dir: &Path,
    meant: &[(&PathPattern, &WorktreeFilter)],
    case: CaseRule,
    deadline: Instant,
    files_max: usize,
) -> Vec<WorkTold> {
    let mut told: Vec<WorkFound> = vec![WorkFound::default(); meant.len()];
    for worktree in &all.worktrees {
        let here = |(at, (pattern, within)): (usize, &(&PathPattern, &WorktreeFilter))| {
            within.holds(&worktree.root).then(|| (at, (*pattern).clone()))
        };
        let here: Vec<(usize, PathPattern)> = meant.iter().enumerate().filter_map(here).collect();
        let mut look = || -> Result<(), UnknownState> {
            let asked: Vec<WorkQuery<'_>> =
                here.iter().map(|(_, pattern)| WorkQuery { pattern, case }).collect();
            let specs = pathspecs(&asked);
            let git = Git::on(worktree, deadline)?;
            let files = status(&git, &specs)?;
            let hidden =
                hidden::hidden_work(&git, &specs, |path| asked.iter().any(|meant| meant.holds(path)))?;
            for (meant, (at, _)) in asked.iter().zip(&here) {
                told[*at].add(meant, &files, &hidden, files_max);
            }
            Ok(())
        };
        if here.is_empty() {
            continue;
        }
        if let Err(unknown) = look() {
            here.iter().for_each(|(at, _)| told[*at].unknown = Some(unknown.clone()));
        }
    }
    let nowhere = format!("{} does not say where its files are", common_dir.display());
    let end = |(told, (_, within)): (WorkFound, &(&PathPattern, &WorktreeFilter))| {
        let may_be_elsewhere = all.main_is_unknown && matches!(within, WorktreeFilter::AllBut(_));
        match told {
            WorkFound { files, is_hidden, .. } if is_hidden || !files.is_empty() => {
                Ok(Some(files.into_iter().collect()))
            }
            WorkFound { unknown: Some(unknown), .. } => Err(unknown),
            _ if may_be_elsewhere => Err(UnknownState::new(nowhere.clone())),
            _ => Ok(None),
        }
    };
    told.into_iter().zip(meant).map(end).collect()
}

#[derive(Clone, Default)]
struct WorkFound {
    files: BTreeSet<String>,
    is_hidden: bool,
    unknown: Option<UnknownState>,
}

impl WorkFound {
    fn add(&mut self, meant: &WorkQuery<'_>, files: &[StatusEntry], hidden: &Hidden, files_max: usize) {
        let files = files.iter().filter(|work| meant.holds(&work.path));
        self.files.extend(files.take(files_max.saturating_sub(self.files.len())).map(StatusEntry::name));
        self.is_hidden |= match hidden {
            Hidden::Paths(paths) => paths.iter().any(|path| meant.holds(path)),
            Hidden::TooMany => true,
        };
    }
}

/// Pathspecs that include all of these; none means everything.
fn pathspecs(all: &[WorkQuery<'_>]) -> Vec<OsString> {
    let each: Vec<Vec<OsString>> = all.iter().map(WorkQuery::pathspecs).collect();
    let is_everything =
        each.iter().any(Vec::is_empty) || each.iter().map(Vec::len).sum::<usize>() > SPECS_MAX;
    if is_everything { vec![] } else { each.concat() }
}

pub(crate) struct WorkQuery<'a> {
    pub(crate) pattern: &'a PathPattern,
    pub(crate) case: CaseRule,
}

impl WorkQuery<'_> {
    /// Pathspecs that include at least the pattern; none means everything.
    pub(crate) fn pathspecs(&self) -> Vec<OsString> {
        let prefix = |alternative: &Alternative| {
            // Git compares bytes, and the disk may have another Unicode form than the pattern.
            let names: Vec<&str> = alternative.prefix().take_while(|name| name.is_ascii()).collect();
            (!names.is_empty()).then(|| pathspec(Path::new(&names.join("/")), self.case))
        };
        self.pattern.alternatives().iter().map(prefix).collect::<Option<_>>().unwrap_or_default()
    }

    /// Whether a path from git matches; one that cannot be compared does.
    pub(crate) fn holds(&self, path: &[u8]) -> bool {
        let text = String::from_utf8_lossy(path);
        let text: Cow<'_, str> = match text.chars().any(char::is_control) {
            true => text.replace(char::is_control, "\u{fffd}").into(),
            false => text,
        };
        PathPattern::file(&text, self.case).map_or(true, |file| overlaps(&file, self.pattern))
    }
}

/// Everything that git shows as work under these paths.
pub(crate) fn work(git: &Git<'_>, meant: &WorkQuery<'_>) -> Result<Vec<StatusEntry>, UnknownState> {
    let mut files = status(git, &meant.pathspecs())?;
    files.retain(|work| meant.holds(&work.path));
    Ok(files)
}

fn status(git: &Git<'_>, specs: &[OsString]) -> Result<Vec<StatusEntry>, UnknownState> {
    let query = StatusQuery { specs, ignored: false, submodules: true };
    let mut files = WorktreeStatus::ask(git, query)?.without_complaints(git)?.entries;
    // The files of an untracked repository (or worktree) are not this worktree's.
    let is_nested = |dir: &StatusEntry| {
        dir.is_dir() && git.worktree().root.join(dir.to_path()).join(".git").symlink_metadata().is_ok()
    };
    files.retain(|file| !is_nested(file));
    Ok(files)
}
