//! The ledger's sentences about pools.

use comity_core::display::{of_page, visible};
use comity_core::pools::{PlaceEnding, PoolEvent, TABS};
use comity_core::{Principal, World};

/// What happened, in a sentence; `by` did it.
pub(super) fn summary(by: &str, event: &PoolEvent, world: &World) -> String {
    let name = |who: &Principal| world.name_of(*who);
    let because = |text: &Option<Box<str>>| {
        text.as_deref().map(|text| format!(": {}", visible(text))).unwrap_or_default()
    };
    let pool = event.pool();
    match event {
        PoolEvent::Configured { capacity: 0, .. } => format!("the pool {pool} is closed"),
        PoolEvent::Configured { capacity, .. } => format!("the pool {pool} has {capacity}"),
        // What a tab is taken for is an address, and pages open tabs, too.
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
            format!("{by} lets slot {slot} of {pool} last {ttl} from now")
        }
        PoolEvent::Queued { who, wait: Some(wait), .. } => {
            format!("{} waits for a slot of {pool}, {wait} at most", name(who))
        }
        PoolEvent::Queued { who, wait: None, .. } => format!("{} asks for space in {pool}", name(who)),
        PoolEvent::Asked { holder, waiter, .. } => {
            format!("{} is asked for a slot of {pool}: {} waits", name(holder), name(waiter))
        }
        PoolEvent::Reserved { who, lasts, .. } => {
            format!("a slot of {pool} is reserved for {} for {lasts}", name(who))
        }
        PoolEvent::ReservationLapsed { who, .. } => {
            format!("{} did not use its reservation of {pool} in time, and is first in line", name(who))
        }
        PoolEvent::PlaceLeft { who, ending, .. } => {
            let how = match ending {
                PlaceEnding::Granted { slot } => {
                    return format!("{} was served with slot {slot} of {pool}", name(who));
                }
                PlaceEnding::TimedOut => "in vain",
                PlaceEnding::Cancelled => "no more: it gave up",
                PlaceEnding::AskerEnded => "no more: it ended",
                PlaceEnding::Lapsed => "no more: it did not use its second reservation in time",
                PlaceEnding::PoolClosed => "no more: the pool was closed",
                PlaceEnding::PoolShrunk => "no more: the pool was made smaller",
            };
            format!("{} waits for {pool} {how}", name(who))
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
            format!("{by} lets {} look at slot {slot} of {pool} no more", name(with))
        }
    }
}
