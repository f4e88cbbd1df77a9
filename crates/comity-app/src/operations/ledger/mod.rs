//! The ledger: read it, look back, verify it, summarize it.

mod alerts;
mod facts;
mod of_agent;
mod read;
mod replay;
mod summary;
mod verify;

pub use alerts::ListAlerts;
pub(in crate::operations) use of_agent::{is_join_of, newest_records};
pub(in crate::operations) use read::known_agent;
pub use read::{CANARY, ReadLog};
pub use replay::Replay;
pub use summary::Summarize;
pub use verify::Verify;

use crate::catalog::{CatalogEntry, GET, Group};
use crate::operation::AtTerminal;
use crate::span::Span;
use comity_core::Refusal;
use comity_core::calls;

pub(crate) const GROUPS: &[Group] = &[("log", "What happened")];

#[rustfmt::skip] // A table: a line for each.
pub(crate) const OPERATIONS: &[CatalogEntry] = &[
    CatalogEntry::of::<ReadLog>(   calls::LOG,   "log",        GET, "/api/coordination/activity").long().at_terminal(AtTerminal::ReadsPages).examples(&["log --since 10m --agent ann", "log --type lock_acquired --limit 20", "log --follow"]),
    CatalogEntry::of::<Replay>(    "log_replay", "log replay", GET, "/api/log/replay")           .long().examples(&["log replay --at 14:06", "log replay --at \"10 minutes ago\""]),
    CatalogEntry::of::<Verify>(    "log_verify", "log verify", GET, "/api/log/verify")           .long(),
    CatalogEntry::of::<Summarize>( "summary",    "summary",    GET, "/api/coordination/summary").watched(),
    CatalogEntry::of::<ListAlerts>("alerts",     "alerts",     GET, "/api/coordination/alerts").watched(),
];

/// A moment as people name it: a record's number, a time, or a span ago.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Moment {
    Seq(u64),
    Wall(i64),
}

/// Parses a moment: `1234`, `2026-11-15T10:00:00Z`, `2026-11-15 10:00`, `14:06`, `10m` or `10 minutes ago`.
fn moment(text: &str) -> Result<Moment, Refusal> {
    let text = text.trim();
    if let Ok(seq) = text.parse::<u64>() {
        return Ok(Moment::Seq(seq));
    }
    let now = crate::clock::wall_ms();
    let ago = text.strip_suffix("ago").map_or(text, str::trim_end);
    if let Ok(span) = in_short(ago).parse::<Span>() {
        return Ok(Moment::Wall(now - i64::try_from(span.0.0).unwrap_or(now)));
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(Moment::Wall(at.as_millisecond()));
    }
    let local = text
        .parse::<jiff::civil::DateTime>()
        .ok()
        .and_then(|at| at.to_zoned(crate::time_zone::current()).ok());
    // A time of the day last: a date and a time would be read as one, too.
    let time = || text.parse().ok().and_then(|time| latest(time, now));
    match local.map(|at| at.timestamp().as_millisecond()).or_else(time) {
        Some(at) => Ok(Moment::Wall(at)),
        None => Err(Refusal::bad_input(
            format!("can't read {text:?} as a time"),
            "try 14:06, \"10 minutes ago\", 10m, 2026-11-16T14:06 or the number of a log entry",
        )),
    }
}

/// Units as their first letters: `10 minutes` is `10m`.
fn in_short(text: &str) -> String {
    let unit = |word: &str| match word.strip_suffix('s').filter(|word| word.len() > 1).unwrap_or(word) {
        "second" | "sec" => "s".to_owned(),
        "minute" | "min" => "m".to_owned(),
        "hour" => "h".to_owned(),
        "day" => "d".to_owned(),
        "a" | "an" => "1".to_owned(),
        _ => word.to_owned(),
    };
    text.split_whitespace().map(unit).collect()
}

/// The last time that the clock showed this.
fn latest(time: jiff::civil::Time, now_ms: i64) -> Option<i64> {
    let now = jiff::Timestamp::from_millisecond(now_ms).ok()?.to_zoned(crate::time_zone::current());
    let today = now.date().to_datetime(time);
    let at = |day: jiff::civil::DateTime| Some(day.to_zoned(now.time_zone().clone()).ok()?.timestamp());
    let found = at(today)
        .filter(|at| *at <= now.timestamp())
        .or_else(|| at(today.checked_sub(jiff::Span::new().days(1)).ok()?))?;
    Some(found.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_as_people_write_them() {
        assert_eq!(moment("1234"), Ok(Moment::Seq(1234)));
        assert_eq!(moment("1970-01-01T00:00:01Z"), Ok(Moment::Wall(1_000)));
        assert!(matches!(moment("10m"), Ok(Moment::Wall(_))));
        let [Ok(Moment::Wall(ten)), Ok(Moment::Wall(noon))] =
            ["2020-02-03 10:00", "2020-02-03T12:00"].map(moment)
        else {
            panic!("dates with a time")
        };
        assert_eq!(noon - ten, 2 * 3_600_000);
        assert!((1_580_600_000_000..1_580_800_000_000).contains(&noon), "that day, and not today: {noon}");
        assert!(moment("yesterday-ish").is_err());
        let now = crate::clock::wall_ms();
        for ago in ["10 minutes ago", "10m ago", "10 min ago", "600 seconds ago", "600s"] {
            let Ok(Moment::Wall(at)) = moment(ago) else { panic!("{ago}") };
            assert!((now - 600_000 - 1_000..=now).contains(&at), "{ago}");
        }
        for (ago, ms) in [("an hour ago", 3_600_000), ("2 days ago", 2 * 86_400_000)] {
            let Ok(Moment::Wall(at)) = moment(ago) else { panic!("{ago}") };
            assert!((now - at - ms).abs() < 60_000, "{ago}");
        }
        for time in ["14:06", "00:00", "23:59:59"] {
            let Ok(Moment::Wall(at)) = moment(time) else { panic!("{time}") };
            assert!((0..=25 * 3_600_000).contains(&(crate::clock::wall_ms() - at)), "{time}");
        }
        let problem = moment("noon").expect_err("no time").to_string();
        assert!(problem.contains("can't read \"noon\" as a time"), "{problem}");
    }
}
