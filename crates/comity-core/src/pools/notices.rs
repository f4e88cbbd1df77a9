//! Notices to agents about pools.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::display::{of_page, visible};
use crate::time::Millis;

/// A notice about a pool.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", deny_unknown_fields)]
pub enum PoolTold {
    /// A slot of this agent was freed without its doing.
    Freed {
        /// In words: the tab 7 ("docs").
        slot: String,
        how: String,
    },
    /// A tab of this agent was lost with its browser, and opened again.
    Reopened {
        slot: String,
        url: String,
    },
    /// This agent has more than its share, and somebody waits.
    SpaceWanted {
        pool: String,
        yours: usize,
        share: usize,
        waiter: String,
    },
    Reserved {
        pool: String,
        lasts: Millis,
    },
    ReservationLapsed {
        pool: String,
        in_line: bool,
    },
    /// A request is void because the pool was closed.
    Closed {
        pool: String,
    },
    Admitted {
        context: String,
        by: String,
    },
    Given {
        slot: String,
        by: String,
        reason: Option<String>,
    },
    Moved {
        slot: String,
        to: String,
        by: String,
    },
    Shared {
        slot: String,
        by: String,
    },
}

impl fmt::Display for PoolTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolTold::Freed { slot, how } => write!(f, "your {slot} {how}"),
            PoolTold::Reopened { slot, url } => write!(
                f,
                "the browser ended and was started again: your {slot} was loaded again ({}); what was typed there is lost, \
                 and references to its elements are stale",
                of_page(url)
            ),
            PoolTold::SpaceWanted { pool, yours, share, waiter } => write!(
                f,
                "{waiter} waits for a slot of {pool}; you have {yours}, and {share} would be your share: free what you \
                 do not need, or grant one"
            ),
            PoolTold::Reserved { pool, lasts } => {
                write!(f, "a slot of {pool} is reserved for you for {lasts}: take it now")
            }
            PoolTold::ReservationLapsed { pool, in_line: true } => write!(
                f,
                "your reservation of a slot of {pool} lapsed; you are still first in line, and the next one is the last"
            ),
            PoolTold::ReservationLapsed { pool, in_line: false } => write!(
                f,
                "your reservation of a slot of {pool} lapsed for the second time: you are no longer waiting, ask again if you \
                 need one"
            ),
            PoolTold::Closed { pool } => {
                write!(f, "the pool {pool} was closed, so you are no longer waiting for it")
            }
            PoolTold::Given { slot, by, reason } => {
                let because =
                    reason.as_deref().map(|text| format!(" (\"{}\")", visible(text))).unwrap_or_default();
                write!(f, "the {slot} was handed to you by {by}{because}")
            }
            PoolTold::Moved { slot, to, by } => write!(f, "your {slot} was handed to {to} by {by}"),
            PoolTold::Admitted { context, by } => {
                write!(f, "{by} lets you open tabs in the context {:?}", visible(context))
            }
            PoolTold::Shared { slot, by } => write!(f, "{by} lets you look at the {slot}"),
        }
    }
}
