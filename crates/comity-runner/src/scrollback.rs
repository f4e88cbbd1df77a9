//! The last of what a program wrote to its terminal.

use std::collections::VecDeque;

/// Bytes of output that are kept for each program.
pub(crate) const SCROLLBACK_BYTES_MAX: usize = 256 * 1024;

#[derive(Default, Debug)]
pub(crate) struct Scrollback {
    bytes: VecDeque<u8>,
    /// How many bytes came before those that are kept.
    dropped: u64,
}

/// A piece of output and where the next one begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    pub bytes: Vec<u8>,
    /// Bytes that were asked for and are gone.
    pub missed: u64,
    /// Where to go on reading.
    pub next: u64,
    /// Whether nothing more comes.
    pub is_over: bool,
}

impl Scrollback {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let over = self.bytes.len().saturating_sub(SCROLLBACK_BYTES_MAX);
        self.bytes.drain(..over);
        self.dropped += over as u64;
    }

    /// What came since a position; 0 is the beginning.
    pub(crate) fn since(&self, position: u64) -> Output {
        let begin = position.max(self.dropped);
        let skip = usize::try_from(begin - self.dropped).unwrap_or(usize::MAX);
        Output {
            bytes: self.bytes.iter().skip(skip).copied().collect(),
            missed: self.dropped.saturating_sub(position),
            next: begin.max(self.dropped + self.bytes.len() as u64),
            is_over: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_and_readers_are_told_what_they_missed() {
        let mut scrollback = Scrollback::default();
        scrollback.push(b"one ");
        scrollback.push(b"two");
        assert_eq!(
            scrollback.since(4),
            Output { bytes: b"two".to_vec(), missed: 0, next: 7, is_over: false }
        );
        assert_eq!(scrollback.since(7), Output { bytes: Vec::new(), missed: 0, next: 7, is_over: false });
        scrollback.push(&vec![b'x'; SCROLLBACK_BYTES_MAX]);
        let all = scrollback.since(0);
        assert_eq!((all.bytes.len(), all.missed), (SCROLLBACK_BYTES_MAX, 7));
        assert_eq!(all.next, SCROLLBACK_BYTES_MAX as u64 + 7);
    }
}
