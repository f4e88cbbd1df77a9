//! What has to be sent over one connection.

use std::cell::Cell;
use std::io::{self, Write};
use std::rc::Rc;

/// Room that is kept for the next answers.
const KEPT_BYTES: usize = 16 * 1024;

/// The bytes that wait for all connections together.
pub(crate) type QueuedBytes = Rc<Cell<usize>>;

/// Bytes that wait to be sent.
pub(crate) struct SendBuffer {
    bytes: Vec<u8>,
    sent: usize,
    queued: QueuedBytes,
}

impl SendBuffer {
    pub(crate) fn new(queued: QueuedBytes) -> SendBuffer {
        SendBuffer { bytes: Vec::new(), sent: 0, queued }
    }

    pub(crate) fn unsent(&self) -> usize {
        self.bytes.len() - self.sent
    }

    pub(crate) fn push(&mut self, line: &[u8]) {
        self.bytes.extend_from_slice(line);
        self.queued.set(self.queued.get() + line.len());
    }

    /// Sends as much as the socket takes; false if the other end is gone.
    #[must_use]
    pub(crate) fn flush(&mut self, to: &mut impl Write) -> bool {
        while self.unsent() > 0 {
            match to.write(&self.bytes[self.sent..]) {
                Ok(0) => return false,
                Ok(count) => {
                    self.sent += count;
                    self.queued.set(self.queued.get() - count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    // The buffer must not keep growing for a client that reads all the time but never catches up.
                    if self.sent > self.unsent() {
                        self.bytes.drain(..self.sent);
                        self.sent = 0;
                    }
                    return true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.sent = 0;
        true
    }
}

impl Drop for SendBuffer {
    fn drop(&mut self) {
        self.queued.set(self.queued.get() - self.unsent());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A socket that takes so much and no more.
    struct Slow(usize);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.min(bytes.len()) {
                0 => Err(io::ErrorKind::WouldBlock.into()),
                count => {
                    self.0 -= count;
                    Ok(count)
                }
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn who_never_catches_up_piles_nothing_up() {
        let queued = QueuedBytes::default();
        let mut output = SendBuffer::new(queued.clone());
        output.push(&[0; 1_000]);
        for _ in 0..10_000 {
            output.push(&[0; 1_000]);
            assert!(output.flush(&mut Slow(1_000)));
            assert_eq!((output.unsent(), queued.get()), (1_000, 1_000));
        }
        assert!(output.bytes.capacity() < 10_000, "{}", output.bytes.capacity());
        drop(output);
        assert_eq!(queued.get(), 0);
    }

    #[test]
    fn a_large_answer_leaves_no_large_buffer() {
        let mut output = SendBuffer::new(QueuedBytes::default());
        output.push(&[0; 1_000_000]);
        assert!(output.flush(&mut Slow(usize::MAX)));
        assert!(output.bytes.capacity() <= KEPT_BYTES, "{}", output.bytes.capacity());
    }
}
