//! Commits of exactly what somebody has locked and changed.

mod again;
mod commit;
mod held;

use crate::catalog::{CatalogEntry, POST};
use comity_core::calls;
pub use commit::Commit;
pub(crate) use commit::{files, signed};

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Commit>(calls::COMMIT, "commit", POST, "/api/coordination/commits").changes().for_agents().long().writes_files().unlisted(&["hooks"]).examples(&["commit -m \"Fix the login\""]),
];
