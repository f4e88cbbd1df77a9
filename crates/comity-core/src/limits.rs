//! The bounds: everything has one, and reaching it is an error that somebody sees.

use crate::time::Millis;

/// How long a lock lasts without a sign of life of its holder.
pub const LOCK_TTL: Millis = Millis::seconds(300);
/// The shortest TTL that can be asked for.
pub const LOCK_TTL_MIN: Millis = Millis::seconds(1);
/// The longest TTL that can be asked for.
pub const LOCK_TTL_MAX: Millis = Millis::hours(24);
/// The longest wait in a queue.
pub const WAIT_MAX: Millis = Millis::hours(1);
/// For how long, at least, work that is put aside is kept from others.
pub const RESCUE_TTL: Millis = Millis::minutes(5);
/// How long a lapsed lock is kept from others while its files are looked at.
pub const INSPECTION_MAX: Millis = Millis::seconds(10);
/// Files with uncommitted work that an orphaned lock names.
pub const FILES_LEFT_MAX: usize = 20;
/// Paths in one request.
pub const PATHS_PER_ASK_MAX: usize = 256;
/// Locks that one agent holds at a time.
pub const LOCKS_PER_HOLDER_MAX: usize = 2_000;
/// Locks held by all.
pub const LOCKS_MAX: usize = 1_000_000;
/// Asks that wait at a time.
pub const WAITS_MAX: usize = 1_000;
/// Asks of one agent that wait at a time.
pub const WAITS_PER_HOLDER_MAX: usize = 32;
/// Bytes of one path or pattern.
pub const PATTERN_BYTES_MAX: usize = 1_024;
pub const PATTERN_COMPONENTS_MAX: usize = 60;
/// Alternatives that the braces of one pattern may expand to.
pub const PATTERN_ALTERNATIVES_MAX: usize = 64;
/// Bytes of a reason or another free text beside an act.
pub const REASON_BYTES_MAX: usize = 1_024;
/// Characters of an agent's name, role or team.
pub const NAME_CHARS_MAX: usize = 64;
/// Bytes of an agent's model, directory or session.
pub const PROFILE_BYTES_MAX: usize = 4_096;
/// Agents alive at a time.
pub const AGENTS_MAX: usize = 10_000;
/// Groups of processes in which agents were seen; beyond, all groups count as one.
pub const AGENT_GROUPS_MAX: usize = 64;
/// Ended agents that are remembered.
pub const ENDED_AGENTS_MAX: usize = 1_000;
/// Tokens of one agent (each of its processes may have its own).
pub const TOKENS_PER_AGENT_MAX: usize = 64;
/// Tokens that stand in for the human.
pub const HUMAN_TOKENS_MAX: usize = 64;
/// Places that the human has acted from which are remembered.
pub const LINEAGES_MAX: usize = 256;
/// Places for which it is remembered that such an act was shown there.
pub const SHOWN_PLACES_MAX: usize = 64;
/// Acts from new places that wait to be shown to the human; of more than that the newest, and how many were before.
pub const UNSEEN_ACTS_MAX: usize = 32;
/// Silence after which an agent at work is said to be silent.
pub const SILENT_AFTER: Millis = Millis::minutes(5);
/// Links of a chain that says why something does not go on.
pub const WHY_LINES_MAX: usize = 200;
/// Notices that wait for one agent; older ones go first.
pub const NOTICES_MAX: usize = 256;
/// Answers that are remembered by idempotency key.
pub const ANSWERS_MAX: usize = 4_096;
/// An agent of which nothing is known to be alive is dead after this long without a heartbeat.
pub const AGENT_TIMEOUT: Millis = Millis::minutes(10);
/// How long an agent may be without its connection before it counts as gone.
pub const DISCONNECT_GRACE: Millis = Millis::seconds(5);
/// A sign of life is recorded at most this often.
pub const HEARTBEAT_GRAIN: Millis = Millis::seconds(15);
/// How often a program that crashed is started again.
pub const RUN_RESTARTS_MAX: u32 = 3;
/// How long after a crash.
pub const RUN_RESTART_AFTER: Millis = Millis::seconds(2);
/// Agents that are started for ready tasks within a minute.
pub const RUN_STAFF_PER_MINUTE: usize = 4;
/// For how long nobody is started for a role whose agent ended at once; twice as long after each further one.
pub const RUN_STAFF_AGAIN_MIN: Millis = Millis::seconds(30);
/// And at most.
pub const RUN_STAFF_AGAIN_MAX: Millis = Millis::minutes(30);
/// One that ends sooner than this ended at once.
pub const RUN_STAFF_LIFE_MIN: Millis = Millis::minutes(1);
/// How long an agent that was started for a task stays without one, unless the settings say otherwise.
pub const RUN_STAFF_IDLE_MAX: Millis = Millis::minutes(10);
/// For how long nobody is started for a role whose agent somebody has stopped.
pub const RUN_STAFF_HOLD: Millis = Millis::minutes(10);
/// Runs that are over and still known.
pub const RUNS_OVER_MAX: usize = 100;
/// Bytes of the command or the prompt of a run.
pub const RUN_TEXT_BYTES_MAX: usize = 64 * 1_024;
/// Holders that one refusal lists.
pub const HOLDERS_SHOWN_MAX: usize = 8;
/// Files whose content one agent is remembered to know; the oldest are forgotten first.
pub const FILES_KNOWN_MAX: usize = 4_096;
pub const LETTER_BYTES_MAX: usize = 256 * 1_024;
/// Letters in one box that have not arrived.
pub const BOX_LETTERS_MAX: usize = 10_000;
/// Bytes of the letters in one box.
pub const BOX_BYTES_MAX: usize = 256 * 1_024 * 1_024;
/// Bytes of a subject or a title.
pub const SUBJECT_BYTES_MAX: usize = 512;
/// Characters of a thread's name.
pub const THREAD_CHARS_MAX: usize = 64;
/// Recipients that one letter names.
pub const RECIPIENTS_MAX: usize = 64;
/// The senders' own ids of letters that are remembered, all senders together.
pub const CLIENT_IDS_MAX: usize = 100_000;
/// How long an offer of mail may take to arrive before it is made again.
pub const MAIL_LEASE: Millis = Millis::seconds(10);
/// The shortest time in which an offer has to arrive.
pub const MAIL_LEASE_MIN: Millis = Millis(100);
/// The longest time in which an offer has to arrive.
pub const MAIL_LEASE_MAX: Millis = Millis::minutes(10);
/// Offers of one letter, after which it is put aside.
pub const OFFERS_MAX: u32 = 20;
/// Control messages that wait for one receiver.
pub const CONTROLS_MAX: usize = 1_000;
/// Control messages in one offer.
pub const CONTROLS_PER_OFFER_MAX: usize = 32;
/// The shortest time to answer a request to end.
pub const SHUTDOWN_WAIT_MIN: Millis = Millis::seconds(1);
/// The longest time to answer a request to end.
pub const SHUTDOWN_WAIT_MAX: Millis = Millis::hours(1);
/// Words in which an agent says what it did before it became idle.
pub const IDLE_SUMMARY_WORDS_MAX: usize = 10;
/// Decisions that are remembered, and that wait to be confirmed at a time.
pub const DECISIONS_MAX: usize = 1_000;
/// Bytes of the reasons for a decision.
pub const RATIONALE_BYTES_MAX: usize = 16 * 1_024;
/// Agents that are here at a time, unless it is set otherwise.
pub const AGENT_LIMIT: usize = 8;
/// The largest limit on agents that can be set.
pub const AGENT_LIMIT_MAX: usize = 20;
/// Tasks that have not ended, at a time.
pub const TASKS_OPEN_MAX: usize = 10_000;
/// Ended tasks that are remembered, besides those that open ones depend on.
pub const TASKS_ENDED_MAX: usize = 1_000;
/// Tasks declared by one ask.
pub const TASKS_PER_ASK_MAX: usize = 1_000;
/// Tasks that one task depends on.
pub const TASK_DEPENDENCIES_MAX: usize = 100;
/// Paths that one task names.
pub const TASK_FILES_MAX: usize = 64;
pub const TASK_TITLE_BYTES_MAX: usize = 200;
/// Bytes of a task's description, of evidence, or of the reason of a failure.
pub const TASK_TEXT_BYTES_MAX: usize = 16 * 1024;
/// Attempts at one task that came to nothing and are remembered.
pub const PAST_ATTEMPTS_MAX: usize = 10;
/// Bytes that are remembered of why one did.
pub const PAST_REASON_BYTES_MAX: usize = 2 * 1024;
/// Claimants of one task that may be lost; then it has failed.
pub const TASK_ATTEMPTS_MAX: u32 = RUN_RESTARTS_MAX + 1;
/// A task that was given by code goes to somebody else if it is not started within this time.
pub const TASK_START_MAX: Millis = Millis::minutes(2);
/// Tasks that a new one is compared with.
pub const SIMILAR_COMPARED_MAX: usize = 200;
/// Tasks that one is said to look like.
pub const SIMILAR_SHOWN_MAX: usize = 3;
/// Pools at a time.
pub const POOLS_MAX: usize = 64;
/// Slots of one pool.
pub const POOL_CAPACITY_MAX: usize = 1_000;
/// Places in the queue of one pool.
pub const POOL_PLACES_MAX: usize = 1_000;
/// How long a slot is kept for who asked for space.
pub const SLOT_RESERVATION_TTL: Millis = Millis::seconds(30);
/// The shortest one that the settings may ask for.
pub const SLOT_RESERVATION_MIN: Millis = Millis::seconds(1);
/// The longest one.
pub const SLOT_RESERVATION_MAX: Millis = Millis::seconds(3_600);
/// Slots that nobody is asked to go below, unless they are more than its share.
pub const SLOTS_KEPT_MIN: usize = 2;
/// Agents that may look at one slot besides its owner.
pub const SLOT_VIEWERS_MAX: usize = 16;
/// Somebody without a slot waits this long before an idle one of others is taken back for it.
pub const RECLAIM_AFTER: Millis = Millis::seconds(60);
/// A slot is idle after this long without any use.
pub const RECLAIM_IDLE: Millis = Millis::minutes(5);
/// How long a lease lasts.
pub const LEASE_TTL: Millis = Millis::hours(1);
/// The shortest time of a lease that can be asked for.
pub const LEASE_TTL_MIN: Millis = Millis::seconds(1);
/// The longest time of a lease that can be asked for.
pub const LEASE_TTL_MAX: Millis = Millis::hours(24);
/// Teams at a time.
pub const TEAMS_MAX: usize = 1_000;
/// Worktrees at a time.
pub const WORKTREES_MAX: usize = 1_000;
/// Agents that one report of a write without a lock names.
pub const CANDIDATES_MAX: usize = 8;
/// Characters of why a worktree is kept.
pub const KEPT_CHARS_MAX: usize = 2_000;
/// Paths that are remembered of a merge which conflicts.
pub const CONFLICT_PATHS_MAX: usize = 20;
/// Commits and merges at a time that are begun and not recorded.
pub const OPEN_MOVES_MAX: usize = 1_000;
/// Files of one commit that the ledger names.
pub const COMMIT_FILES_MAX: usize = 2_000;
/// How long a permission request waits for an answer, unless asked otherwise.
pub const PERMISSION_WAIT: Millis = Millis::minutes(5);
/// The shortest time that an answer is given.
pub const PERMISSION_WAIT_MIN: Millis = Millis(1);
/// The longest time that an answer is given.
pub const PERMISSION_WAIT_MAX: Millis = Millis::hours(1);
/// How long an answer stays for who asked and went on: an allow unused, a denial repeated.
pub const PERMISSION_KEPT: Millis = Millis::minutes(10);
/// Bytes of the input that a permission is asked for.
pub const PERMISSION_INPUT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of the line that says what a permission is about.
pub const PERMISSION_SUMMARY_BYTES_MAX: usize = 512;
/// Bytes of the name of a tool.
pub const PERMISSION_TOOL_BYTES_MAX: usize = 256;
/// Files that one call is judged by.
pub const PERMISSION_WRITES_MAX: usize = 1_000;
/// Commands of one command line that it is judged by.
pub const PERMISSION_PARTS_MAX: usize = 1_000;
/// Requests of one agent that are open at a time.
pub const PERMISSIONS_PER_AGENT_MAX: usize = 32;
/// Requests that wait at a time.
pub const PERMISSIONS_WAITING_MAX: usize = 256;
/// Settled requests that are remembered.
pub const PERMISSIONS_KEPT_MAX: usize = 1_000;
/// Permission rules at a time.
pub const PERMISSION_RULES_MAX: usize = 1_000;
pub const PLAN_BYTES_MAX: usize = 256 * 1024;
/// Bytes of what is said to a plan.
pub const PLAN_FEEDBACK_BYTES_MAX: usize = 16 * 1024;
/// Answered plans that are remembered.
pub const PLANS_KEPT_MAX: usize = 100;
