//! What happened. Nothing changes except by one of these.

mod kind;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::agents::{Ending, Process, Profile};
use crate::commits::{Commit, UnguardedCommit};
use crate::control::ControlEvent;
use crate::decisions::DecisionEvent;
use crate::ids::{AgentId, Fence, Key, Principal, ProjectId, Ticket, TokenHash};
use crate::locks::{ReleaseCause, WaitEnding, Wanted};
use crate::mail::MailEvent;
use crate::moves::Move;
use crate::paths::CaseRule;
use crate::people::{Origin, PersonEvent};
use crate::permissions::PermissionEvent;
use crate::pools::PoolEvent;
use crate::reads::FileContent;
use crate::tasks::TaskEvent;
use crate::teams::TeamEvent;
use crate::time::{Millis, Timestamp};
use crate::worktrees::Tree;
use crate::writes::UnlockedWrite;

pub use kind::EventType;
pub(crate) use kind::{durable, live};

/// One event with its place in the log.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Gap-free number in commit order, from 1.
    pub seq: u64,
    /// When, on the engine's clock.
    pub now: Timestamp,
    /// When, on the wall, in milliseconds since 1970; only for people.
    pub wall_ms: i64,
    /// Who acted.
    pub by: Principal,
    /// Where the human acted from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<Arc<Origin>>,
    /// Agents that it concerns and that the event does not name: the holder of the lock that expired, and the like.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub concerns: Vec<AgentId>,
    /// The idempotency key of the ask, if it had one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub key: Option<Key>,
    /// What happened.
    pub event: Event,
}

