//! Refusals about slots.

use std::fmt;

use serde::Serialize;

use super::PoolUse;
use crate::calls;
use crate::next_call::call;
use crate::refusal::{FeatureRefusal, RefusalKind};

/// No slot is free, or it is somebody else's.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum PoolRefusal {
    Full {
        full: Box<PoolUse>,
    },
    Ownership {
        #[serde(skip)]
        verb: String,
        #[serde(skip)]
        noun: &'static str,
        slot: u64,
        owner: SlotOwner,
    },
}

/// The owner of a slot, as shown.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SlotOwner {
    pub id: String,
    pub name: String,
}

impl FeatureRefusal for PoolRefusal {
    fn code(&self) -> &'static str {
        match self {
            PoolRefusal::Full { .. } => "pool_full",
            PoolRefusal::Ownership { .. } => "ownership",
        }
    }

    fn kind(&self) -> RefusalKind {
        match self {
            PoolRefusal::Full { .. } => RefusalKind::Conflict,
            PoolRefusal::Ownership { .. } => RefusalKind::Forbidden,
        }
    }

    fn hint(&self) -> String {
        match self {
            PoolRefusal::Full { full } => full.next_step(),
            PoolRefusal::Ownership { noun, owner, .. } => ask_owner(noun, owner),
        }
    }
}

/// The hint to take another slot, or ask the owner.
fn ask_owner(noun: &str, SlotOwner { id, name }: &SlotOwner) -> String {
    let own = match noun {
        "tab" => call(calls::TAB_OPEN, [("url", "URL".into())]),
        _ => call(calls::LEASE, [("pool", "POOL".into())]),
    };
    // The system and the human have only a name.
    let ask = match id == name {
        true => String::new(),
        false => {
            let to = [("to", [name.as_str()].into()), ("message", "TEXT".into())];
            format!(": {}", call(calls::MAIL_SEND, to))
        }
    };
    format!("this {noun} is {name}'s; take one of your own: {own}; or ask {name}{ask}")
}

impl fmt::Display for PoolRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PoolRefusal::Full { full } => full.fmt(f),
            PoolRefusal::Ownership { verb, noun, slot, owner } => {
                write!(f, "OWNERSHIP: Cannot {verb} {noun} {slot} (owned by {})", owner.id)
            }
        }
    }
}
