//! Which project a caller is in, and what its paths mean there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use comity_core::display::visible;
use comity_core::paths::Alternative;
use comity_core::projects::ProjectAsk;
use comity_core::{Ask, PathPattern, ProjectId, Refusal, World};
use comity_git::Repository;

use crate::config::ProjectConfig;
use crate::operation::{Caller, Failure};

/// Remembered directories.
const DIRECTORIES_MAX: usize = 1_024;
/// How long a directory's project is trusted without another look.
const FRESH: Duration = Duration::from_secs(1);

/// Repositories by the directory they were found from.
#[derive(Debug, Default)]
pub struct Projects {
    found: Mutex<HashMap<PathBuf, CachedProject>>,
}

#[derive(Debug)]
struct CachedProject {
    repository: Arc<Repository>,
    settings: Arc<Result<ProjectConfig, String>>,
    looked: Instant,
}

/// Where paths are relative to.
#[derive(Clone, Debug)]
pub struct PathBase {
    repository: Arc<Repository>,
    settings: Arc<Result<ProjectConfig, String>>,
    cwd: PathBuf,
}

impl Projects {
    /// The repository that the caller is in.
    pub fn place(&self, caller: &Caller) -> Result<PathBase, Failure> {
        let Some(cwd) = caller.cwd.as_deref().filter(|cwd| cwd.is_absolute()) else {
            return Err(Refusal::bad_input(
                "it is not known which directory you are in",
                "name it: the header Comity-Cwd over HTTP, or the working directory of the program",
            )
            .into());
        };
        self.at(cwd)
    }

    /// What these paths are relative to: the caller's directory, or for absolute paths elsewhere, their own
    /// repository.
    pub fn place_of(&self, caller: &Caller, paths: &[String]) -> Result<PathBase, Failure> {
        let own = self.place(caller);
        let Some(first) = paths.first().filter(|path| path.starts_with('/')) else { return own };
        if own.as_ref().is_ok_and(|place| place.resolve(first).is_ok()) {
            return own;
        }
        let existing = Path::new(first).ancestors().skip(1).find(|dir| dir.is_dir());
        existing.and_then(|dir| self.at(dir).ok()).map_or(own, Ok)
    }

    /// The project that lists are about: the caller's, unless all are asked for.
    pub(crate) fn scope(&self, caller: &Caller, all: bool) -> Option<ProjectId> {
        let place = (!all).then(|| self.place(caller).ok()).flatten()?;
        Some(place.project())
    }

