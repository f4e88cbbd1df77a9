//! Control messages: typed, and in a channel of their own. Text that looks like one stays text.

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

/// The number of a handshake; it ties an answer to its question.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HandshakeId(pub u64);

/// One control message, as its receiver gets it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Control {
    ShutdownRequest {
        request_id: HandshakeId,
        reason: Option<Box<str>>,
    },
    /// The agent that you asked to end agrees.
    ShutdownApproved {
        request_id: HandshakeId,
        agent: Box<str>,
        pane_id: Option<Box<str>>,
        backend_type: Option<Box<str>>,
    },
    /// The agent that you asked to end goes on.
    ShutdownRejected {
        request_id: HandshakeId,
        agent: Box<str>,
        reason: Box<str>,
    },
    /// The answer to your permission request.
    PermissionResponse {
        request_id: u64,
        tool: Box<str>,
        summary: Box<str>,
        decision: PermissionOutcome,
        reason: Option<Box<str>>,
    },
    /// An agent below you asks for a permission.
    PermissionRequest {
        request_id: u64,
        agent: Box<str>,
        tool: Box<str>,
        summary: Box<str>,
    },
    /// An agent below you submits a plan.
    PlanApprovalRequest {
        request_id: u64,
        agent: Box<str>,
        plan_file: Box<str>,
        plan_content: Box<str>,
    },
    /// The answer to your plan.
    PlanApprovalResponse {
        request_id: u64,
        approved: bool,
        mode: Option<Mode>,
        feedback: Option<Box<str>>,
    },
    ModeSet {
        mode: Mode,
        by: Box<str>,
    },
    /// A rule for your whole team has changed.
    TeamPermissionUpdate {
        team: Box<str>,
        rule: Box<str>,
    },
    /// An agent below you waits for work.
    IdleNotification {
        agent: Box<str>,
        idle_reason: IdleReason,
        summary: Box<str>,
        completed_task_id: Option<Box<str>>,
        completed_status: Option<Box<str>>,
    },
}

pub(crate) const MOST_URGENT: u8 = 0;

/// The answer to a permission request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionOutcome {
    Allowed,
    Denied,
    /// Nobody answered in time, which means no.
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

/// Asks about control messages.
#[derive(Clone, PartialEq, Debug)]
pub enum ControlAsk {
    RequestShutdown {
        agent: AgentId,
        reason: Option<Box<str>>,
        /// How long it has to answer; it is ended after that in any case.
        within: Millis,
    },
    /// Ends an agent at once, as if it had not answered.
    ForceShutdown {
        agent: AgentId,
        reason: Option<Box<str>>,
    },
    ApproveShutdown {
        request: HandshakeId,
        pane: Option<Box<str>>,
        backend: Option<Box<str>>,
    },
    RejectShutdown {
        request: HandshakeId,
        reason: Box<str>,
    },
    /// Tells the leader that the caller waits for work.
    ReportIdle {
        reason: IdleReason,
        summary: Box<str>,
        task: Option<Box<str>>,
        status: Option<Box<str>>,
    },
}

/// What happened to control messages.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlEvent {
    ShutdownRequested {
        request: HandshakeId,
        agent: AgentId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
        within: Millis,
    },
    ShutdownApproved {
        request: HandshakeId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        pane: Option<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        backend: Option<Box<str>>,
    },
    ShutdownRejected {
        request: HandshakeId,
        reason: Box<str>,
    },
    ShutdownOverdue {
        request: HandshakeId,
    },
    IdleReported {
        to: Principal,
        reason: IdleReason,
        summary: Box<str>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        task: Option<Box<str>>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        status: Option<Box<str>>,
    },
}

/// A request to end that is not answered yet.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shutdown {
    pub agent: AgentId,
    pub by: Principal,
    #[serde(default)]
    pub since: Timestamp,
    /// When the agent is ended in any case.
    pub until: Timestamp,
}

/// All open handshakes.
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
    /// Lower is more urgent.
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
