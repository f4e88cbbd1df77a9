//! Which paths of which project a call would write to.

use std::path::{Path, PathBuf};

use comity_core::PathPattern;
use comity_guard::{Effects, How, Target};

use crate::application::Application;
use crate::operation::Failure;
use crate::projects::Place;

/// One thing that a call would write to.
pub(crate) struct Touch {
    pub(crate) place: Place,
    pub(crate) pattern: PathPattern,
    pub(crate) how: How,
    /// The file, if it is a single one.
    pub(crate) file: Option<PathBuf>,
    /// Whether it is everything in a worktree: nobody is given a lock on that unasked.
    pub(crate) is_all: bool,
}

/// All that a call would write to inside of repositories.
pub(crate) fn touches(app: &Application, cwd: &Path, effects: &Effects) -> Result<Vec<Touch>, Failure> {
    let mut touches = Vec::new();
    for write in &effects.writes {
        touches.extend(touch(app, cwd, &write.target, write.how)?);
    }
    Ok(touches)
}

fn touch(app: &Application, cwd: &Path, target: &Target, how: How) -> Result<Option<Touch>, Failure> {
    match target {
        Target::Path(path) => file(app, cwd, Path::new(path), how),
        Target::Into { path, name, below } => {
            let at = cwd.join(path);
            let at = if at.is_dir() { at.join(name) } else { at };
            if *below { tree(app, cwd, &at, how) } else { file(app, cwd, &at, how) }
        }
        Target::Below(dir) => tree(app, cwd, Path::new(dir), how),
        Target::Glob(glob) => {
            let literal = glob.split(['*', '?', '[']).next().unwrap_or_default();
            let above = cwd.join(literal.rsplit_once('/').map_or("", |(above, _)| above));
            let Some(place) = place_of(app, cwd, &above)? else { return Ok(None) };
            let pattern = place.resolve(&absolute(cwd, Path::new(glob)))?;
            Ok(Some(Touch { place, pattern, how, file: None, is_all: false }))
        }
        Target::WorkTree(of) => {
            let Some(place) = place_of(app, cwd, &cwd.join(of))? else { return Ok(None) };
            let root = place.repository().root().to_path_buf();
            let pattern = place.resolve(&format!("{}/", root.display()))?;
            Ok(Some(Touch { place, pattern, how, file: None, is_all: true }))
        }
        Target::FromTop { of, path } => {
            let Some(place) = place_of(app, cwd, &cwd.join(of))? else { return Ok(None) };
            let at = place.repository().root().join(path);
            file(app, cwd, &at, how)
        }
        // Only running it would tell: the commit is judged, and the watcher looks.
        Target::Unclear(_) => Ok(None),
    }
}

fn file(app: &Application, cwd: &Path, path: &Path, how: How) -> Result<Option<Touch>, Failure> {
    let path = cwd.join(path);
    let text = path.to_string_lossy();
    // Nearly always it is in the repository that the agent works in.
    if let Ok(place) = app.projects().at(cwd)
        && let Ok(pattern) = place.resolve_file(&text)
    {
        return Ok(Some(Touch { place, pattern, how, file: Some(path), is_all: false }));
    }
    let Some(place) = place_of(app, cwd, path.parent().unwrap_or(&path))? else { return Ok(None) };
    let pattern = place.resolve_file(&text)?;
    Ok(Some(Touch { place, pattern, how, file: Some(path), is_all: false }))
}

fn tree(app: &Application, cwd: &Path, dir: &Path, how: How) -> Result<Option<Touch>, Failure> {
    let Some(place) = place_of(app, cwd, &cwd.join(dir))? else { return Ok(None) };
    let pattern = place.resolve_file(&format!("{}/", absolute(cwd, dir)))?;
    Ok(Some(Touch { place, pattern, how, file: None, is_all: false }))
}

/// The place that a directory is in, or would be in once it is made; nothing outside of repositories.
fn place_of(app: &Application, cwd: &Path, dir: &Path) -> Result<Option<Place>, Failure> {
    let dir = cwd.join(dir);
    let Some(there) = dir.ancestors().find(|above| above.is_dir()) else { return Ok(None) };
    match app.projects().at(there) {
        Ok(place) => Ok(Some(place)),
        Err(Failure::Refused(comity_core::Refusal::NotARepository { .. })) => Ok(None),
        Err(other) => Err(other),
    }
}

fn absolute(cwd: &Path, path: &Path) -> String {
    cwd.join(path).to_string_lossy().into_owned()
}
