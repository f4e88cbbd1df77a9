//! Decisions: what was settled and why, and what waits for somebody else's yes.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::event::{Event, EventType, Record, durable};
use crate::ids::Principal;
use crate::limits::{DECISIONS_MAX, RATIONALE_BYTES_MAX, SUBJECT_BYTES_MAX};
use crate::locks::check_reason;
use crate::notices::Told;
use crate::refusal::Refusal;
use crate::teams::leads;
use crate::time::Timestamp;
use crate::world::World;

/// The number of a decision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DecisionId(pub u64);

/// Where a decision stands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase", deny_unknown_fields)]
pub enum Standing {
    /// It holds; nobody had to confirm it.
    Made,
    /// It waits for somebody above to confirm it.
    Pending,
    /// Somebody above confirmed it.
    Confirmed {
        /// Who.
        by: Principal,
        /// When.
        at: Timestamp,
    },
    /// Somebody above turned it down.
    Rejected {
        /// Who.
        by: Principal,
        /// When.
        at: Timestamp,
        /// Why.
        reason: Option<Box<str>>,
    },
}

/// One decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Its number.
    pub id: DecisionId,
    /// What, in a line.
    pub title: Box<str>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rationale: Option<Box<str>>,
    /// Who made it.
    pub by: Principal,
    /// When.
    pub at: Timestamp,
    /// Where it stands.
    pub standing: Standing,
}

/// What can be asked about decisions.
#[derive(Clone, PartialEq, Debug)]
pub enum DecisionAsk {
    /// Writes a decision down.
    Decide {
        /// What.
        title: Box<str>,
        /// Why.
        rationale: Option<Box<str>>,
        /// Whether somebody above has to confirm it.
        needs_confirmation: bool,
    },
    /// Confirms one, or turns it down.
    Settle {
        /// Which.
        id: DecisionId,
        /// Which way.
        confirm: bool,
        /// Why not.
        reason: Option<Box<str>>,
    },
}

/// What happened to decisions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DecisionEvent {
    /// One was made.
    Made {
        /// Its number.
        id: DecisionId,
        /// What.
        title: Box<str>,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rationale: Option<Box<str>>,
        /// Whether it waits to be confirmed.
        pending: bool,
    },
    /// One was confirmed.
    Confirmed {
        /// Which.
        id: DecisionId,
    },
    /// One was turned down.
    Rejected {
        /// Which.
        id: DecisionId,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
}

/// The newest decisions, and all that are pending.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decisions {
    last: DecisionId,
    #[serde(with = "crate::snapshot::pairs")]
    by_id: BTreeMap<DecisionId, Decision>,
}

impl Decisions {
    /// The decision with this number.
    pub fn get(&self, id: DecisionId) -> Option<&Decision> {
        self.by_id.get(&id)
    }

    /// All that are remembered, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Decision> {
        self.by_id.values()
    }

    fn pending(&self) -> usize {
        self.iter().filter(|decision| decision.standing == Standing::Pending).count()
    }
}

impl DecisionEvent {
    pub(crate) fn kind(&self) -> EventType {
        match self {
            DecisionEvent::Made { .. } => durable("decision_made", "decision:made"),
            DecisionEvent::Confirmed { .. } => durable("decision_confirmed", "decision:confirmed"),
            DecisionEvent::Rejected { .. } => durable("decision_rejected", "decision:rejected"),
        }
    }
}

pub(crate) fn decide(world: &World, who: Principal, ask: &DecisionAsk) -> Result<Vec<Event>, Refusal> {
    match ask {
        DecisionAsk::Decide { title, rationale, needs_confirmation } => {
            make(world, title, rationale.as_deref(), *needs_confirmation)
        }
        DecisionAsk::Settle { id, confirm, reason } => settle(world, who, *id, *confirm, reason.clone()),
    }
}

