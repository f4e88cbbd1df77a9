//! The worktree drivers of projects: one each, so that merges into a branch stand in one line.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use comity_git::worktree::{Driver, Hook, Places};

use crate::config::Config;
use crate::operation::Failure;

/// How long one act of a driver may take; a large checkout on a slow disk takes minutes.
const PATIENCE: Duration = Duration::from_secs(600);

/// Drivers by the common git directory of their project.
#[derive(Default)]
pub struct Trees {
    drivers: Mutex<HashMap<PathBuf, Arc<Driver>>>,
}

impl Trees {
    /// The driver of a project; its directories are made if they are not there.
    pub fn driver(&self, config: &Config, common_dir: &Path) -> Result<Arc<Driver>, Failure> {
        let mut drivers = self.drivers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = drivers.get(common_dir) {
            return Ok(driver.clone());
        }
        let places = Places::within(&home(config, common_dir));
        let opened = Driver::open(common_dir, &places, PATIENCE);
        let driver = Arc::new(opened.map_err(|no| Failure::Fault(no.to_string()))?);
        drivers.insert(common_dir.to_owned(), driver.clone());
        Ok(driver)
    }
}

/// Where the worktrees of a project are: beside its main checkout, where tools do not take them for part of it.
pub(crate) fn home(config: &Config, common_dir: &Path) -> PathBuf {
    let main = match common_dir.file_name() {
        Some(name) if name == ".git" => common_dir.parent().unwrap_or(common_dir),
        _ => common_dir,
    };
    let name = main.file_name().unwrap_or_default().to_string_lossy();
    match &config.worktree.dir {
        Some(dir) => dir.join(&*name),
        None => main.with_file_name(format!("{name}.comity")),
    }
}

/// A program of the user's, if one is set.
pub fn hook(argv: &[String]) -> Option<Hook> {
    (!argv.is_empty()).then(|| Hook { argv: argv.iter().map(Into::into).collect(), patience: PATIENCE })
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
