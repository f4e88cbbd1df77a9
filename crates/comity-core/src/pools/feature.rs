//! Pools as a feature: names, whom events concern, sentences.

use super::{PlaceEnding, PoolAsk, PoolEvent, SlotId, TABS};
use crate::concerns::agents;
use crate::decide::AskResult;
use crate::display::{of_page, visible};
use crate::event::{Event, Record, event_types, live};
use crate::features::{FeatureAsk, FeatureEvent, FollowUp};
use crate::ids::{AgentId, Principal};
use crate::people::Asker;
use crate::refusal::Refusal;
use crate::sentence::Telling;
use crate::world::World;

/// Free slots go to the first in line.
pub(crate) const FOLLOW_UP: FollowUp =
    FollowUp { follows: |event| matches!(event, Event::Pool(_)), next: super::queue::next_service };

impl FeatureAsk for PoolAsk {
    fn decide(&self, world: &World, asker: &Asker) -> Result<AskResult, Refusal> {
        super::decide(world, asker.who, self)
    }

    fn takes_presence(&self, world: &World) -> Option<&'static str> {
        if let PoolAsk::Admit { pool, context, .. } = self {
            let maker = world.pools.get(pool).and_then(|pool| pool.maker_of(context));
            return maker.is_some_and(|maker| maker != Principal::Human).then_some("open another's context");
        }
        let (slot, act) = slot(self)?;
        let owner = world.pools.slot(slot).map(|(_, slot)| slot.owner);
        owner.is_some_and(|owner| owner != Principal::Human).then_some(act)
    }

    fn is_work(&self) -> bool {
        true
    }
}

event_types!(PoolEvent {
    PoolEvent::Configured { .. } => live("pool_configured", "pool:configured").housekeeping(),
    PoolEvent::Taken { .. } => live("slot_taken", "slot:taken"),
    PoolEvent::Opened { .. } => live("slot_opened", "slot:opened").housekeeping(),
    PoolEvent::Noted { .. } => live("slot_noted", "slot:noted").housekeeping(),
    PoolEvent::Freed { .. } => live("slot_freed", "slot:freed"),
    PoolEvent::Extended { .. } => live("slot_extended", "slot:extended"),
    PoolEvent::Queued { .. } => live("slot_queued", "slot:queued"),
    PoolEvent::Asked { .. } => live("slot_asked", "slot:asked"),
    PoolEvent::Reserved { .. } => live("slot_reserved", "slot:reserved"),
    PoolEvent::ReservationLapsed { .. } => live("slot_reservation_lapsed", "slot:reservation_lapsed"),
    PoolEvent::PlaceLeft { .. } => live("slot_place_left", "slot:place_left"),
    PoolEvent::HandedOver { .. } => live("slot_handed_over", "slot:handed_over"),
    PoolEvent::Shared { .. } => live("slot_shared", "slot:shared"),
    PoolEvent::ContextEntered { .. } => live("context_entered", "context:entered"),
    PoolEvent::ContextOpened { .. } => live("context_opened", "context:opened").housekeeping(),
    PoolEvent::Unshared { .. } => live("slot_unshared", "slot:unshared"),
});

impl FeatureEvent for PoolEvent {
    fn may_close_cycle(&self) -> bool {
        true
    }

    fn apply(&self, world: &mut World, record: &Record) {
        super::apply(world, record, self);
    }

    fn concerns(&self, before: Option<&World>) -> Vec<AgentId> {
        let owner = |slot: &SlotId| Some(before?.pools.slot(*slot)?.1.owner);
        match self {
            PoolEvent::Configured { .. } => vec![],
            PoolEvent::Taken { owner, .. } | PoolEvent::Freed { owner, .. } => agents([*owner]),
            PoolEvent::Opened { slot, .. }
            | PoolEvent::Noted { slot, .. }
            | PoolEvent::Extended { slot, .. } => agents(owner(slot)),
            PoolEvent::Queued { who, asked, .. } => agents(asked.iter().copied().chain([*who])),
            PoolEvent::Asked { holder, waiter, .. } => agents([*holder, *waiter]),
            PoolEvent::Reserved { who, .. }
            | PoolEvent::ReservationLapsed { who, .. }
            | PoolEvent::PlaceLeft { who, .. } => agents([*who]),
            // Its creator shares its logins.
            PoolEvent::ContextEntered { pool, context, who, .. } => {
                let maker = before.and_then(|world| world.pools.get(pool)?.maker_of(context));
                agents(maker.into_iter().chain([*who]))
            }
            PoolEvent::ContextOpened { maker, to, .. } => agents([*maker, *to]),
            PoolEvent::HandedOver { from, to, .. } => agents([*from, *to]),
            PoolEvent::Shared { slot, with, .. } | PoolEvent::Unshared { slot, with, .. } => {
                agents(owner(slot).into_iter().chain([*with]))
            }
        }
    }

