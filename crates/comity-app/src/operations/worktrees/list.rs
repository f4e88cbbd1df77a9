//! Lists worktrees.

use std::fmt;
use std::path::Path;

use comity_core::display::visible;
use comity_core::next_call::Argument;
use comity_core::{Principal, ProjectId, Refusal};
use comity_git::worktree::{Driver, Slug};

use super::failure;
use super::restore::forget_restored;
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::worktrees::{WorktreeAdd, WorktreeRestore};
use crate::project_scope::{ProjectScope, ScopeView};
use crate::projects::in_project;

/// List this project's worktrees, and leftovers of crashes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListWorktrees {
    /// Only this one
    pub slug: Option<String>,
    /// Include other projects
    #[serde(default)]
    pub all_projects: bool,
    /// Include those in the trash
    #[serde(default)]
    pub trash: bool,
}

/// What there is.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct WorktreeList {
    /// Those that somebody works in.
    pub worktrees: Vec<WorktreeView>,
    /// Those in the trash, if they are asked for: comity worktree restore SLUG brings one back.
    pub trash: Vec<TrashView>,
    /// How many there are of them, listed or not.
    pub trash_total: usize,
    /// What crashes have left, and what to do about it; nothing of it is deleted.
    pub leftovers: Vec<String>,
    /// How many are ready for the next who asks.
    pub ready: usize,
    #[serde(flatten)]
    pub scope: ScopeView,
    /// Repositories that could not be looked at, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Merges that wait to be taken where their branch is checked out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingMerge>,
}

/// A merge that is made, and not in its branch yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct WaitingMerge {
    /// The branch that it is for.
    pub target: String,
    /// What to run.
    pub command: String,
}

/// A worktree, and why it stays if it was released.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorktreeView {
    pub slug: String,
    pub path: String,
    /// The repository that it is of.
    pub project: String,
    pub branch: String,
    /// The commit that it began at.
    pub base: String,
    /// Who asked for it; nobody knows after a crash in the middle.
    pub owner: Option<String>,
    pub owner_is_live: bool,
    /// Whether it was released, and goes as soon as it is proven that no work is in it.
    pub released: bool,
    /// Why it was kept when it was released.
    pub kept: Option<String>,
}

/// One worktree in the trash.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrashView {
    /// Its name in the trash.
    pub id: String,
    /// Its name, if it had one.
    pub slug: Option<String>,
    pub path: String,
}

impl WaitingMerge {
    pub(crate) fn of(waiting: comity_git::worktree::WaitingMerge) -> WaitingMerge {
        WaitingMerge { target: waiting.target.as_str().to_owned(), command: waiting.command }
    }
}

impl fmt::Display for WaitingMerge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a merge into {} waits; take it with: {}", self.target, self.command)
    }
}

impl Operation for ListWorktrees {
    type Output = WorktreeList;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<WorktreeList>, Failure> {
        let mut list = WorktreeList::default();
        if self.all_projects {
            let projects: Vec<_> =
                app.engine().world().projects.iter().map(|(id, one)| (*id, one.clone())).collect();
            for (id, project) in projects {
                // A repository that is gone, or on an unmounted disk, does not hide the others.
                let problem = match list.add(app, id, Path::new(&*project.common_dir), self.trash) {
                    Ok(()) => continue,
                    Err(Failure::Refused(refusal)) => refusal.to_string(),
                    Err(Failure::Fault(problem)) => problem,
                };
                list.problems.push(format!("{}: {problem}", project.name()));
            }
        } else {
            let place = app.projects().place(caller)?;
            list.add(app, place.project(), place.repository().common_dir(), self.trash)?;
            let scope = ProjectScope::of(app, caller, false);
            let world = app.engine().world();
            let elsewhere = world.worktrees.iter().filter(|tree| !scope.shows(tree.project)).count();
            list.scope = scope.view(elsewhere);
        }
        if let Some(slug) = self.slug {
            list.worktrees.retain(|tree| tree.slug == slug);
            list.trash.retain(|trashed| trashed.slug.as_deref() == Some(&slug));
            if list.worktrees.is_empty() && list.trash.is_empty() {
                return Err(Refusal::NotFound {
                    problem: format!("there is no worktree {slug:?}"),
                    hint: format!("see all with: {}", next_call::<ListWorktrees>([])),
                }
                .into());
            }
            (list.trash_total, list.leftovers) = (list.trash.len(), vec![]);
        }
        Ok(Plan::Answer(list))
    }
}

