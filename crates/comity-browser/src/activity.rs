//! What a page has logged and loaded recently.

use std::collections::VecDeque;

/// Kept per tab.
pub(crate) const CONSOLE_MAX: usize = 200;
/// Kept per tab.
pub(crate) const NETWORK_MAX: usize = 200;
pub(crate) const CONSOLE_BYTES_MAX: usize = 4 * 1024;
pub(crate) const URL_BYTES_MAX: usize = 2 * 1024;

/// A line of a tab's console.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConsoleLine {
    /// Counts up within a tab; gaps say that lines were dropped.
    pub number: u64,
    /// `debug`, `info`, `warn` or `error`.
    pub level: String,
    pub text: String,
    /// In milliseconds since 1970.
    pub at_ms: u64,
    /// The script's address and line.
    pub source: Option<String>,
}

/// A request of a tab.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkRequest {
    /// Counts up within a tab.
    pub number: u64,
    pub(crate) id: String,
    pub method: String,
    pub url: String,
    /// In milliseconds since 1970.
    pub at_ms: u64,
    pub outcome: RequestOutcome,
}

/// What became of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RequestOutcome {
    Running,
    Answered {
        status: u16,
        mime: String,
        /// Bytes of the body, as received.
        bytes: u64,
        /// In milliseconds.
        took_ms: u64,
    },
    Failed {
        /// Firefox's name for the failure.
        error: String,
    },
    Blocked {
        rule: String,
    },
}

/// The last few of something.
#[derive(Clone, Debug)]
pub(crate) struct BoundedLog<T> {
    kept: VecDeque<T>,
    most: usize,
    next: u64,
}

impl<T> BoundedLog<T> {
    pub(crate) fn new(most: usize) -> BoundedLog<T> {
        BoundedLog { kept: VecDeque::new(), most, next: 1 }
    }

    pub(crate) fn push(&mut self, make: impl FnOnce(u64) -> T) {
        if self.kept.len() == self.most {
            self.kept.pop_front();
        }
        self.kept.push_back(make(self.next));
        self.next += 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.iter()
    }

    /// The newest that matches.
    pub(crate) fn newest_mut(&mut self, fits: impl Fn(&T) -> bool) -> Option<&mut T> {
        self.kept.iter_mut().rev().find(|item| fits(item))
    }

    pub(crate) fn clear(&mut self) {
        self.kept.clear();
    }
}

/// Truncates a text to a number of bytes, between characters, and says so.
pub(crate) fn cut(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let end = (0..=bytes_max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_and_the_numbers_tell() {
        let mut ring = BoundedLog::new(3);
        (0..5).for_each(|_| ring.push(|number| number));
        assert_eq!(ring.iter().copied().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(ring.newest_mut(|number| number % 2 == 1), Some(&mut 5));
        ring.clear();
        ring.push(|number| number);
        assert_eq!(ring.iter().copied().collect::<Vec<_>>(), [6]);
    }

    #[test]
    fn texts_are_cut_between_letters() {
        for (text, most, expected) in
            [("abc", 3, "abc"), ("abcd", 3, "abc…"), ("aä", 2, "a…"), ("漢", 1, "…")]
        {
            assert_eq!(cut(text, most), expected);
        }
    }
}
