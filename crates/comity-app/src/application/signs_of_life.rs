//! Signs of life: each call of an agent is one, from its beginning to its answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use comity_core::agents::AgentAsk;
use comity_core::limits::HEARTBEAT_GRAIN;
use comity_core::{AgentId, Ask, Millis, Principal, Refusal};

use super::{Application, Responder};
use crate::engine::WaitPlace;
use crate::operation::{Caller, Failure, Rendered};

/// How many calls of each agent run outside of the engine. Each has a bound of its own.
#[derive(Clone, Default)]
pub(super) struct AtWork(Arc<Mutex<BTreeMap<AgentId, usize>>>);

impl AtWork {
    fn begin(&self, agent: AgentId) -> OngoingCall {
        *self.all().entry(agent).or_default() += 1;
        OngoingCall { at_work: self.clone(), agent }
    }

    fn has_call_of(&self, agent: AgentId) -> bool {
        self.all().contains_key(&agent)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<AgentId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running call; dropped when it ends.
struct OngoingCall {
    at_work: AtWork,
    agent: AgentId,
}

impl Drop for OngoingCall {
    fn drop(&mut self) {
        let mut all = self.at_work.all();
        if let Some(calls) = all.get_mut(&self.agent) {
            *calls -= 1;
            if *calls == 0 {
                all.remove(&self.agent);
            }
        }
    }
}

/// Answers a call that runs outside of the engine.
struct Working {
    responder: Box<dyn Responder>,
    begun: OngoingCall,
}

impl Responder for Working {
    fn parked(&mut self, waiting: WaitPlace) {
        self.responder.parked(waiting);
    }

    fn respond(self: Box<Self>, output: Result<Rendered, Failure>, notices: Vec<String>) {
        let Working { responder, begun } = *self;
        drop(begun);
        responder.respond(output, notices);
    }
}

impl Application {
    /// Keeps the caller alive until this responder has answered.
    pub(super) fn keep_alive(&self, caller: &Caller, responder: Box<dyn Responder>) -> Box<dyn Responder> {
        match caller.who {
            Principal::Agent(agent) => Box::new(Working { responder, begun: self.0.at_work.begin(agent) }),
            Principal::Human | Principal::System | Principal::Nobody => responder,
        }
    }

    /// Lets the engine ask who is working before it takes silence for death.
    pub(super) fn tell_who_is_at_work(&self) {
        let (at_work, parts) = (self.0.at_work.clone(), Arc::downgrade(&self.0));
        self.engine().ask_who_is_at_work(move |agent| {
            at_work.has_call_of(agent) || parts.upgrade().is_some_and(|parts| parts.watch.has_call_of(agent))
        });
    }

    /// Every command is a sign of life, which is recorded only now and then. Refuses agents that have ended.
    pub(super) fn heartbeat(&self, caller: &Caller) -> Result<(), Refusal> {
        let Principal::Agent(agent) = caller.who else { return Ok(()) };
        let (silence, is_heard) = {
            let (now, world) = (self.engine().now(), self.engine().world());
            let agent = world.agents.living(agent)?;
            (now.since(agent.seen), agent.silent_since_uptime.is_none())
        };
        // The first one after a start is always recorded: otherwise restarts in quick succession would add up to
        // silence.
        if is_heard && silence < HEARTBEAT_GRAIN && silence < self.shortest_hold(agent) {
            return Ok(());
        }
        self.engine().tell(Principal::System, vec![Ask::Agent(AgentAsk::Seen { agent })]);
        Ok(())
    }

    /// How soon a sign of life must be recorded, for locks that last shorter than it usually takes.
    fn shortest_hold(&self, agent: AgentId) -> Millis {
        let world = self.engine().world();
        let held =
            world.locks.live_of(Principal::Agent(agent)).filter(|lock| lock.expires_at(&world).is_some());
        held.map(|lock| Millis(lock.wanted.ttl.0 / 3)).min().unwrap_or(HEARTBEAT_GRAIN)
    }
}
