//! The language of the examples about pools: `bob takes build waiting 30s`, `ann frees 1`.

use comity_core::agents::Process;
use comity_core::pools::{
    FreeCause, Loss, PlaceEnding, PlaceState, PoolAsk, PoolEvent, PoolKind, SlotId, TabLocation, Take,
};
use comity_core::{Ask, Key, Millis, Principal, World};

use crate::script::{Stage, span};

/// What can be done with pools.
const VERBS: [&str; 15] = [
    "takes",
    "opens",
    "notes",
    "frees",
    "loses",
    "prolongs",
    "requests",
    "withdraws",
    "grants",
    "gives",
    "shares",
    "unshares",
    "reclaims",
    "enters",
    "admits",
];

/// The words of a line after its verb.
struct Words<'a>(Vec<&'a str>);

impl Words<'_> {
    fn after(&self, mark: &str) -> Option<&str> {
        let at = self.0.iter().position(|word| *word == mark)?;
        self.0.get(at + 1).copied()
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(&word)
    }

    fn span(&self, mark: &str) -> Option<Millis> {
        self.after(mark).map(span)
    }

    fn slot(&self) -> SlotId {
        SlotId(self.0[0].parse().expect("a slot"))
    }
}

/// Plays a line about pools; others are played as usual.
pub(super) fn play(stage: &mut Stage, line: &str) {
    let mut words = line.split_whitespace();
    let (name, verb) = (words.next().expect("a name"), words.next().unwrap_or_default());
    let words = Words(words.collect());
    if (name, verb) == ("show", "pool") {
        return show(stage, words.0[0]);
    }
    if name == "pool" {
        let kind = if words.has("tabs") { PoolKind::Tabs } else { PoolKind::Lease };
        let capacity = words.after("has").expect("has").parse().expect("a number");
        let ask = PoolAsk::Configure { pool: verb.into(), kind, capacity };
        stage.ask("comity", Principal::System, &Ask::Pool(ask), None);
        return;
    }
    if !VERBS.contains(&verb) {
        return stage.play(line);
    }
    let who = if name == "comity" { Principal::System } else { stage.who(name) };
    let pool: Box<str> = words.0.first().copied().unwrap_or_default().into();
    let ask = match verb {
        "takes" => PoolAsk::Take(Box::new(Take {
            pool,
            label: words.after("as").map(Into::into),
            wait: words.span("waiting"),
            evict_oldest: words.has("evicting"),
            ttl: words.span("for"),
            by_page: words.has("popping"),
            process: words.after("process").map(|pid| Process { pid: pid.parse().expect("a pid"), start: 1 }),
        })),
        "opens" => PoolAsk::MarkOpened { slot: words.slot() },
        "notes" => PoolAsk::Note {
            slot: words.slot(),
            at: Box::new(TabLocation {
                container: "c1".into(),
                context: None,
                url: words.after("at").expect("at").into(),
            }),
            reopened: words.has("again"),
        },
        "frees" => PoolAsk::Free { slot: words.slot(), reason: words.after("because").map(Into::into) },
        "loses" => PoolAsk::Lose { slot: words.slot(), loss: loss(words.0[1]) },
        "prolongs" => PoolAsk::Extend { slot: words.slot(), ttl: words.span("for").expect("a span") },
        "requests" => PoolAsk::Request { pool },
        "withdraws" => PoolAsk::CancelRequest { pool },
        "grants" => PoolAsk::Grant { pool },
        "gives" => PoolAsk::HandOver {
            slot: words.slot(),
            to: stage.who(words.after("to").expect("to")),
            reason: words.after("because").map(Into::into),
        },
        "shares" => {
            PoolAsk::Share { slot: words.slot(), with: stage.who(words.after("with").expect("with")) }
        }
        "unshares" => {
            PoolAsk::Unshare { slot: words.slot(), with: stage.who(words.after("with").expect("with")) }
        }
        "enters" => {
            PoolAsk::EnterContext { slot: words.slot(), context: words.after("into").expect("into").into() }
        }
        "admits" => PoolAsk::Admit {
            pool: "tabs".into(),
            whom: stage.who(words.0[0]),
            context: words.after("to").expect("to").into(),
        },
        "reclaims" => PoolAsk::Reclaim { slot: words.slot(), idle: words.span("idle").expect("a span") },
        other => panic!("nobody can do {other}"),
    };
    let key = words.after("key").and_then(Key::new);
    let grants = matches!(&ask, PoolAsk::Grant { .. }).then(|| words.0[0].to_owned());
    let refused =
        grants.and_then(|pool| comity_core::pools::why_not_granted(stage.world.pools.get(&pool)?, who));
    stage.said.extend(refused.map(|why| format!("{name} grants nothing: {why}")));
    stage.ask(name, who, &Ask::Pool(ask), key.as_ref());
}

