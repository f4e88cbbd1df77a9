//! The time zone of whoever asks: times are read and shown in it.

use std::cell::RefCell;
use std::sync::Arc;

use jiff::tz::TimeZone;

/// The name of a time zone as a client gives it, such as `Europe/Vienna` or `CET-1CEST`.
pub type ZoneName = Arc<str>;

thread_local! {
    static ASKER: RefCell<Option<ZoneName>> = const { RefCell::new(None) };
}

/// Does something for an asker in this zone. Without one, it is that of this process.
pub(crate) fn within<T>(zone: Option<&ZoneName>, work: impl FnOnce() -> T) -> T {
    let Some(zone) = zone else { return work() };
    let _before = Restored(ASKER.replace(Some(zone.clone())));
    work()
}

/// What was before is so again, however the work ends.
struct Restored(Option<ZoneName>);

impl Drop for Restored {
    fn drop(&mut self) {
        ASKER.set(self.0.take());
    }
}

/// The zone of whoever asks.
pub(crate) fn current() -> TimeZone {
    let named = ASKER.with_borrow(|zone| zone.as_deref().and_then(known));
    named.unwrap_or_else(TimeZone::system)
}

fn known(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).or_else(|_| TimeZone::posix(name)).ok()
}

/// The zone of this process, for a server that may run in another one.
pub fn own() -> Option<String> {
    let set = std::env::var("TZ").ok().map(|name| name.trim_start_matches(':').to_owned());
    if let Some(name) = set.filter(|name| known(name).is_some()) {
        return Some(name);
    }
    let zone = TimeZone::system();
    match zone.iana_name() {
        Some(name) => Some(name.to_owned()),
        // It has no name, but at least a distance from UTC.
        None => {
            let minutes = zone.to_offset(jiff::Timestamp::now()).seconds() / 60;
            let sign = if minutes < 0 { '+' } else { '-' };
            Some(format!("<LOC>{sign}{}:{:02}", minutes.abs() / 60, minutes.abs() % 60))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_holds_for_the_work() {
        let hour = |zone: &str| {
            let zone: ZoneName = zone.into();
            within(Some(&zone), || jiff::Timestamp::UNIX_EPOCH.to_zoned(current()).hour())
        };
        assert_eq!((hour("UTC"), hour("JST-9"), hour("<LOC>-5:30"), hour("<LOC>+3")), (0, 9, 5, 21));
        let outer: ZoneName = "JST-9".into();
        let after = within(Some(&outer), || {
            hour("UTC");
            jiff::Timestamp::UNIX_EPOCH.to_zoned(current()).hour()
        });
        assert_eq!(after, 9);
        assert_eq!(hour("Nowhere/At_all"), jiff::Timestamp::UNIX_EPOCH.to_zoned(TimeZone::system()).hour());
    }

    #[test]
    fn the_own_zone_has_a_name_that_is_known() {
        assert!(known(&own().expect("a name")).is_some());
    }
}
