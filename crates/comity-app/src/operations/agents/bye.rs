//! Ends an agent.

use std::fmt;

use comity_core::agents::{AgentAsk, AgentEvent, Ending};
use comity_core::locks::LockEvent;
use comity_core::{Ask, Event, Principal, Refusal};

use crate::catalog::next_call;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::agents::ListAgents;
use crate::operations::ledger::ListAlerts;

/// Say goodbye: end yourself, or the agent you name and everyone below it. Whatever they hold is released; uncommitted work stays locked for you or a leader.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bye {
    /// Name or id; yourself if you are an agent
    #[serde(alias = "agentId")]
    pub agent: Option<String>,
    /// Why, for the log
    pub reason: Option<String>,
    /// The agent crashed
    #[serde(default)]
    pub failed: bool,
}

/// Who was told to end, and all below.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Ended {
    /// Names, the topmost first.
    pub ended: Vec<String>,
    /// Locks that were given up; what has uncommitted work stays locked for whoever decides about it.
    pub released: usize,
    /// Whether some of them may stay locked: their files are looked at.
    #[serde(skip)]
    lapsed: bool,
}

impl Operation for Bye {
    type Output = Ended;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Ended>, Failure> {
        let world = app.engine().world();
        let agent = match (&self.agent, caller.who) {
            (Some(name), _) => world.agents.find(name)?.id,
            (None, Principal::Agent(own)) => own,
            (None, Principal::Human | Principal::System | Principal::Nobody) => {
                let (bye, list) = (next_call::<Bye>([("agent", "NAME".into())]), next_call::<ListAgents>([]));
                let hint = format!("{bye}; see who is here with: {list}");
                return Err(Refusal::bad_input("say which agent", hint).into());
            }
        };
        let is_own = caller.who == Principal::Agent(agent);
        let ending = match (self.failed, is_own) {
            (true, _) => Ending::Failed,
            (false, true) => Ending::Completed,
            (false, false) => Ending::Terminated,
        };
        let said = self.reason.map(|reason| comity_core::redact::redact(&reason).into_owned());
        let cause = said.unwrap_or_else(|| match is_own {
            true => "it said goodbye".into(),
            false => format!("ended by {}", world.name_of(caller.who)),
        });
        let finish = |events: &[Event], world: &comity_core::World, _| Ended {
            ended: events
                .iter()
                .filter_map(|event| match event {
                    Event::Agent(AgentEvent::Ended { agent, .. }) => {
                        Some(world.name_of(Principal::Agent(*agent)))
                    }
                    _ => None,
                })
                .collect(),
            released: events
                .iter()
                .filter(|event| {
                    matches!(
                        event,
                        Event::Lock(LockEvent::Released { .. }) | Event::Lock(LockEvent::Lapsed { .. })
                    )
                })
                .count(),
            lapsed: events.iter().any(|event| matches!(event, Event::Lock(LockEvent::Lapsed { .. }))),
        };
        Ok(Plan::change(vec![Ask::Agent(AgentAsk::End { agent, ending, cause: cause.into() })], finish))
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let locks = if self.released == 1 { "lock" } else { "locks" };
        write!(f, "{} ended, {} {locks} given up", self.ended.join(", "), self.released)?;
        match self.lapsed {
            true => f.write_str(&format!(
                "; uncommitted work stays locked for you or a leader: {}",
                next_call::<ListAlerts>([])
            )),
            false => Ok(()),
        }
    }
}
