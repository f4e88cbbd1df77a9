//! Control messages: typed, a channel of their own, never conversation. Text that looks like one stays text.

mod feature;
mod rules;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::ids::{AgentId, Principal};
use crate::roles::Mode;
use crate::time::{Millis, Timestamp};

pub(crate) use rules::{agent_ended, check, overdue, restore, tell};
use rules::{apply, decide};

/// The number of a control message in somebody's box.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ControlId(pub u64);

/// The number of a handshake; an answer finds its question by this alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HandshakeId(pub u64);

/// One control message, as its receiver gets it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Control {
    /// You are asked to end.
    ShutdownRequest { request_id: HandshakeId, reason: Option<Box<str>> },
    /// Who you asked to end agrees.
    ShutdownApproved {
        request_id: HandshakeId,
        agent: Box<str>,
        /// The pane it ran in.
        pane_id: Option<Box<str>>,
        backend_type: Option<Box<str>>,
    },
    /// Who you asked to end goes on.
    ShutdownRejected { request_id: HandshakeId, agent: Box<str>, reason: Box<str> },
    /// What came of a permission that you asked for.
    PermissionResponse {
        request_id: u64,
        tool: Box<str>,
        /// What it was to do, in short.
        summary: Box<str>,
        decision: PermissionOutcome,
        reason: Option<Box<str>>,
    },
    /// Somebody below you asks for a permission.
    PermissionRequest {
        request_id: u64,
        agent: Box<str>,
        tool: Box<str>,
        /// What it is to do, in short.
        summary: Box<str>,
    },
    /// Somebody below you shows you a plan.
    PlanApprovalRequest { request_id: u64, agent: Box<str>, plan_file: Box<str>, plan_content: Box<str> },
    /// What was said to your plan.
    PlanApprovalResponse {
        request_id: u64,
        /// Whether you may go on.
        approved: bool,
        /// The mode to go on in.
        mode: Option<Mode>,
        feedback: Option<Box<str>>,
    },
    /// Somebody above you changed your mode.
    ModeSet { mode: Mode, by: Box<str> },
    /// What your whole team may do, must ask for or may not do has changed.
    TeamPermissionUpdate { team: Box<str>, rule: Box<str> },
    /// Somebody below you waits for work.
    IdleNotification {
        agent: Box<str>,
        idle_reason: IdleReason,
        /// What it did, in a few words.
        summary: Box<str>,
        /// The task that it worked on.
        completed_task_id: Option<Box<str>>,
        completed_status: Option<Box<str>>,
    },
}

/// The urgency of what waits for nothing else.
pub(crate) const MOST_URGENT: u8 = 0;

/// What was said to a permission request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionOutcome {
    /// This exact call may be made, once.
    Allowed,
    /// It may not.
    Denied,
    /// Nobody answered in time, which is a no.
    Expired,
}

/// Why somebody is idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IdleReason {
    /// It is done and free.
    Available,
    Interrupted,
    Failed,
}

/// What can be asked on this channel.
#[derive(Clone, PartialEq, Debug)]
pub enum ControlAsk {
    /// Asks an agent to end.
    RequestShutdown {
        agent: AgentId,
        reason: Option<Box<str>>,
        /// How long it has to answer; after that it is ended all the same.
        within: Millis,
    },
    /// Ends an agent at once, as if it had not answered.
    ForceShutdown { agent: AgentId, reason: Option<Box<str>> },
    ApproveShutdown {
        request: HandshakeId,
        /// The pane it runs in.
        pane: Option<Box<str>>,
        backend: Option<Box<str>>,
    },
    /// Goes on, and says why.
    RejectShutdown { request: HandshakeId, reason: Box<str> },
    /// Tells the leader that the caller waits for work.
    ReportIdle {
        reason: IdleReason,
        /// What it did, in a few words.
        summary: Box<str>,
        /// The task that it worked on.
        task: Option<Box<str>>,
        status: Option<Box<str>>,
    },
}

/// What happened on this channel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlEvent {
    /// An agent was asked to end.
    ShutdownRequested {
        request: HandshakeId,
        agent: AgentId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
        /// How long it has to answer.
        within: Millis,
    },
    ShutdownApproved {
        request: HandshakeId,
        /// The pane it ran in.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pane: Option<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        backend: Option<Box<str>>,
    },
    ShutdownRejected {
        request: HandshakeId,
        reason: Box<str>,
    },
    /// It did not answer in time.
    ShutdownOverdue {
        request: HandshakeId,
    },
    /// An agent told its leader that it waits for work.
    IdleReported {
        to: Principal,
        reason: IdleReason,
        summary: Box<str>,
        /// The task that it worked on.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        task: Option<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        status: Option<Box<str>>,
    },
}

/// A shutdown that is not answered yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shutdown {
    pub agent: AgentId,
    pub by: Principal,
    /// When it was asked.
    #[serde(default)]
    pub since: Timestamp,
    /// When it is ended all the same.
    pub until: Timestamp,
}

/// All handshakes that are open.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shutdowns {
    pub(crate) last: HandshakeId,
    #[serde(with = "crate::snapshot::pairs")]
    pub(crate) open: BTreeMap<HandshakeId, Shutdown>,
}

impl Shutdowns {
    /// The open request with this number.
    pub fn get(&self, request: HandshakeId) -> Option<&Shutdown> {
        self.open.get(&request)
    }

    /// The open request to this agent.
    pub fn of(&self, agent: AgentId) -> Option<(HandshakeId, &Shutdown)> {
        self.open.iter().find(|(_, shutdown)| shutdown.agent == agent).map(|(id, shutdown)| (*id, shutdown))
    }
}

impl Control {
    /// What matters more comes first.
    pub(crate) fn urgency(&self) -> u8 {
        match self {
            Control::ShutdownRequest { .. } => MOST_URGENT,
            Control::PermissionResponse { .. }
            | Control::PlanApprovalResponse { .. }
            | Control::ModeSet { .. } => 1,
            Control::ShutdownApproved { .. }
            | Control::ShutdownRejected { .. }
            | Control::PermissionRequest { .. }
            | Control::PlanApprovalRequest { .. }
            | Control::TeamPermissionUpdate { .. }
            | Control::IdleNotification { .. } => 2,
        }
    }
}

impl fmt::Display for HandshakeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl FromStr for HandshakeId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix('r').and_then(|number| number.parse().ok()).map(HandshakeId).ok_or(())
    }
}
