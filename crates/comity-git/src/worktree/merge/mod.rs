//! Brings the commits of a branch into another one, without touching any checkout.

mod checkouts;
mod conflicts;
mod plan;
mod queue;
mod recover;

use std::path::PathBuf;
use std::time::Instant;

use super::Driver;
use super::commit::CommitId;
use super::failure::{Failure, FailureKind};
use super::guard::Guard;
use super::names::Branch;
use crate::git::Git;
use crate::umask::{as_user, share};

pub use conflicts::{Conflict, Side};
use plan::Outcome;
pub use plan::{Change, MergePlan};
pub(super) use queue::Queue;

/// Where merges wait for the user to take them, if the branch is checked out.
const MERGED: &str = "refs/comity/merged";
/// Bytes of the message of a merge.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// Who makes a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// What became of a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Merged {
    /// The branch had it all already.
    Already,
    /// The branch is at this commit now.
    Done {
        /// The merge, or the merged commit itself.
        commit: CommitId,
    },
    /// The branch is checked out, so it was left alone; the merge waits to be taken there.
    Waiting {
        /// The merge, or the merged commit itself.
        commit: CommitId,
        /// The ref that it waits at. Later merges into the same branch come on top of it.
        name: String,
        /// Where the branch is checked out.
        checked_out: Vec<PathBuf>,
        /// What to run there.
        command: String,
    },
}

/// The right to merge into a branch: nobody else does until it is dropped, neither here nor in another server.
#[derive(Debug)]
pub struct MergeTurn<'a> {
    guard: Guard,
    _turn: queue::Turn<'a>,
}

impl Driver {
    /// Waits until all who asked before have merged into a branch. What is planned from then on holds.
    pub fn turn_to_merge(&self, target: &Branch) -> Result<MergeTurn<'_>, Failure> {
        let deadline = self.deadline();
        let turn = self.merges.wait_for(target.as_str(), deadline)?;
        Ok(MergeTurn { guard: self.merge_guard(target, deadline)?, _turn: turn })
    }

    /// Merges as planned, in its turn. If a branch has moved since, the plan is void.
    ///
    /// No file of any worktree is written. A branch that is checked out somewhere does not move under its user's feet.
    /// `before_move` gets the commit before anything moves to it, and says whether it may; if not, nothing has happened.
    pub fn merge(
        &self,
        turn: MergeTurn<'_>,
        plan: &MergePlan,
        by: &Person,
        message: &str,
        before_move: &mut dyn FnMut(&CommitId) -> bool,
    ) -> Result<Merged, Failure> {
        let deadline = self.deadline();
        if let Some(conflict) = plan.conflicts.first() {
            let message = format!("{} cannot be merged into {}: {conflict}", plan.source, plan.target);
            return Err(Failure::new(
                FailureKind::Conflicts,
                message,
                "resolve the conflicts on the branch, and ask again",
            ));
        }
        if message.trim().is_empty() || message.len() > MESSAGE_BYTES_MAX || message.contains('\0') {
            return Err(Failure::bad_name("the message", "it is empty or too long"));
        }
        self.check_plan(plan, deadline)?;
        let commit = match &plan.outcome {
            Outcome::Nothing => return Ok(Merged::Already),
            Outcome::FastForward => plan.source_commit.clone(),
            Outcome::Merge { tree } => self.commit(plan, tree, by, message, deadline)?,
        };
        if !before_move(&commit) {
            let message = format!("{} must not be merged into {}", plan.source, plan.target);
            return Err(Failure::new(FailureKind::Changed, message, "ask again"));
        }
        self.publish(plan, commit, &turn.guard, deadline)
    }

    /// A lock for each target, beside the one in this process.
    pub(super) fn merge_guard(&self, target: &Branch, deadline: Instant) -> Result<Guard, Failure> {
        let dir = self.common_dir.join("comity");
        as_user(|| std::fs::create_dir_all(&dir)).map_err(Failure::disk(&dir))?;
        share(&dir);
        let hash = blake3::hash(target.as_str().as_bytes()).to_hex();
        Guard::take(&dir.join(format!("merge-{}.lock", &hash[..16])), deadline)
    }

    fn check_plan(&self, plan: &MergePlan, deadline: Instant) -> Result<(), Failure> {
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        let source = self.resolve(&git, &plan.source.full())?;
        let (branch, tip) = self.tip_of(&git, &plan.target)?;
        if source == plan.source_commit && branch == plan.branch_commit && tip == plan.target_commit {
            return Ok(());
        }
        let message = format!("{} or {} has moved since the merge was planned", plan.source, plan.target);
        Err(Failure::new(FailureKind::Changed, message, "ask again"))
    }

    fn commit(
        &self,
        plan: &MergePlan,
        tree: &str,
        by: &Person,
        message: &str,
        deadline: Instant,
    ) -> Result<CommitId, Failure> {
        let project = self.project();
        let mut git = Git::on_refs(&project, deadline);
        for (name, value) in [
            ("GIT_AUTHOR_NAME", &by.name),
            ("GIT_AUTHOR_EMAIL", &by.email),
            ("GIT_COMMITTER_NAME", &by.name),
            ("GIT_COMMITTER_EMAIL", &by.email),
        ] {
            git = git.with_variable(name, value);
        }
        let (target, source) = (plan.target_commit.as_str(), plan.source_commit.as_str());
        let said =
            git.tell(&["commit-tree", tree, "-p", target, "-p", source, "-F", "-"], message.as_bytes())?;
        CommitId::said(&said.stdout)
    }

    /// Moves the branch if nobody has it checked out; else leaves the merge at a ref of its own.
    ///
    /// Whatever moves something holds the guard, so that nobody takes it for undone while it outlives us.
    fn publish(
        &self,
        plan: &MergePlan,
        commit: CommitId,
        guard: &Guard,
        deadline: Instant,
    ) -> Result<Merged, Failure> {
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        let (branch, waiting) = (plan.target.full(), format!("{MERGED}/{}", plan.target));
        let has_waiting = plan.branch_commit != plan.target_commit;
        let reason = format!("merge {}", plan.source);
        let holding = git.clone().holding(guard.file());
        let update = |name: &str, new: &str, old: &str| {
            holding.tell(&["update-ref", "-m", &reason, name, new, old], b"")
        };
        let wait = || -> Result<(), Failure> {
            let none = "0".repeat(commit.as_str().len());
            let old = self.waiting_at(&git, &plan.target)?;
            update(&waiting, commit.as_str(), old.as_ref().map_or(&none, |old| old.as_str()))?;
            Ok(())
        };
        let mut checked_out = self.checkouts_of(&git, &plan.target)?;
        if checked_out.is_empty() {
            let (old, tip) = (plan.branch_commit.as_str(), plan.target_commit.as_str());
            update(&branch, commit.as_str(), old)?;
            if has_waiting {
                // What the branch has does not wait, whether or not this comes about.
                let _ = holding.tell(&["update-ref", "-d", &waiting, tip], b"");
            }
            // Somebody may have checked it out in just this moment: then it goes back, and waits.
            checked_out = self.checkouts_of(&git, &plan.target)?;
            if checked_out.is_empty() {
                return Ok(Merged::Done { commit });
            }
            wait()?;
            update(&branch, old, commit.as_str())?;
        } else {
            wait()?;
        }
        Ok(Merged::waiting(commit, &plan.target, checked_out))
    }
}