    fn sentence(&self, telling: &Telling<'_>) -> String {
        let (by, name) = (telling.by(), |who: &Principal| telling.name(*who));
        let because = |text: &Option<Box<str>>| {
            text.as_deref().map(|text| format!(": {}", visible(text))).unwrap_or_default()
        };
        let pool = self.pool();
        match self {
            PoolEvent::Configured { capacity: 0, .. } => format!("the pool {pool} is closed"),
            PoolEvent::Configured { capacity, .. } => format!("the pool {pool} has {capacity}"),
            // A tab's label is an address, and pages open tabs, too.
            PoolEvent::Taken { slot, owner, label: Some(url), .. } if pool == TABS => {
                format!("{} took slot {slot} of {pool}: {}", name(owner), of_page(url))
            }
            PoolEvent::Taken { slot, owner, label, .. } => {
                format!("{} took slot {slot} of {pool}{}", name(owner), because(label))
            }
            PoolEvent::Opened { slot, .. } => format!("slot {slot} of {pool} is open"),
            PoolEvent::Noted { slot, at, reopened: false, .. } => {
                format!("slot {slot} of {pool} is at {}", of_page(&at.url))
            }
            PoolEvent::Noted { slot, at, reopened: true, .. } => {
                format!("slot {slot} of {pool} was opened again, at {}", of_page(&at.url))
            }
            PoolEvent::Freed { slot, owner, cause, .. } => {
                format!("slot {slot} of {pool}, {}'s, {}", name(owner), cause.words())
            }
            PoolEvent::Extended { slot, ttl, .. } => {
                format!("{by} extended slot {slot} of {pool} to {ttl} from now")
            }
            PoolEvent::Queued { who, wait: Some(wait), .. } => {
                let waits = telling.does(*who, "began to wait", "began to wait");
                format!("{waits} for a slot of {pool}, for up to {wait}")
            }
            PoolEvent::Queued { who, wait: None, .. } => format!("{} asked for space in {pool}", name(who)),
            PoolEvent::Asked { holder, waiter, .. } => {
                let waits = telling.does(*waiter, "is waiting", "are waiting");
                format!("asked {} for a slot of {pool}: {waits}", name(holder))
            }
            PoolEvent::Reserved { who, lasts, .. } => {
                format!("a slot of {pool} is reserved for {} for {lasts}", name(who))
            }
            PoolEvent::ReservationLapsed { who, .. } => {
                format!(
                    "the slot of {pool} kept for {} was not taken in time; first in line again",
                    name(who)
                )
            }
            PoolEvent::PlaceLeft { who, ending, .. } => {
                let how = match ending {
                    PlaceEnding::Granted { slot } => {
                        return format!("{} got slot {slot} of {pool}", name(who));
                    }
                    PlaceEnding::TimedOut => "the time was up",
                    PlaceEnding::Cancelled => "no longer needed",
                    PlaceEnding::AskerEnded => "ended",
                    PlaceEnding::Lapsed => "a second reservation was not used in time",
                    PlaceEnding::PoolClosed => "the pool was closed",
                    PlaceEnding::PoolShrunk => "the pool was made smaller",
                };
                format!("{} stopped waiting for {pool}: {how}", name(who))
            }
            PoolEvent::HandedOver { slot, from, to, reason, .. } => {
                format!(
                    "{by} handed slot {slot} of {pool} from {} to {}{}",
                    name(from),
                    name(to),
                    because(reason)
                )
            }
            PoolEvent::Shared { slot, with, .. } => {
                format!("{by} lets {} look at slot {slot} of {pool}", name(with))
            }
            PoolEvent::ContextEntered { slot, context, .. } => {
                format!("slot {slot} of {pool} is in the context {:?}", visible(context))
            }
            PoolEvent::ContextOpened { context, to, .. } => {
                format!("{by} lets {} into the context {:?} of {pool}", name(to), visible(context))
            }
            PoolEvent::Unshared { slot, with, .. } => {
                format!("{by} stopped sharing slot {slot} of {pool} with {}", name(with))
            }
        }
    }
}

/// The slot that the human would decide about, and what.
fn slot(ask: &PoolAsk) -> Option<(SlotId, &'static str)> {
    match ask {
        PoolAsk::Free { slot, .. } => Some((*slot, "take another's slot")),
        PoolAsk::Extend { slot, .. } => Some((*slot, "extend another's lease")),
        PoolAsk::HandOver { slot, .. } => Some((*slot, "hand over another's slot")),
        PoolAsk::Share { slot, .. } | PoolAsk::Unshare { slot, .. } => Some((*slot, "share another's tab")),
        PoolAsk::Configure { .. }
        | PoolAsk::Take(_)
        | PoolAsk::EnterContext { .. }
        | PoolAsk::Admit { .. }
        | PoolAsk::MarkOpened { .. }
        | PoolAsk::Note { .. }
        | PoolAsk::Lose { .. }
        | PoolAsk::Request { .. }
        | PoolAsk::CancelRequest { .. }
        | PoolAsk::Grant { .. }
        | PoolAsk::Reclaim { .. } => None,
    }
}
