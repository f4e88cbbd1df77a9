//! What a program does and has used, where it tells.

use std::fmt;

use comity_core::AgentId;
use comity_core::display::visible;
use comity_runner::{AcpActivity, AcpState, AcpUsage};
use schemars::JsonSchema;
use serde::Serialize;

use crate::application::Application;
use crate::usage::HookUsage;

/// What a program does and has used, where it tells: over ACP, or by hooks and transcripts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunActivity {
    /// starting, idle, working, waiting, blocked, silent, asking, interrupting or failed.
    pub doing: &'static str,
    /// What it does with a tool, or did last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_tool: Option<String>,
    /// Since something came from it.
    pub silent_ms: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Tokens in its context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_used: Option<u64>,
    /// Tokens that its context may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_size: Option<u64>,
    /// Such as 0.05 USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

impl From<AcpActivity> for RunActivity {
    fn from(activity: AcpActivity) -> Self {
        let AcpUsage { input_tokens, output_tokens, context, cost } = activity.usage;
        let amount =
            |millionths: u64| format!("{}.{:02}", millionths / 1_000_000, millionths % 1_000_000 / 10_000);
        Self {
            doing: match activity.state {
                AcpState::Starting => "starting",
                AcpState::Idle => "idle",
                AcpState::Working => "working",
                AcpState::Waiting => "asking",
                AcpState::Interrupting => "interrupting",
                AcpState::Failed => "failed",
            },
            last_tool: activity.last_tool,
            silent_ms: u64::try_from(activity.heard.elapsed().as_millis()).unwrap_or(u64::MAX),
            input_tokens,
            output_tokens,
            context_used: context.map(|(used, _)| used),
            context_size: context.map(|(_, size)| size),
            cost: cost.map(|cost| format!("{} {}", amount(cost.millionths), cost.currency)),
        }
    }
}

impl RunActivity {
    /// Of an agent, if there is one of these sources.
    pub(in crate::operations) fn of(app: &Application, agent: AgentId, doing: &'static str) -> Option<Self> {
        let runner = app.runs().runner();
        let over_acp = runner.and_then(|runner| runner.activity(&crate::runs::key(agent)).ok());
        over_acp.map(Self::from).or_else(|| {
            let HookUsage { heard, last_tool, used, .. } = app.usage().of(agent)?;
            Some(Self {
                doing,
                last_tool,
                silent_ms: u64::try_from(heard.elapsed().as_millis()).unwrap_or(u64::MAX),
                input_tokens: used.input,
                output_tokens: used.output,
                context_used: used.context,
                context_size: used.context_max,
                cost: None,
            })
        })
    }
}

/// `working (Write a.txt), context 6%, 0.05 USD`
impl fmt::Display for RunActivity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.doing)?;
        if let Some(tool) = self.last_tool.as_ref().filter(|_| self.doing != "idle") {
            write!(f, " ({})", visible(tool))?;
        }
        if let (Some(used), Some(size)) = (self.context_used, self.context_size.filter(|size| *size > 0)) {
            write!(f, ", context {}%", used.saturating_mul(100) / size)?;
        } else if let Some(used) = self.context_used {
            write!(f, ", context {}k tokens", used.div_ceil(1000))?;
        }
        if let Some(cost) = &self.cost {
            write!(f, ", {cost}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use comity_runner::AcpCost;

    use super::*;

    #[test]
    fn it_is_said_in_a_line() {
        let mut activity = AcpActivity {
            state: AcpState::Working,
            session: None,
            last_tool: Some("Write a.txt".into()),
            usage: AcpUsage::default(),
            heard: Instant::now(),
        };
        assert_eq!(RunActivity::from(activity.clone()).to_string(), "working (Write a.txt)");
        activity.state = AcpState::Idle;
        activity.usage.context = Some((12_000, 200_000));
        activity.usage.cost = Some(AcpCost { millionths: 1_059_999, currency: "USD".into() });
        assert_eq!(RunActivity::from(activity).to_string(), "idle, context 6%, 1.05 USD");
    }
}