impl WorktreeList {
    /// Adds those of one repository.
    fn add(
        &mut self,
        app: &Application,
        project: ProjectId,
        common_dir: &Path,
        trash: bool,
    ) -> Result<(), Failure> {
        let driver = app.trees().driver(app.config(), common_dir)?;
        forget_reservations(app, &driver, project);
        forget_restored(app, &driver, project);
        let (listed, trashed) = (driver.list().map_err(failure)?, driver.trashed().map_err(failure)?);
        // A worktree that is being prepared for the next one is not a leftover.
        let is_quiet = driver.pool_is_quiet();
        let mut leftovers = driver.leftovers().map_err(failure)?;
        leftovers.retain(|left| is_quiet || !left.path().starts_with(&driver.places().pool));
        self.leftovers.extend(leftovers.iter().map(|left| format!("{left}\n  {}", left.next_step())));
        self.ready += driver.ready().map_err(failure)?;
        self.waiting.extend(driver.waiting_merges().map_err(failure)?.into_iter().map(WaitingMerge::of));
        let world = app.engine().world();
        let is_live = |who: Principal| match who {
            Principal::Agent(id) => world.agents.get(id).is_some_and(|agent| agent.is_live()),
            Principal::Human | Principal::System | Principal::Nobody => true,
        };
        let worktrees = listed.iter().map(|listed| {
            let slug = listed.slug.as_str();
            let known = world.worktrees.get(project, slug);
            let owner = known.map(|worktree| worktree.owner);
            WorktreeView {
                slug: slug.to_owned(),
                path: listed.path.to_string_lossy().into_owned(),
                project: in_project(&world, Some(project)).unwrap_or_default(),
                branch: listed.branch.as_str().to_owned(),
                base: listed.base.commit.as_str().to_owned(),
                owner: owner.map(|owner| world.name_of(owner)),
                owner_is_live: owner.is_some_and(is_live),
                released: known.is_some_and(|worktree| worktree.released.is_some()),
                kept: known.and_then(|worktree| worktree.kept.as_deref()).map(str::to_owned),
            }
        });
        self.worktrees.extend(worktrees);
        if trash {
            self.trash.extend(trashed.iter().map(|trashed| TrashView {
                id: trashed.id.clone(),
                slug: trashed.slug.as_ref().map(|slug| slug.as_str().to_owned()),
                path: trashed.path.to_string_lossy().into_owned(),
            }));
        }
        self.trash_total += trashed.len();
        Ok(())
    }
}

/// Drops reservations of recorded worktrees: they are not leftovers, whenever the server died after recording them.
fn forget_reservations(app: &Application, driver: &Driver, project: ProjectId) {
    let slugs: Vec<Slug> = {
        let world = app.engine().world();
        world.worktrees.of(project).filter_map(|worktree| Slug::parse(&worktree.tree.slug).ok()).collect()
    };
    slugs.iter().for_each(|slug| driver.handed_out(slug));
}

impl fmt::Display for WorktreeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        let row = |tree: &WorktreeView| {
            let gone = if tree.owner_is_live { "" } else { " (gone)" };
            let owner = tree.owner.as_deref().unwrap_or("unknown");
            let state = match (&tree.kept, tree.released) {
                (Some(why), _) => format!("kept: {why}"),
                (None, true) => "released".to_owned(),
                (None, false) => String::new(),
            };
            let project = if self.scope.project.is_none() { tree.project.clone() } else { String::new() };
            let owner = format!("{owner}{gone}");
            vec![tree.slug.clone(), owner, tree.branch.clone(), tree.path.clone(), project, state]
        };
        if !self.worktrees.is_empty() {
            let rows: Vec<Vec<String>> = self.worktrees.iter().map(row).collect();
            lines.push(comity_core::table::table(
                &["NAME", "OWNER", "BRANCH", "PATH", "PROJECT", "STATE"],
                &rows,
            ));
        }
        if self.trash.is_empty() && self.trash_total > 0 {
            let total = self.trash_total;
            lines.push(format!(
                "{total} in the trash; see them with: {}",
                next_call::<ListWorktrees>([("trash", Argument::Yes)])
            ));
        }
        for trashed in &self.trash {
            let name = trashed.slug.as_deref().unwrap_or(&trashed.id);
            lines.push(format!(
                "{name}  in the trash; back with: {}",
                next_call::<WorktreeRestore>([("slug", (*name).into())])
            ));
        }
        lines.extend(self.problems.iter().map(|problem| format!("can't look at {}", visible(problem))));
        lines.extend(self.waiting.iter().map(ToString::to_string));
        lines.extend(self.leftovers.iter().map(|left| format!("left by a crash: {left}")));
        let list = (!lines.is_empty()).then(|| lines.join("\n"));
        let is_empty = list.is_none();
        f.write_str(&self.scope.list(list, "no worktrees"))?;
        if is_empty {
            write!(f, "; create one with: {}", next_call::<WorktreeAdd>([("slug", "NAME".into())]))?;
        }
        self.scope.more::<ListWorktrees>().map_or(Ok(()), |more| write!(f, "\n{more}"))
    }
}
