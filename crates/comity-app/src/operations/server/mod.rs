//! The server itself.

mod settings;
mod status;

use crate::catalog::{CatalogEntry, GET};
use crate::operation::{AtTerminal, HelpSection};
pub use settings::ShowSettings;
pub use status::Status;

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<Status>(      "status",   "status",   GET, "/api/status")  .at_terminal(AtTerminal::AsksWhoRuns).watched().under(HelpSection::GoingOn),
    CatalogEntry::of::<ShowSettings>("settings", "settings", GET, "/api/settings").also(&["config"]),
];
