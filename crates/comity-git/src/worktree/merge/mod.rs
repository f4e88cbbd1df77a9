//! Brings the commits of a branch into another one, without touching any checkout.

mod checkouts;
mod conflicts;
mod plan;
mod queue;

use std::path::PathBuf;
use std::time::Instant;

use super::Driver;
use super::commit::CommitId;
use super::failure::{Failure, FailureKind};
use super::guard::Guard;
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

impl Driver {
    /// Merges as planned. One merge at a time is made into a branch; if a branch has moved since, the plan is void.
    ///
    /// No file of any worktree is written. A branch that is checked out somewhere does not move under its user's feet.
    pub fn merge(&self, plan: &MergePlan, by: &Person, message: &str) -> Result<Merged, Failure> {
        let deadline = self.deadline();
        if let Some(conflict) = plan.conflicts.first() {
            let message = format!("{} cannot be merged into {}: {conflict}", plan.source, plan.target);
            return Err(Failure::new(
                FailureKind::Conflicts,
                message,
                "resolve the conflicts on the branch, and plan again",
            ));
        }
        if message.trim().is_empty() || message.len() > MESSAGE_BYTES_MAX || message.contains('\0') {
            return Err(Failure::bad_name("the message", "it is empty or too long"));
        }
        let _turn = self.merges.wait_for(plan.target.as_str(), deadline)?;
        let _guard = self.merge_guard(plan, deadline)?;
        self.check_plan(plan, deadline)?;
        let commit = match &plan.outcome {
            Outcome::Nothing => return Ok(Merged::Already),
            Outcome::FastForward => plan.source_commit.clone(),
            Outcome::Merge { tree } => self.commit(plan, tree, by, message, deadline)?,
        };
        self.publish(plan, commit, deadline)
    }

    /// A lock for each target, beside the one in this process.
    fn merge_guard(&self, plan: &MergePlan, deadline: Instant) -> Result<Guard, Failure> {
        let dir = self.common_dir.join("comity");
        as_user(|| std::fs::create_dir_all(&dir)).map_err(Failure::disk(&dir))?;
        share(&dir);
        let hash = blake3::hash(plan.target.as_str().as_bytes()).to_hex();
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
        Err(Failure::new(FailureKind::Changed, message, "plan again"))
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
    fn publish(&self, plan: &MergePlan, commit: CommitId, deadline: Instant) -> Result<Merged, Failure> {
        let project = self.project();
        let git = Git::on_refs(&project, deadline);
        let (branch, waiting) = (plan.target.full(), format!("{MERGED}/{}", plan.target));
        let has_waiting = plan.branch_commit != plan.target_commit;
        let reason = format!("merge {}", plan.source);
        let update = |lines: String| git.tell(&["update-ref", "-m", &reason, "--stdin"], lines.as_bytes());
        let mut checked_out = self.checkouts_of(&git, &plan.target)?;
        if checked_out.is_empty() {
            let (old, tip) = (&plan.branch_commit, &plan.target_commit);
            let taken = if has_waiting { format!("delete {waiting} {tip}\n") } else { String::new() };
            update(format!("update {branch} {commit} {old}\n{taken}"))?;
            // Somebody may have checked it out in just this moment: then it goes back, and waits.
            checked_out = self.checkouts_of(&git, &plan.target)?;
            if checked_out.is_empty() {
                return Ok(Merged::Done { commit });
            }
            update(format!("update {branch} {old} {commit}\ncreate {waiting} {commit}\n"))?;
        } else {
            let old = self.waiting_at(&git, &plan.target)?;
            let old = old.map_or_else(|| "0".repeat(commit.as_str().len()), |old| old.to_string());
            update(format!("update {waiting} {commit} {old}\n"))?;
        }
        let command = format!("git merge --ff-only {waiting}");
        Ok(Merged::Waiting { commit, name: waiting, checked_out, command })
    }
}
