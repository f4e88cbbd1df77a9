//! Merges a worktree's branch, without touching anybody's checkout.

use std::fmt;
use std::path::PathBuf;

use comity_core::branch_moves::{Move, MoveCause};
use comity_core::display::{counted, shell_word};
use comity_core::next_call::Argument;
use comity_core::worktrees::{Worktree, WorktreeAsk, WorktreeEvent, may_change};
use comity_core::{Ask, Event, Refusal};
use comity_git::worktree::{Branch, CommitId, Driver, FailureKind, MergePlan, Merged, Person};

use super::{ask, failure, meant, scope};
use crate::branch_moves::{self, Moving};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::commits::{Commit, files as count, signed};
use crate::projects::PathBase;

/// How often a merge is planned if branches are moved in between, bypassing Comity.
const PLANS_MAX: usize = 5;
/// Paths that a refusal lists.
const SHOWN_MAX: usize = 20;

/// Merge a worktree's branch into another one, one merge at a time. Nobody's checkout is touched.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeMerge {
    /// Its name; the one you are in, or your only one, if omitted
    pub slug: Option<String>,
    /// The branch to merge into; the main checkout's if omitted
    pub into: Option<String>,
    /// The merge message
    pub message: Option<String>,
    /// Only show what would be merged
    #[serde(default)]
    pub dry_run: bool,
    /// Also merge changes made without a lock
    #[serde(default)]
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
    pub files: Vec<String>,
    /// Changes that were made without a lock.
    pub out_of_scope: Vec<String>,
    /// What to run in the checkout that has the branch.
    pub command: Option<String>,
}

impl Operation for WorktreeMerge {
    type Output = MergeMade;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<MergeMade>, Failure> {
        let place = app.projects().place(caller)?;
        branch_moves::settle(app, place.project());
        let driver = app.trees().driver(app.config(), place.repository().common_dir())?;
        if let Some(made) = made_before(app, caller, &driver)? {
            return Ok(Plan::Answer(made));
        }
        let worktree = meant(app, caller, &place, self.slug.as_deref())?;
        may_change(&app.engine().world(), caller.who, &worktree)?;
        if worktree.owner != caller.who {
            caller.check_presence("merge another's worktree")?;
        }
        let source = Branch::parse(&worktree.tree.branch).map_err(failure)?;
        let target = match &self.into {
            Some(target) => Branch::parse(target).map_err(failure)?,
            None => driver.main_branch().map_err(failure)?.ok_or_else(|| {
                let slug = &*worktree.tree.slug;
                let merge = next_call::<WorktreeMerge>([("slug", slug.into()), ("into", "BRANCH".into())]);
                let hint = format!("name a branch: {merge}");
                Refusal::bad_input("the main checkout is on no branch", hint)
            })?,
        };
        let merging =
            Merging { wish: &self, app, caller, place: &place, driver: &driver, worktree, source, target };
        for _ in 0..PLANS_MAX {
            if let Some(made) = merging.attempt()? {
                app.waiting_merges(place.project(), place.repository().common_dir());
                return Ok(Plan::Answer(made));
            }
        }
        let problem = format!("{} or {} moves all the time", merging.source, merging.target);
        Err(Refusal::bad_input(problem, "nothing was changed; ask again in a moment").into())
    }
}

/// A requested merge.
struct Merging<'a> {
    wish: &'a WorktreeMerge,
    app: &'a Application,
    caller: &'a Caller,
    place: &'a PathBase,
    driver: &'a Driver,
    worktree: Worktree,
    source: Branch,
    target: Branch,
}

impl Merging<'_> {
    /// Plans and merges in its turn; `None` if somebody else has moved a branch in between.
    fn attempt(&self) -> Result<Option<MergeMade>, Failure> {
        let Merging { wish, app, caller, place, driver, worktree, source, target } = self;
        let turn = (!wish.dry_run).then(|| driver.turn_to_merge(target)).transpose().map_err(failure)?;
        let plan = driver.plan_merge(source, target).map_err(failure)?;
        let paths: Vec<PathBuf> = plan.changes.iter().map(|change| change.path().clone()).collect();
        let out_of_scope = scope::never_locked(app, worktree, place.repository().case(), &paths, |path| {
            driver.commits_to(&plan, path).map_err(failure)
        })?;
        let mut made = MergeMade {
            source: source.as_str().to_owned(),
            target: target.as_str().to_owned(),
            state: "planned",
            commit: None,
            files: paths.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            out_of_scope,
            command: None,
        };
        let project = place.project();
        let (from, into): (Box<str>, Box<str>) = (source.as_str().into(), target.as_str().into());
        if !plan.conflicts.is_empty() {
            let paths =
                plan.conflicts.iter().map(|conflict| conflict.path.to_string_lossy().into()).collect();
            let (source, target) = (from, into);
            let conflict = WorktreeAsk::RecordConflict { project, source, target, paths };
            ask(app, caller.who, Ask::Worktree(conflict))?;
            return Err(conflicted(app, worktree, &made, &plan).into());
        }
        let is_open = |tree: &Worktree| tree.conflict.is_some();
        if app.engine().world().worktrees.get(project, &worktree.tree.slug).is_some_and(is_open) {
            let (source, target) = (from.clone(), into.clone());
            let resolved = WorktreeAsk::RecordConflict { project, source, target, paths: vec![] };
            ask(app, caller.who, Ask::Worktree(resolved))?;
        }
        if !made.out_of_scope.is_empty() && !wish.out_of_scope && !wish.dry_run {
            return Err(beyond(worktree, &made).into());
        }
        let Some(turn) = turn else { return Ok(Some(made)) };
        let name = app.engine().world().name_of(worktree.owner);
        let by = Person { email: format!("{}@comity.invalid", name.replace(' ', ".")), name };
        let message = wish.message.clone().unwrap_or_else(|| format!("Merge {source} into {target}"));
        let message = signed(&message, worktree.owner.agent().map(|_| &*by.name));
        let (mut moving, mut refusal) = (Moving::new(app, caller.who, project), None);
        let mut intend = |commit: &CommitId| {
            app.watch().made(commit.as_str());
            let intended = Move {
                project,
                worktree: None,
                branch: Some(target.full().into()),
                old: Some(plan.target_commit.as_str().into()),
                new: commit.as_str().into(),
                act: MoveCause::Merge {
                    source: from.clone(),
                    target: into.clone(),
                    files_total: paths.len(),
                },
                key: caller.key.clone(),
            };
            refusal = moving.intend(None, intended).err();
            refusal.is_none()
        };
        let _watched = app.watch().moving();
        // This ends the turn: what is settled below may have to wait for one.
        let merged = driver.merge(turn, &plan, &by, &message, &mut intend);
        made.became(match (merged, moving.fault.take(), refusal) {
            (Ok(merged), _, _) => merged,
            (Err(_), Some(problem), _) => return Err(Failure::Fault(problem)),
            (Err(_), None, Some(refusal)) => return Err(refusal.into()),
            (Err(no), None, None) if no.kind() == FailureKind::Changed => return Ok(None),
            (Err(no), None, None) => return Err(failure(no)),
        });
        if made.commit.is_some() {
            moving.done().map_err(|problem| {
                let (source, target) = (&made.source, &made.target);
                Failure::Fault(format!(
                    "{source} is merged into {target}; it is recorded as soon as the log can be written: {problem}"
                ))
            })?;
        }
        Ok(Some(made))
    }
}

