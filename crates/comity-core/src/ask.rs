//! What can be asked of the rules. Operations are made of these; who asks comes beside them.

use crate::agents::{Ending, Process, Profile};
use crate::commits::UnguardedCommit;
use crate::control::ControlAsk;
use crate::decisions::DecisionAsk;
use crate::ids::{AgentId, Fence, Principal, ProjectId, Ticket, TokenHash};
use crate::locks::{LockMode, Wanted};
use crate::mail::MailAsk;
use crate::moves::Move;
use crate::paths::{CaseRule, PathPattern};
use crate::people::PersonAsk;
use crate::permissions::PermissionAsk;
use crate::pools::PoolAsk;
use crate::reads::FileContent;
use crate::tasks::TaskAsk;
use crate::teams::TeamAsk;
use crate::time::Millis;
use crate::worktrees::Tree;
use crate::writes::UnlockedWrite;

/// One ask. Whatever is random or comes from outside was added before.
#[derive(Clone, PartialEq, Debug)]
pub enum Ask {
    /// A server starts to write the log.
    Start {
        /// No fence at or below this one may be given again.
        fence_floor: Fence,
        /// The program's version.
        version: Box<str>,
        /// The run of the machine: another one after each boot.
        boot: Option<Box<str>>,
        /// How long the machine has run.
        uptime: Option<Millis>,
    },
    /// A repository is used.
    AddProject {
        /// Its id.
        project: ProjectId,
        /// Its common git directory.
        common_dir: Box<str>,
        /// Whether its file system folds case.
        case: CaseRule,
    },
    /// Registers an agent; the caller becomes its parent if the caller is an agent.
    Join {
        /// The new id.
        agent: AgentId,
        /// The hash of the new token.
        token: TokenHash,
        /// What it says of itself; `parent` is ignored and set from the caller.
        profile: Box<Profile>,
    },
    /// Registers an agent that a person started by itself: it counts, but the limit on agents does not keep it out, and if
    /// somebody has its name, it gets a number.
    Attach {
        /// The new id.
        agent: AgentId,
        /// The hash of the new token.
        token: TokenHash,
        /// What it says of itself.
        profile: Box<Profile>,
    },
    /// Registers another agent of the program that the calling agent belongs to.
    AttachBeside {
        /// The new id.
        agent: AgentId,
        /// The hash of the new token.
        token: TokenHash,
        /// What is known of it.
        profile: Box<Profile>,
    },
    /// Gives an agent the name that its program was asked to have.
    NameAgent {
        /// Which agent.
        agent: AgentId,
        /// Its name.
        name: Box<str>,
    },
    /// Tells that callers were not let in.
    NoteRefusedEntries {
        /// Why the last one was not.
        why: Box<str>,
        /// How many there were since this was last told.
        count: u64,
    },
    /// Tells that an idempotency key was given for another call than before.
    NoteReusedKey {
        /// The operation that was refused.
        op: Box<str>,
    },
    /// Sets how many agents may be here.
    LimitAgents {
        /// How many.
        max: usize,
    },
    /// Gives a further process of a live agent a token of its own.
    AddToken {
        /// Whose, proven by the kernel.
        agent: AgentId,
        /// The hash of the new token.
        token: TokenHash,
    },
    /// Tells which process the agent is.
    KnowProcess {
        /// Whose.
        agent: AgentId,
        /// The process.
        process: Process,
    },
    /// A sign of life.
    Seen {
        /// Of whom.
        agent: AgentId,
    },
    /// Work began or paused.
    Idle {
        /// Of whom.
        agent: AgentId,
        /// Whether it is idle now.
        idle: bool,
    },
    /// The agent's own connection closed.
    Disconnect {
        /// Whose.
        agent: AgentId,
    },
    /// Ends an agent and all its children.
    End {
        /// Which.
        agent: AgentId,
        /// How.
        ending: Ending,
        /// Why, in words.
        cause: Box<str>,
    },
    /// Takes locks, all or none.
    Lock {
        /// What.
        wants: Vec<Wanted>,
        /// How long to wait in the queue; `None` is refused at once.
        wait: Option<Millis>,
    },
    /// Gives back one's own locks.
    Unlock {
        /// In which project.
        project: ProjectId,
        /// Which.
        patterns: Vec<PathPattern>,
    },
    /// Gives back everything that one holds.
    UnlockAll,
    /// Takes others' locks away, as the human or a leader.
    Release {
        /// In which project.
        project: ProjectId,
        /// Every lock that overlaps one of these.
        patterns: Vec<PathPattern>,
        /// Why.
        reason: Option<Box<str>>,
    },
    /// Gives locks more time.
    Extend {
        /// In which project.
        project: ProjectId,
        /// Every lock that overlaps one of these.
        patterns: Vec<PathPattern>,
        /// The TTL from now on.
        ttl: Millis,
        /// Why.
        reason: Option<Box<str>>,
    },
    /// Hands locks over to somebody else.
    HandOver {
        /// In which project.
        project: ProjectId,
        /// Every lock that overlaps one of these.
        patterns: Vec<PathPattern>,
        /// To whom.
        to: Principal,
        /// Why.
        reason: Option<Box<str>>,
    },
    /// Takes orphaned locks over, with the work that was left.
    Adopt {
        /// In which project.
        project: ProjectId,
        /// Every lock that overlaps one of these; all must be orphaned.
        patterns: Vec<PathPattern>,
        /// Why.
        reason: Option<Box<str>>,
        /// The ref that each is to be put aside into, if that is why.
        into: Vec<(Fence, Box<str>)>,
    },
    /// Tells that work was put aside which was taken over for that; its locks are free.
    PutAside {
        /// Each lock, and the refs that keep its work.
        aside: Vec<(Fence, Vec<Box<str>>)>,
    },
    /// Leaves the queue.
    CancelWait {
        /// Which place.
        ticket: Ticket,
    },
    /// Tells what was found when the files of a lapsed or orphaned lock were looked at.
    Inspected {
        /// Which lock.
        fence: Fence,
        /// The files with uncommitted work, if there is any; none of them are named if nobody could tell.
        left: Option<Vec<Box<str>>>,
    },
    /// Proves that locks are still held with these fences, before a guarded act.
    CheckFences {
        /// In which project.
        project: ProjectId,
        /// Each path and the fence it was given with.
        held: Vec<(PathPattern, Fence)>,
        /// Held at least like this.
        mode: LockMode,
    },
    /// Tells what the calling agent knows of a file.
    KnowFile {
        /// In which project.
        project: ProjectId,
        /// Which, with what in it.
        file: FileContent,
    },
    /// Tells of a file that changed without a lock.
    SawUnlockedWrite(Box<UnlockedWrite>),
    /// The watcher saw a commit that went past the guard.
    SawUnguardedCommit(Box<UnguardedCommit>),
    /// Announces that a branch is about to move.
    IntendMove(Box<Move>),
    /// Says what came of a move.
    SettleMove {
        /// The record that announced it.
        number: u64,
        /// Whether the branch has it.
        has_moved: bool,
    },
    /// Records a worktree that was made, or brought back.
    AddWorktree {
        /// In which project.
        project: ProjectId,
        /// The worktree.
        tree: Box<Tree>,
    },
    /// Lets a worktree go as soon as it is proven that no work is in it.
    ReleaseWorktree {
        /// In which project.
        project: ProjectId,
        /// Its name.
        slug: Box<str>,
    },
    /// Records that a worktree which was released stays.
    KeepWorktree {
        /// In which project.
        project: ProjectId,
        /// Its name.
        slug: Box<str>,
        /// What is in it.
        why: Box<str>,
    },
    /// Records that a worktree went into the trash.
    RemoveWorktree {
        /// In which project.
        project: ProjectId,
        /// Its name.
        slug: Box<str>,
        /// The reference that keeps its commits.
        rescue: Box<str>,
    },
    /// Records that a merge was not made: both sides changed the same.
    RecordConflict {
        /// In which project.
        project: ProjectId,
        /// The branch with the work.
        source: Box<str>,
        /// The branch that it was for.
        target: Box<str>,
        /// The files.
        paths: Vec<Box<str>>,
    },
    /// About mail.
    Mail(MailAsk),
    /// About control messages.
    Control(ControlAsk),
    /// About decisions.
    Decision(DecisionAsk),
    /// About teams.
    Team(TeamAsk),
    /// About permissions.
    Permission(PermissionAsk),
    /// About tasks.
    Task(TaskAsk),
    /// About people.
    Person(PersonAsk),
    /// About pools.
    Pool(PoolAsk),
    /// Takes what waits for the calling agent.
    TakeNotices,
}
