//! Commits that bypassed the guard: who moved the branch, and whose files are in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_core::commits::{CommitAsk, UnguardedCommit};
use comity_core::display::visible;
use comity_core::paths::overlaps;
use comity_core::{AgentId, Ask, Fence, PathPattern, Principal, ProjectId};
use comity_git::{BranchHeads, Checkout, NewCommit, NewCommits};
use comity_watch::RefsRead;

use super::roots::TreeProject;
use super::tips::KeptTips;
use crate::application::Application;
use crate::lineage::{Lineage, link};
use crate::operations::locks::keeps_out;

/// How long git may take to say what is new.
const GIT_PATIENCE: Duration = Duration::from_secs(30);
/// Files of one commit that are reported by name; the rest is counted.
const REPORTED_MAX: usize = 20;

/// The branches of all watched projects.
#[derive(Debug)]
pub(super) struct Commits {
    tips: HashMap<PathBuf, BranchHeads>,
    moves: HashMap<PathBuf, BranchMove>,
    /// Moves to commits that could not be read: what was known then, by tip, and why.
    unread: HashMap<PathBuf, (BTreeMap<String, String>, BranchMove)>,
    /// What earlier servers have seen.
    kept: KeptTips,
    /// The newest lock when this server began.
    began_with: Fence,
}

/// What was known when a branch moved.
#[derive(Clone, Debug, Default)]
struct BranchMove {
    /// Agents below whose processes git ran.
    proven: BTreeSet<AgentId>,
    /// Agents whose commands ran, as their hooks report.
    candidates: BTreeSet<AgentId>,
    locks: Vec<LockThen>,
}

#[derive(Clone, Debug)]
struct LockThen {
    holder: Principal,
    pattern: PathPattern,
    fence: Fence,
}

impl Commits {
    pub(super) fn new(app: &Application) -> Commits {
        let began_with = app.engine().world().fence;
        let (tips, moves, unread) = (HashMap::new(), HashMap::new(), HashMap::new());
        Commits { tips, moves, unread, kept: KeptTips::below(app.home()), began_with }
    }

    /// Begins to watch a project: reports what bypassed the guard while no server ran.
    pub(super) fn begin(
        &mut self,
        app: &Application,
        tree: Option<TreeProject>,
        checkout: &Checkout,
    ) -> Result<(), String> {
        let now = checkout.tips(GIT_PATIENCE).map_err(|error| error.to_string())?;
        let common_dir = checkout.common_dir();
        let is_first = self.tips.insert(common_dir.to_owned(), now.clone()).is_none();
        let kept = self.kept.of(common_dir).filter(|kept| is_first && kept.tips != now);
        if let Some((kept, tree)) = kept.zip(tree) {
            let mut known = BranchMove::default();
            known.locks.extend(locks(app, tree.project).filter(|lock| lock.fence <= self.began_with));
            let new = new_commits(checkout, &kept.tips, &now, &known);
            let own = if new.commits.is_empty() { BTreeSet::new() } else { kept.own_since(app)? };
            known.report(app, tree, new.commits.iter().filter(|commit| !own.contains(commit.id.as_str())));
            return self.keep(app, checkout, now.but(new.unread.keys(), &kept.tips), new.unread, known);
        }
        self.keep(app, checkout, now, BTreeMap::new(), BranchMove::default())
    }

    /// A branch is moving.
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
            known.locks.extend(locks(app, project));
        }
    }

    /// The branches have settled: reports what bypassed the guard.
    pub(super) fn settled(
        &mut self,
        app: &Application,
        tree: TreeProject,
        checkout: &Checkout,
    ) -> Result<RefsRead, String> {
        // What Comity moves itself is known as soon as that is done.
        if app.watch().own.is_moving() {
            return Ok(RefsRead::Again);
        }
        let common_dir = checkout.common_dir();
        // A waiting merge may have been taken.
        if app.open_merges().any_waits(tree.project) {
            app.waiting_merges(tree.project, common_dir);
        }
        let known = self.moves.remove(common_dir).unwrap_or_default();
        let now = match checkout.tips(GIT_PATIENCE) {
            Ok(now) => now,
            Err(error) => {
                self.moves.entry(common_dir.to_owned()).or_insert(known);
                return Err(error.to_string());
            }
        };
        let Some(before) = self.tips.get(common_dir).cloned() else {
            self.tips.insert(common_dir.to_owned(), now);
            return Ok(RefsRead::Done);
        };
        if before == now {
            self.unread.remove(common_dir);
            return Ok(RefsRead::Done);
        }
        // What was known when the tips moved that could not be read then, and what is known now.
        let (names, of_unread) = self.unread.remove(common_dir).unwrap_or_default();
        let of_unread = of_unread.and(&known);
        let new = new_commits(checkout, &before, &now, &of_unread);
        let (late, others): (Vec<_>, Vec<_>) = new.commits.iter().partition(|commit| commit.is_on(&names));
        known.report(app, tree, others.into_iter());
        of_unread.report(app, tree, late.into_iter());
        self.keep(app, checkout, now.but(new.unread.keys(), &before), new.unread, of_unread)?;
        Ok(RefsRead::Done)
    }

    /// Remembers where the branches are, except those that could not be read, and warns about these.
    fn keep(
        &mut self,
        app: &Application,
        checkout: &Checkout,
        tips: BranchHeads,
        unread: BTreeMap<String, String>,
        known: BranchMove,
    ) -> Result<(), String> {
        let common_dir = checkout.common_dir();
        self.kept.keep(app, common_dir, &tips);
        self.tips.insert(common_dir.to_owned(), tips);
        let Some((name, why)) = unread.first_key_value() else { return Ok(()) };
        let problem = format!("what is new on {name} can't be read yet: {why}");
        self.unread.insert(common_dir.to_owned(), (unread, known));
        Err(problem)
    }
}

