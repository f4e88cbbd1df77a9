//! Commits that went past the guard: who moved the branch, and whose files are in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_core::commits::{CommitAsk, UnguardedCommit};
use comity_core::display::visible;
use comity_core::paths::overlaps;
use comity_core::{AgentId, Ask, PathPattern, Principal, ProjectId};
use comity_git::{Checkout, NewCommit, Tips};
use comity_watch::Looked;

use super::roots::TreeProject;
use crate::application::Application;
use crate::lineage::{Lineage, link};
use crate::operations::locks::keeps_out;

/// How long git may take to say what is new.
const GIT_PATIENCE: Duration = Duration::from_secs(30);
/// Files of one commit that are reported by name; the rest is counted.
const REPORTED_MAX: usize = 20;

/// The branches of all projects that are watched.
#[derive(Debug, Default)]
pub(super) struct Commits {
    tips: HashMap<PathBuf, Tips>,
    moves: HashMap<PathBuf, BranchMove>,
}

/// What was known in the moment that a branch moved.
#[derive(Debug, Default)]
struct BranchMove {
    /// Agents below whose processes git ran.
    proven: BTreeSet<AgentId>,
    /// Agents whose commands ran, as their hooks tell.
    candidates: BTreeSet<AgentId>,
    locks: Vec<(Principal, PathPattern)>,
}

impl Commits {
    /// A project is watched from here on.
    pub(super) fn begin(&mut self, checkout: &Checkout) -> Result<(), String> {
        let tips = checkout.tips(GIT_PATIENCE).map_err(|error| error.to_string())?;
        self.tips.insert(checkout.common_dir().to_owned(), tips);
        Ok(())
    }

    /// A branch moves at this moment.
    pub(super) fn moved(
        &mut self,
        app: &Application,
        project: ProjectId,
        common_dir: &Path,
        roots: &[PathBuf],
    ) {
        let known = self.moves.entry(common_dir.to_owned()).or_default();
        for root in roots {
            known.candidates.extend(app.watch().calls.may_write(root, root));
        }
        known.proven.extend(committers(app, common_dir, roots));
        if known.locks.is_empty() {
            let now = app.engine().now();
            let world = app.engine().world();
            let locks = world.locks.iter().filter(|lock| lock.wanted.project == project);
            let locks = locks.filter(|lock| keeps_out(lock, Principal::Nobody, &world, now));
            known.locks = locks.map(|lock| (lock.holder, lock.wanted.pattern.clone())).collect();
        }
    }

    /// The branches have been left alone for a moment: reports what went past the guard.
    pub(super) fn settled(
        &mut self,
        app: &Application,
        tree: TreeProject,
        checkout: &Checkout,
    ) -> Result<Looked, String> {
        // What Comity moves itself is known as soon as that is done.
        if app.watch().own.is_moving() {
            return Ok(Looked::Again);
        }
        let common_dir = checkout.common_dir();
        let known = self.moves.remove(common_dir).unwrap_or_default();
        let now = checkout.tips(GIT_PATIENCE).map_err(|error| error.to_string())?;
        let Some(before) = self.tips.insert(common_dir.to_owned(), now.clone()) else {
            return Ok(Looked::Done);
        };
        if before == now || known.locks.is_empty() {
            return Ok(Looked::Done);
        }
        let new = checkout.new_commits(&before, &now, GIT_PATIENCE).map_err(|error| error.to_string())?;
        for commit in new.iter().filter(|commit| !app.watch().own.has_made(&commit.id)) {
            let paths = commit.paths.iter().map(|path| path.to_string_lossy().into()).collect();
            if app.watch().own.take_judgement(tree.project, &paths) {
                continue;
            }
            for report in known.reports(tree, commit) {
                app.tell_engine(Ask::Commit(CommitAsk::SawUnguarded(Box::new(report))));
            }
        }
        Ok(Looked::Done)
    }
}

impl BranchMove {
    /// One report for each holder of something in the commit who did not make it.
    fn reports(&self, tree: TreeProject, commit: &NewCommit) -> Vec<UnguardedCommit> {
        let mut by_holder: BTreeMap<Principal, Vec<Box<str>>> = BTreeMap::new();
        for path in &commit.paths {
            let Ok(file) = PathPattern::existing(&path.to_string_lossy(), tree.case) else { continue };
            let holders = self.locks.iter().filter(|(_, pattern)| overlaps(pattern, &file));
            for holder in holders.map(|(holder, _)| *holder).collect::<BTreeSet<Principal>>() {
                by_holder.entry(holder).or_default().push(visible(&file.readable()).into());
            }
        }
        let who = if self.proven.is_empty() { &self.candidates } else { &self.proven };
        let is_news = |holder: Principal| {
            match holder {
                Principal::Agent(agent) => !who.contains(&agent),
                // A person whom nobody else can be.
                _ => !who.is_empty(),
            }
        };
        let news = by_holder.into_iter().filter(|(holder, _)| is_news(*holder));
        news.map(|(holder, mut paths)| {
            let others = paths.len().saturating_sub(REPORTED_MAX);
            paths.truncate(REPORTED_MAX);
            UnguardedCommit {
                project: tree.project,
                commit: commit.id.as_str().into(),
                branch: commit.branch.as_deref().map(Into::into),
                paths,
                others,
                holder,
                candidates: who.iter().copied().collect(),
            }
        })
        .collect()
    }
}

/// The agents below whose processes git runs in a project just now. It ends a moment after the branch moved.
fn committers(app: &Application, common_dir: &Path, roots: &[PathBuf]) -> BTreeSet<AgentId> {
    let is_here = |pid: u32| {
        let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
        cwd.is_ok_and(|cwd| cwd.starts_with(common_dir) || roots.iter().any(|root| cwd.starts_with(root)))
    };
    let is_git = |pid: u32| link(pid).is_some_and(|link| link.name == "git" || link.name.starts_with("git-"));
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let lines: Vec<_> = pids
        .filter(|pid| is_git(*pid) && is_here(*pid))
        .flat_map(|pid| Lineage::of(pid).links)
        .map(|link| link.process)
        .collect();
    let world = app.engine().world();
    let of = world
        .agents
        .live()
        .filter(|agent| agent.profile.process.is_some_and(|process| lines.contains(&process)));
    of.map(|agent| agent.id).collect()
}
