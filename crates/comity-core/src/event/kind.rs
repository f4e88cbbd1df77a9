//! What a kind of event is called, and how durable it must be.

use super::Event;
use crate::agents::Ending;

/// One row of the catalogue of event types: the name in the log, on the wire, and how durable it must be.
pub struct EventType {
    /// The name in the ledger, as `--type` takes it.
    pub action: &'static str,
    /// The name on the event stream.
    pub stream: &'static str,
    /// Whether it must be on the disk before it is answered.
    pub durable: bool,
}

pub(crate) const fn durable(action: &'static str, stream: &'static str) -> EventType {
    EventType { action, stream, durable: true }
}

pub(crate) const fn live(action: &'static str, stream: &'static str) -> EventType {
    EventType { action, stream, durable: false }
}

impl Event {
    /// The names and the durability of this kind of event.
    pub fn kind(&self) -> EventType {
        match self {
            Event::ServerStarted { .. } => durable("server_started", "server:started"),
            Event::ProjectAdded { .. } => live("project_added", "project:added"),
            Event::AgentJoined { .. } => durable("agent_joined", "agent:joined"),
            Event::AgentNamed { .. } => durable("agent_named", "agent:named"),
            Event::EntriesRefused { .. } => live("entries_refused", "server:entries_refused"),
            Event::KeyReused { .. } => live("key_reused", "server:key_reused"),
            Event::AgentsLimited { .. } => durable("agents_limited", "agent:limit"),
            Event::AgentTokenAdded { .. } => durable("agent_token_added", "agent:token_added"),
            Event::AgentProcessKnown { .. } => live("agent_process_known", "agent:process_known"),
            Event::AgentSeen { .. } => live("agent_seen", "agent:seen"),
            Event::AgentIdled { idle: true, .. } => live("agent_idle", "agent:idle"),
            Event::AgentIdled { idle: false, .. } => live("agent_running", "agent:running"),
            Event::AgentDisconnected { .. } => live("agent_disconnected", "agent:disconnected"),
            Event::AgentEnded { ending: Ending::Failed, .. } => durable("agent_terminated", "agent:crashed"),
            Event::AgentEnded { .. } => durable("agent_terminated", "agent:ended"),
            Event::LockAcquired { .. } => live("lock_acquired", "lock:acquired"),
            Event::LockRenewed { .. } => live("lock_renewed", "lock:renewed"),
            Event::LockReleased { .. } => live("lock_released", "lock:released"),
            Event::LockLapsed { .. } => live("lock_lapsed", "lock:lapsed"),
            Event::LockExpired { .. } => live("lock_expired", "lock:expired"),
            Event::LockOrphaned { .. } => live("lock_orphaned", "lock:orphaned"),
            Event::LockExtended { .. } => live("lock_extended", "lock:extended"),
            // On the disk before the files change: else a power cut could leave work that nobody finds.
            Event::LockHandedOver { into: Some(_), .. } => durable("lock_handed_over", "lock:handed_over"),
            Event::LockHandedOver { .. } => live("lock_handed_over", "lock:handed_over"),
            Event::WaitStarted { .. } => live("wait_started", "wait:started"),
            Event::WaitEnded { .. } => live("wait_ended", "wait:ended"),
            Event::FileKnown { .. } => live("file_known", "file:known"),
            Event::UnlockedWrite { .. } => live("unlocked_write", "file:unlocked_write"),
            Event::CommitUnguarded(_) => durable("commit_unguarded", "commit:unguarded"),
            // On the disk before the branch is: else a power cut could leave a commit that nobody knows of.
            Event::MoveIntended(_) => durable("move_intended", "branch:intended"),
            Event::MoveUndone { .. } => live("move_undone", "branch:undone"),
            Event::Committed { .. } => durable("file_commit", "commit:made"),
            Event::WorktreeAdded { .. } => durable("worktree_added", "worktree:added"),
            // Lost in a power cut, it is as if it had never been released: it stays.
            Event::WorktreeReleased { .. } => live("worktree_released", "worktree:released"),
            Event::WorktreeKept { .. } => live("worktree_kept", "worktree:kept"),
            Event::WorktreeRemoved { .. } => durable("worktree_removed", "worktree:removed"),
            Event::BranchMerged { .. } => durable("branch_merged", "worktree:merged"),
            Event::MergeConflicted { .. } => durable("merge_conflicted", "worktree:conflict"),
            Event::Mail(event) => event.kind(),
            Event::Control(event) => event.kind(),
            Event::Decision(event) => event.kind(),
            Event::Team(event) => event.kind(),
            Event::Permission(event) => event.kind(),
            Event::Task(event) => event.kind(),
            Event::Pool(event) => event.kind(),
            Event::Person(event) => event.kind(),
            Event::NothingChanged {} => live("nothing_changed", "nothing:changed"),
            Event::NoticesTaken { .. } => live("notices_taken", "notices:taken"),
        }
    }

    /// Whether this may let somebody in the queue go on.
    pub(crate) fn may_serve_queue(&self) -> bool {
        matches!(
            self,
            Event::LockReleased { .. }
                | Event::LockExpired { .. }
                | Event::LockHandedOver { .. }
                // Whoever the new waiter waits for may go before those that wait for it, whatever it waits for.
                | Event::WaitStarted { .. }
                | Event::WaitEnded { .. }
                | Event::Pool(_)
                | Event::Permission(_)
        )
    }
}