fn loss(word: &str) -> Loss {
    match word {
        "closed" => Loss::ClosedByUser,
        "crashed" => Loss::PageCrashed,
        "browser" => Loss::BrowserDied,
        "unopened" => Loss::OpenFailed { why: "no such page".into() },
        "silent" => Loss::TimedOut,
        "process" => Loss::ProcessEnded,
        other => panic!("nothing is lost by {other}"),
    }
}

/// Who has what, and who waits.
fn show(stage: &mut Stage, name: &str) {
    let world = &stage.world;
    let Some(pool) = world.pools.get(name) else {
        stage.said.push(format!("no pool {name}"));
        return;
    };
    let slots: Vec<String> =
        pool.slots().map(|slot| format!("{} {}", slot.id, world.name_of(slot.owner))).collect();
    let places: Vec<String> = pool
        .places()
        .map(|place| {
            let how = match place.state {
                PlaceState::Waiting { .. } => "waits",
                PlaceState::Requested => "asked",
                PlaceState::Reserved { .. } => "may take",
            };
            format!("{} {how}", world.name_of(place.who))
        })
        .collect();
    let (used, capacity, share) = (pool.used(), pool.capacity, pool.fair_share());
    let (slots, places) = (slots.join(", "), places.join(", "));
    stage.said.push(format!("{name} {used}/{capacity}, share {share}: [{slots}] [{places}]"));
}

/// An event about pools, as a line.
pub(crate) fn told(world: &World, event: &PoolEvent) -> String {
    let name = |who: &Principal| world.name_of(*who);
    match event {
        PoolEvent::Configured { pool, capacity, .. } => format!("{pool} has {capacity}"),
        PoolEvent::Taken { pool, slot, owner, ticket, .. } => {
            let waited = ticket.map(|ticket| format!(" by {ticket:?}")).unwrap_or_default();
            format!("{} got {pool} {slot}{waited}", name(owner))
        }
        PoolEvent::Opened { slot, .. } => format!("{slot} is open"),
        PoolEvent::Noted { slot, at, reopened, .. } => {
            let again = if *reopened { " again" } else { "" };
            format!("{slot} is at {}{again}", at.url)
        }
        PoolEvent::Freed { pool, slot, owner, cause, .. } => {
            let how = match cause {
                FreeCause::GivenBack => "back".to_owned(),
                other => other.words(),
            };
            format!("{pool} {slot} of {}: {how}", name(owner))
        }
        PoolEvent::Extended { slot, ttl, .. } => format!("{slot} lasts {ttl}"),
        PoolEvent::Queued { pool, ticket, who, wait, asked, .. } => {
            let how = wait.map(|wait| format!("waits {wait}")).unwrap_or_else(|| "asks".into());
            let asked: Vec<String> = asked.iter().map(name).collect();
            format!("{} {how} for {pool} ({ticket:?}), asking [{}]", name(who), asked.join(", "))
        }
        PoolEvent::Asked { holder, waiter, .. } => format!("{} is asked for {}", name(holder), name(waiter)),
        PoolEvent::Reserved { pool, who, lasts, .. } => format!("{} may take {pool} for {lasts}", name(who)),
        PoolEvent::ReservationLapsed { who, .. } => format!("{} was too slow", name(who)),
        PoolEvent::PlaceLeft { who, ending, .. } => match ending {
            PlaceEnding::Granted { slot } => format!("{} has waited (slot {slot})", name(who)),
            PlaceEnding::TimedOut => format!("{} has waited in vain", name(who)),
            PlaceEnding::Cancelled => format!("{} gave up waiting", name(who)),
            PlaceEnding::AskerEnded => format!("{} waits no more", name(who)),
            PlaceEnding::Lapsed => format!("{} was too slow again", name(who)),
            PlaceEnding::PoolClosed => format!("{} waits for nothing", name(who)),
            PlaceEnding::PoolShrunk => format!("{} waits no longer: there is less", name(who)),
        },
        PoolEvent::HandedOver { slot, from, to, .. } => {
            format!("{slot} went from {} to {}", name(from), name(to))
        }
        PoolEvent::Shared { slot, with, .. } => format!("{} may see {slot}", name(with)),
        PoolEvent::ContextEntered { slot, context, .. } => format!("{slot} is in {context}"),
        PoolEvent::ContextOpened { context, to, .. } => format!("{} may enter {context}", name(to)),
        PoolEvent::Unshared { slot, with, .. } => format!("{} sees {slot} no more", name(with)),
    }
}
