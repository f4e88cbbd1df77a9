//! The repositories that Comity has seen.

use serde::{Deserialize, Serialize};

use crate::paths::CaseRule;

/// One repository with all its worktrees.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// Its common git directory; this is what it is known by.
    pub common_dir: Box<str>,
    /// Whether its file system folds case.
    pub case: CaseRule,
}

impl Project {
    /// A short name for people: the directory that holds the repository.
    pub fn name(&self) -> &str {
        let path = self.common_dir.trim_end_matches('/');
        let path = path.strip_suffix("/.git").unwrap_or(path);
        path.rsplit('/').next().unwrap_or(path)
    }
}
