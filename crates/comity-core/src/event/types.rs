//! The names of all types of events, for whoever asks for one.

use std::cmp::Reverse;

use crate::refusal::Refusal;

/// Types that are named to who asked for one that there is not.
const NEAR_MAX: usize = 5;

/// The name in the log, and the name on the stream.
pub const EVENT_TYPES: &[(&str, &str)] = &[
    ("acted_from_new_place", "human:new_place"),
    ("agent_disconnected", "agent:disconnected"),
    ("agent_idle", "agent:idle"),
    ("agent_joined", "agent:joined"),
    ("agent_named", "agent:named"),
    ("agent_process_known", "agent:process_known"),
    ("agent_running", "agent:running"),
    ("agent_seen", "agent:seen"),
    ("agent_terminated", "agent:crashed"),
    ("agent_terminated", "agent:ended"),
    ("agent_token_added", "agent:token_added"),
    ("agents_limited", "agent:limit"),
    ("branch_merged", "worktree:merged"),
    ("commit_unguarded", "commit:unguarded"),
    ("context_entered", "context:entered"),
    ("context_opened", "context:opened"),
    ("decision_confirmed", "decision:confirmed"),
    ("decision_made", "decision:made"),
    ("decision_rejected", "decision:rejected"),
    ("delegated", "task:assigned"),
    ("delegation_cancelled", "task:returned"),
    ("entries_refused", "server:entries_refused"),
    ("file_commit", "commit:made"),
    ("file_known", "file:known"),
    ("group_message", "mail:sent"),
    ("human_token_made", "human:token_made"),
    ("human_token_revoked", "human:token_revoked"),
    ("idle_reported", "agent:idle_reported"),
    ("key_reused", "server:key_reused"),
    ("lock_acquired", "lock:acquired"),
    ("lock_expired", "lock:expired"),
    ("lock_extended", "lock:extended"),
    ("lock_handed_over", "lock:handed_over"),
    ("lock_lapsed", "lock:lapsed"),
    ("lock_orphaned", "lock:orphaned"),
    ("lock_released", "lock:released"),
    ("lock_renewed", "lock:renewed"),
    ("mail_offered", "mail:offered"),
    ("mail_put_aside", "mail:put_aside"),
    ("mail_read", "mail:read"),
    ("mail_returned", "mail:returned"),
    ("mail_undelivered", "mail:undelivered"),
    ("merge_conflicted", "worktree:conflict"),
    ("message_sent", "mail:sent"),
    ("move_intended", "branch:intended"),
    ("move_undone", "branch:undone"),
    ("new_place_shown", "human:new_place_shown"),
    ("nothing_changed", "nothing:changed"),
    ("notices_taken", "notices:taken"),
    ("passphrase_set", "human:passphrase_set"),
    ("permission_allowed", "permission:allowed"),
    ("permission_asked", "permission:asked"),
    ("permission_denied", "permission:denied"),
    ("permission_escalated", "permission:escalated"),
    ("permission_expired", "permission:expired"),
    ("permission_lapsed", "permission:lapsed"),
    ("permission_mode_set", "permission:mode_set"),
    ("permission_passed", "permission:passed"),
    ("permission_rule_added", "permission:rule_added"),
    ("permission_rule_passed_on", "permission:rule_passed_on"),
    ("permission_rule_removed", "permission:rule_removed"),
    ("permission_used", "permission:used"),
    ("permission_withdrawn", "permission:withdrawn"),
    ("plan_approved", "plan:approved"),
    ("plan_escalated", "plan:escalated"),
    ("plan_rejected", "plan:rejected"),
    ("plan_submitted", "plan:submitted"),
    ("plan_withdrawn", "plan:withdrawn"),
    ("pool_configured", "pool:configured"),
    ("project_added", "project:added"),
    ("server_started", "server:started"),
    ("shutdown_approved", "shutdown:approved"),
    ("shutdown_overdue", "shutdown:overdue"),
    ("shutdown_rejected", "shutdown:rejected"),
    ("shutdown_requested", "shutdown:requested"),
    ("slot_asked", "slot:asked"),
    ("slot_extended", "slot:extended"),
    ("slot_freed", "slot:freed"),
    ("slot_handed_over", "slot:handed_over"),
    ("slot_noted", "slot:noted"),
    ("slot_opened", "slot:opened"),
    ("slot_place_left", "slot:place_left"),
    ("slot_queued", "slot:queued"),
    ("slot_reservation_lapsed", "slot:reservation_lapsed"),
    ("slot_reserved", "slot:reserved"),
    ("slot_shared", "slot:shared"),
    ("slot_taken", "slot:taken"),
    ("slot_unshared", "slot:unshared"),
    ("task_cancelled", "task:cancelled"),
    ("task_claimed", "task:claimed"),
    ("task_completed", "task:completed"),
    ("task_declared", "task:declared"),
    ("task_failed", "task:failed"),
    ("task_linked", "task:linked"),
    ("task_looks_like", "task:looks_like"),
    ("task_paused", "task:paused"),
    ("task_reopened", "task:reopened"),
    ("task_reported", "task:in_review"),
    ("task_resumed", "task:resumed"),
    ("task_retried", "task:retried"),
    ("task_sent_back", "task:sent_back"),
    ("task_skipped", "task:skipped"),
    ("task_sought", "task:sought"),
    ("task_sought_in_vain", "task:sought_in_vain"),
    ("task_started", "task:started"),
    ("team_admitted", "team:admitted"),
    ("team_created", "team:created"),
    ("team_deleted", "team:deleted"),
    ("unlocked_write", "file:unlocked_write"),
    ("wait_ended", "wait:ended"),
    ("wait_started", "wait:started"),
    ("worktree_added", "worktree:added"),
    ("worktree_kept", "worktree:kept"),
    ("worktree_released", "worktree:released"),
    ("worktree_removed", "worktree:removed"),
];

