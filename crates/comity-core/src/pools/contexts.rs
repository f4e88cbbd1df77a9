//! Named contexts: cookies that several agents share. Its creator or the human says who else may come in.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::event::PoolEvent;
use super::table::Pool;
use super::{SlotId, rights, take};
use crate::calls;
use crate::display::visible;
use crate::event::Event;
use crate::ids::Principal;
use crate::limits::SLOT_VIEWERS_MAX;
use crate::next_call::{NextCall, call};
use crate::permissions::mode_of;
use crate::refusal::Refusal;
use crate::roles::Mode;
use crate::world::World;

/// A named context; it ends with its last slot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedContext {
    pub(crate) maker: Principal,
    /// Who else may come in.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", default)]
    pub(crate) admitted: BTreeSet<Principal>,
    pub(crate) slots: BTreeSet<SlotId>,
}

impl Pool {
    /// The creator of a context, while something is in it.
    pub(crate) fn maker_of(&self, context: &str) -> Option<Principal> {
        // A context from an earlier version is known by its slots alone.
        self.contexts.get(context).map(|known| known.maker).or_else(|| {
            let is_in = |slot: &&super::Slot| {
                slot.at.as_ref().is_some_and(|at| at.context.as_deref() == Some(context))
            };
            self.slots().find(is_in).map(|slot| slot.owner)
        })
    }

    fn is_let_into(&self, context: &str, who: Principal) -> bool {
        let is_in = |slot: &super::Slot| {
            slot.at.as_ref().is_some_and(|at| at.context.as_deref() == Some(context))
                || self.contexts.get(context).is_some_and(|known| known.slots.contains(&slot.id))
        };
        self.contexts.get(context).is_some_and(|known| known.admitted.contains(&who))
            || self.slots_of(who).any(is_in)
    }
}

/// Refuses anybody who may not use a context that somebody else made.
pub fn check_context(world: &World, pool: &Pool, who: Principal, context: &str) -> Result<(), Refusal> {
    let Some(maker) = pool.maker_of(context) else { return Ok(()) };
    match who {
        Principal::Agent(_) if maker != who && !pool.is_let_into(context, who) => {
            let (name, me) = (visible(context), world.name_of(who));
            Err(Refusal::NotAllowed {
                problem: format!(
                    "the context {name:?} was made by {}, and you were not let in",
                    world.name_of(maker)
                ),
                hint: format!(
                    "ask {} or the human for: {}; or use another name",
                    world.name_of(maker),
                    admission(context, &me)
                ),
            })
        }
        _ => Ok(()),
    }
}

/// A tab takes its context's cookies along, so only the context's creator may give one to somebody who is not
/// admitted.
pub(super) fn check_given(
    world: &World,
    pool: &Pool,
    who: Principal,
    slot: &super::Slot,
    to: Principal,
) -> Result<(), Refusal> {
    let entered =
        || pool.contexts.iter().find(|(_, known)| known.slots.contains(&slot.id)).map(|(name, _)| &**name);
    let noted = slot.at.as_ref().and_then(|at| at.context.as_deref());
    let Some(context) = noted.or_else(entered) else { return Ok(()) };
    let maker = pool.maker_of(context);
    let needs_consent = matches!(who, Principal::Agent(_)) && maker.is_some_and(|maker| maker != who);
    if !needs_consent || check_context(world, pool, to, context).is_ok() {
        return Ok(());
    }
    let (name, receiver) = (visible(context), world.name_of(to));
    Err(Refusal::NotAllowed {
        problem: format!("the tab is in the context {name:?}, and {receiver} was not let into that"),
        hint: format!("ask who made it, or the human, for: {}", admission(context, &receiver)),
    })
}

fn admission(context: &str, agent: &str) -> NextCall {
    call(calls::TAB_ADMIT, [("context", context.into()), ("agent", agent.into())])
}

pub(super) fn enter(
    world: &World,
    who: Principal,
    slot: SlotId,
    context: &str,
) -> Result<Vec<Event>, Refusal> {
    let (pool, slot) = rights::check_owner(world, who, slot, "open")?;
    check_context(world, pool, slot.owner, context)?;
    Ok(vec![Event::Pool(PoolEvent::ContextEntered {
        pool: pool.name.clone(),
        slot: slot.id,
        context: context.into(),
        who: slot.owner,
    })])
}

pub(super) fn admit(
    world: &World,
    who: Principal,
    pool: &str,
    context: &str,
    whom: Principal,
) -> Result<Vec<Event>, Refusal> {
    let pool = take::find(world, pool)?;
    rights::check_receiver(world, whom)?;
    let Some(maker) = pool.maker_of(context) else {
        let problem = format!("there is no context {:?}", visible(context));
        return Err(Refusal::NotFound { problem, hint: "a context exists as long as it has a tab".into() });
    };
    if let Principal::Agent(agent) = who
        && mode_of(world, agent) == Mode::Plan
    {
        return Err(Refusal::NotAllowed {
            problem: "you are in plan mode: you may look at pages, not let others into a context".into(),
            hint: "to act, submit your plan first".into(),
        });
    }
    if matches!(who, Principal::Agent(_)) && who != maker {
        return Err(Refusal::NotAllowed {
            problem: format!("the context {:?} was made by {}", visible(context), world.name_of(maker)),
            hint: format!("ask {} or the human to let others in", world.name_of(maker)),
        });
    }
    let admitted = pool.contexts.get(context).map(|known| &known.admitted);
    if maker == whom || admitted.is_some_and(|admitted| admitted.contains(&whom)) {
        return Ok(vec![]);
    }
    if admitted.is_some_and(|admitted| admitted.len() >= SLOT_VIEWERS_MAX) {
        let problem = format!("{SLOT_VIEWERS_MAX} others were let into it already");
        return Err(Refusal::LimitReached { problem, hint: "make another context".into() });
    }
    let (pool, context) = (pool.name.clone(), context.into());
    Ok(vec![Event::Pool(PoolEvent::ContextOpened { pool, context, maker, to: whom })])
}
