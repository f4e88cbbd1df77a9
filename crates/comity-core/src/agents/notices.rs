//! Notices to leaders about their agents.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::display::visible;

/// A notice about an agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum AgentTold {
    /// An agent that the receiver leads has ended.
    #[serde(rename = "worker_ended")]
    WorkerEnded { name: String, how: String, cause: String },
}

impl fmt::Display for AgentTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AgentTold::WorkerEnded { name, how, cause } = self;
        write!(f, "{name}, which you lead, has ended ({how}: {})", visible(cause))
    }
}
