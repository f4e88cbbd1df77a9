//! Which project a caller is in, and what its paths mean there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use comity_core::{Ask, PathPattern, Refusal, World};
use comity_git::Repository;

use crate::config::ProjectConfig;
use crate::operation::{Caller, Failure};

/// Directories that are remembered.
const DIRECTORIES_MAX: usize = 1_024;

/// Repositories by the directory they were found from.
#[derive(Debug, Default)]
pub struct Projects {
    found: Mutex<HashMap<PathBuf, std::sync::Arc<Repository>>>,
}

/// A place from which paths are meant.
#[derive(Clone, Debug)]
pub struct Place {
    repository: std::sync::Arc<Repository>,
    cwd: PathBuf,
}

impl Projects {
    /// The place that the caller is in.
    pub fn place(&self, caller: &Caller) -> Result<Place, Failure> {
        let Some(cwd) = caller.cwd.as_deref().filter(|cwd| cwd.is_absolute()) else {
            return Err(Refusal::bad_input(
                "it is not known which directory you are in",
                "name it: the header Comity-Cwd over HTTP, or the working directory of the program",
            )
            .into());
        };
        let repository = self.repository(cwd)?;
        Ok(Place { repository, cwd: cwd.into() })
    }

    fn repository(&self, cwd: &Path) -> Result<std::sync::Arc<Repository>, Failure> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(repository) = found.get(cwd).filter(|repository| repository.is_current()) {
            return Ok(repository.clone());
        }
        let not_here = || Refusal::NotARepository { path: cwd.display().to_string() };
        let repository = match Repository::containing(cwd) {
            Ok(repository) => std::sync::Arc::new(repository.ok_or_else(not_here)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(not_here().into()),
            Err(error) => return Err(Failure::Fault(format!("{}: {error}", cwd.display()))),
        };
        if found.len() >= DIRECTORIES_MAX {
            found.clear();
        }
        found.insert(cwd.into(), repository.clone());
        Ok(repository)
    }
}

impl Place {
    /// The project.
    pub fn project(&self) -> comity_core::ProjectId {
        self.repository.project()
    }

    /// What somebody's words mean here.
    pub fn resolve(&self, path: &str) -> Result<PathPattern, Refusal> {
        self.repository.resolve(&self.cwd, path)
    }

    /// What several words mean here.
    pub fn resolve_all(&self, paths: &[String]) -> Result<Vec<PathPattern>, Refusal> {
        paths.iter().map(|path| self.resolve(path)).collect()
    }

    /// The project's own settings.
    pub fn settings(&self) -> Result<ProjectConfig, Refusal> {
        ProjectConfig::read(self.repository.root())
            .map_err(|problem| Refusal::bad_input(problem, "mend the project's comity.toml"))
    }

    /// The ask that makes the project known, if it is not.
    pub fn introduce(&self, world: &World) -> Option<Ask> {
        let project = self.project();
        if world.projects.contains_key(&project) {
            return None;
        }
        let common_dir = self.repository.common_dir().to_string_lossy().into_owned().into();
        Some(Ask::AddProject { project, common_dir, case: self.repository.case() })
    }
}
