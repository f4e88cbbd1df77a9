//! How an operation continues after its first look at the world.

use comity_core::{Ask, Event, Principal, Refusal, Timestamp, World};
use serde_json::Value;

use crate::application::Application;
use crate::engine::When;
use crate::operation::Failure;

/// How an operation continues after its first look at the world.
pub enum Plan<Output> {
    Answer(Output),
    /// Another operation does it; its answer is the answer.
    Instead {
        operation: &'static str,
        input: Value,
    },
    /// The engine is asked, and the answer is made from its events.
    Change(Change<Output>),
}

/// Asks for the engine, and how to make the answer.
pub struct Change<Output> {
    /// In order; a refusal ends them, and the last one's events make the answer.
    pub(crate) asks: Vec<Ask>,
    /// Whose they are, if not the caller's.
    pub(crate) on_behalf_of: Option<Principal>,
    pub(crate) when: Option<When>,
    pub(crate) finish: Finish<Output>,
}

pub(crate) enum Finish<Output> {
    /// Within the batch, so that the world is as the events left it.
    InBatch(FromAnswer<Output>),
    /// On a worker's thread, because it may take long.
    OnWorker(FromEvents<Output>),
}

type FromAnswer<Output> = Box<dyn FnOnce(Result<Changed<'_>, Refusal>) -> Result<Output, Failure> + Send>;
type FromEvents<Output> = Box<dyn FnOnce(&Application, &[Event]) -> Result<Output, Failure> + Send>;

pub(crate) struct Changed<'a> {
    pub(crate) events: &'a [Event],
    pub(crate) world: &'a World,
    pub(crate) now: Timestamp,
}

impl<Output: 'static> Plan<Output> {
    /// Asks, and makes the answer from the events.
    pub fn change(
        asks: Vec<Ask>,
        finish: impl FnOnce(&[Event], &World, Timestamp) -> Output + Send + 'static,
    ) -> Plan<Output> {
        Plan::grant(asks, |events, world, now| Ok(finish(events, world, now)))
    }

    /// The same, but a repeat may come when what was given is gone: that is refused.
    pub fn grant(
        asks: Vec<Ask>,
        finish: impl FnOnce(&[Event], &World, Timestamp) -> Result<Output, Refusal> + Send + 'static,
    ) -> Plan<Output> {
        Plan::asking(
            asks,
            None,
            Finish::InBatch(Box::new(|outcome| {
                let Changed { events, world, now } = outcome?;
                Ok(finish(events, world, now)?)
            })),
        )
    }

    /// The same, but making the answer may take long.
    pub(crate) fn change_then(
        asks: Vec<Ask>,
        go_on: impl FnOnce(&Application, &[Event]) -> Result<Output, Failure> + Send + 'static,
    ) -> Plan<Output> {
        Plan::asking(asks, None, Finish::OnWorker(Box::new(go_on)))
    }

    /// Asks for somebody whom the door does not know; a refusal is an answer, too.
    pub fn judge(
        who: Principal,
        asks: Vec<Ask>,
        finish: impl FnOnce(Result<(), Refusal>) -> Output + Send + 'static,
    ) -> Plan<Output> {
        let finish = Finish::InBatch(Box::new(|outcome| Ok(finish(outcome.map(drop)))));
        Plan::asking(asks, Some(who), finish)
    }

    /// The asks wait until there is something to change, or the time is up.
    #[must_use]
    pub fn when(self, when: impl Into<Option<When>>) -> Plan<Output> {
        match self {
            Plan::Answer(_) | Plan::Instead { .. } => self,
            Plan::Change(change) => Plan::Change(Change { when: when.into(), ..change }),
        }
    }

    pub(crate) fn map<To: 'static>(
        self,
        turn: impl FnOnce(Output) -> Result<To, Failure> + Send + 'static,
    ) -> Result<Plan<To>, Failure> {
        Ok(match self {
            Plan::Answer(output) => Plan::Answer(turn(output)?),
            Plan::Instead { operation, input } => Plan::Instead { operation, input },
            Plan::Change(Change { asks, on_behalf_of, when, finish }) => {
                let finish = match finish {
                    Finish::InBatch(finish) => Finish::InBatch(Box::new(|outcome| turn(finish(outcome)?))),
                    Finish::OnWorker(go_on) => {
                        Finish::OnWorker(Box::new(|app, events| turn(go_on(app, events)?)))
                    }
                };
                Plan::Change(Change { asks, on_behalf_of, when, finish })
            }
        })
    }

    fn asking(asks: Vec<Ask>, on_behalf_of: Option<Principal>, finish: Finish<Output>) -> Plan<Output> {
        Plan::Change(Change { asks, on_behalf_of, when: None, finish })
    }
}
