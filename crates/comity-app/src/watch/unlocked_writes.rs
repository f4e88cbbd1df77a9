//! Observes writes: remembers who could have written at that moment, and reports what is new.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comity_core::writes::{UnlockedWrite, WriteAsk};
use comity_core::{Ask, PathPattern};
use comity_git::Checkout;
use comity_watch::{Observer, RefsRead, WatchState};

use super::commits::Commits;
use super::observation::{Observation, Owned, WriteSuspects};
use super::recent_reports::RecentReports;
use super::roots::{Roots, TreeProject};
use super::{Now, OnTrouble};
use crate::application::Application;
use crate::operations::guard::{CleanLocks, program_settings_at};
use crate::planted_panic::panic_at;

/// How long git may take to say what has changed.
const GIT_PATIENCE: Duration = Duration::from_secs(30);
/// Files of one burst that are reported by name; the rest is counted.
const REPORTED_MAX: usize = 20;
/// An observation that never settled is forgotten after this long.
const OBSERVATION_MAX: Duration = Duration::from_secs(60);

/// The observer of all worktrees.
pub(super) struct UnlockedWrites {
    app: Application,
    roots: Roots,
    observations: HashMap<(PathBuf, PathBuf), (Observation, Instant)>,
    told: RecentReports,
    commits: Commits,
    on_trouble: OnTrouble,
    troubles: Vec<String>,
}

impl UnlockedWrites {
    pub(super) fn new(app: Application, on_trouble: OnTrouble) -> UnlockedWrites {
        let commits = Commits::new(&app);
        UnlockedWrites {
            app,
            roots: Roots::default(),
            observations: HashMap::new(),
            told: RecentReports::default(),
            commits,
            on_trouble,
            troubles: Vec::new(),
        }
    }

    /// Who has a file, and who may be writing it, right now.
    fn look(&self, tree: TreeProject, root: &Path, path: &Path) -> Option<Observation> {
        // What no pattern can spell is in no lock, and could not be locked.
        let file = PathPattern::file(path.to_str()?, tree.case).ok()?;
        let mut candidates = self.app.watch().calls.may_write(root, &root.join(path));
        let now = self.app.engine().now();
        let world = self.app.engine().world();
        candidates.retain(|agent| world.agents.living(*agent).is_ok());
        let owned = Owned::at(&world, tree.project, &file, now);
        Some(Observation { owned, candidates: candidates.into_iter().collect() })
    }

    fn suspects(&self, observation: &Observation) -> Option<WriteSuspects> {
        observation.suspects(|agent| self.app.watch().calls.are_heard(agent))
    }

    /// The report about a path that differs from what git has, if it needs one.
    fn suspects_of(
        &self,
        suspected: &BTreeMap<PathBuf, WriteSuspects>,
        (tree, root): (TreeProject, &Path),
        path: &Path,
    ) -> Option<WriteSuspects> {
        match suspected.get(path) {
            Some(suspects) => Some(suspects.clone()),
            // It went with its directory.
            None => self.suspects(&self.look(tree, root, path)?),
        }
    }

    fn note_commits(&self, checkout: &Checkout, problem: Option<&String>) {
        let problem = problem.map(String::as_str);
        if self.app.watch().set_blind(checkout.common_dir(), problem)
            && let Some(problem) = problem
        {
            (self.on_trouble)(&format!("commits can't be judged: {problem}"));
        }
    }

    fn report(&mut self, tree: TreeProject, root: &Path, news: BTreeMap<WriteSuspects, Vec<PathBuf>>) {
        let now = Instant::now();
        for (suspects, paths) in news {
            let others = paths.len().saturating_sub(REPORTED_MAX);
            let named: Vec<&PathBuf> = paths.iter().take(REPORTED_MAX).collect();
            for (at, path) in named.iter().enumerate() {
                let text = canonical(path, tree);
                self.told.note(tree.project, &text, &suspects, now);
                self.app.tell_engine(Ask::Write(WriteAsk::SawUnlocked(Box::new(UnlockedWrite {
                    project: tree.project,
                    path: text.into(),
                    tree: root.to_string_lossy().into(),
                    holder: suspects.holder,
                    candidates: suspects.candidates.clone(),
                    others: if at + 1 == named.len() { others } else { 0 },
                }))));
            }
        }
    }
}

impl Observer for UnlockedWrites {
    fn wanted(&mut self) -> BTreeSet<PathBuf> {
        if self.app.engine().feed().is_stopped() {
            return BTreeSet::new();
        }
        let roots = self.roots.refresh(&self.app);
        self.observations.retain(|(root, _), (_, at)| roots.contains(root) && at.elapsed() < OBSERVATION_MAX);
        roots
    }

