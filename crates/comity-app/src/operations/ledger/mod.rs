//! The ledger: read it, look back, prove it, sum it up.

mod alerts;
mod read;
mod replay;
mod summary;
mod verify;

pub use alerts::ListAlerts;
pub use read::ReadLog;
pub use replay::Replay;
pub use summary::Summarize;
pub use verify::Verify;

use crate::catalog::{CatalogEntry, GET, Group};
use crate::operation::AtTerminal;
use comity_core::Refusal;

/// What the commands that begin with the same word are about.
pub(crate) const GROUPS: &[Group] = &[("log", "What happened")];

/// The operations, in the order in which people read them.
#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<ReadLog>(   "log",        "log",        GET, "/api/coordination/activity").long().at_terminal(AtTerminal::ReadsPages),
    CatalogEntry::of::<Replay>(    "log_replay", "log replay", GET, "/api/log/replay")           .long(),
    CatalogEntry::of::<Verify>(    "log_verify", "log verify", GET, "/api/log/verify")           .long(),
    CatalogEntry::of::<Summarize>( "summary",    "summary",    GET, "/api/coordination/summary"),
    CatalogEntry::of::<ListAlerts>("alerts",     "alerts",     GET, "/api/coordination/alerts"),
];

/// A moment that somebody names: a number of the log, a date and time, or a span ago.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Moment {
    Seq(u64),
    Wall(i64),
}

/// Reads a moment: `1234`, `2026-11-15T10:00:00Z`, `2026-11-15 10:00`, or `10m` (ago).
fn moment(text: &str) -> Result<Moment, Refusal> {
    let text = text.trim();
    if let Ok(seq) = text.parse::<u64>() {
        return Ok(Moment::Seq(seq));
    }
    if let Ok(span) = text.parse::<crate::span::Span>() {
        return Ok(Moment::Wall(crate::clock::wall_ms() - span.0.0 as i64));
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(Moment::Wall(at.as_millisecond()));
    }
    let local = text
        .parse::<jiff::civil::DateTime>()
        .ok()
        .and_then(|at| at.to_zoned(jiff::tz::TimeZone::system()).ok());
    match local {
        Some(at) => Ok(Moment::Wall(at.timestamp().as_millisecond())),
        None => Err(Refusal::bad_input(
            format!("{text:?} is no moment"),
            "give a number of the log, a time such as 2026-11-15T10:00:00Z, or a span ago such as 10m",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_as_people_write_them() {
        assert_eq!(moment("1234"), Ok(Moment::Seq(1234)));
        assert_eq!(moment("1970-01-01T00:00:01Z"), Ok(Moment::Wall(1_000)));
        assert!(matches!(moment("10m"), Ok(Moment::Wall(_))));
        assert!(matches!(moment("2026-11-15 10:00"), Ok(Moment::Wall(_))));
        assert!(moment("yesterday-ish").is_err());
    }
}
