//! Control messages as a feature: names, whom they concern, sentences.

use super::{ControlAsk, ControlEvent};
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::event::{Record, durable, event_types};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::{Telling, because};
use crate::world::World;

impl FeatureAsk for ControlAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        Ok(super::decide(world, asker.who, self)?.into())
    }

    fn takes_presence(&self, _: &World) -> Option<&'static str> {
        match self {
            ControlAsk::RequestShutdown { .. } | ControlAsk::ForceShutdown { .. } => {
                Some("shut an agent down")
            }
            ControlAsk::ApproveShutdown { .. }
            | ControlAsk::RejectShutdown { .. }
            | ControlAsk::ReportIdle { .. } => None,
        }
    }
}

event_types!(ControlEvent {
    ControlEvent::ShutdownRequested { .. } => durable("shutdown_requested", "shutdown:requested"),
    ControlEvent::ShutdownApproved { .. } => durable("shutdown_approved", "shutdown:approved"),
    ControlEvent::ShutdownRejected { .. } => durable("shutdown_rejected", "shutdown:rejected"),
    ControlEvent::ShutdownOverdue { .. } => durable("shutdown_overdue", "shutdown:overdue"),
    ControlEvent::IdleReported { .. } => durable("idle_reported", "agent:idle_reported"),
});

impl FeatureEvent for ControlEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        super::apply(world, record, self);
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        match self {
            ControlEvent::ShutdownRequested { agent, .. } => vec![*agent],
            ControlEvent::ShutdownApproved { request, .. }
            | ControlEvent::ShutdownRejected { request, .. }
            | ControlEvent::ShutdownOverdue { request } => {
                let shutdown = before.and_then(|world| world.shutdowns.get(*request));
                agents(
                    shutdown.into_iter().flat_map(|shutdown| [Principal::Agent(shutdown.agent), shutdown.by]),
                )
            }
            ControlEvent::IdleReported { to, .. } => agents([*to]),
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let by = telling.by();
        match self {
            ControlEvent::ShutdownRequested { request, agent, reason, .. } => {
                let (agent, why) = (telling.agent(*agent), because(reason.as_deref()));
                format!("{by} asked {agent} to end ({request}){why}")
            }
            ControlEvent::ShutdownApproved { request, .. } => format!("{by} agreed to end ({request})"),
            ControlEvent::ShutdownRejected { request, reason } => {
                format!("{by} declined to end ({request}): {reason}")
            }
            ControlEvent::ShutdownOverdue { request } => format!("nobody answered {request} in time"),
            ControlEvent::IdleReported { summary, .. } => format!("{by} is waiting for work: {summary}"),
        }
    }
}