/// One change of the world.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// A server began to write this log; fences go on from `fence_floor`.
    ServerStarted {
        /// No fence at or below this one is given again.
        fence_floor: Fence,
        /// The program's version.
        version: Box<str>,
        /// The run of the machine: another one after each boot.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        boot: Option<Box<str>>,
        /// How long the machine had run.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        uptime: Option<Millis>,
    },
    /// A repository was first used.
    ProjectAdded {
        /// Its id.
        project: ProjectId,
        /// Its common git directory.
        common_dir: Box<str>,
        /// Whether its file system folds case.
        case: CaseRule,
    },
    /// An agent registered.
    AgentJoined {
        /// Its id.
        agent: AgentId,
        /// What is known of it.
        profile: Box<Profile>,
        /// The hash of its first token.
        token: TokenHash,
    },
    /// An agent got the name that its program was asked to have.
    AgentNamed {
        /// Which agent.
        agent: AgentId,
        /// Its name.
        name: Box<str>,
    },
    /// Callers were not let in at the HTTP port.
    EntriesRefused {
        /// Why the last one was not.
        why: Box<str>,
        /// How many there were since this was last told.
        count: u64,
    },
    /// An ask was refused: its idempotency key had been used for another one.
    KeyReused {
        /// The operation that was asked for.
        op: Box<str>,
    },
    /// A person set how many agents may be here.
    AgentsLimited {
        /// How many.
        max: usize,
    },
    /// A further process of the agent got a token.
    AgentTokenAdded {
        /// Whose.
        agent: AgentId,
        /// Its hash.
        token: TokenHash,
    },
    /// The process of an agent became known.
    AgentProcessKnown {
        /// Whose.
        agent: AgentId,
        /// The process.
        process: Process,
    },
    /// An agent gave a sign of life.
    AgentSeen {
        /// Which.
        agent: AgentId,
    },
    /// An agent's work began or paused.
    AgentIdled {
        /// Which.
        agent: AgentId,
        /// Whether it is idle now.
        idle: bool,
    },
    /// An agent's own connection closed.
    AgentDisconnected {
        /// Which.
        agent: AgentId,
    },
    /// An agent ended; nothing follows.
    AgentEnded {
        /// Which.
        agent: AgentId,
        /// How.
        ending: Ending,
        /// Why, in words.
        cause: Box<str>,
    },
    /// A lock was given.
    LockAcquired {
        /// Its fence and name.
        fence: Fence,
        /// To whom.
        holder: Principal,
        /// On what, for how long, and why.
        wanted: Wanted,
        /// The ticket, if the holder had waited.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        ticket: Option<Ticket>,
    },
    /// A holder asked again for what it holds.
    LockRenewed {
        /// Which lock.
        fence: Fence,
        /// On what, as people read it.
        path: Box<str>,
        /// Its TTL from now on.
        ttl: Millis,
        /// Its reason from now on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    /// A lock was given up or taken away.
    LockReleased {
        /// Which lock.
        fence: Fence,
        /// On what, as people read it.
        path: Box<str>,
        /// Why.
        cause: ReleaseCause,
    },
    /// A lock's time ran out, or its holder ended; its files are being looked at before anybody else gets it.
    LockLapsed {
        /// Which lock.
        fence: Fence,
        /// On what, as people read it.
        path: Box<str>,
    },
    /// A lapsed lock had no uncommitted work and is free.
    LockExpired {
        /// Which lock.
        fence: Fence,
        /// On what, as people read it.
        path: Box<str>,
    },
    /// A lapsed lock has uncommitted work: it is kept for the human or the leader.
    LockOrphaned {
        /// Which lock.
        fence: Fence,
        /// On what, as people read it.
        path: Box<str>,
        /// Some of the files with work in them; none if that could not be told.
        #[serde(skip_serializing_if = "Vec::is_empty", default)]
        files: Vec<Box<str>>,
    },
    /// A person or leader gave a lock more time.
    LockExtended {
        /// Which lock.
        fence: Fence,
        /// On what, as people read it.
        path: Box<str>,
        /// Its TTL from now on.
        ttl: Millis,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
    /// A lock went from one holder to another.
    LockHandedOver {
        /// The lock as it was.
        fence: Fence,
        /// On what, as people read it.
        path: Box<str>,
        /// The lock as it is.
        new_fence: Fence,
        /// The new holder.
        to: Principal,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
        /// The ref that its work is about to be put aside into, if that is why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        into: Option<Box<str>>,
    },
    /// An ask joined the queue.
    WaitStarted {
        /// Its place.
        ticket: Ticket,
        /// Who waits.
        who: Principal,
        /// For what.
        wants: Vec<Wanted>,
        /// How long at most.
        wait: Millis,
    },
    /// An ask left the queue.
    WaitEnded {
        /// Its place.
        ticket: Ticket,
        /// How it ended.
        ending: WaitEnding,
    },
    /// An agent read or wrote a file: it knows what is in it.
    FileKnown {
        /// In which project.
        project: ProjectId,
        /// Which file, with what in it.
        file: FileContent,
    },
    /// A file changed while nobody who might have done it held a lock on it.
    UnlockedWrite(Box<UnlockedWrite>),
    /// A commit that no guard has judged has in it what somebody else has locked.
    CommitUnguarded(Box<UnguardedCommit>),
    /// A branch is about to move: a commit or a merge is made, and nobody knows yet what comes of it.
    MoveIntended(Box<Move>),
    /// A branch did not move after all.
    MoveUndone {
        /// The record that announced it.
        number: u64,
        /// The commit that it would be at.
        commit: Box<str>,
        /// Its full name; none for a detached head.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        branch: Option<Box<str>>,
        /// Who would have moved it.
        of: Principal,
    },
    /// What an agent had locked and changed was committed.
    Committed {
        /// In which project.
        project: ProjectId,
        /// The commit.
        commit: Commit,
        /// Whether it was found on its branch later: who made it did not live to record it, or could not.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        recovered: bool,
    },
    /// A worktree was made, or brought back.
    WorktreeAdded {
        /// In which project.
        project: ProjectId,
        /// The worktree.
        tree: Tree,
    },
    /// A worktree may go as soon as it is proven that no work is in it.
    WorktreeReleased {
        /// In which project.
        project: ProjectId,
        /// Its name.
        slug: Box<str>,
    },
    /// A worktree that was released stays: there may be work in it.
    WorktreeKept {
        /// In which project.
        project: ProjectId,
        /// Its name.
        slug: Box<str>,
        /// What is in it.
        why: Box<str>,
    },
    /// A worktree was put into the trash; nothing of it is lost.
    WorktreeRemoved {
        /// In which project.
        project: ProjectId,
        /// Its name.
        slug: Box<str>,
        /// The reference that keeps its commits.
        rescue: Box<str>,
    },
    /// The branch of a worktree was merged.
    BranchMerged {
        /// In which project.
        project: ProjectId,
        /// The branch with the work.
        source: Box<str>,
        /// The branch that has it now.
        target: Box<str>,
        /// The commit that the target is at now.
        commit: Box<str>,
        /// How many files the work changed.
        files_total: usize,
        /// The commit that the target was at before.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        was: Option<Box<str>>,
        /// Whether it was found in its target later: who made it did not live to record it, or could not.
        #[serde(skip_serializing_if = "std::ops::Not::not", default)]
        recovered: bool,
    },
    /// A merge was not made: both sides changed the same.
    MergeConflicted {
        /// In which project.
        project: ProjectId,
        /// The branch with the work.
        source: Box<str>,
        /// The branch that it was for.
        target: Box<str>,
        /// The files.
        paths: Vec<Box<str>>,
    },
    /// Something about mail.
    Mail(MailEvent),
    /// Something about control messages.
    Control(ControlEvent),
    /// Something about decisions.
    Decision(DecisionEvent),
    /// Something about teams.
    Team(TeamEvent),
    /// Something about permissions.
    Permission(PermissionEvent),
    /// Something about tasks.
    Task(TaskEvent),
    /// Something about pools.
    Pool(PoolEvent),
    /// An ask with an idempotency key found nothing to change; a repeat of it changes nothing either.
    NothingChanged {},
    /// About people.
    Person(PersonEvent),
    /// An agent was told what waited for it.
    NoticesTaken {
        /// Which agent.
        agent: AgentId,
        /// All up to this one.
        up_to: u64,
    },
}
