//! Commits what the caller has locked and changed.

use std::fmt;
use std::time::Duration;

use comity_core::branch_moves::{Move, MoveCause};
use comity_core::commits::{Commit as Recorded, CommittedFile};
use comity_core::display::visible;
use comity_core::limits::COMMIT_FILES_MAX;
use comity_core::locks::{Hold, LockMode};
use comity_core::{PathPattern, Refusal};
use comity_git::commit::{
    CommitOutcome, CommitReport, CommitRequest, CommitScope, Committed, Confirmation, Dirty, FileChange,
    Hooks, NextCommit, NotCommitted, Patterns, SharedIndex, commit,
};

use super::again;
use super::held::{ProjectLocks, refuse_others};
use crate::branch_moves::{self, Moving};
use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::guard::AUTO_REASON;
use crate::operations::guard::confiner;
use crate::operations::locks::Lock;
use crate::projects::PathBase;

/// How long a commit may take, including other commits in the same repository.
const PATIENCE: Duration = Duration::from_secs(120);

/// Commit exactly what you have locked and changed. Also finishes a merge you have resolved.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Commit {
    /// The commit message; its first line is the subject
    pub message: String,
    /// Run the repository's pre-commit and commit-msg hooks
    #[serde(default)]
    pub hooks: bool,
}

/// What came of it.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct CommitMade {
    /// The commit; none if there was nothing to commit.
    pub commit: Option<String>,
    /// The branch that it is on; none for a detached head.
    pub branch: Option<String>,
    pub files: Vec<FileMade>,
    /// Files that you have locked and that were left out, with the reason.
    pub skipped: Vec<LeftOut>,
    /// What is changed in the worktree and not committed, by whoever; the first of them.
    pub dirty: Vec<String>,
    /// How many there are of them.
    pub dirty_total: usize,
    pub warnings: Vec<String>,
}

/// One file of the commit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FileMade {
    pub path: String,
    /// added, changed or deleted.
    pub change: &'static str,
}

/// One file that was left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeftOut {
    pub path: String,
    pub reason: String,
}

impl Operation for Commit {
    type Output = CommitMade;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<CommitMade>, Failure> {
        let place = app.projects().place(caller)?;
        branch_moves::settle(app, place.project());
        if let Some(made) = again::made_before(app, caller, &place) {
            return Ok(Plan::Answer(made));
        }
        let (held, name) = {
            let world = app.engine().world();
            let held = ProjectLocks::by(&world, caller.who, place.project(), place.repository().case());
            (held, caller.who.agent().map(|_| world.name_of(caller.who)))
        };
        if held.patterns.is_empty() {
            if let Some(made) = again::perhaps_untold(app, caller, &place, &self.message) {
                return Ok(Plan::Answer(made));
            }
            refuse_lapsed(app, caller, &place)?;
            let problem = "you have locked nothing here, so there is nothing that you may commit";
            return Err(Refusal::bad_input(
                problem,
                format!("lock what you change with: {}", next_call::<Lock>([("paths", ["PATH"].into())])),
            )
            .into());
        }
        let confiner = if self.hooks { confiner(app, caller.who, None)? } else { None };
        let message = signed(&self.message, name.as_deref());
        let request = CommitRequest {
            message: &message,
            author: None,
            scope: &held,
            expected: &[],
            hooks: if self.hooks { Hooks::Run(confiner.as_ref()) } else { Hooks::Skip },
            patience: PATIENCE,
        };
        let mut moving = Moving::new(app, caller.who, place.project());
        let mut intend = |next: &NextCommit<'_>| {
            app.watch().made(next.commit);
            if let Some(merged) = &next.merged {
                refuse_others(app, caller.who, &place, merged)?;
            }
            moving.intend(Some(held.proof(next.changes)?), intended(app, caller, &place, &self.message, next))
        };
        let _watched = app.watch().moving();
        let outcome = commit(place.repository(), &request, &mut intend);
        match outcome.map_err(|no| moving.fault.take().map_or_else(|| failure(no), Failure::Fault))? {
            CommitOutcome::Nothing(report) => {
                if let Some(made) = again::perhaps_untold(app, caller, &place, &self.message) {
                    return Ok(Plan::Answer(made));
                }
                refuse_lapsed(app, caller, &place)?;
                Ok(Plan::Answer(reported(CommitMade::default(), report)))
            }
            CommitOutcome::Committed(made) => {
                let warning = record(moving, &made.verified);
                let mut output = answer(*made);
                output.warnings.extend(warning);
                let lapsed = lapsed(app, caller, &place).into_iter();
                output.warnings.extend(
                    lapsed
                        .map(|path| format!("your lock on {path} has expired, so it is not in this commit")),
                );
                Ok(Plan::Answer(output))
            }
        }
    }
}

/// What the caller had locked here and changed, until the lock expired.
fn lapsed(app: &Application, caller: &Caller, place: &PathBase) -> Vec<String> {
    let world = app.engine().world();
    let lapsed = world.locks.of(caller.who).filter(|lock| {
        lock.hold != Hold::Held
            && lock.wanted.project == place.project()
            && lock.wanted.mode == LockMode::Exclusive
    });
    lapsed.map(|lock| lock.wanted.pattern.readable()).collect()
}