/// What Comity does for itself: whoever reads the log wants to know of it only when looking for a fault.
const HOUSEKEEPING: &[&str] = &[
    "agent_disconnected",
    "agent_named",
    "agent_process_known",
    "agent_running",
    "agent_seen",
    "agent_token_added",
    "context_opened",
    "file_known",
    "lock_lapsed",
    "lock_renewed",
    "mail_offered",
    "mail_read",
    "mail_returned",
    "move_intended",
    "move_undone",
    "new_place_shown",
    "nothing_changed",
    "notices_taken",
    "permission_passed",
    "pool_configured",
    "project_added",
    "slot_noted",
    "slot_opened",
    "task_sought",
    "task_sought_in_vain",
    "wait_ended",
    "worktree_kept",
];

/// Whether this type only keeps the house.
pub fn is_housekeeping(action: &str) -> bool {
    HOUSEKEEPING.contains(&action)
}

/// Whether an event of a type is asked for by a name: one of its two names, or the word with which several of the stream
/// begin, such as `lock`.
pub fn is_type(wanted: &str, (action, stream): (&str, &str)) -> bool {
    wanted == action || wanted == stream || stream.split(':').next() == Some(wanted)
}

/// Refuses the name of a type that there is not.
pub fn check_type(wanted: &str) -> Result<(), Refusal> {
    if EVENT_TYPES.iter().any(|names| is_type(wanted, *names)) {
        return Ok(());
    }
    let is_like = |word: &str, other: &str| {
        word.len() > 3 && other.len() > 3 && word[..4.min(word.len())] == other[..4.min(other.len())]
    };
    let words_shared = |action: &str| {
        let words = wanted.split(['_', ':']).filter(|word| word.is_ascii());
        words.filter(|word| action.split('_').any(|other| is_like(word, other))).count()
    };
    let mut near: Vec<&str> = EVENT_TYPES.iter().map(|(action, _)| *action).collect();
    near.dedup();
    near.retain(|action| words_shared(action) > 0);
    near.sort_by_key(|action| Reverse(words_shared(action)));
    near.truncate(NEAR_MAX);
    let hint = match &near[..] {
        [] => "use a type such as lock_acquired, or a group such as lock, mail or task".to_owned(),
        near => format!("did you mean {}?", near.join(", ")),
    };
    Err(Refusal::bad_input(format!("there is no event type {wanted:?}"), hint))
}