fn make(world: &World, title: &str, rationale: Option<&str>, pending: bool) -> Result<Vec<Event>, Refusal> {
    if title.trim().is_empty() || title.len() > SUBJECT_BYTES_MAX {
        let problem = "a decision needs a title";
        return Err(Refusal::bad_input(problem, format!("say it in 1 to {SUBJECT_BYTES_MAX} bytes")));
    }
    if rationale.is_some_and(|rationale| rationale.len() > RATIONALE_BYTES_MAX) {
        let problem = format!("the rationale is longer than {RATIONALE_BYTES_MAX} bytes");
        return Err(Refusal::bad_input(problem, "write it into a file and name that"));
    }
    if pending && world.decisions.pending() >= DECISIONS_MAX {
        let problem = format!("{DECISIONS_MAX} decisions wait to be confirmed already");
        return Err(Refusal::LimitReached { problem, hint: "see them with: comity decisions".into() });
    }
    let id = DecisionId(world.decisions.last.0 + 1);
    let (title, rationale) = (title.trim().into(), rationale.map(Into::into));
    Ok(vec![Event::Decision(DecisionEvent::Made { id, title, rationale, pending })])
}

fn settle(
    world: &World,
    who: Principal,
    id: DecisionId,
    confirm: bool,
    reason: Option<Box<str>>,
) -> Result<Vec<Event>, Refusal> {
    check_reason(reason.as_deref())?;
    let Some(decision) = world.decisions.get(id) else {
        let problem = format!("there is no decision {id}");
        return Err(Refusal::NotFound { problem, hint: "see them with: comity decisions".into() });
    };
    if decision.by == who && who != Principal::Human {
        return Err(Refusal::NotAllowed {
            problem: "nobody confirms a decision of their own".into(),
            hint: "your leader or the human does".into(),
        });
    }
    let is_above = match decision.by {
        Principal::Agent(agent) => leads(world, who, agent),
        Principal::Human | Principal::System | Principal::Nobody => who == Principal::Human,
    };
    if !is_above {
        return Err(Refusal::NotAllowed {
            problem: format!("you do not lead {}", world.name_of(decision.by)),
            hint: "a decision is confirmed by who leads its maker, or by the human".into(),
        });
    }
    if decision.standing != Standing::Pending {
        let problem = format!("{id} does not wait to be confirmed");
        return Err(Refusal::bad_input(problem, "see where it stands with: comity decisions"));
    }
    Ok(vec![Event::Decision(match confirm {
        true => DecisionEvent::Confirmed { id },
        false => DecisionEvent::Rejected { id, reason },
    })])
}

pub(crate) fn apply(world: &mut World, record: &Record, event: &DecisionEvent) {
    let (by, at) = (record.by, world.now);
    match event {
        DecisionEvent::Made { id, title, rationale, pending } => {
            let standing = if *pending { Standing::Pending } else { Standing::Made };
            let (title, rationale) = (title.clone(), rationale.clone());
            let decisions = &mut world.decisions;
            decisions.last = *id;
            decisions.by_id.insert(*id, Decision { id: *id, title, rationale, by, at, standing });
            if decisions.by_id.len() > DECISIONS_MAX {
                let settled = decisions.iter().find(|decision| decision.standing != Standing::Pending);
                if let Some(oldest) = settled.map(|decision| decision.id) {
                    decisions.by_id.remove(&oldest);
                }
            }
        }
        DecisionEvent::Confirmed { id } => {
            settled(world, record, *id, Standing::Confirmed { by, at }, "confirmed");
        }
        DecisionEvent::Rejected { id, reason } => {
            let standing = Standing::Rejected { by, at, reason: reason.clone() };
            settled(world, record, *id, standing, "turned down");
        }
    }
}

fn settled(world: &mut World, record: &Record, id: DecisionId, standing: Standing, how: &str) {
    let name = world.name_of(record.by);
    let Some(decision) = world.decisions.by_id.get_mut(&id) else { return };
    decision.standing = standing;
    let (maker, title) = (decision.by, decision.title.to_string());
    world.tell(
        maker,
        record.seq,
        Told::DecisionSettled { id: id.to_string(), title, how: how.into(), by: name },
    );
}

impl fmt::Display for DecisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d{}", self.0)
    }
}

impl FromStr for DecisionId {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_prefix('d').and_then(|number| number.parse().ok()).map(DecisionId).ok_or(())
    }
}
