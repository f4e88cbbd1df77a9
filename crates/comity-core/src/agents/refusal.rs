//! Refusals about who an agent is.

use std::fmt;

use serde::Serialize;

use crate::calls;
use crate::display::visible;
use crate::ids::AgentId;
use crate::next_call::{NextCall, call};
use crate::refusal::{FeatureRefusal, RefusalKind};

/// Why somebody is not the agent that it says, or can't be.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum AgentRefusal {
    NameTaken {
        #[serde(skip)]
        name: String,
        #[serde(skip)]
        agent: AgentId,
    },
    Unknown {
        #[serde(skip)]
        name: String,
        live: Vec<String>,
    },
    /// The agent has ended, and its token is no longer valid.
    Ended {
        #[serde(skip)]
        name: String,
        #[serde(skip)]
        cause: String,
    },
    BadToken,
}

impl FeatureRefusal for AgentRefusal {
    fn code(&self) -> &'static str {
        match self {
            AgentRefusal::NameTaken { .. } => "name_taken",
            AgentRefusal::Unknown { .. } => "unknown_agent",
            AgentRefusal::Ended { .. } => "agent_ended",
            AgentRefusal::BadToken => "bad_token",
        }
    }

    fn kind(&self) -> RefusalKind {
        match self {
            AgentRefusal::NameTaken { .. } => RefusalKind::Conflict,
            AgentRefusal::Unknown { .. } => RefusalKind::NotFound,
            AgentRefusal::Ended { .. } | AgentRefusal::BadToken => RefusalKind::Forbidden,
        }
    }

    fn hint(&self) -> String {
        match self {
            AgentRefusal::NameTaken { name, .. } => {
                let bye = call(calls::AGENT_BYE, [("agent", name.as_str().into())]);
                format!("choose another name, or end that agent with: {bye}")
            }
            AgentRefusal::Unknown { live, .. } if live.is_empty() => {
                format!("no agent is here; one joins with: {}", join())
            }
            AgentRefusal::Unknown { live, .. } => format!("the agents here: {}", live.join(", ")),
            AgentRefusal::Ended { .. } => format!("join again with: {}", join()),
            AgentRefusal::BadToken => format!("set COMITY_TOKEN to what {} gave, or unset it", join()),
        }
    }
}

fn join() -> NextCall {
    call(calls::AGENT_JOIN, [("name", "NAME".into())])
}

impl fmt::Display for AgentRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentRefusal::NameTaken { name, agent } => write!(f, "{name} is here already ({agent})"),
            AgentRefusal::Unknown { name, .. } => write!(f, "there is no agent {:?}", &**name),
            AgentRefusal::Ended { name, cause } => write!(f, "{name} has ended ({})", visible(cause)),
            AgentRefusal::BadToken => f.write_str("this token is not known"),
        }
    }
}
