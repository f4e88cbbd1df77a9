//! Which worktrees are watched: those of every project that a live agent works in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use comity_core::{AgentId, CaseRule, Principal, ProjectId};

use crate::application::Application;
use crate::worktree_drivers;

/// The project of a worktree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TreeProject {
    pub(super) project: ProjectId,
    pub(super) case: CaseRule,
}

/// The watched worktrees.
#[derive(Debug, Default)]
pub(super) struct Roots {
    /// For each live agent, the projects that it was seen in, by common git directory.
    seen_in: BTreeMap<AgentId, BTreeSet<PathBuf>>,
    trees: BTreeMap<PathBuf, TreeProject>,
}

impl Roots {
    pub(super) fn project_of(&self, root: &Path) -> Option<TreeProject> {
        self.trees.get(root).copied()
    }

    pub(super) fn of(&self, project: ProjectId) -> Vec<PathBuf> {
        let of = self.trees.iter().filter(|(_, tree)| tree.project == project);
        of.map(|(root, _)| root.clone()).collect()
    }

    pub(super) fn project(&self, common_dir: &Path) -> Option<ProjectId> {
        let is_it = |root: &PathBuf| {
            let checkout = comity_git::Checkout::at(root).ok().flatten();
            checkout.is_some_and(|checkout| checkout.common_dir() == common_dir)
        };
        self.trees.iter().find(|(root, _)| is_it(root)).map(|(_, tree)| tree.project)
    }

    pub(super) fn refresh(&mut self, app: &Application) -> BTreeSet<PathBuf> {
        self.look_for_agents(app);
        let common_dirs: BTreeSet<&PathBuf> = self.seen_in.values().flatten().collect();
        let mut trees = BTreeMap::new();
        for common_dir in common_dirs {
            for root in worktrees(app, common_dir) {
                let Ok(Some(repository)) = comity_git::Repository::containing(&root) else { continue };
                trees.insert(root, TreeProject { project: repository.project(), case: repository.case() });
            }
        }
        self.trees = trees;
        self.trees.keys().cloned().collect()
    }

    /// Finds agents: where they said they are, where they made calls, and what they have locked.
    fn look_for_agents(&mut self, app: &Application) {
        let mut dirs: BTreeMap<AgentId, Vec<PathBuf>> = BTreeMap::new();
        {
            let world = app.engine().world();
            for agent in world.agents.live() {
                let of = dirs.entry(agent.id).or_default();
                of.extend(agent.profile.cwd.as_deref().map(PathBuf::from));
                let locked: BTreeSet<ProjectId> =
                    world.locks.live_of(Principal::Agent(agent.id)).map(|lock| lock.wanted.project).collect();
                let projects = locked.iter().filter_map(|project| world.projects.get(project));
                let seen = self.seen_in.entry(agent.id).or_default();
                seen.extend(projects.map(|project| PathBuf::from(&*project.common_dir)));
            }
        }
        let live: BTreeSet<AgentId> = dirs.keys().copied().collect();
        self.seen_in.retain(|agent, _| live.contains(agent));
        app.watch().forget_agents_but(&live);
        for (agent, mut dirs) in dirs {
            dirs.extend(app.watch().calls.places(agent));
            let found = dirs.iter().filter_map(|dir| app.projects().at(dir).ok());
            let seen = self.seen_in.entry(agent).or_default();
            seen.extend(found.map(|place| place.repository().common_dir().to_owned()));
        }
    }
}

/// The worktrees of a project that somebody may work in: not those being made, in the pool, or in the trash.
fn worktrees(app: &Application, common_dir: &Path) -> Vec<PathBuf> {
    let ours = worktree_drivers::home(app.config(), common_dir);
    let ours = ours.canonicalize().unwrap_or(ours);
    let in_use: BTreeSet<PathBuf> =
        app.engine().world().worktrees.iter().map(|worktree| PathBuf::from(&*worktree.tree.path)).collect();
    let in_use: BTreeSet<PathBuf> = in_use.into_iter().filter_map(|path| path.canonicalize().ok()).collect();
    let mut all = comity_git::worktrees(common_dir).unwrap_or_default();
    all.retain(|root| !root.starts_with(&ours) || in_use.contains(root));
    all
}
