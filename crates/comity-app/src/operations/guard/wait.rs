//! Wakes an idle agent: a hook waits in the background for something for it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use comity_core::mail::{OfferFilter, has_something};
use comity_core::notices::{Notice, NoticeKind};
use comity_core::tasks::TaskTold;
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
pub(crate) struct IdleAgents(Mutex<BTreeMap<AgentId, Waiter>>);

struct Waiter {
    name: String,
    /// The last notice that has woken the agent: one that it was not told since wakes it no more.
    woken_by: u64,
}

impl IdleAgents {
    fn begin(&self, agent: AgentId, waiter: &str) {
        let mut all = self.all();
        let woken_by = all.get(&agent).map_or(0, |known| known.woken_by);
        all.insert(agent, Waiter { name: waiter.to_owned(), woken_by });
    }

    /// The agent does something: from now on its other hooks deliver what comes for it.
    pub(crate) fn end(&self, agent: AgentId) {
        self.all().remove(&agent);
    }

    fn is_waiting(&self, agent: AgentId, waiter: &str) -> bool {
        self.all().get(&agent).is_some_and(|known| known.name == waiter)
    }

    /// What was given to the agent, if that has not woken it yet.
    fn given(&self, world: &World, agent: AgentId) -> Option<Notice> {
        let woken_by = self.all().get(&agent)?.woken_by;
        let waiting = &world.agents.get(agent)?.notices;
        waiting.iter().rev().find(|notice| notice.id > woken_by && is_work(&notice.what)).cloned()
    }

    fn wakes(&self, agent: AgentId, by: u64) {
        if let Some(waiter) = self.all().get_mut(&agent) {
            waiter.woken_by = by;
        }
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<AgentId, Waiter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a notice is something to do.
fn is_work(notice: &NoticeKind) -> bool {
    use TaskTold::{Assigned, Failed, SentBack, ToReview};
    matches!(notice, NoticeKind::Task(Assigned { .. } | SentBack { .. } | ToReview { .. } | Failed { .. }))
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
            waiting.idle_agents().is_waiting(agent, &waiter)
                && (has_something(world, who, OfferFilter::All)
                    || waiting.idle_agents().given(world, agent).is_some())
        };
        let when = wait.map(|wait| When {
            ready: Box::new(ready),
            until: app.engine().now().plus(wait.0.min(comity_core::limits::WAIT_MAX)),
        });
        let app = app.clone();
        let finish = move |events: &[comity_core::Event], world: &World, _| {
            let inbox = Inbox::of(events, world, who);
            let spelled = |text: &str| Some(app.wording_in(world, who).spell(text).into_owned());
            if let Some((text, proof)) = mail::proven(&app, who, inbox) {
                return AwaitedMail { goes_on: true, text: spelled(&text), proof: Some(proof) };
            }
            match app.idle_agents().given(world, agent) {
                Some(notice) => {
                    app.idle_agents().wakes(agent, notice.id);
                    let text = spelled(&format!("Comity: {}", notice.what));
                    AwaitedMail { goes_on: true, text, proof: None }
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
