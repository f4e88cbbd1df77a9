//! Wall-clock times as text, as mailboxes have them: `2026-11-16T04:20:44.123Z`.

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    text(since.as_secs(), since.subsec_millis())
}

fn text(seconds: u64, millis: u32) -> String {
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date of a day since 1970. Years are counted from March, so a leap day is the last one of its year.
fn date(day: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    /// From the first of March of the year 0 until 1970.
    const DAYS_BEFORE: u64 = 719_468;
    let day = day + DAYS_BEFORE;
    let (era, day) = (day / DAYS_OF_400_YEARS, day % DAYS_OF_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + later, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        for (seconds, shown) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (68_169_599, "1972-02-28T23:59:59.007Z"),
            (68_169_600, "1972-02-29T00:00:00.007Z"),
            (951_868_800, "2000-03-01T00:00:00.007Z"),
            (1_798_761_599, "2026-12-31T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            assert_eq!(text(seconds, 7), shown);
        }
    }

    #[test]
    fn a_day_follows_the_day_before() {
        let mut before = date(0);
        for day in 1..200_000 {
            let (year, month, of_month) = date(day);
            let follows = (year, month, of_month) == (before.0, before.1, before.2 + 1)
                || (year, month, of_month) == (before.0, before.1 + 1, 1) && before.2 >= 28
                || (year, month, of_month) == (before.0 + 1, 1, 1) && (before.1, before.2) == (12, 31);
            assert!(follows, "{:?} after {before:?}", date(day));
            before = (year, month, of_month);
        }
    }
}
