//! Operations on pools of leases.

mod cancel;
mod extend;
mod free;
mod give;
mod grant;
mod lease;
mod list;
mod request;

use std::fmt;

use comity_core::calls;
use comity_core::display::visible;
use comity_core::pools::{Pool, PoolEvent, PoolKind, Slot, SlotId};
use comity_core::{Event, Millis, Principal, Refusal, Timestamp, World};
use schemars::JsonSchema;
use serde::Serialize;

pub use cancel::LeaseCancel;
pub use extend::LeaseExtend;
pub use free::LeaseFree;
pub use give::LeaseGive;
pub use grant::LeaseGrant;
pub use lease::Lease;
pub use list::ListLeases;
pub use request::LeaseRequest;

use super::locks::stored_reason;
use crate::catalog::next_call;
use crate::catalog::{CatalogEntry, GET, Group, POST};

pub(crate) const GROUPS: &[Group] = &[("lease", "Scarce things other than files")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Lease>(       calls::LEASE,         "lease <pool>",         POST, "/api/leases")        .changes().waits().for_agents().unlisted(&["ttl", "reason"]).examples(&["lease gpu --ttl 30m --wait 5m", "lease run build -- cargo build --release"]),
    CatalogEntry::of::<LeaseFree>(   "lease_free",    "lease release <lease>", POST, "/api/leases/free")   .changes().for_agents().unlisted(&["from", "reason"]).also(&["lease free", "lease give-back"]),
    CatalogEntry::of::<ListLeases>(  calls::LEASES,        "lease list <pool>",    GET,  "/api/leases").long().also(&["lease ls", "lease show", "pools"]),
    CatalogEntry::of::<LeaseExtend>( "lease_extend",  "lease extend <lease>", POST, "/api/leases/extend") .changes(),
    CatalogEntry::of::<LeaseGive>(   "lease_give",    "lease handover <lease>", POST, "/api/leases/give")   .changes().also(&["lease give"]),
    CatalogEntry::of::<LeaseRequest>(calls::LEASE_REQUEST, "lease request <pool>", POST, "/api/leases/request").changes(),
    CatalogEntry::of::<LeaseCancel>( "lease_cancel",  "lease cancel <pool>",  POST, "/api/leases/cancel") .changes(),
    CatalogEntry::of::<LeaseGrant>(  "lease_grant",   "lease grant <pool>",   POST, "/api/leases/grant")  .changes(),
];

/// A lease as everybody sees it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeaseView {
    pub id: u64,
    pub pool: String,
    pub holder: String,
    /// The holder's id, if it is an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For how long already.
    pub age_ms: u64,
    /// When its time runs out, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in_ms: Option<u64>,
    /// The process that it ends with, if it was taken for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The repository that its holder works in, where those of all are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

/// What was done with leases.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LeaseChange {
    pub done: &'static str,
    pub id: Option<u64>,
    pub pool: Option<String>,
}

impl LeaseView {
    fn of(pool: &Pool, slot: &Slot, world: &World, now: Timestamp) -> LeaseView {
        LeaseView {
            id: slot.id.0,
            pool: pool.name.to_string(),
            holder: world.name_of(slot.owner),
            agent: slot.owner.agent().map(|agent| agent.to_string()),
            reason: slot.label.as_deref().map(str::to_owned),
            age_ms: now.since(slot.since).0,
            expires_in_ms: slot.expires_at().map(|at| at.since(now).0),
            pid: slot.process.map(|process| process.pid),
            project: None,
        }
    }

    /// The reason in brackets, and until when.
    fn rest(&self) -> String {
        let reason =
            self.reason.as_deref().map(|text| format!(" (\"{}\")", visible(text))).unwrap_or_default();
        let until = match (self.expires_in_ms, self.pid) {
            (Some(left), _) => format!(" for {} more", Millis(left)),
            (None, Some(pid)) => format!(" as long as process {pid} runs"),
            (None, None) => String::new(),
        };
        format!("{reason}{until}")
    }
}

impl fmt::Display for LeaseView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = Millis(self.age_ms);
        write!(f, "lease {}: {} has {}{} ({age} so far)", self.id, self.holder, self.pool, self.rest())
    }
}

impl fmt::Display for LeaseChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.id, &self.pool) {
            (Some(id), Some(pool)) => write!(f, "{} lease {id} of {pool}", self.done),
            _ => f.write_str("nothing changed"),
        }
    }
}

/// The first lease in the events, with what was done with it.
fn changed(done: &'static str, events: &[Event]) -> LeaseChange {
    let found = events.iter().find_map(|event| match event {
        Event::Pool(
            PoolEvent::Freed { pool, slot, .. }
            | PoolEvent::Extended { pool, slot, .. }
            | PoolEvent::HandedOver { pool, slot, .. },
        ) => Some((slot.0, pool.to_string())),
        _ => None,
    });
    let (id, pool) = found.map_or((None, None), |(id, pool)| (Some(id), Some(pool)));
    LeaseChange { done, id, pool }
}

/// Tabs are slots of a pool, too, but a driver opens them: they have commands of their own.
fn must_be_leased(world: &World, name: &str) -> Result<(), Refusal> {
    match world.pools.get(name).map(|pool| pool.kind) {
        Some(PoolKind::Tabs) => Err(no_lease(format!("{name} are not leased"))),
        Some(PoolKind::Lease) | None => Ok(()),
    }
}

fn no_lease(problem: String) -> Refusal {
    Refusal::bad_input(problem, "tabs have commands of their own; see: comity --help")
}

/// The lease with this number, or the only one that the caller has of a pool.
fn meant(world: &World, who: Principal, name: &str) -> Result<SlotId, Refusal> {
    if let Ok(number) = name.parse().map(SlotId) {
        let is_tab = |(pool, _): (&Pool, &Slot)| pool.kind == PoolKind::Tabs;
        return match world.pools.slot(number).is_some_and(is_tab) {
            true => Err(no_lease(format!("{number} is a tab"))),
            false => Ok(number),
        };
    }
    must_be_leased(world, name)?;
    let own: Vec<String> = world
        .pools
        .get(name)
        .map(|pool| pool.slots_of(who).map(|slot| slot.id.to_string()).collect())
        .unwrap_or_default();
    match &own[..] {
        [one] => one.parse().map(SlotId).map_err(|_| nothing_of(world, name)),
        [] => Err(nothing_of(world, name)),
        several => Err(Refusal::bad_input(
            format!("you have {} leases of {name}", several.len()),
            format!("name one by its number: {}", several.join(", ")),
        )),
    }
}

fn nothing_of(world: &World, name: &str) -> Refusal {
    let hint = match world.pools.get(name) {
        Some(_) => format!("see who has it with: {}", next_call::<ListLeases>([])),
        None => those_that_exist(world),
    };
    Refusal::NotFound { problem: format!("you have no lease of {name:?}"), hint }
}

/// The pools of leases, by name.
fn those_that_exist(world: &World) -> String {
    let leased = world.pools.iter().filter(|pool| pool.kind == PoolKind::Lease);
    let names: Vec<&str> = leased.map(|pool| &*pool.name).collect();
    match names.is_empty() {
        true => "there are no pools; add one to your settings, such as [pools.build] with capacity = 1, then: comity restart"
            .to_owned(),
        false => format!("there are: {} (new ones in your settings take effect after: comity restart)", names.join(", ")),
    }
}