/// What is new, if it matters to anybody.
fn new_commits(
    checkout: &Checkout,
    before: &BranchHeads,
    now: &BranchHeads,
    known: &BranchMove,
) -> NewCommits {
    match known.locks.is_empty() {
        true => NewCommits::default(),
        false => checkout.new_commits(before, now, GIT_PATIENCE),
    }
}

/// What keeps others from writing in a project right now.
fn locks(app: &Application, project: ProjectId) -> impl Iterator<Item = LockThen> {
    let now = app.engine().now();
    let world = app.engine().world();
    let locks = world.locks.iter().filter(|lock| lock.wanted.project == project);
    let locks = locks.filter(|lock| keeps_out(lock, Principal::Nobody, &world, now));
    let locks: Vec<LockThen> = locks
        .map(|lock| LockThen { holder: lock.holder, pattern: lock.wanted.pattern.clone(), fence: lock.fence })
        .collect();
    locks.into_iter()
}

impl BranchMove {
    /// What was known then or later.
    fn and(mut self, later: &BranchMove) -> BranchMove {
        self.proven.extend(&later.proven);
        self.candidates.extend(&later.candidates);
        let is_new = |lock: &&LockThen| self.locks.iter().all(|known| known.fence != lock.fence);
        let new: Vec<LockThen> = later.locks.iter().filter(is_new).cloned().collect();
        self.locks.extend(new);
        self
    }

    /// Reports those that bypassed the guard.
    fn report<'a>(
        &self,
        app: &Application,
        tree: TreeProject,
        commits: impl DoubleEndedIterator<Item = &'a NewCommit>,
    ) {
        let is_heard = |agent| app.watch().calls.are_heard(agent);
        // Git lists the newest first.
        for commit in commits.rev().filter(|commit| !app.watch().own.has_made(&commit.id)) {
            let paths = commit.paths.iter().map(|path| path.to_string_lossy().into()).collect();
            let judged =
                app.watch().own.take_judgement(tree.project, &paths, |by| self.may_be_by(by, is_heard));
            let judged_up_to = judged.map_or(Fence(0), |judged| judged.newest);
            for report in self.reports(tree, commit, judged_up_to) {
                app.tell_engine(Ask::Commit(CommitAsk::SawUnguarded(Box::new(report))));
            }
        }
    }

    /// Whether somebody may have moved it. If all of an agent's calls are reported, it is known when it runs a
    /// command.
    fn may_be_by(&self, by: Principal, is_heard: impl Fn(AgentId) -> bool) -> bool {
        let who = self.who();
        by.agent().is_none_or(|by| who.is_empty() || who.contains(&by) || !is_heard(by))
    }

    /// Who may have moved it, as far as that is known.
    fn who(&self) -> &BTreeSet<AgentId> {
        if self.proven.is_empty() { &self.candidates } else { &self.proven }
    }

    /// One report for each holder of something in the commit that is newer than its judgement, unless only the holder
    /// can have made it.
    fn reports(&self, tree: TreeProject, commit: &NewCommit, judged_up_to: Fence) -> Vec<UnguardedCommit> {
        let mut by_holder: BTreeMap<Principal, Vec<Box<str>>> = BTreeMap::new();
        let unjudged = || self.locks.iter().filter(|lock| lock.fence > judged_up_to);
        for path in &commit.paths {
            let Ok(file) = PathPattern::existing(&path.to_string_lossy(), tree.case) else { continue };
            let holders = unjudged().filter(|lock| overlaps(&lock.pattern, &file));
            for holder in holders.map(|lock| lock.holder).collect::<BTreeSet<Principal>>() {
                by_holder.entry(holder).or_default().push(visible(&file.readable()).into());
            }
        }
        let who = self.who();
        let is_news = |holder: Principal| match holder {
            Principal::Agent(agent) => !who.iter().eq([&agent]),
            // A person, whom nobody else can be.
            Principal::Human | Principal::Nobody | Principal::System => !who.is_empty(),
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

/// The agents below whose processes git runs in a project right now. It exits a moment after the branch moved.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_have_made_a_commit_that_was_judged() {
        let agent = |number| AgentId::from_bits(number);
        let (ann, bob) = (agent(1), agent(2));
        let moved = |candidates: &[AgentId], proven: &[AgentId]| BranchMove {
            candidates: candidates.iter().copied().collect(),
            proven: proven.iter().copied().collect(),
            locks: vec![],
        };
        let anns = |moved: &BranchMove, are_heard: &[AgentId]| {
            moved.may_be_by(Principal::Agent(ann), |agent| are_heard.contains(&agent))
        };
        assert!(anns(&moved(&[], &[]), &[ann]));
        assert!(anns(&moved(&[ann, bob], &[]), &[ann]));
        assert!(!anns(&moved(&[bob], &[]), &[ann]), "her command is known to be over");
        assert!(anns(&moved(&[bob], &[]), &[bob]), "nothing is known of her commands");
        assert!(!anns(&moved(&[ann, bob], &[bob]), &[ann]));
        assert!(moved(&[bob], &[]).may_be_by(Principal::Human, |_| true));
    }
}
