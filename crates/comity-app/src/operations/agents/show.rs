//! Shows one agent: what it is about, what it has, and what it did last.

use std::fmt;

use comity_core::commits::CommitEvent;
use comity_core::display::{counted, visible};
use comity_core::{Event, Millis, Principal, Record};
use comity_git::BranchCommit;

use super::diff::{commits_of, plain_commits, uncommitted};
use super::{AgentView, Diff};
use crate::catalog::next_call;
use crate::ledger::Entry;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::ledger::{is_join_of, known_agent, newest_records};
use crate::operations::locks::LockView;
use crate::operations::runs::RunActivity;

/// Acts that are shown.
const ACTS_MAX: usize = 10;
const COMMITS_SHOWN: usize = 5;
/// Files of a worktree that are shown.
const FILES_SHOWN: usize = 5;

/// Show one agent: its task, what it waits for, its locks, changed files, commits and letters, and what it did last.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowAgent {
    /// Name or id
    pub agent: String,
}

/// All that is known of an agent that the caller may see.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AgentDetail {
    #[serde(flatten)]
    pub agent: AgentView,
    /// What its program does and has used, where Comity runs it and it tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<RunActivity>,
    /// What it has to do.
    pub tasks: Vec<TaskLine>,
    /// What it has locked.
    pub held: Vec<LockView>,
    /// What is changed under its locks or in worktrees of its own, and not committed.
    pub uncommitted: Vec<UncommittedFiles>,
    /// What it committed with comity commit, the newest last; then all else that was committed in worktrees of its own.
    pub commits: Vec<CommitLine>,
    /// Letters that it has not read.
    pub letters: usize,
    /// How much waits for it to decide or read.
    pub waiting: usize,
    /// What it did last, the newest last.
    pub last: Vec<ActLine>,
    /// What could not be found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A task, in short.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskLine {
    /// Its name.
    pub id: String,
    /// Where it is.
    pub status: &'static str,
    /// What is to be done.
    pub title: String,
}

/// A commit, in short.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommitLine {
    /// Its id.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// How many files it changed.
    pub files: usize,
}

/// Files in a worktree.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UncommittedFiles {
    pub worktree: String,
    pub files: Vec<String>,
}

/// Something that it did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ActLine {
    /// How long ago.
    pub age_ms: u64,
    /// What, in a sentence.
    pub what: String,
}

impl Operation for ShowAgent {
    type Output = AgentDetail;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<AgentDetail>, Failure> {
        let id = known_agent(app, &self.agent)?;
        let who = Principal::Agent(id);
        let is_act = |record: &Record| record.by == who && is_worth_telling(record);
        let mut acts = newest_records(app, ACTS_MAX, is_act, |record| is_join_of(record, id))?;
        acts.reverse();
        let commits = commits_of(app, id)?;
        // Git may be slow, so the world is not held meanwhile.
        let (now, world) = (app.engine().now(), app.engine().world().clone());
        let Some(agent) = world.agents.get(id) else {
            return Err(world
                .agents
                .find(&self.agent)
                .map_or_else(Failure::from, |_| Failure::fault("it is gone")));
        };
        let mut problems = Vec::new();
        let plain = plain_commits(&world, &[who], &mut problems);
        let uncommitted = uncommitted(&world, &[who], 0).unwrap_or_else(|problem| {
            problems.push(problem);
            vec![]
        });
        let mut commits: Vec<CommitLine> = commits.iter().filter_map(CommitLine::of).collect();
        let plain = plain.into_iter().flat_map(|(_, commits)| commits);
        let new: Vec<_> =
            plain.filter(|plain| commits.iter().all(|known| known.commit != plain.id)).collect();
        commits.extend(new.into_iter().map(CommitLine::plain));
        let problem = (!problems.is_empty()).then(|| problems.join("; "));
        let running = app.runs().runner().and_then(|runner| runner.activity(&id.to_string()).ok());
        let wall_now = crate::clock::wall_ms();
        let view = AgentView::of(agent, &world, now, caller);
        Ok(Plan::Answer(AgentDetail {
            agent: AgentView::of(agent, &world, now, caller),
            program: running.map(RunActivity::from),
            tasks: world.tasks.owned_by(who).map(TaskLine::of).collect(),
            held: world.locks.of(who).map(|lock| LockView::of(lock, &world, now)).collect(),
            uncommitted: uncommitted
                .into_iter()
                .map(|dirty| UncommittedFiles { worktree: dirty.worktree, files: dirty.files })
                .collect(),
            commits,
            letters: world.mail.of(who).map_or(0, |mailbox| mailbox.letters()),
            waiting: app.inbox_count(&world, &who.into()),
            last: acts
                .iter()
                .map(|record| ActLine {
                    age_ms: u64::try_from(wall_now - record.wall_ms).unwrap_or(0),
                    what: Entry::of(record, &world, caller.who).summary,
                })
                .collect(),
            problem,
        }))
    }
}

