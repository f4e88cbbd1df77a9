//! Refusals about locks.

use std::fmt;

use serde::Serialize;

use super::holder::{HolderView, next_step};
use crate::calls;
use crate::limits::HOLDERS_SHOWN_MAX;
use crate::next_call::{Argument, call};
use crate::refusal::{FeatureRefusal, Refusal, RefusalKind};
use crate::time::Millis;

/// Somebody else is in the way, or the caller does not hold what it acts on.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum LockRefusal {
    Locked {
        /// As it was asked for.
        #[serde(skip)]
        path: String,
        /// Other paths that are not free.
        #[serde(skip)]
        also: Vec<String>,
        /// Everything that was asked for, if that was more than the path.
        #[serde(skip)]
        asked: Vec<String>,
        /// Who is in the way.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        holders: Vec<HolderView>,
        waiting: usize,
    },
    WaitTimedOut {
        #[serde(skip)]
        waited: Millis,
        /// Who is in the way.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        holders: Vec<HolderView>,
    },
    NotHeld {
        /// As given.
        #[serde(skip)]
        path: String,
        /// Locks of the caller within or around it.
        #[serde(skip)]
        yours: Vec<String>,
        /// Who else holds it, if anybody.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        holders: Vec<HolderView>,
    },
    StaleFence {
        #[serde(skip)]
        path: String,
        /// Who has it now, if anybody.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        holders: Vec<HolderView>,
    },
}

impl LockRefusal {
    /// The refusal because these are in the way.
    pub fn locked(path: String, holders: Vec<HolderView>, waiting: usize) -> Refusal {
        Refusal::Lock(LockRefusal::Locked { path, also: vec![], asked: vec![], holders, waiting })
    }
}

impl FeatureRefusal for LockRefusal {
    fn code(&self) -> &'static str {
        match self {
            LockRefusal::Locked { .. } => "locked",
            LockRefusal::WaitTimedOut { .. } => "wait_timed_out",
            LockRefusal::NotHeld { .. } => "not_held",
            LockRefusal::StaleFence { .. } => "stale_fence",
        }
    }

    fn kind(&self) -> RefusalKind {
        RefusalKind::Conflict
    }

    fn hint(&self) -> String {
        match self {
            LockRefusal::Locked { path, asked, holders, .. } => match asked.is_empty() {
                true => next_step(holders, std::slice::from_ref(path)),
                false => next_step(holders, asked),
            },
            LockRefusal::WaitTimedOut { holders, .. } => next_step(holders, &[]),
            LockRefusal::NotHeld { yours, .. } if !yours.is_empty() => {
                format!(
                    "to give that up: {}",
                    call(calls::UNLOCK, [("paths", Argument::List(yours.clone()))])
                )
            }
            LockRefusal::NotHeld { holders, .. } if holders.is_empty() => {
                format!("see what is held with: {}", call(calls::LOCKS, []))
            }
            LockRefusal::NotHeld { path, holders, .. } => {
                let agent = holders.iter().find(|holder| holder.agent.is_some());
                let from = agent.map_or("human", |holder| holder.holder.as_str());
                let from = [("paths", [path.as_str()].into()), ("from", from.into())];
                let release = call(calls::RELEASE, from);
                format!(
                    "only its holder can release it; if you lead the holder, or are a person, take it with: {release}"
                )
            }
            LockRefusal::StaleFence { path, .. } => {
                let lock = call(calls::LOCK, [("paths", [path.as_str()].into())]);
                format!("lock it again ({lock}) and look at what changed before you go on")
            }
        }
    }
}

impl fmt::Display for LockRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |holders: &[HolderView]| holders.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        match self {
            LockRefusal::Locked { path, also, holders, waiting, .. } => {
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
            LockRefusal::WaitTimedOut { holders, .. } if holders.is_empty() => {
                f.write_str("not granted in time")
            }
            LockRefusal::WaitTimedOut { waited, holders } => {
                write!(f, "not granted within {waited}: {}", list(holders))
            }
            LockRefusal::NotHeld { path, yours, .. } if !yours.is_empty() => {
                write!(f, "you have no lock on {path} itself: you hold {}", yours.join(", "))
            }
            LockRefusal::NotHeld { path, holders, .. } if holders.is_empty() => {
                write!(f, "{path} is not locked, by you or anybody else")
            }
            LockRefusal::NotHeld { path, holders, .. } => {
                write!(f, "you hold no lock on {path}: {}", list(holders))
            }
            LockRefusal::StaleFence { path, holders } if holders.is_empty() => {
                write!(f, "your lock on {path} is no longer held")
            }
            LockRefusal::StaleFence { path, holders } => {
                write!(f, "your lock on {path} is no longer held: {}", list(holders))
            }
        }
    }
}
