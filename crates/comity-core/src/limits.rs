//! The bounds: everything has one, and reaching it is an error that somebody sees.

use crate::time::Millis;

/// How long a lock lasts without a sign of life of its holder.
pub const LOCK_TTL: Millis = Millis::seconds(300);
pub const LOCK_TTL_MIN: Millis = Millis::seconds(1);
pub const LOCK_TTL_MAX: Millis = Millis::hours(24);
/// The longest wait in a queue.
pub const WAIT_MAX: Millis = Millis::hours(1);
/// How long work that is put aside is kept from others, at least.
pub const RESCUE_TTL: Millis = Millis::minutes(5);
/// How long a lapsed lock is kept from others while its files are inspected.
pub const INSPECTION_MAX: Millis = Millis::seconds(10);
/// Files with uncommitted work that an orphaned lock lists.
pub const FILES_LEFT_MAX: usize = 20;
pub const PATHS_PER_ASK_MAX: usize = 256;
pub const LOCKS_PER_HOLDER_MAX: usize = 2_000;
pub const LOCKS_MAX: usize = 1_000_000;
/// Waiting asks.
pub const WAITS_MAX: usize = 1_000;
/// Waiting asks of one agent.
pub const WAITS_PER_HOLDER_MAX: usize = 32;
pub const PATTERN_BYTES_MAX: usize = 1_024;
pub const PATTERN_COMPONENTS_MAX: usize = 60;
/// Alternatives that the braces of one pattern may expand to.
pub const PATTERN_ALTERNATIVES_MAX: usize = 64;
/// Also bounds other free text that goes with an act.
pub const REASON_BYTES_MAX: usize = 1_024;
/// Also bounds roles and teams.
pub const NAME_CHARS_MAX: usize = 64;
/// Also bounds directories and sessions.
pub const PROFILE_BYTES_MAX: usize = 4_096;
/// Live agents.
pub const AGENTS_MAX: usize = 10_000;
/// Process groups in which agents were seen; beyond that, all groups count as one.
pub const AGENT_GROUPS_MAX: usize = 64;
/// Ended agents that are remembered.
pub const ENDED_AGENTS_MAX: usize = 1_000;
/// Tokens of one agent: each of its processes may have its own.
pub const TOKENS_PER_AGENT_MAX: usize = 64;
pub const HUMAN_TOKENS_MAX: usize = 64;
/// Remembered places that the human has acted from.
pub const LINEAGES_MAX: usize = 256;
/// Places at which one act from a new place was shown.
pub const SHOWN_PLACES_MAX: usize = 64;
/// Acts from new places that wait to be shown to the human; beyond that the newest, and how many were dropped.
pub const UNSEEN_ACTS_MAX: usize = 32;
/// Silence after which a working agent is shown as silent.
pub const SILENT_AFTER: Millis = Millis::minutes(5);
/// Links in the chain that `why` shows.
pub const WHY_LINES_MAX: usize = 200;
/// Notices that wait for one agent; the oldest are dropped first.
pub const NOTICES_MAX: usize = 256;
/// Answers remembered by idempotency key.
pub const ANSWERS_MAX: usize = 4_096;
/// An agent without a watched process is dead after this long without a sign of life.
pub const AGENT_TIMEOUT: Millis = Millis::minutes(10);
/// How long an agent may be disconnected before it counts as gone.
pub const DISCONNECT_GRACE: Millis = Millis::seconds(5);
/// A sign of life is recorded at most this often.
pub const HEARTBEAT_GRAIN: Millis = Millis::seconds(15);
/// How often a crashed program is started again.
pub const RUN_RESTARTS_MAX: u32 = 3;
/// How long after a crash it is started again.
pub const RUN_RESTART_AFTER: Millis = Millis::seconds(2);
/// Agents started for ready tasks within a minute.
pub const RUN_STAFF_PER_MINUTE: usize = 4;
/// How long nobody is started for a role whose agent ended at once; doubled each further time.
pub const RUN_STAFF_AGAIN_MIN: Millis = Millis::seconds(30);
/// The longest that becomes.
pub const RUN_STAFF_AGAIN_MAX: Millis = Millis::minutes(30);
/// An agent that lives shorter than this ended at once.
pub const RUN_STAFF_LIFE_MIN: Millis = Millis::minutes(1);
/// How long an agent that was started for a task stays without one, unless configured otherwise.
pub const RUN_STAFF_IDLE_MAX: Millis = Millis::minutes(10);
/// How long nobody is started for a role after somebody stopped its agent.
pub const RUN_STAFF_HOLD: Millis = Millis::minutes(10);
/// Finished runs that are remembered.
pub const RUNS_OVER_MAX: usize = 100;
/// Bytes of the command or the prompt of a run.
pub const RUN_TEXT_BYTES_MAX: usize = 64 * 1_024;
pub const HOLDERS_SHOWN_MAX: usize = 8;
/// Files whose content is remembered per agent; the oldest are forgotten first.
pub const FILES_KNOWN_MAX: usize = 4_096;
pub const LETTER_BYTES_MAX: usize = 256 * 1_024;
/// Undelivered letters in one box.
pub const BOX_LETTERS_MAX: usize = 10_000;
/// Letters of one sender among them.
pub const BOX_LETTERS_FROM_ONE_MAX: usize = BOX_LETTERS_MAX / 2;
/// Bytes of the letters in one box.
pub const BOX_BYTES_MAX: usize = 256 * 1_024 * 1_024;
/// Of letters and bytes, so large a part is kept for the human and those who lead the receiver.
pub const BOX_KEPT_PART: usize = 8;
/// Bytes of a subject or a title.
pub const SUBJECT_BYTES_MAX: usize = 512;
pub const THREAD_CHARS_MAX: usize = 64;
pub const RECIPIENTS_MAX: usize = 64;
/// Remembered ids that senders gave their letters, over all senders.
pub const CLIENT_IDS_MAX: usize = 100_000;
/// How long an offer of mail may stay unacknowledged before it is made again.
pub const MAIL_LEASE: Millis = Millis::seconds(10);
pub const MAIL_LEASE_MIN: Millis = Millis(100);
pub const MAIL_LEASE_MAX: Millis = Millis::minutes(10);
/// Offers of one letter before it is put aside.
pub const OFFERS_MAX: u32 = 20;
pub const CONTROLS_MAX: usize = 1_000;
pub const CONTROLS_PER_OFFER_MAX: usize = 32;
pub const SHUTDOWN_WAIT_MIN: Millis = Millis::seconds(1);
pub const SHUTDOWN_WAIT_MAX: Millis = Millis::hours(1);
pub const IDLE_SUMMARY_WORDS_MAX: usize = 10;
/// Remembered decisions, and also pending ones.
pub const DECISIONS_MAX: usize = 1_000;
pub const RATIONALE_BYTES_MAX: usize = 16 * 1_024;
/// Live agents, unless set otherwise.
pub const AGENT_LIMIT: usize = 8;
/// The largest limit on agents that can be set.
pub const AGENT_LIMIT_MAX: usize = 20;
pub const TASKS_OPEN_MAX: usize = 10_000;
/// Ended tasks that are remembered, besides those that open ones depend on.
pub const TASKS_ENDED_MAX: usize = 1_000;
pub const TASKS_PER_ASK_MAX: usize = 1_000;
pub const TASK_DEPENDENCIES_MAX: usize = 100;
pub const TASK_FILES_MAX: usize = 64;
pub const TASK_TITLE_BYTES_MAX: usize = 200;
/// Bytes of a task's description, of evidence, or of the reason of a failure.
pub const TASK_TEXT_BYTES_MAX: usize = 16 * 1024;
/// Remembered failed attempts at one task.
pub const PAST_ATTEMPTS_MAX: usize = 10;
/// Bytes remembered of the reason of a failed attempt.
pub const PAST_REASON_BYTES_MAX: usize = 2 * 1024;
/// A task has failed after it lost this many claimants.
pub const TASK_ATTEMPTS_MAX: u32 = RUN_RESTARTS_MAX + 1;
/// An automatically assigned task goes to somebody else if it is not started within this time.
pub const TASK_START_MAX: Millis = Millis::minutes(2);
/// Tasks that a new one is compared with.
pub const SIMILAR_COMPARED_MAX: usize = 200;
/// Similar tasks that are shown.
pub const SIMILAR_SHOWN_MAX: usize = 3;
pub const POOLS_MAX: usize = 64;
pub const POOL_CAPACITY_MAX: usize = 1_000;
pub const POOL_PLACES_MAX: usize = 1_000;
/// How long a slot is reserved for somebody who asked for space.
pub const SLOT_RESERVATION_TTL: Millis = Millis::seconds(30);
pub const SLOT_RESERVATION_MIN: Millis = Millis::seconds(1);
pub const SLOT_RESERVATION_MAX: Millis = Millis::seconds(3_600);
/// Nobody is asked to go below this many slots, unless they are more than its share.
pub const SLOTS_KEPT_MIN: usize = 2;
pub const SLOT_VIEWERS_MAX: usize = 16;
/// How long somebody without a slot waits before an idle one is taken back for it.
pub const RECLAIM_AFTER: Millis = Millis::seconds(60);
/// A slot is idle after this long without use.
pub const RECLAIM_IDLE: Millis = Millis::minutes(5);
pub const LEASE_TTL: Millis = Millis::hours(1);
pub const LEASE_TTL_MIN: Millis = Millis::seconds(1);
pub const LEASE_TTL_MAX: Millis = Millis::hours(24);
pub const TEAMS_MAX: usize = 1_000;
pub const WORKTREES_MAX: usize = 1_000;
/// Agents that one report of an unlocked write lists.
pub const CANDIDATES_MAX: usize = 8;
pub const KEPT_CHARS_MAX: usize = 2_000;
/// Paths that are remembered of a merge which conflicts.
pub const CONFLICT_PATHS_MAX: usize = 20;
/// Commits and merges at a time that are begun and not recorded.
pub const OPEN_MOVES_MAX: usize = 1_000;
pub const COMMIT_FILES_MAX: usize = 2_000;
pub const PERMISSION_WAIT: Millis = Millis::minutes(5);
pub const PERMISSION_WAIT_MIN: Millis = Millis(1);
pub const PERMISSION_WAIT_MAX: Millis = Millis::hours(1);
/// How long an answer is kept for an asker that went on: unused permissions, and denials to repeat.
pub const PERMISSION_KEPT: Millis = Millis::minutes(10);
pub const PERMISSION_INPUT_BYTES_MAX: usize = 256 * 1024;
pub const PERMISSION_SUMMARY_BYTES_MAX: usize = 512;
pub const PERMISSION_TOOL_BYTES_MAX: usize = 256;
/// Files that one call is judged by.
pub const PERMISSION_WRITES_MAX: usize = 1_000;
/// Commands of one command line that it is judged by.
pub const PERMISSION_PARTS_MAX: usize = 1_000;
/// Open requests of one agent.
pub const PERMISSIONS_PER_AGENT_MAX: usize = 32;
/// Waiting requests.
pub const PERMISSIONS_WAITING_MAX: usize = 256;
/// Settled requests that are remembered.
pub const PERMISSIONS_KEPT_MAX: usize = 1_000;
pub const PERMISSION_RULES_MAX: usize = 1_000;
pub const PLAN_BYTES_MAX: usize = 256 * 1024;
pub const PLAN_FEEDBACK_BYTES_MAX: usize = 16 * 1024;
/// Answered plans that are remembered.
pub const PLANS_KEPT_MAX: usize = 100;
