//! The server itself.

mod status;

use crate::catalog::{Entry, GET};
pub use status::Status;

/// The operations, in the order in which people read them.
#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[Entry] = &[
    Entry::of::<Status>("status", "status", GET, "/api/status").for_agents(),
];
