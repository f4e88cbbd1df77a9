//! The worktree drivers of projects: one each, so that merges into a branch are in one line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_git::Confiner;
use comity_git::worktree::{Driver, Places, WorktreeHook};

use crate::config::Config;
use crate::operation::Failure;

/// How long a driver's operation may take; a large checkout on a slow disk takes minutes.
const PATIENCE: Duration = Duration::from_secs(600);

/// By their projects' common git directories.
#[derive(Default)]
pub struct Trees {
    projects: Mutex<HashMap<PathBuf, ProjectWorktreeDriver>>,
}

#[derive(Clone)]
struct ProjectWorktreeDriver {
    driver: Arc<Driver>,
    /// Held while a worktree is checked and removed.
    removal: Arc<Mutex<()>>,
}

impl Trees {
    /// The driver of a project; creates its directories if missing.
    pub fn driver(&self, config: &Config, common_dir: &Path) -> Result<Arc<Driver>, Failure> {
        Ok(self.tended(config, common_dir)?.driver)
    }

    /// The driver of a project, and the lock for one removal at a time.
    pub(crate) fn for_removal(
        &self,
        config: &Config,
        common_dir: &Path,
    ) -> Result<(Arc<Driver>, Arc<Mutex<()>>), Failure> {
        let ProjectWorktreeDriver { driver, removal } = self.tended(config, common_dir)?;
        Ok((driver, removal))
    }

    /// Whether a project has or had worktrees of ours.
    pub(crate) fn has_any(&self, config: &Config, common_dir: &Path) -> bool {
        home(config, common_dir).is_dir()
    }

    fn tended(&self, config: &Config, common_dir: &Path) -> Result<ProjectWorktreeDriver, Failure> {
        let mut projects = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tended) = projects.get(common_dir) {
            return Ok(tended.clone());
        }
        let places = Places::within(&home(config, common_dir));
        let opened = Driver::open(common_dir, &places, PATIENCE);
        let driver = Arc::new(opened.map_err(|no| Failure::Fault(no.to_string()))?);
        let tended = ProjectWorktreeDriver { driver, removal: Arc::default() };
        projects.insert(common_dir.to_owned(), tended.clone());
        Ok(tended)
    }
}

pub(crate) fn main_checkout(common_dir: &Path) -> Option<&Path> {
    common_dir.file_name().filter(|name| *name == ".git").and(common_dir.parent())
}

/// Where a project's worktrees are: next to its main checkout, where tools do not take them for part of it.
pub(crate) fn home(config: &Config, common_dir: &Path) -> PathBuf {
    let main = main_checkout(common_dir).unwrap_or(common_dir);
    let name = main.file_name().unwrap_or_default().to_string_lossy();
    match &config.worktree.dir {
        Some(dir) => dir.join(&*name),
        None => main.with_file_name(format!("{name}.comity")),
    }
}

/// A program of the user, if one is set, and its confiner.
pub fn hook(argv: &[String], confiner: Option<Confiner>) -> Option<WorktreeHook> {
    let argv: Vec<_> = argv.iter().map(Into::into).collect();
    (!argv.is_empty()).then_some(WorktreeHook { argv, patience: PATIENCE, confiner })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worktrees_are_beside_the_checkout() {
        let config = Config::default();
        assert_eq!(home(&config, Path::new("/srv/app/.git")), Path::new("/srv/app.comity"));
        assert_eq!(home(&config, Path::new("/srv/bare.git")), Path::new("/srv/bare.git.comity"));
        let mut config = Config::default();
        config.worktree.dir = Some("/fast/trees".into());
        assert_eq!(home(&config, Path::new("/srv/app/.git")), Path::new("/fast/trees/app"));
    }
}
