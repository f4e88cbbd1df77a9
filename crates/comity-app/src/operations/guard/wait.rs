//! Wakes an idle agent: a hook waits in the background for something for it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use comity_core::mail::{OfferFilter, has_something};
use comity_core::{AgentId, Ask, World};

use super::mail;
use crate::engine::When;
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::operations::mail::Inbox;
use crate::span::Span;

/// Waits for what comes for an idle agent: what comity hook --wait asks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuardWait {
    /// Which hook it is: the last one that began waits, all others are done
    pub waiter: String,
    /// It begins to wait
    #[serde(default)]
    pub begins: bool,
    /// How long it waits now, such as 5m
    pub wait: Option<Span>,
}

/// What came.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AwaitedMail {
    /// Whether there is anything to wait for.
    pub goes_on: bool,
    /// What wakes the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What proves that it was written out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}

/// For each idle agent, the hook that waits.
#[derive(Default)]
pub(crate) struct IdleAgents(Mutex<BTreeMap<AgentId, String>>);

impl IdleAgents {
    fn begin(&self, agent: AgentId, waiter: &str) {
        self.all().insert(agent, waiter.to_owned());
    }

    /// The agent does something: from now on its other hooks deliver what comes for it.
    pub(crate) fn end(&self, agent: AgentId) {
        self.all().remove(&agent);
    }

    fn is_waiting(&self, agent: AgentId, waiter: &str) -> bool {
        self.all().get(&agent).is_some_and(|known| known == waiter)
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<AgentId, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Operation for GuardWait {
    type Output = AwaitedMail;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<AwaitedMail>, Failure> {
        let nothing = |goes_on| AwaitedMail { goes_on, text: None, proof: None };
        let (who, Some(agent)) = (caller.who, caller.who.agent()) else {
            return Ok(Plan::Answer(nothing(false)));
        };
        let GuardWait { waiter, begins, wait } = self;
        if begins {
            app.idle_agents().begin(agent, &waiter);
        } else if !app.idle_agents().is_waiting(agent, &waiter) {
            return Ok(Plan::Answer(nothing(false)));
        }
        let waiting = app.clone();
        let ready = move |world: &World| {
            waiting.idle_agents().is_waiting(agent, &waiter) && has_something(world, who, OfferFilter::All)
        };
        let when = wait.map(|wait| When {
            ready: Box::new(ready),
            until: app.engine().now().plus(wait.0.min(comity_core::limits::WAIT_MAX)),
        });
        let app = app.clone();
        let finish = move |events: &[comity_core::Event], world: &World, _| {
            let inbox = Inbox::of(events, world, who);
            match mail::proven(&app, who, inbox) {
                Some((text, proof)) => {
                    let text = app.wording_in(world, who).spell(&text).into_owned();
                    AwaitedMail { goes_on: true, text: Some(text), proof: Some(proof) }
                }
                None => nothing(true),
            }
        };
        Ok(Plan::change(vec![Ask::Mail(mail::ask())], finish).when(when))
    }
}

impl fmt::Display for AwaitedMail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.as_deref().unwrap_or("nothing came"))
    }
}