    fn touched(&mut self, root: &Path, path: &Path) {
        let Some(tree) = self.roots.project_of(root) else { return };
        let Some(observation) = self.look(tree, root, path) else { return };
        match self.observations.get_mut(&(root.to_owned(), path.to_owned())) {
            Some((known, at)) => {
                known.and(observation);
                *at = Instant::now();
            }
            None => drop(
                self.observations.insert((root.to_owned(), path.to_owned()), (observation, Instant::now())),
            ),
        }
    }

    fn settled(&mut self, checkout: &Checkout, paths: Vec<PathBuf>) {
        panic_at("watcher");
        let root = checkout.root();
        let Some(tree) = self.roots.project_of(root) else { return };
        let now = Instant::now();
        let mut suspected = BTreeMap::new();
        for path in paths {
            let Some((observation, _)) = self.observations.remove(&(root.to_owned(), path.clone())) else {
                continue;
            };
            let Some(suspects) = self.suspects(&observation) else { continue };
            if !self.told.has(tree.project, &canonical(&path, tree), &suspects, now) {
                suspected.insert(path, suspects);
            }
        }
        let asked: Vec<PathBuf> = suspected.keys().cloned().collect();
        let changed = match checkout.changed(&asked, GIT_PATIENCE) {
            Ok(changed) => changed,
            Err(error) => return (self.on_trouble)(&format!("writes could not be judged: {error}")),
        };
        let mut news: BTreeMap<WriteSuspects, Vec<PathBuf>> = BTreeMap::new();
        let changed = changed.into_iter().filter(|one| one.is_tracked || !is_editors_own(&one.path));
        let mut changed: BTreeSet<PathBuf> = changed.map(|one| one.path).collect();
        // Even if git ignores them: they decide how the next agent is started.
        changed.extend(asked.iter().flat_map(|path| program_settings_at(root, path)));
        for path in changed {
            if let Some(suspects) = self.suspects_of(&suspected, (tree, root), &path) {
                news.entry(suspects).or_default().push(path);
            }
        }
        self.report(tree, root, news);
        self.app.free_clean_locks(CleanLocks::In(tree.project));
    }

    fn refs_watched(&mut self, checkout: &Checkout) {
        let tree = self.roots.project_of(checkout.root());
        let begun = self.commits.begin(&self.app, tree, checkout);
        self.note_commits(checkout, begun.as_ref().err());
    }

    fn refs_touched(&mut self, common_dir: &Path) {
        let Some(project) = self.roots.project(common_dir) else { return };
        self.commits.moved(&self.app, project, common_dir, &self.roots.of(project));
    }

    fn refs_settled(&mut self, checkout: &Checkout) -> RefsRead {
        let Some(tree) = self.roots.project_of(checkout.root()) else { return RefsRead::Done };
        let looked = self.commits.settled(&self.app, tree, checkout);
        self.note_commits(checkout, looked.as_ref().err());
        self.app.free_clean_locks(CleanLocks::In(tree.project));
        looked.unwrap_or(RefsRead::Later)
    }

    fn changed(&mut self, state: &WatchState) {
        let troubles: Vec<String> = state.troubles.iter().map(ToString::to_string).collect();
        troubles
            .iter()
            .filter(|trouble| !self.troubles.contains(trouble))
            .for_each(|new| (self.on_trouble)(new));
        self.troubles = troubles;
        self.app.watch().set(Now::On(state.clone()));
    }
}

/// A path as locks have it.
fn canonical(path: &Path, tree: TreeProject) -> String {
    let text = path.to_string_lossy();
    PathPattern::file(&text, tree.case).map_or_else(|_| text.into_owned(), |file| file.readable())
}

/// Whether it is a temporary file of an editor.
fn is_editors_own(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let is_swap =
        name.starts_with('.') && [".swp", ".swo", ".swn", ".swx"].iter().any(|ending| name.ends_with(ending));
    let is_backup = name.ends_with('~') || name.starts_with(".#");
    let is_saved = name.len() > 1 && name.starts_with('#') && name.ends_with('#');
    is_swap || is_backup || is_saved || name == "4913"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_editors() {
        for name in [".a.rs.swp", "src/.#a.rs", "4913", "src/a.rs~", "#a.rs#"] {
            assert!(is_editors_own(Path::new(name)), "{name}");
        }
        for name in ["a.rs", "a.swp", ".env", "#", "src/4913/a.rs"] {
            assert!(!is_editors_own(Path::new(name)), "{name}");
        }
    }
}
