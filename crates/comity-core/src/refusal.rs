//! The expected kinds of no: typed, with a stable code, a sentence and a next step.

mod hint;
mod holder;

use std::fmt;

use crate::display::visible;
use crate::ids::AgentId;
use crate::limits::HOLDERS_SHOWN_MAX;
use crate::pools::PoolUse;
use crate::time::Millis;
use crate::wait_graph::Cycle;

pub use holder::HolderView;

/// A refusal. Nothing was changed.
#[derive(Clone, PartialEq, Debug)]
pub enum Refusal {
    /// Somebody else holds or waits for what was asked.
    Locked {
        /// The path as it was asked for.
        path: String,
        /// What else of it is not free.
        also: Vec<String>,
        /// All that was asked for, if that was more than the path.
        asked: Vec<String>,
        /// Who stands in the way.
        holders: Vec<HolderView>,
        /// How many asks wait for the same.
        waiting: usize,
    },
    /// The queue did not serve the ask in time.
    WaitTimedOut {
        waited: Millis,
        /// Who stands in the way.
        holders: Vec<HolderView>,
    },
    /// The wait was given up by the asker's side.
    WaitCancelled,
    /// Waiting would close a cycle.
    Deadlock(Box<Cycle>),
    /// The caller does not hold this.
    NotHeld {
        /// The path as it was given.
        path: String,
        /// What of it, or around it, the caller does hold.
        yours: Vec<String>,
        /// Who else holds it, if anybody.
        holders: Vec<HolderView>,
    },
    /// A guarded act with a fence that is not the current one.
    StaleFence {
        path: String,
        /// Who has it now, if anybody.
        holders: Vec<HolderView>,
    },
    /// A pattern that cannot be read.
    BadPattern {
        pattern: String,
        problem: String,
        hint: String,
    },
    /// A path that leaves the repository.
    OutsideRepository {
        path: String,
    },
    /// The caller is not in a repository.
    NotARepository {
        path: String,
    },
    /// Input that is not what the operation takes.
    BadInput {
        /// What is wrong, as a sentence.
        problem: String,
        hint: String,
    },
    /// A live agent has this name.
    NameTaken {
        name: String,
        agent: AgentId,
    },
    /// There is no such live agent.
    UnknownAgent {
        name: String,
        live: Vec<String>,
    },
    /// The agent has ended; its token is worth nothing any more.
    AgentEnded {
        name: String,
        cause: String,
    },
    /// A token that was never given out.
    BadToken,
    /// The tool call may not be made.
    Denied {
        reason: String,
        hint: String,
    },
    /// An act on a task by somebody whose claim is not the current one.
    StaleAttempt {
        task: String,
        /// Who has it now, if anybody.
        owner: Option<String>,
        /// The number of the current or next claim.
        attempt: u32,
    },
    /// Tasks would wait for each other in a circle.
    Cycle {
        /// The names around it, the first one repeated at its end.
        path: Vec<String>,
    },
    /// All slots of a pool are held or reserved.
    PoolFull(Box<PoolUse>),
    /// A slot of somebody else.
    Ownership {
        verb: String,
        /// What it is: a tab, a lease.
        noun: &'static str,
        slot: u64,
        /// The id of its owner, or who else it is.
        owner: String,
        /// What people call its owner.
        name: String,
    },
    Browser {
        code: &'static str,
        problem: String,
        hint: String,
    },
    /// The caller may not do this.
    NotAllowed {
        problem: String,
        hint: String,
    },
    /// Nothing proves who calls.
    Unproven {
        why: String,
    },
    /// Only a present human may do this.
    NotPresent {
        /// What would be done, as "release another's lock".
        act: &'static str,
        /// Why this is not presence.
        lacks: String,
    },
    /// The file was changed after the caller read it: writing all of it would lose that change.
    StaleRead {
        path: String,
        /// What changed since, if it is known.
        difference: Option<String>,
    },
    /// The idempotency key was used for another call.
    KeyReused,
    /// The client speaks another protocol than the server.
    OtherVersion {
        /// Which Comity the server is.
        server: String,
        client: String,
    },
    LimitReached {
        problem: String,
        hint: String,
    },
    /// There is no such operation, group or record.
    NotFound {
        problem: String,
        hint: String,
    },
}

impl Refusal {
    /// A pattern that cannot be read, and why.
    pub fn bad_pattern(pattern: &str, problem: &str, hint: &str) -> Refusal {
        Refusal::BadPattern { pattern: pattern.into(), problem: problem.into(), hint: hint.into() }
    }

