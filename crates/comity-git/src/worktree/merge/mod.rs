//! Brings the commits of a branch into another one, without touching any checkout.

mod checkouts;
mod conflicts;
mod plan;
mod recover;
mod waiting;

use std::path::PathBuf;
use std::time::Instant;

use super::Driver;
use super::commit::CommitId;
use super::failure::{FailureKind, WorktreeError};
use super::names::Branch;
use crate::fair_lock::{FairLock, FairLockError};
use crate::git::Git;
use crate::umask::{as_user, share};

pub use conflicts::{Conflict, Side};
use plan::MergeOutcome;
pub use plan::{MergeChange, MergePlan};
use waiting::StillWaits;
pub use waiting::WaitingMerge;

/// Where merges wait for the user to take them, if the branch is checked out.
pub const MERGED: &str = "refs/comity/merged";
/// Bytes of the message of a merge.
const MESSAGE_BYTES_MAX: usize = 64 << 10;

/// Who makes a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Person {
    pub name: String,
    pub email: String,
}

impl Person {
    /// For commits that nobody asked for by name.
    fn comity() -> Person {
        Person { name: "Comity".into(), email: "comity@localhost".into() }
    }
}

/// The result of a merge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Merged {
    /// The branch already had everything.
    Already,
    /// The branch is now at this commit.
    Done {
        /// The merge, or the merged commit itself.
        commit: CommitId,
    },
    /// The branch is checked out, so it was left alone; the merge waits to be taken there.
    Waiting {
        /// The merge, or the merged commit itself.
        commit: CommitId,
        /// The ref that it waits at. Later merges into the same branch are added on top.
        name: String,
        /// Where the branch is checked out.
        checked_out: Vec<PathBuf>,
        command: String,
    },
}

/// The right to merge into a branch: nobody else does until it is dropped, here or in another server.
#[derive(Debug)]
pub struct MergeTurn(FairLock);

impl Driver {
    /// Waits for all earlier merges into a branch. What is planned from then on holds.
    pub fn turn_to_merge(&self, target: &Branch) -> Result<MergeTurn, WorktreeError> {
        let dir = self.common_dir.join("comity");
        as_user(|| std::fs::create_dir_all(&dir)).map_err(WorktreeError::disk(&dir))?;
        share(&dir);
        let hash = blake3::hash(target.as_str().as_bytes()).to_hex();
        let path = dir.join(format!("merge-{}.lock", &hash[..16]));
        FairLock::wait(&path, self.deadline()).map(MergeTurn).map_err(|no_turn| match no_turn {
            FairLockError::Busy => {
                let message = format!("too many merges into {target} are waiting");
                WorktreeError::new(FailureKind::Busy, message, "try again in a moment")
            }
            FairLockError::Disk(error) => WorktreeError::disk(&path)(error),
        })
    }

    /// Merges as planned, in its turn. If a branch has moved since, the plan is void.
    ///
    /// No file of any worktree is written, and a branch that is checked out somewhere does not move under its user's
    /// feet. `before_move` gets the commit before anything moves to it, and may refuse; then nothing has happened.
    pub fn merge(
        &self,
        turn: MergeTurn,
        plan: &MergePlan,
        by: &Person,
        message: &str,
        before_move: &mut dyn FnMut(&CommitId) -> bool,
    ) -> Result<Merged, WorktreeError> {
        let deadline = self.deadline();
        if let Some(conflict) = plan.conflicts.first() {
            let message = format!("{} can't be merged into {}: {conflict}", plan.source, plan.target);
            return Err(WorktreeError::new(
                FailureKind::Conflicts,
                message,
                "resolve the conflicts on the branch, and ask again",
            ));
        }
        if message.trim().is_empty() || message.len() > MESSAGE_BYTES_MAX || message.contains('\0') {
            return Err(WorktreeError::bad_name("the message", "it is empty or too long"));
        }
        self.check_plan(plan, deadline)?;
        let commit = match &plan.outcome {
            MergeOutcome::Nothing => match self.still_waits(plan, deadline)? {
                StillWaits::No => return Ok(Merged::Already),
                StillWaits::For { checked_out } => {
                    return Ok(Merged::waiting(plan.target_commit.clone(), &plan.target, checked_out));
                }
                // Nobody has it checked out any more.
                StillWaits::ForNobody => plan.target_commit.clone(),
            },
            MergeOutcome::FastForward => plan.source_commit.clone(),
            MergeOutcome::Merge { tree } => {
                self.commit_tree(tree, [&plan.target_commit, &plan.source_commit], by, message, deadline)?
            }
        };
        if !before_move(&commit) {
            let message = format!("{} must not be merged into {}", plan.source, plan.target);
            return Err(WorktreeError::new(FailureKind::Changed, message, "ask again"));
        }
        self.publish(plan, commit, &turn, deadline)
    }

    fn check_plan(&self, plan: &MergePlan, deadline: Instant) -> Result<(), WorktreeError> {
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        let source = self.resolve(&git, &plan.source.full())?;
        let (branch, waiting) = self.refs_of(&git, &plan.target)?;
        if source == plan.source_commit && branch == plan.branch_commit && waiting == plan.waiting_commit {
            return Ok(());
        }
        let message = format!("{} or {} has moved since the merge was planned", plan.source, plan.target);
        Err(WorktreeError::new(FailureKind::Changed, message, "ask again"))
    }

    fn commit_tree(
        &self,
        tree: &str,
        parents: [&CommitId; 2],
        by: &Person,
        message: &str,
        deadline: Instant,
    ) -> Result<CommitId, WorktreeError> {
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
        let [first, second] = parents.map(CommitId::as_str);
        let output =
            git.tell(&["commit-tree", tree, "-p", first, "-p", second, "-F", "-"], message.as_bytes())?;
        CommitId::printed(&output.stdout)
    }

    /// Moves the branch if nobody has it checked out; otherwise leaves the merge at its own ref.
    ///
    /// The git that moves something holds the turn, so that nobody takes it for undone while it outlives us.
    fn publish(
        &self,
        plan: &MergePlan,
        commit: CommitId,
        turn: &MergeTurn,
        deadline: Instant,
    ) -> Result<Merged, WorktreeError> {
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        let (branch, waiting) = (plan.target.full(), format!("{MERGED}/{}", plan.target));
        let reason = format!("merge {}", plan.source);
        let holding = git.clone().holding(turn.0.file());
        let update = |name: &str, new: &str, old: &str| {
            holding.tell(&["update-ref", "-m", &reason, name, new, old], b"")
        };
        let wait = || -> Result<(), WorktreeError> {
            let none = "0".repeat(commit.as_str().len());
            let old = self.waiting_at(&git, &plan.target)?;
            update(&waiting, commit.as_str(), old.as_ref().map_or(&none, |old| old.as_str()))?;
            Ok(())
        };
        let mut checked_out = self.checkouts_of(&git, &plan.target)?;
        if checked_out.is_empty() {
            let old = plan.branch_commit.as_str();
            update(&branch, commit.as_str(), old)?;
            if let Some(taken) = &plan.waiting_commit {
                // What the branch has does not wait, whether or not this succeeds.
                let _ = holding.tell(&["update-ref", "-d", &waiting, taken.as_str()], b"");
            }
            // Somebody may have checked it out just now: then it moves back, and waits.
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
