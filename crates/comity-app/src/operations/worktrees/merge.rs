//! Merges a worktree's branch, without touching anybody's checkout.

use std::fmt;
use std::path::PathBuf;

use clap::Args;
use comity_core::ask::MergeOutcome;
use comity_core::worktrees::may_change;
use comity_core::{Ask, Refusal};
use comity_git::worktree::{Branch, Conflict, Merged, Person};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ask, failure, meant, scope};
use crate::application::Application;
use crate::operation::{Audience, Caller, Effect, Failure, Operation, Pace, Plan, Route};
use crate::operations::commits::files as count;

/// Paths that a refusal names.
const SHOWN_MAX: usize = 20;

/// Merges a worktree's branch into another one, in line with other merges. Nobody's checkout is touched.
#[derive(Debug, Serialize, Deserialize, JsonSchema, Args)]
#[serde(deny_unknown_fields)]
pub struct WorktreeMerge {
    /// Its name; the one that you are in, or your only one, if none is given
    #[arg(value_name = "SLUG")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// The branch to merge into; that of the main checkout, if none is given
    #[arg(long, value_name = "BRANCH")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// The message of the merge
    #[arg(short, long, value_name = "MESSAGE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Only say what would be merged
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Merge changes, too, that were made without a lock
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_scope: bool,
}

/// What came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MergeMade {
    /// The branch with the work.
    pub source: String,
    /// The branch that it is for.
    pub target: String,
    /// merged, waiting (the branch is checked out), already, or planned.
    pub state: &'static str,
    /// The commit, if one was made.
    pub commit: Option<String>,
    /// What it changes.
    pub files: Vec<String>,
    /// Changes that were made without a lock.
    pub out_of_scope: Vec<String>,
    /// What to run in the checkout that has the branch.
    pub command: Option<String>,
}

impl Operation for WorktreeMerge {
    const NAME: &'static str = "worktree_merge";
    const EFFECT: Effect = Effect::Changes;
    const WRITES_FILES: bool = true;
    const PACE: Pace = Pace::Long;
    const AUDIENCE: Audience = Audience::People;
    const ROUTE: Route = Route { method: "POST", path: "/api/worktrees/merge" };
    const COMMAND: &'static [&'static str] = &["worktree", "merge"];
    type Output = MergeMade;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<MergeMade>, Failure> {
        let place = app.projects().place(caller)?;
        let worktree = meant(app, caller, &place, self.slug.as_deref())?;
        may_change(&app.engine().world(), caller.who, &worktree)?;
        if worktree.owner != caller.who {
            caller.check_presence("merge another's worktree")?;
        }
        let driver = app.trees().driver(app.config(), place.repository().common_dir())?;
        let source = Branch::parse(&worktree.tree.branch).map_err(failure)?;
        let target = match &self.into {
            Some(target) => Branch::parse(target).map_err(failure)?,
            None => driver.main_branch().map_err(failure)?.ok_or_else(|| {
                let hint = "name a branch: comity worktree merge --into BRANCH";
                Refusal::bad_input("the main checkout is on no branch", hint)
            })?,
        };
        let plan = driver.plan_merge(&source, &target).map_err(failure)?;
        let paths: Vec<PathBuf> = plan.changes.iter().map(|change| change.path().clone()).collect();
        let out_of_scope = scope::never_locked(app, &worktree, place.repository().case(), &paths)?;
        let mut made = MergeMade {
            source: source.as_str().to_owned(),
            target: target.as_str().to_owned(),
            state: "planned",
            commit: None,
            files: paths.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            out_of_scope,
            command: None,
        };
        let record = |outcome: MergeOutcome| Ask::RecordMerge {
            project: place.project(),
            source: source.as_str().into(),
            target: target.as_str().into(),
            outcome,
        };
        if !plan.conflicts.is_empty() {
            let paths =
                plan.conflicts.iter().map(|conflict| conflict.path.to_string_lossy().into()).collect();
            ask(app, caller.who, record(MergeOutcome::Conflicted { paths }))?;
            return Err(conflicted(app, &worktree, &made, &plan.conflicts).into());
        }
        if !made.out_of_scope.is_empty() && !self.out_of_scope && !self.dry_run {
            return Err(beyond(&made).into());
        }
        if self.dry_run {
            return Ok(Plan::Answer(made));
        }
        let name = app.engine().world().name_of(worktree.owner);
        let by = Person { email: format!("{}@comity.invalid", name.replace(' ', ".")), name };
        let message = self.message.unwrap_or_else(|| format!("Merge {source} into {target}"));
        let _moving = app.watch().moving();
        match driver.merge(&plan, &by, &message).map_err(failure)? {
            Merged::Already => made.state = "already",
            Merged::Done { commit } => {
                made.state = "merged";
                made.commit = Some(commit.as_str().to_owned());
            }
            Merged::Waiting { commit, command, .. } => {
                made.state = "waiting";
                made.commit = Some(commit.as_str().to_owned());
                made.command = Some(command);
            }
        }
        if let Some(commit) = &made.commit {
            app.watch().made(commit);
            let (commit, files_total) = (commit.as_str().into(), made.files.len());
            ask(app, caller.who, record(MergeOutcome::Merged { commit, files_total }))?;
        }
        Ok(Plan::Answer(made))
    }
}

fn beyond(made: &MergeMade) -> Refusal {
    let shown: Vec<&str> = made.out_of_scope.iter().take(SHOWN_MAX).map(String::as_str).collect();
    let count = made.out_of_scope.len();
    Refusal::NotAllowed {
        problem: format!("{count} changes on {} were made without a lock: {}", made.source, shown.join(", ")),
        hint: "nothing was merged; look at them, then merge with --out-of-scope".into(),
    }
}

fn conflicted(
    app: &Application,
    worktree: &comity_core::worktrees::Worktree,
    made: &MergeMade,
    conflicts: &[Conflict],
) -> Refusal {
    let shown: Vec<String> = conflicts.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
    let owner = app.engine().world().name_of(worktree.owner);
    Refusal::NotAllowed {
        problem: format!("{} of {owner} conflicts with {}: {}", made.source, made.target, shown.join("; ")),
        hint: format!(
            "nothing was merged; merge {} into the worktree, resolve it there, and try again",
            made.target
        ),
    }
}

impl fmt::Display for MergeMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MergeMade { source, target, files, .. } = self;
        match self.state {
            "already" => write!(f, "{target} has all of {source} already")?,
            "planned" => write!(f, "{source} would change {} of {target}", count(files.len()))?,
            "waiting" => write!(
                f,
                "{source} is merged, {}; {target} is checked out, so take it there with:",
                count(files.len())
            )?,
            _ => write!(f, "{source} is in {target}, {}", count(files.len()))?,
        }
        if let Some(command) = &self.command {
            write!(f, "\n  {command}")?;
        }
        if !self.out_of_scope.is_empty() {
            write!(f, "\n  without a lock: {}", self.out_of_scope.join(", "))?;
        }
        Ok(())
    }
}