    /// Input that is not what the operation takes, and why.
    pub fn bad_input(problem: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal::BadInput { problem: problem.into(), hint: hint.into() }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Locked { .. } => "locked",
            Refusal::WaitTimedOut { .. } => "wait_timed_out",
            Refusal::WaitCancelled => "wait_cancelled",
            Refusal::Deadlock(_) => "deadlock",
            Refusal::NotHeld { .. } => "not_held",
            Refusal::StaleFence { .. } => "stale_fence",
            Refusal::BadPattern { .. } => "bad_pattern",
            Refusal::OutsideRepository { .. } => "outside_repository",
            Refusal::NotARepository { .. } => "not_a_repository",
            Refusal::BadInput { .. } => "bad_input",
            Refusal::NameTaken { .. } => "name_taken",
            Refusal::UnknownAgent { .. } => "unknown_agent",
            Refusal::AgentEnded { .. } => "agent_ended",
            Refusal::BadToken => "bad_token",
            Refusal::StaleAttempt { .. } => "stale_attempt",
            Refusal::Cycle { .. } => "cycle",
            Refusal::PoolFull(_) => "pool_full",
            Refusal::Ownership { .. } => "ownership",
            Refusal::Browser { code, .. } => code,
            Refusal::NotAllowed { .. } => "not_allowed",
            Refusal::Denied { .. } => "denied",
            Refusal::Unproven { .. } => "unproven",
            Refusal::NotPresent { .. } => "not_present",
            Refusal::StaleRead { .. } => "stale_read",
            Refusal::KeyReused => "key_reused",
            Refusal::OtherVersion { .. } => "other_version",
            Refusal::LimitReached { .. } => "limit_reached",
            Refusal::NotFound { .. } => "not_found",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |holders: &[HolderView]| holders.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        match self {
            Refusal::Locked { path, also, holders, waiting, .. } => {
                let is_named =
                    |path: &String| holders.iter().any(|one| one.path == *path && one.state != "waiting");
                let paths: Vec<&String> = std::iter::once(path).chain(also).collect();
                match holders.len() == paths.len() && paths.iter().all(|path| is_named(path)) {
                    true => f.write_str(&list(holders))?,
                    false => {
                        let shown: Vec<&str> =
                            paths.iter().take(HOLDERS_SHOWN_MAX).map(|path| path.as_str()).collect();
                        let is = if paths.len() == 1 { "is" } else { "are" };
                        let more = match paths.len() - shown.len() {
                            0 => String::new(),
                            more => format!(" and {more} more"),
                        };
                        write!(f, "{}{more} {is} not free: {}", shown.join(", "), list(holders))?;
                    }
                }
                match waiting {
                    0 => Ok(()),
                    1 => f.write_str("; 1 ask waits for it"),
                    n => write!(f, "; {n} asks wait for it"),
                }
            }
            Refusal::WaitTimedOut { holders, .. } if holders.is_empty() => f.write_str("not granted in time"),
            Refusal::WaitTimedOut { waited, holders } => {
                write!(f, "not granted within {waited}: {}", list(holders))
            }
            Refusal::WaitCancelled => f.write_str("the wait was given up"),
            Refusal::Deadlock(cycle) => write!(f, "waiting would be a deadlock: {cycle}"),
            Refusal::NotHeld { path, yours, .. } if !yours.is_empty() => {
                write!(f, "you have no lock on {path} itself: you hold {}", yours.join(", "))
            }
            Refusal::NotHeld { path, holders, .. } if holders.is_empty() => {
                write!(f, "{path} is not locked, by you or anybody else")
            }
            Refusal::NotHeld { path, holders, .. } => {
                write!(f, "you hold no lock on {path}: {}", list(holders))
            }
            Refusal::StaleFence { path, holders } if holders.is_empty() => {
                write!(f, "your lock on {path} is no longer held")
            }
            Refusal::StaleFence { path, holders } => {
                write!(f, "your lock on {path} is no longer held: {}", list(holders))
            }
            Refusal::BadPattern { pattern, problem, .. } => {
                write!(f, "can't read {:?}: {problem}", &**pattern)
            }
            Refusal::OutsideRepository { path } => {
                write!(f, "{} is outside of the repository", visible(path))
            }
            Refusal::NotARepository { path } => write!(f, "{} is not in a git repository", visible(path)),
            Refusal::NameTaken { name, agent } => write!(f, "{name} is here already ({agent})"),
            Refusal::UnknownAgent { name, .. } => write!(f, "there is no agent {:?}", &**name),
            Refusal::AgentEnded { name, cause } => write!(f, "{name} has ended ({})", visible(cause)),
            Refusal::BadToken => f.write_str("this token is not known"),
            Refusal::StaleRead { path, difference } => {
                write!(f, "{} was changed after you read it", visible(path))?;
                match difference {
                    None => Ok(()),
                    Some(difference) => write!(f, ":\n{difference}"),
                }
            }
            Refusal::Unproven { why } => write!(f, "can't tell who you are: {}", visible(why)),
            Refusal::NotPresent { act, lacks } => {
                write!(f, "only a person at a terminal may {act}: {}", visible(lacks))
            }
            Refusal::Denied { reason, .. } => write!(f, "{}", visible(reason)),
            Refusal::StaleAttempt { task, owner: None, attempt } => {
                write!(f, "you do not have {task}; its next attempt is {attempt}")
            }
            Refusal::StaleAttempt { task, owner: Some(owner), attempt } => {
                write!(f, "{task} is claimed by {owner} (attempt {attempt}), not by this attempt of yours")
            }
            Refusal::PoolFull(pool) => pool.fmt(f),
            Refusal::Ownership { verb, noun, slot, owner, .. } => {
                write!(f, "OWNERSHIP: Cannot {verb} {noun} {slot} (owned by {owner})")
            }
            Refusal::Cycle { path } => write!(f, "tasks would wait for each other: {}", path.join(" -> ")),
            Refusal::KeyReused => {
                f.write_str("this idempotency key was used for another call, so nothing was done")
            }
            Refusal::OtherVersion { server, client } => {
                write!(f, "the server is Comity {server}, which does not understand {client}")
            }
            Refusal::BadInput { problem, .. }
            | Refusal::Browser { problem, .. }
            | Refusal::NotAllowed { problem, .. }
            | Refusal::LimitReached { problem, .. }
            | Refusal::NotFound { problem, .. } => f.write_str(problem),
        }
    }
}
