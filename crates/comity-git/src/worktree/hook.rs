//! The user's own programs that make and remove worktrees in place of git.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;

use super::commit::BaseCommit;
use super::create::{MadeWorktree, NewWorktree};
use super::failure::{FailureKind, WorktreeError};
use super::names::{Branch, random_suffix};
use super::proof::{KeepReason, Removable};
use super::record::{Maker, Ready, WorktreeRecord};
use super::save::SAVED;
use super::setup::SetupDone;
use super::{Driver, seconds};
use crate::confiner::Confiner;
use crate::git::Git;
use crate::process::{self, ChildInput, ChildOutput, MayRun};
use crate::time_limits::{GitPace, TimeLeft};

/// A program of the user with its arguments, run without a shell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorktreeHook {
    pub argv: Vec<OsString>,
    pub patience: Duration,
    /// What runs it, if it must not write everywhere.
    pub confiner: Option<Confiner>,
}

/// What the program gets on its input, and in the environment.
#[derive(Serialize)]
struct HookRequest<'a> {
    event: &'static str,
    slug: &'a str,
    path: &'a Path,
    base: &'a str,
}

impl Driver {
    /// Lets the user's program make a worktree. It prints where that is; nothing else is done to it.
    pub fn create_by_hook(
        &self,
        hook: &WorktreeHook,
        new: &NewWorktree<'_>,
    ) -> Result<MadeWorktree, WorktreeError> {
        let project = self.project();
        let git = Git::on_refs(&project, self.deadline());
        let base = self.base_for(&git, new.base, &new.branch()?)?;
        self.check_folder(new.slug)?;
        let proposed = self.places.worktrees.join(new.slug.folder());
        let told = HookRequest {
            event: "create",
            slug: new.slug.as_str(),
            path: &proposed,
            base: base.commit.as_str(),
        };
        let output = self.call(hook, &told)?;
        let path = self.printed_path(&output.stdout)?;
        let branch = self.take_note(&path, new, &base)?;
        let warnings = String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned).collect();
        let setup = SetupDone::default();
        Ok(MadeWorktree { slug: new.slug.clone(), path, branch, base, setup, unfiltered: 0, warnings })
    }

    /// Writes the record of a worktree that was made for us, if git knows it; returns its branch.
    ///
    /// About anything else nothing can be proven, so we will never remove it.
    fn take_note(
        &self,
        path: &Path,
        new: &NewWorktree<'_>,
        base: &BaseCommit,
    ) -> Result<Option<Branch>, WorktreeError> {
        let Some(worktree) = self.linked(path) else { return Ok(None) };
        let output = Git::on_refs(&worktree, self.deadline())
            .run(&["symbolic-ref", "--quiet", "--short", "HEAD"], b"")?;
        let branch = Branch::parse(String::from_utf8_lossy(&output.stdout).trim_end()).ok();
        let ready = Ready {
            slug: new.slug.clone(),
            branch: branch.clone().map_or_else(|| new.branch(), Ok)?,
            base: base.clone(),
            made_at: seconds(SystemTime::now()),
            copied: Vec::new(),
            links: Vec::new(),
            made_by: Maker::Hook,
        };
        WorktreeRecord::Ready(ready).write(&worktree.git_dir)?;
        Ok(branch)
    }

    /// Lets the user's program remove a worktree that is proven to hold no work, after a ref keeps its commit.
    pub fn remove_by_hook(&self, hook: &WorktreeHook, proof: &Removable<'_>) -> Result<(), Vec<KeepReason>> {
        let failed = |failure: WorktreeError| vec![KeepReason::unknown(failure)];
        let deadline = self.deadline();
        let kept = self.is_still(proof, deadline);
        if !kept.is_empty() {
            return Err(kept);
        }
        let (slug, head) = (&proof.ready.slug, proof.head.as_str());
        let save = || -> Result<(), WorktreeError> {
            let name = format!("{SAVED}/{slug}-{}", random_suffix()?);
            let project = self.project();
            Git::on_refs(&project, deadline)
                .tell(&["update-ref", &name, head, &"0".repeat(head.len())], b"")?;
            Ok(())
        };
        save().map_err(failed)?;
        let path = &proof.worktree.root;
        self.call(hook, &HookRequest { event: "remove", slug: slug.as_str(), path, base: head })
            .map_err(failed)?;
        match path.exists() {
            false => Ok(()),
            true => Err(vec![KeepReason::unknown(format!(
                "the program has ended, and {} is still there",
                path.display()
            ))]),
        }
    }

    fn call(&self, hook: &WorktreeHook, told: &HookRequest<'_>) -> Result<ChildOutput, WorktreeError> {
        let no = |problem: String| {
            let program = hook.argv.first().cloned().unwrap_or_default();
            WorktreeError::new(FailureKind::Hook, format!("{}: {problem}", program.display()), "")
        };
        let (program, arguments) = hook.argv.split_first().ok_or_else(|| no("no program is given".into()))?;
        let mut command = Confiner::command(hook.confiner.as_ref(), program);
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"GIT_") {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.main()?.map_or_else(|| self.common_dir.clone(), |main| main.root));
        command.env("COMITY_WORKTREE_EVENT", told.event).env("COMITY_WORKTREE_SLUG", told.slug);
        command.env("COMITY_WORKTREE_PATH", told.path).env("COMITY_WORKTREE_BASE", told.base);
        let input = serde_json::to_vec(told).map_err(|error| no(error.to_string()))?;
        let input = Confiner::input(hook.confiner.as_ref(), input);
        let output = process::run(
            &mut command,
            MayRun::Everything,
            &[],
            ChildInput::Bytes(input),
            TimeLeft::new(GitPace::Any, Instant::now() + hook.patience),
        )
        .map_err(|error| no(error.to_string()))?;
        if !output.status.success() {
            return Err(no(format!(
                "{} ({})",
                String::from_utf8_lossy(&output.stderr).trim(),
                output.status
            )));
        }
        Ok(output)
    }

    /// The directory that a program printed: a single line, and not somebody's checkout already.
    fn printed_path(&self, stdout: &[u8]) -> Result<PathBuf, WorktreeError> {
        let text = String::from_utf8_lossy(stdout);
        let no = |problem: &str| {
            let message = format!("the program printed {:?}: {problem}", text.trim_end());
            WorktreeError::new(
                FailureKind::Hook,
                message,
                "it has to print the path of the new worktree, and nothing else",
            )
        };
        let path = Path::new(text.trim_end_matches(['\n', '\r']));
        if text.trim_end().contains('\n') || !path.is_absolute() {
            return Err(no("this isn't an absolute path"));
        }
        let real = path.canonicalize().map_err(|error| no(&error.to_string()))?;
        if !real.is_dir() {
            return Err(no("this isn't a directory"));
        }
        // Work would be done in somebody else's files.
        match self.main()?.filter(|main| main.root.starts_with(&real) || real == main.root) {
            Some(_) => Err(no("the user's checkout is there")),
            None => Ok(real),
        }
    }
}
