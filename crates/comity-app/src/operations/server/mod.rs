//! The server itself.

mod status;

use crate::catalog::{CatalogEntry, GET};
use crate::operation::AtTerminal;
pub use status::Status;

/// The operations, in the order in which people read them.
#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Status>("status", "status", GET, "/api/status").for_agents().at_terminal(AtTerminal::AsksWhoRuns),
];
