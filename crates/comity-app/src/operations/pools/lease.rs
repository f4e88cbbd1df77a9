//! Takes a lease.

use std::fmt;

use comity_core::pools::{PoolAsk, PoolEvent, Take};
use comity_core::{Ask, Event, Millis, Refusal, Timestamp, World};

use super::{LeaseView, must_be_leased, stored_reason};
use crate::operation::{Application, Caller, Deserialize, Failure, JsonSchema, Operation, Plan, Serialize};
use crate::pools;
use crate::span::Span;

/// Lease something scarce for a time, such as a port, a GPU or the build.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lease {
    /// The pool, as the settings name it
    pub pool: String,
    /// Wait in line up to this long (e.g. 30s)
    pub wait: Option<Span>,
    /// What it is for, so that others know
    pub reason: Option<String>,
    /// How long it lasts at most (1h)
    pub ttl: Option<Span>,
    /// End it with the process that asks
    #[serde(default)]
    #[schemars(skip)]
    pub while_running: bool,
}

/// The lease that was taken.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Leased {
    pub lease: LeaseView,
}

impl Operation for Lease {
    type Output = Leased;

    fn plan(self, app: &Application, caller: &Caller) -> Result<Plan<Leased>, Failure> {
        pools::take_up(app, caller);
        must_be_leased(&app.engine().world(), &self.pool)?;
        let process = caller.process().filter(|_| self.while_running);
        if self.while_running && process.is_none() {
            let problem = "nobody knows which process asks";
            return Err(Refusal::bad_input(problem, "ask through the local socket, or give a ttl").into());
        }
        let take = Take {
            pool: self.pool.as_str().into(),
            label: stored_reason(self.reason),
            wait: self.wait.map(|span| span.0).filter(|wait| *wait > Millis(0)),
            evict_oldest: false,
            ttl: self.ttl.map(|span| span.0),
            process,
            by_page: false,
        };
        let asks = vec![Ask::Pool(PoolAsk::Take(Box::new(take)))];
        Ok(Plan::grant(asks, leased))
    }
}

/// The lease as it is now. A repeat may come when it is over.
fn leased(events: &[Event], world: &World, now: Timestamp) -> Result<Leased, Refusal> {
    let taken = events.iter().find_map(|event| match event {
        Event::Pool(PoolEvent::Taken { slot, .. }) => world.pools.slot(*slot),
        _ => None,
    });
    match taken {
        Some((pool, slot)) => Ok(Leased { lease: LeaseView::of(pool, slot, world, now) }),
        None => {
            let problem = "the lease that this call took is over already".into();
            Err(Refusal::NotFound { problem, hint: "take another one, with a call of its own".into() })
        }
    }
}

impl fmt::Display for Leased {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lease = &self.lease;
        write!(f, "leased {} (lease {}){}", lease.pool, lease.id, lease.rest())
    }
}