/// Tells a caller that wanted to commit exactly that and committed nothing.
fn refuse_lapsed(app: &Application, caller: &Caller, place: &PathBase) -> Result<(), Failure> {
    let lapsed = lapsed(app, caller, place);
    let Some(first) = lapsed.first() else { return Ok(()) };
    let problem = format!("nothing was committed: your lock on {} has expired", lapsed.join(", "));
    Err(Refusal::bad_input(
        problem,
        format!(
            "lock it again with: {}; then commit",
            next_call::<Lock>([("paths", [first.to_string()].into())])
        ),
    )
    .into())
}

/// The message, with the agent's name as a trailer.
pub(crate) fn signed(message: &str, agent: Option<&str>) -> String {
    let Some(agent) = agent else { return message.to_owned() };
    let message = message.trim_end();
    let is_trailer = |line: &str| {
        line.split_once(": ").is_some_and(|(key, _)| {
            !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
    };
    let last = message.rsplit("\n\n").next().filter(|last| last.len() < message.len());
    let gap = if last.is_some_and(|last| last.lines().all(is_trailer)) { "\n" } else { "\n\n" };
    format!("{message}{gap}Agent: {agent}\n")
}

/// The branch move, with all that the ledger will say of the commit. Locks that the guard took for it are released
/// with it.
fn intended(
    app: &Application,
    caller: &Caller,
    place: &PathBase,
    message: &str,
    next: &NextCommit<'_>,
) -> Move {
    let subject = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let file = |change: &FileChange| CommittedFile {
        path: change.path.to_string_lossy().into(),
        blob: change.new.as_ref().map(|version| version.hash.as_str().into()),
    };
    let commit = Recorded {
        id: next.commit.into(),
        branch: next.branch.map(|branch| short_name(branch).into()),
        subject: comity_core::redact::redact(subject.trim()).into(),
        files: next.changes.iter().take(COMMIT_FILES_MAX).map(file).collect(),
        files_total: next.changes.len(),
    };
    let world = app.engine().world();
    let case = place.repository().case();
    let is_committed = |pattern: &PathPattern| {
        let is_file = pattern.alternatives().iter().all(|alternative| alternative.rest().is_empty());
        let meant = Patterns { patterns: std::slice::from_ref(pattern), case };
        is_file && next.changes.iter().any(|change| meant.covers(&change.path))
    };
    let locked = world.locks.live_of(caller.who).filter(|lock| {
        lock.wanted.project == place.project() && lock.wanted.reason.as_deref() == Some(AUTO_REASON)
    });
    let frees = locked.filter(|lock| is_committed(&lock.wanted.pattern)).map(|lock| lock.fence);
    let act = MoveCause::Commit { commit, message: again::hash(message), frees: frees.collect() };
    Move {
        project: place.project(),
        worktree: Some(place.repository().root().to_string_lossy().into()),
        branch: next.branch.map(Into::into),
        old: next.parent.map(Into::into),
        new: next.commit.into(),
        act,
        key: caller.key.clone(),
    }
}

/// Records the commit in the ledger. Returns what did not work.
fn record(moving: Moving<'_>, verified: &Confirmation) -> Option<String> {
    match verified {
        Confirmation::Yes => {
            let problem = moving.done().err()?;
            Some(format!("the commit is made; it is recorded as soon as the log can be written: {problem}"))
        }
        // It is recorded if it is found on its branch.
        Confirmation::No { problem } => {
            Some(format!("the commit is made, but it could not be verified: {problem}"))
        }
    }
}

/// The branch's short name.
fn short_name(branch: &str) -> String {
    branch.strip_prefix("refs/heads/").unwrap_or(branch).to_owned()
}

impl FileMade {
    pub(super) fn of(change: &FileChange) -> FileMade {
        FileMade {
            path: change.path.to_string_lossy().into_owned(),
            change: match (&change.old, &change.new) {
                (None, _) => "added",
                (Some(_), None) => "deleted",
                (Some(_), Some(_)) => "changed",
            },
        }
    }
}

fn answer(made: Committed) -> CommitMade {
    let mut output = CommitMade {
        commit: Some(made.commit),
        branch: made.branch.as_deref().map(short_name),
        files: made.changes.iter().map(FileMade::of).collect(),
        ..CommitMade::default()
    };
    if let (None, Some(commit)) = (&output.branch, &output.commit) {
        let warning = format!(
            "no branch is checked out here, so nothing leads to this commit once you switch; keep it with: git branch NAME {commit}"
        );
        output.warnings.push(warning);
    }
    if made.overtaken.count > 0 {
        let paths: Vec<_> = made.overtaken.first.iter().map(|path| path.to_string_lossy()).collect();
        let paths = paths.join(", ");
        output.warnings.push(format!("somebody else committed these meanwhile, look at them: {paths}"));
    }
    if let SharedIndex::Stale { problem } = made.index {
        let problem = format!("git's index is not up to date yet; the next commit fixes that: {problem}");
        output.warnings.push(problem);
    }
    reported(output, made.report)
}

fn reported(mut output: CommitMade, report: CommitReport) -> CommitMade {
    let left_out = |path: &std::path::Path, reason: &dyn fmt::Display| LeftOut {
        path: path.to_string_lossy().into_owned(),
        reason: reason.to_string(),
    };
    output.skipped.extend(report.skipped.first.iter().map(|one| left_out(&one.path, &one.reason)));
    output.skipped.extend(report.missing.iter().map(|one| left_out(&one.path, &one.reason)));
    output.tell_dirty(report.dirty);
    output.warnings.extend(report.half_renames.iter().map(|half| {
        let (from, to) = (half.from.to_string_lossy(), half.to.to_string_lossy());
        let (lock, commit) = (next_call::<Lock>([("paths", [&*to].into())]), next_call::<Commit>([]));
        format!(
            "{} was renamed to {}, which you have not locked, so only the deletion is committed: {lock}, then {commit}",
            visible(&from),
            visible(&to)
        )
    }));
    output.warnings.extend(report.warnings);
    output
}

impl CommitMade {
    pub(super) fn tell_dirty(&mut self, dirty: Dirty) {
        match dirty {
            Dirty::Known(listed) => {
                self.dirty = listed.first.iter().map(|path| path.to_string_lossy().into_owned()).collect();
                self.dirty_total = listed.count;
            }
            Dirty::Unknown { problem } => {
                self.warnings.push(format!("what else is changed could not be found out: {problem}"));
            }
        }
    }
}

fn failure(no: NotCommitted) -> Failure {
    let hint = match &no {
        NotCommitted::Refused(refusal) => return Failure::Refused(refusal.clone()),
        NotCommitted::Fault { problem } if problem.contains("tell me who you are") => {
            let hint =
                "set it with: git config --global user.name NAME; git config --global user.email ADDRESS";
            return Refusal::bad_input("git does not know whose commits these are", hint).into();
        }
        NotCommitted::Fault { problem } => return Failure::Fault(problem.clone()),
        NotCommitted::BadRequest { .. } => {
            let hint = format!(
                "give another message with: {}",
                next_call::<Commit>([("message", "MESSAGE".into())])
            );
            return Refusal::bad_input(no.to_string(), hint).into();
        }
        NotCommitted::Unfinished(_) => "nothing was changed; finish it with git, or abort it",
        NotCommitted::Unresolved { .. } => {
            let lock = next_call::<Lock>([("paths", ["PATH"].into())]);
            let hint = format!(
                "lock it with: {lock}; resolve it, and commit again; or give up with: git merge --abort"
            );
            return Refusal::bad_input(no.to_string(), hint).into();
        }
        NotCommitted::BeyondScope { .. } => "lock that path, too, or undo its change",
        NotCommitted::HookRefused { .. } => "fix what the hook complains about, or commit without hooks",
        NotCommitted::IndexLocked { .. } | NotCommitted::Overtaken { .. } | NotCommitted::Busy => {
            "nothing was changed; try again in a moment"
        }
    };
    Refusal::bad_input(no.to_string(), hint).into()
}

/// A number of files, in words.
pub(crate) fn files(count: usize) -> String {
    if count == 1 { "1 file".into() } else { format!("{count} files") }
}

impl fmt::Display for CommitMade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.commit, &self.branch) {
            (None, _) => f.write_str("nothing to commit: what you have locked is as in the last commit")?,
            (Some(commit), branch) => {
                let short = commit.get(..10).unwrap_or(commit);
                let on = branch.as_deref().map(|branch| format!(" on {branch}")).unwrap_or_default();
                write!(f, "committed {} as {short}{on}", files(self.files.len()))?;
            }
        }
        for file in &self.files {
            write!(f, "\n  {:<8}{}", file.change, visible(&file.path))?;
        }
        for left in &self.skipped {
            write!(f, "\n  left out {}: {}", visible(&left.path), left.reason)?;
        }
        if self.dirty_total > 0 {
            let shown = self.dirty.iter().take(10).map(|path| visible(path)).collect::<Vec<_>>().join(", ");
            write!(f, "\n  still changed, not yours or not locked ({}): {shown}", self.dirty_total)?;
        }
        self.warnings.iter().try_for_each(|warning| write!(f, "\n  warning: {warning}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_signs_as_a_trailer() {
        assert_eq!(signed("Fix login", None), "Fix login");
        assert_eq!(signed("Fix login\n", Some("ann")), "Fix login\n\nAgent: ann\n");
        assert_eq!(
            signed("Fix login\n\nBecause.\n\nRefs: 12\n", Some("ann")),
            "Fix login\n\nBecause.\n\nRefs: 12\nAgent: ann\n"
        );
        assert_eq!(
            signed("fix: login", Some("ann")),
            "fix: login\n\nAgent: ann\n",
            "a subject isn't a trailer"
        );
    }
}
