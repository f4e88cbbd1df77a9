//! Which paths of which project a call would write.

use std::path::{Path, PathBuf};

use comity_core::PathPattern;
use comity_git::ProcessLink;
use comity_guard::{Effects, FileTarget, WriteKind};

use super::spelling::readings;
use crate::application::Application;
use crate::operation::Failure;
use crate::projects::PathBase;

/// One thing that a call would write.
pub(crate) struct Touch {
    pub(crate) place: PathBase,
    pub(crate) pattern: PathPattern,
    pub(crate) how: WriteKind,
    /// If it is a single one.
    pub(crate) file: Option<PathBuf>,
    /// Whether it is not locked automatically: it is everything in a worktree, or may not be meant at all.
    pub(crate) stays_unlocked: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TargetSource {
    /// A command: its open files were judged where they were opened.
    Command,
    /// A tool of an agent program.
    Tool,
}

/// Everything that a call would write inside of repositories.
pub(crate) fn touches(
    app: &Application,
    cwd: &Path,
    effects: &Effects,
    by: TargetSource,
) -> Result<Vec<Touch>, Failure> {
    let mut touches = Vec::new();
    for write in &effects.writes {
        // A new file's full content replaces an existing one.
        let how = match (write.how, &write.content) {
            (WriteKind::Create, Some(_)) => WriteKind::Whole,
            (how, _) => how,
        };
        touches.extend(touch(app, cwd, &write.target, how, by)?);
    }
    Ok(touches)
}

fn touch(
    app: &Application,
    cwd: &Path,
    target: &FileTarget,
    how: WriteKind,
    by: TargetSource,
) -> Result<Option<Touch>, Failure> {
    match target {
        FileTarget::Path(path) => file(app, cwd, Path::new(&readings(path).swap_remove(0)), how, by),
        FileTarget::Into { path, name, below } => {
            let at = cwd.join(path);
            let at = if at.is_dir() { at.join(name) } else { at };
            if *below { tree(app, cwd, &at, how, by) } else { file(app, cwd, &at, how, by) }
        }
        FileTarget::Below(dir) => tree(app, cwd, Path::new(dir), how, by),
        FileTarget::Glob(text) => glob(app, cwd, text, how, by),
        FileTarget::WorkTree(of) => {
            let Some(place) = place_of(app, cwd, &cwd.join(of), by)? else { return Ok(None) };
            let root = place.repository().root().to_path_buf();
            let pattern = place.resolve(&format!("{}/", root.display()))?;
            Ok(Some(Touch { place, pattern, how, file: None, stays_unlocked: true }))
        }
        FileTarget::FromTop { of, path } => {
            let Some(place) = place_of(app, cwd, &cwd.join(of), by)? else { return Ok(None) };
            let at = place.repository().root().join(path);
            file(app, cwd, &at, how, by)
        }
        // Only running would tell: the commit is judged, and the watcher looks.
        FileTarget::Unclear(_) => Ok(None),
    }
}

pub(super) fn file(
    app: &Application,
    cwd: &Path,
    path: &Path,
    how: WriteKind,
    by: TargetSource,
) -> Result<Option<Touch>, Failure> {
    let path = cwd.join(path);
    let text = path.to_string_lossy();
    // It is nearly always in the repository that the agent works in.
    if let Ok(place) = app.projects().at(cwd)
        && let Ok(pattern) = place.resolve_file(&text)
    {
        return Ok(Some(Touch { place, pattern, how, file: Some(path), stays_unlocked: false }));
    }
    if leads_through_process(&path, by)? {
        return Ok(None);
    }
    let above = path.parent().unwrap_or(&path);
    let Some(place) = place_of(app, cwd, above, by)? else { return Ok(None) };
    let pattern = place.resolve_file(&text)?;
    Ok(Some(Touch { place, pattern, how, file: Some(path), stays_unlocked: false }))
}

pub(super) fn glob(
    app: &Application,
    cwd: &Path,
    glob: &str,
    how: WriteKind,
    by: TargetSource,
) -> Result<Option<Touch>, Failure> {
    let literal = glob.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let above = cwd.join(literal.rsplit_once('/').map_or("", |(above, _)| above));
    let Some(place) = place_of(app, cwd, &above, by)? else { return Ok(None) };
    let pattern = place.resolve(&absolute(cwd, Path::new(glob)))?;
    Ok(Some(Touch { place, pattern, how, file: None, stays_unlocked: false }))
}

pub(super) fn tree(
    app: &Application,
    cwd: &Path,
    dir: &Path,
    how: WriteKind,
    by: TargetSource,
) -> Result<Option<Touch>, Failure> {
    let Some(place) = place_of(app, cwd, &cwd.join(dir), by)? else { return Ok(None) };
    let pattern = place.resolve_file(&format!("{}/", absolute(cwd, dir)))?;
    Ok(Some(Touch { place, pattern, how, file: None, stays_unlocked: false }))
}

/// Whether a path is an open file of a command; refused if it leads elsewhere for the program that will open it than
/// for us.
pub(super) fn leads_through_process(path: &Path, by: TargetSource) -> Result<bool, Failure> {
    match (comity_git::through_process(path), by) {
        (None, _) => Ok(false),
        (Some(ProcessLink::OpenFile), TargetSource::Command) => Ok(true),
        (Some(_), _) => Err(comity_git::leads_elsewhere(&path.to_string_lossy()).into()),
    }
}

/// The repository that a path is in, or would be in once it exists; `None` outside of repositories.
fn place_of(
    app: &Application,
    cwd: &Path,
    path: &Path,
    by: TargetSource,
) -> Result<Option<PathBase>, Failure> {
    let path = cwd.join(path);
    if leads_through_process(&path, by)? {
        return Ok(None);
    }
    let Some(there) = path.ancestors().find(|above| above.is_dir()) else { return Ok(None) };
    match app.projects().at(there) {
        Ok(place) => Ok(Some(place)),
        Err(Failure::Refused(comity_core::Refusal::NotARepository { .. })) => Ok(None),
        Err(other) => Err(other),
    }
}

fn absolute(cwd: &Path, path: &Path) -> String {
    cwd.join(path).to_string_lossy().into_owned()
}