    /// The repository of a directory.
    pub fn at(&self, cwd: &Path) -> Result<PathBase, Failure> {
        let mut known = self.known();
        if let Some(found) = known.get(cwd).filter(|found| found.looked.elapsed() < FRESH) {
            return Ok(found.place(cwd));
        }
        let current = known.get(cwd).map(|found| found.repository.clone()).filter(|known| known.is_current());
        let repository = match current {
            Some(repository) => repository,
            None => Arc::new(find(cwd)?),
        };
        let settings = Arc::new(ProjectConfig::read(repository.root()));
        if known.len() >= DIRECTORIES_MAX {
            known.clear();
        }
        let found = CachedProject { repository, settings, looked: Instant::now() };
        let place = found.place(cwd);
        known.insert(cwd.into(), found);
        Ok(place)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, CachedProject>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a list is about, in words: `in repo`; `None` for all projects.
pub(crate) fn in_project(world: &World, scope: Option<ProjectId>) -> Option<String> {
    Some(world.projects.get(&scope?)?.name().to_owned())
}

impl CachedProject {
    fn place(&self, cwd: &Path) -> PathBase {
        PathBase { repository: self.repository.clone(), settings: self.settings.clone(), cwd: cwd.into() }
    }
}

fn find(cwd: &Path) -> Result<Repository, Failure> {
    let not_here = || Refusal::NotARepository { path: cwd.display().to_string() };
    match Repository::containing(cwd) {
        Ok(repository) => Ok(repository.ok_or_else(not_here)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(not_here().into()),
        Err(error) => Err(Failure::Fault(format!("{}: {error}", cwd.display()))),
    }
}

impl PathBase {
    pub fn project(&self) -> ProjectId {
        self.repository.project()
    }

    /// What people call the project, be it known yet or not.
    pub fn project_name(&self) -> String {
        let common_dir = self.repository.common_dir().to_string_lossy().into_owned().into();
        comity_core::projects::Project { common_dir, case: self.repository.case() }.name().to_owned()
    }

    /// Whether it is the top of a worktree, where paths are as they are stored.
    pub fn is_top(&self) -> bool {
        self.cwd == self.repository.root()
    }

    pub fn repository(&self) -> &Arc<Repository> {
        &self.repository
    }

    /// The worktree's root, if it is valid text.
    pub fn root(&self) -> Option<Box<str>> {
        self.repository.root().to_str().map(Into::into)
    }

    /// What a path means here, whatever characters it has.
    pub fn resolve_file(&self, path: &str) -> Result<PathPattern, Refusal> {
        self.repository.resolve_file(&self.cwd, path)
    }

    /// What a path or glob means here.
    pub fn resolve(&self, path: &str) -> Result<PathPattern, Refusal> {
        self.repository.resolve(&self.cwd, path)
    }

    pub(crate) fn resolve_all(&self, paths: &[String]) -> Result<Vec<PathPattern>, Refusal> {
        paths.iter().map(|path| self.refuse_list(path).and_then(|()| self.resolve(path))).collect()
    }

    /// Refuses several paths in one word: `src/a.rs,src/b.rs` would be a file of that name.
    fn refuse_list(&self, text: &str) -> Result<(), Refusal> {
        let mut depth = 0;
        let mut commas = Vec::new();
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                b',' if depth <= 0 => commas.push(at),
                _ => {}
            }
        }
        let Some(last) = commas.last().copied() else { return Ok(()) };
        let name_end = text[last..].find('/').map_or(text.len(), |slash| last + slash);
        if self.cwd.join(&text[..name_end]).symlink_metadata().is_ok() {
            return Ok(());
        }
        let starts = std::iter::once(0).chain(commas.iter().map(|comma| comma + 1));
        let ends = commas.iter().copied().chain([text.len()]);
        let parts: Vec<&str> = starts
            .zip(ends)
            .map(|(start, end)| text[start..end].trim())
            .filter(|part| !part.is_empty())
            .collect();
        Err(Refusal::bad_input(
            format!("{} is one path, and there is no such file", visible(text)),
            format!(
                "name each by itself, such as: {}; where a flag takes them, repeat the flag",
                visible(&parts.join(" "))
            ),
        ))
    }

    /// The path, if nothing is there; for a glob, the part before the first wildcard.
    pub fn missing(&self, pattern: &PathPattern) -> Option<String> {
        let is_there = |alternative: &Alternative| {
            let path: PathBuf = alternative.prefix().collect();
            std::fs::symlink_metadata(self.repository.root().join(path)).is_ok()
        };
        (!pattern.alternatives().iter().any(is_there)).then(|| pattern.readable())
    }

    pub fn settings(&self) -> Result<&ProjectConfig, Refusal> {
        let refuse = |problem: &String| Refusal::bad_input(problem, "fix comity.toml");
        (*self.settings).as_ref().map_err(refuse)
    }

    /// The ask that introduces the project, if it is new.
    pub fn introduce(&self, world: &World) -> Option<Ask> {
        let project = self.project();
        if world.projects.contains_key(&project) {
            return None;
        }
        let common_dir = self.repository.common_dir().to_string_lossy().into_owned().into();
        Some(Ask::Project(ProjectAsk::Add { project, common_dir, case: self.repository.case() }))
    }
}
