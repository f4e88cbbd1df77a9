//! Decisions: what was settled and why, and what waits to be confirmed.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::calls;
use crate::checks::check_reason;
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::display::visible;
use crate::event::{Event, Record, durable, event_types};
use crate::features::{FeatureAsk, FeatureEvent};
use crate::ids::{AgentId, Principal};
use crate::limits::{DECISIONS_MAX, RATIONALE_BYTES_MAX, SUBJECT_BYTES_MAX};
use crate::next_call::call;
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::{Telling, because};
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
pub enum DecisionState {
    /// It is in force; nobody had to confirm it.
    Made,
    /// It waits for somebody above to confirm it.
    Pending,
    Confirmed {
        by: Principal,
        at: Timestamp,
    },
    Rejected {
        by: Principal,
        at: Timestamp,
        reason: Option<Box<str>>,
    },
}

/// What was decided, by whom, and whether it is in force.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub id: DecisionId,
    pub title: Box<str>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rationale: Option<Box<str>>,
    pub by: Principal,
    pub at: Timestamp,
    pub standing: DecisionState,
}

/// Asks about decisions.
#[derive(Clone, PartialEq, Debug)]
pub enum DecisionAsk {
    Decide { title: Box<str>, rationale: Option<Box<str>>, needs_confirmation: bool },
    Settle { id: DecisionId, confirm: bool, reason: Option<Box<str>> },
}

/// What happened to decisions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DecisionEvent {
    Made {
        id: DecisionId,
        title: Box<str>,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        rationale: Option<Box<str>>,
        pending: bool,
    },
    Confirmed {
        id: DecisionId,
    },
    Rejected {
        id: DecisionId,
        #[serde(skip_serializing_if = "Option::is_none", default)]
        reason: Option<Box<str>>,
    },
}

/// The newest decisions, and all pending ones.
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

    /// Oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Decision> {
        self.by_id.values()
    }

    fn pending(&self) -> usize {
        self.iter().filter(|decision| decision.standing == DecisionState::Pending).count()
    }
}

fn decide(world: &World, who: Principal, ask: &DecisionAsk) -> Result<Vec<Event>, Refusal> {
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
        return Err(Refusal::LimitReached {
            problem,
            hint: format!("see them with: {}", call(calls::DECISIONS, [])),
        });
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
        return Err(Refusal::NotFound {
            problem,
            hint: format!("see them with: {}", call(calls::DECISIONS, [])),
        });
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
            hint: "only the leader of whoever made it, or the human, can confirm a decision".into(),
        });
    }
    if decision.standing != DecisionState::Pending {
        let problem = format!("{id} does not wait to be confirmed");
        return Err(Refusal::bad_input(
            problem,
            format!("see where it stands with: {}", call(calls::DECISIONS, [])),
        ));
    }
    Ok(vec![Event::Decision(match confirm {
        true => DecisionEvent::Confirmed { id },
        false => DecisionEvent::Rejected { id, reason },
    })])
}

fn settled(world: &mut World, record: &Record, id: DecisionId, standing: DecisionState, how: &str) {
    let name = world.name_of(record.by);
    let Some(decision) = world.decisions.by_id.get_mut(&id) else { return };
    decision.standing = standing;
    let (maker, title) = (decision.by, decision.title.to_string());
    world.tell(
        maker,
        record.seq,
        DecisionTold::Settled { id: id.to_string(), title, how: how.into(), by: name },
    );
}

/// A notice about a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub enum DecisionTold {
    #[serde(rename = "decision_settled")]
    Settled { id: String, title: String, how: String, by: String },
}

impl fmt::Display for DecisionTold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DecisionTold::Settled { id, title, how, by } = self;
        write!(f, "your decision {id} (\"{}\") was {how} by {by}", visible(title))
    }
}

impl FeatureAsk for DecisionAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        Ok(decide(world, asker.who, self)?.into())
    }

    fn takes_presence(&self, _: &World) -> Option<&'static str> {
        match self {
            DecisionAsk::Settle { .. } => Some("confirm or reject a decision"),
            DecisionAsk::Decide { .. } => None,
        }
    }

    fn is_work(&self) -> bool {
        true
    }
}

event_types!(DecisionEvent {
    DecisionEvent::Made { .. } => durable("decision_made", "decision:made"),
    DecisionEvent::Confirmed { .. } => durable("decision_confirmed", "decision:confirmed"),
    DecisionEvent::Rejected { .. } => durable("decision_rejected", "decision:rejected"),
});

impl FeatureEvent for DecisionEvent {
    fn apply(&self, world: &mut World, record: &Record) {
        let (by, at) = (record.by, world.now);
        match self {
            DecisionEvent::Made { id, title, rationale, pending } => {
                let standing = if *pending { DecisionState::Pending } else { DecisionState::Made };
                let (title, rationale) = (title.clone(), rationale.clone());
                let decisions = &mut world.decisions;
                decisions.last = *id;
                decisions.by_id.insert(*id, Decision { id: *id, title, rationale, by, at, standing });
                if decisions.by_id.len() > DECISIONS_MAX {
                    let settled =
                        decisions.iter().find(|decision| decision.standing != DecisionState::Pending);
                    if let Some(oldest) = settled.map(|decision| decision.id) {
                        decisions.by_id.remove(&oldest);
                    }
                }
            }
            DecisionEvent::Confirmed { id } => {
                settled(world, record, *id, DecisionState::Confirmed { by, at }, "confirmed");
            }
            DecisionEvent::Rejected { id, reason } => {
                let standing = DecisionState::Rejected { by, at, reason: reason.clone() };
                settled(world, record, *id, standing, "turned down");
            }
        }
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        match self {
            DecisionEvent::Made { .. } => vec![],
            DecisionEvent::Confirmed { id } | DecisionEvent::Rejected { id, .. } => {
                agents(before.and_then(|world| world.decisions.get(*id)).map(|decision| decision.by))
            }
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let by = telling.by();
        match self {
            DecisionEvent::Made { id, title, pending: false, .. } => format!("{by} decided {id}: {title}"),
            DecisionEvent::Made { id, title, pending: true, .. } => format!("{by} proposes {id}: {title}"),
            DecisionEvent::Confirmed { id } => format!("{by} confirmed {id}"),
            DecisionEvent::Rejected { id, reason } => {
                format!("{by} turned {id} down{}", because(reason.as_deref()))
            }
        }
    }
}

/// There are no more than the limits allow.
pub(crate) fn check(world: &World) -> Result<(), String> {
    let (all, pending) = (world.decisions.iter().count(), world.decisions.pending());
    match all > DECISIONS_MAX {
        true => Err(format!("{all} decisions are remembered, {pending} of them pending")),
        false => Ok(()),
    }
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