/// Not what an agent does without meaning to, such as signs of life.
fn is_worth_telling(record: &Record) -> bool {
    let is_quiet = matches!(record.event, Event::Notice(_) | Event::Server(_) | Event::Read(_));
    !is_quiet && !record.event.kind().is_housekeeping
}

impl TaskLine {
    fn of(task: &comity_core::tasks::Task) -> TaskLine {
        TaskLine {
            id: task.id.to_string(),
            status: task.status().word(),
            title: task.brief.title.to_string(),
        }
    }
}

impl CommitLine {
    /// A commit made with plain git.
    fn plain(commit: BranchCommit) -> CommitLine {
        CommitLine { commit: commit.id, subject: commit.subject, files: commit.files.len() }
    }

    fn of(record: &Record) -> Option<CommitLine> {
        let Event::Commit(CommitEvent::Made { commit, .. }) = &record.event else { return None };
        let (id, subject) = (commit.id.to_string(), commit.subject.to_string());
        Some(CommitLine { commit: id, subject, files: commit.files_total })
    }
}

/// A line with the first of a kind, and the rest below it.
fn lines(f: &mut fmt::Formatter<'_>, label: &str, lines: impl Iterator<Item = String>) -> fmt::Result {
    for (at, line) in lines.enumerate() {
        write!(f, "\n  {:9}{line}", if at == 0 { label } else { "" })?;
    }
    Ok(())
}

impl fmt::Display for AgentDetail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.agent)?;
        lines(f, "program", self.used.iter().map(ToString::to_string))?;
        let task =
            |task: &TaskLine| format!("{}  {}  {}", visible(&task.id), task.status, visible(&task.title));
        lines(f, "program", self.program.iter().map(ToString::to_string))?;
        lines(f, "tasks", self.tasks.iter().map(task))?;
        lines(f, "locks", self.held.iter().map(ToString::to_string))?;
        let dirty = |dirty: &UncommittedFiles| {
            let shown: Vec<String> =
                dirty.files.iter().take(FILES_SHOWN).map(|file| visible(file).into_owned()).collect();
            let more = match dirty.files.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {}", counted(more, "more file")),
            };
            format!("{}{more} in {}", shown.join(", "), visible(&dirty.worktree))
        };
        lines(f, "changed", self.uncommitted.iter().map(dirty))?;
        let commit = |commit: &CommitLine| {
            let id = &commit.commit[..commit.commit.floor_char_boundary(10)];
            format!("{id}  {} ({})", visible(&commit.subject), counted(commit.files, "file"))
        };
        let skipped = self.commits.len().saturating_sub(COMMITS_SHOWN);
        lines(f, "commits", self.commits.iter().skip(skipped).map(commit))?;
        if self.letters > 0 {
            write!(f, "\n  letters  {} unread", self.letters)?;
        }
        if self.waiting > 0 {
            write!(f, "\n  inbox    {}", counted(self.waiting, "thing"))?;
        }
        let act = |act: &ActLine| format!("{} ({})", visible(&act.what), Millis(act.age_ms).rough_ago());
        lines(f, "last", self.last.iter().map(act))?;
        if let Some(problem) = &self.problem {
            write!(f, "\n  can't tell what is changed: {}", visible(problem))?;
        }
        if self.commits.is_empty() && self.uncommitted.is_empty() {
            return Ok(());
        }
        let diff = next_call::<Diff>([("of", self.agent.name.as_str().into())]);
        write!(f, "\n  what it changed: {diff}")
    }
}
