//! Refusals: typed, with a stable code, a sentence and a next step.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::agents::AgentRefusal;
use crate::calls;
use crate::display::visible;
use crate::locks::LockRefusal;
use crate::next_call::call;
use crate::people::PersonRefusal;
use crate::permissions::CallDenied;
use crate::pools::PoolRefusal;
use crate::reads::StaleRead;
use crate::tasks::TaskRefusal;
use crate::wait_graph::Cycle;

/// A refusal. Nothing was changed.
#[derive(Clone, PartialEq, Debug)]
pub enum Refusal {
    Agent(AgentRefusal),
    Lock(LockRefusal),
    Permission(CallDenied),
    Person(PersonRefusal),
    Pool(PoolRefusal),
    Read(StaleRead),
    Task(TaskRefusal),
    /// The asker gave up.
    WaitCancelled,
    /// Waiting would close a cycle.
    Deadlock(Box<Cycle>),
    BadPattern {
        pattern: String,
        problem: String,
        hint: String,
    },
    OutsideRepository {
        path: String,
    },
    NotARepository {
        path: String,
    },
    BadInput {
        problem: String,
        hint: String,
    },
    /// A refusal of a driver, with a code of its own.
    Driver {
        code: &'static str,
        problem: String,
        hint: String,
    },
    NotAllowed {
        problem: String,
        hint: String,
    },
    KeyReused,
    OtherVersion {
        server: String,
        client: String,
    },
    LimitReached {
        problem: String,
        hint: String,
    },
    NotFound {
        problem: String,
        hint: String,
    },
}

/// The kind of a refusal, for programs that know none of the codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefusalKind {
    /// It may work later, or after something else.
    Conflict,
    BadInput,
    Forbidden,
    NotFound,
    TooMany,
}

/// A refusal of one feature. What it serializes to is told to programs besides the text.
pub(crate) trait FeatureRefusal: fmt::Display {
    /// A stable word for programs.
    fn code(&self) -> &'static str;

    fn kind(&self) -> RefusalKind;

    fn hint(&self) -> String;
}

impl Refusal {
    /// A refusal of a malformed pattern.
    pub fn bad_pattern(pattern: &str, problem: &str, hint: &str) -> Refusal {
        Refusal::BadPattern { pattern: pattern.into(), problem: problem.into(), hint: hint.into() }
    }

