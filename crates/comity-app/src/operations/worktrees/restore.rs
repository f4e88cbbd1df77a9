//! Brings a worktree back from the trash.

use comity_core::next_call::Argument;
use std::fmt;
use std::path::Path;

use comity_core::worktrees::{WorktreeAsk, WorktreeInfo};
use comity_core::{Ask, ProjectId, Refusal};
use comity_git::worktree::Driver;

use super::add::made_before;
use super::{ask_with_key, failure};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::worktrees::ListWorktrees;
use crate::planted_panic::panic_at;

/// Restore a worktree from the trash, with everything in it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeRestore {
    /// Its name, or its name in the trash; the latest one there if omitted
    pub slug: Option<String>,
}

/// Where the worktree is now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeBack {
    pub slug: String,
    pub path: String,
    /// The branch that is checked out; none if somebody else has taken it.
    pub branch: Option<String>,
}

impl Operation for WorktreeRestore {
    type Output = WorktreeBack;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WorktreeBack>, Failure> {
        let place = app.projects().place(caller)?;
        let driver = app.trees().driver(app.config(), place.repository().common_dir())?;
        forget_restored(app, &driver, place.project());
        if let Some(WorktreeInfo { slug, path, branch, .. }) = made_before(app, caller) {
            let branch = (!branch.is_empty()).then(|| branch.into());
            return Ok(Plan::Answer(WorktreeBack { slug: slug.into(), path: path.into(), branch }));
        }
        let trashed = driver.trashed().map_err(failure)?;
        let is_meant = |slug: Option<&str>, id: &str| match self.slug.as_deref() {
            None => true,
            Some(wished) => slug == Some(wished) || id == wished,
        };
        let named =
            trashed.iter().filter(|one| is_meant(one.slug.as_ref().map(|slug| slug.as_str()), &one.id));
        let newest = named.max_by_key(|one| one.removed_at).ok_or_else(|| Refusal::NotFound {
            problem: "there is no such worktree in the trash".into(),
            hint: format!(
                "see what is there with: {}",
                next_call::<ListWorktrees>([("trash", Argument::Yes)])
            ),
        })?;
        let restored = driver.bring_back(&newest.id).map_err(failure)?;
        let slug = newest.slug.as_ref().map_or(newest.id.as_str(), |slug| slug.as_str()).to_owned();
        let path = restored.path.to_string_lossy().into_owned();
        let branch = restored.branch.map(|branch| branch.as_str().to_owned());
        let base = driver
            .list()
            .map_err(failure)?
            .iter()
            .find(|listed| listed.path == restored.path)
            .map(|listed| listed.base.commit.as_str().to_owned());
        let tree = Box::new(WorktreeInfo {
            slug: slug.as_str().into(),
            path: path.as_str().into(),
            branch: branch.clone().unwrap_or_default().into(),
            base: base.unwrap_or_default().into(),
        });
        panic_at("worktree-back");
        ask_with_key(app, caller, Ask::Worktree(WorktreeAsk::Add { project: place.project(), tree }))?;
        panic_at("worktree-recorded");
        // Only now: after a crash before this, a repeat finds it in the trash.
        forget_restored(app, &driver, place.project());
        Ok(Plan::Answer(WorktreeBack { slug, path, branch }))
    }
}

/// Removes from the trash what is restored and recorded, whenever the server died after recording it.
pub(super) fn forget_restored(app: &Application, driver: &Driver, project: ProjectId) {
    let mut back = driver.trashed().unwrap_or_default();
    {
        let world = app.engine().world();
        let is_known = |path: &Path| world.worktrees.of(project).any(|it| Path::new(&*it.tree.path) == path);
        back.retain(|one| one.is_back && is_known(&one.path));
    }
    for one in back {
        if let Err(problem) = driver.end_restore(&one.id) {
            // The next list does it.
            eprintln!("comity: {} is back, but still in the trash: {problem}", one.path.display());
        }
    }
}

impl fmt::Display for WorktreeBack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorktreeBack { slug, path, branch } = self;
        match branch {
            Some(branch) => write!(f, "{slug} is back: cd {path}\n  on {branch}"),
            None => write!(
                f,
                "{slug} is back: cd {path}\n  its branch is checked out elsewhere, so its commit is"
            ),
        }
    }
}