impl MergeMade {
    fn became(&mut self, merged: Merged) {
        let (state, commit, command) = match merged {
            Merged::Already => ("already", None, None),
            Merged::Done { commit } => ("merged", Some(commit), None),
            Merged::Waiting { commit, command, .. } => ("waiting", Some(commit), Some(command)),
        };
        (self.state, self.command) = (state, command);
        self.commit = commit.map(|commit| commit.as_str().to_owned());
    }
}

/// The merge that the same call, by its key, has already made, if the server ended before it could answer.
fn made_before(app: &Application, caller: &Caller, driver: &Driver) -> Result<Option<MergeMade>, Failure> {
    let mut events = app.answered(caller).into_iter().flatten();
    let event = events.find(|event| matches!(event, Event::Worktree(WorktreeEvent::BranchMerged { .. })));
    let Some(Event::Worktree(WorktreeEvent::BranchMerged { source, target, commit, was, .. })) = event else {
        return Ok(None);
    };
    let id = CommitId::parse(&commit).map_err(failure)?;
    let into = Branch::parse(&target).map_err(failure)?;
    let was = was.as_deref().and_then(|was| CommitId::parse(was).ok());
    let files = was.map(|was| driver.changed_between(&was, &id)).transpose().map_err(failure)?;
    let mut made = MergeMade {
        source: source.into(),
        target: target.into(),
        state: "merged",
        commit: Some(commit.into()),
        files: files.unwrap_or_default().iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        out_of_scope: Vec::new(),
        command: None,
    };
    // Somebody may have reverted it since; it was merged all the same.
    if let Some(merged) = driver.merged(&into, &id).map_err(failure)? {
        made.became(merged);
    }
    Ok(Some(made))
}

fn beyond(worktree: &Worktree, made: &MergeMade) -> Refusal {
    let shown: Vec<&str> = made.out_of_scope.iter().take(SHOWN_MAX).map(String::as_str).collect();
    let count = made.out_of_scope.len();
    let were = if count == 1 { "was" } else { "were" };
    let changes = counted(count, "change");
    let slug = &*worktree.tree.slug;
    let merge = next_call::<WorktreeMerge>([("slug", slug.into()), ("out_of_scope", Argument::Yes)]);
    Refusal::NotAllowed {
        problem: format!("{changes} on {} {were} made without a lock: {}", made.source, shown.join(", ")),
        hint: format!("nothing was merged; look at them, then merge anyway: {merge}"),
    }
}

fn conflicted(app: &Application, worktree: &Worktree, made: &MergeMade, plan: &MergePlan) -> Refusal {
    let shown: Vec<String> = plan.conflicts.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
    let owner = app.engine().world().name_of(worktree.owner);
    Refusal::NotAllowed {
        problem: format!(
            "{} of {owner} conflicts with {}: {}{}",
            made.source,
            made.target,
            shown.join("; "),
            hunks(plan)
        ),
        hint: format!(
            "nothing was merged; in {}: git merge {}, lock and resolve what conflicts, {}, and merge again",
            shell_word(&worktree.tree.path),
            shell_word(&plan.onto()),
            next_call::<Commit>([("message", "MESSAGE".into())])
        ),
    }
}

/// Both sides of each conflict, with each line marked.
fn hunks(plan: &MergePlan) -> String {
    let mut shown = String::new();
    for conflict in plan.conflicts.iter().filter(|conflict| !conflict.hunks.is_empty()) {
        shown += &format!("\n{}", conflict.path.display());
        for line in conflict.hunks.lines() {
            shown += &format!("\n  | {line}");
        }
    }
    shown
}

impl fmt::Display for MergeMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MergeMade { source, target, files, .. } = self;
        match self.state {
            "already" => write!(f, "{target} has all of {source} already")?,
            "planned" => write!(f, "{source} would change {} of {target}", count(files.len()))?,
            // It was asked for before.
            "waiting" if files.is_empty() => {
                write!(f, "{source} is merged and waits; {target} is checked out, so take it there with:")?;
            }
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