    /// A refusal of invalid input.
    pub fn bad_input(problem: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal::BadInput { problem: problem.into(), hint: hint.into() }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Agent(refusal) => refusal.code(),
            Refusal::Lock(refusal) => refusal.code(),
            Refusal::Permission(refusal) => refusal.code(),
            Refusal::Person(refusal) => refusal.code(),
            Refusal::Pool(refusal) => refusal.code(),
            Refusal::Read(refusal) => refusal.code(),
            Refusal::Task(refusal) => refusal.code(),
            Refusal::WaitCancelled => "wait_cancelled",
            Refusal::Deadlock(_) => "deadlock",
            Refusal::BadPattern { .. } => "bad_pattern",
            Refusal::OutsideRepository { .. } => "outside_repository",
            Refusal::NotARepository { .. } => "not_a_repository",
            Refusal::BadInput { .. } => "bad_input",
            Refusal::Driver { code, .. } => code,
            Refusal::NotAllowed { .. } => "not_allowed",
            Refusal::KeyReused => "key_reused",
            Refusal::OtherVersion { .. } => "other_version",
            Refusal::LimitReached { .. } => "limit_reached",
            Refusal::NotFound { .. } => "not_found",
        }
    }

    /// From which a door makes its own code.
    pub fn kind(&self) -> RefusalKind {
        match self {
            Refusal::Agent(refusal) => refusal.kind(),
            Refusal::Lock(refusal) => refusal.kind(),
            Refusal::Permission(refusal) => refusal.kind(),
            Refusal::Person(refusal) => refusal.kind(),
            Refusal::Pool(refusal) => refusal.kind(),
            Refusal::Read(refusal) => refusal.kind(),
            Refusal::Task(refusal) => refusal.kind(),
            Refusal::WaitCancelled
            | Refusal::Deadlock(_)
            | Refusal::Driver { .. }
            | Refusal::KeyReused
            | Refusal::OtherVersion { .. } => RefusalKind::Conflict,
            Refusal::BadPattern { .. }
            | Refusal::OutsideRepository { .. }
            | Refusal::NotARepository { .. }
            | Refusal::BadInput { .. } => RefusalKind::BadInput,
            Refusal::NotAllowed { .. } => RefusalKind::Forbidden,
            Refusal::LimitReached { .. } => RefusalKind::TooMany,
            Refusal::NotFound { .. } => RefusalKind::NotFound,
        }
    }

    pub fn hint(&self) -> String {
        match self {
            Refusal::Agent(refusal) => refusal.hint(),
            Refusal::Lock(refusal) => refusal.hint(),
            Refusal::Permission(refusal) => refusal.hint(),
            Refusal::Person(refusal) => refusal.hint(),
            Refusal::Pool(refusal) => refusal.hint(),
            Refusal::Read(refusal) => refusal.hint(),
            Refusal::Task(refusal) => refusal.hint(),
            Refusal::WaitCancelled => "ask again when you need it".into(),
            Refusal::Deadlock(cycle) if cycle.names.len() == 1 => {
                "you hold all of them; give one back first".into()
            }
            Refusal::Deadlock(_) => {
                let unlock = call(calls::UNLOCK, [("paths", ["PATH"].into())]);
                format!("release what the others wait for (a lock: {unlock}), then ask again")
            }
            Refusal::OutsideRepository { .. } => "give a path inside the repository you are in".into(),
            Refusal::NotARepository { .. } => "go to a git repository, or make one with: git init".into(),
            Refusal::KeyReused => {
                "use a new key for each call, and repeat a call with its own key and the same input".into()
            }
            Refusal::OtherVersion { .. } => {
                "restart the server with the newer of the two: comity restart; agents then connect again"
                    .into()
            }
            Refusal::BadPattern { hint, .. }
            | Refusal::BadInput { hint, .. }
            | Refusal::Driver { hint, .. }
            | Refusal::NotAllowed { hint, .. }
            | Refusal::LimitReached { hint, .. }
            | Refusal::NotFound { hint, .. } => hint.clone(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Agent(refusal) => refusal.fmt(f),
            Refusal::Lock(refusal) => refusal.fmt(f),
            Refusal::Permission(refusal) => refusal.fmt(f),
            Refusal::Person(refusal) => refusal.fmt(f),
            Refusal::Pool(refusal) => refusal.fmt(f),
            Refusal::Read(refusal) => refusal.fmt(f),
            Refusal::Task(refusal) => refusal.fmt(f),
            Refusal::WaitCancelled => f.write_str("the wait was given up"),
            Refusal::Deadlock(cycle) => write!(f, "waiting would be a deadlock: {cycle}"),
            Refusal::BadPattern { pattern, problem, .. } => {
                write!(f, "can't read {:?}: {problem}", &**pattern)
            }
            Refusal::OutsideRepository { path } => {
                write!(f, "{} is outside of the repository", visible(path))
            }
            Refusal::NotARepository { path } => write!(f, "{} is not in a git repository", visible(path)),
            Refusal::KeyReused => {
                f.write_str("this idempotency key was used for another call, so nothing was done")
            }
            Refusal::OtherVersion { server, client } => {
                write!(f, "the server is Comity {server}, which does not understand {client}")
            }
            Refusal::BadInput { problem, .. }
            | Refusal::Driver { problem, .. }
            | Refusal::NotAllowed { problem, .. }
            | Refusal::LimitReached { problem, .. }
            | Refusal::NotFound { problem, .. } => f.write_str(problem),
        }
    }
}

/// What programs are told besides the text.
impl Serialize for Refusal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Refusal::Agent(refusal) => refusal.serialize(serializer),
            Refusal::Lock(refusal) => refusal.serialize(serializer),
            Refusal::Permission(refusal) => refusal.serialize(serializer),
            Refusal::Person(refusal) => refusal.serialize(serializer),
            Refusal::Pool(refusal) => refusal.serialize(serializer),
            Refusal::Read(refusal) => refusal.serialize(serializer),
            Refusal::Task(refusal) => refusal.serialize(serializer),
            Refusal::Deadlock(cycle) => {
                let mut told = serializer.serialize_map(Some(2))?;
                told.serialize_entry("cycle", &cycle.around())?;
                told.serialize_entry("over", &cycle.over)?;
                told.end()
            }
            Refusal::WaitCancelled
            | Refusal::BadPattern { .. }
            | Refusal::OutsideRepository { .. }
            | Refusal::NotARepository { .. }
            | Refusal::BadInput { .. }
            | Refusal::Driver { .. }
            | Refusal::NotAllowed { .. }
            | Refusal::KeyReused
            | Refusal::OtherVersion { .. }
            | Refusal::LimitReached { .. }
            | Refusal::NotFound { .. } => serializer.serialize_map(Some(0))?.end(),
        }
    }
}
