//! The WebSocket to Firefox, split: one thread reads, everybody writes.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};

/// Bytes of one message: a picture of a long page in high resolution is the largest.
const MESSAGE_BYTES_MAX: usize = 256 * 1024 * 1024;
/// How long Firefox may take to read what is sent before it counts as dead.
const WRITE_MAX: Duration = Duration::from_secs(20);

/// Writes one message at a time.
#[derive(Debug)]
pub(crate) struct Sender {
    socket: Mutex<WebSocket<RetryingStream>>,
    stream: UnixStream,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    socket: WebSocket<OnlyReads>,
}

/// Opens the protocol over a connection; reading has a time limit until [`Receiver::be_patient`].
pub(crate) fn begin(stream: UnixStream, deadline: &Deadline) -> Result<(Sender, Receiver)> {
    let failed = |error: &dyn std::fmt::Display| {
        BrowserError::not_started(format!("its WebSocket can't be used: {error}"))
    };
    let limit = deadline.left().max(Duration::from_millis(1));
    let halves = || -> io::Result<(UnixStream, UnixStream)> {
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(WRITE_MAX))?;
        Ok((stream.try_clone()?, stream.try_clone()?))
    };
    let (writes, reads) = halves().map_err(|error| failed(&error))?;
    let config = || {
        Some(
            WebSocketConfig::default()
                .max_message_size(Some(MESSAGE_BYTES_MAX))
                .max_frame_size(Some(MESSAGE_BYTES_MAX)),
        )
    };
    let (writer, _) =
        tungstenite::client::client_with_config("ws://localhost/", RetryingStream(writes), config())
            .map_err(|error| failed(&error))?;
    // Firefox sends nothing unasked, so the handshake has left no bytes behind.
    let reader = WebSocket::from_raw_socket(OnlyReads(reads), Role::Client, config());
    Ok((Sender { socket: Mutex::new(writer), stream }, Receiver { socket: reader }))
}

impl Sender {
    pub(crate) fn send(&self, text: String) -> Result<()> {
        self.write(Message::Text(text.into()))
    }

    /// Closes the connection; the reader sees it at once.
    pub(crate) fn hang_up(&self) {
        let _already_gone = self.stream.shutdown(std::net::Shutdown::Both);
    }

    fn write(&self, message: Message) -> Result<()> {
        self.locked().send(message).map_err(|_| {
            // Half a message may have been sent, so nothing more can be.
            self.hang_up();
            BrowserError::Died
        })
    }

    fn locked(&self) -> MutexGuard<'_, WebSocket<RetryingStream>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    /// From now on, waits for each message as long as it takes.
    pub(crate) fn be_patient(&self) -> io::Result<()> {
        self.socket.get_ref().0.set_read_timeout(None)
    }

    /// The next message; `None` once the connection has ended.
    pub(crate) fn next(&mut self, sender: &Sender) -> Option<String> {
        loop {
            match self.socket.read().ok()? {
                Message::Text(text) => return Some(text.as_str().to_owned()),
                Message::Ping(payload) => sender.write(Message::Pong(payload)).ok()?,
                Message::Close(_) => return None,
                Message::Binary(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }
}

/// A stream whose calls continue after an interruption: a process that is stopped and continued has done nothing
/// wrong.
#[derive(Debug)]
struct RetryingStream(UnixStream);

impl Read for RetryingStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        patiently(|| self.0.read(buffer))
    }
}

impl Write for RetryingStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(|| self.0.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn patiently(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// The reading half of the stream. The sender writes the protocol's automatic answers, so that nothing gets between
/// the parts of a message.
#[derive(Debug)]
struct OnlyReads(UnixStream);

impl Read for OnlyReads {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        patiently(|| self.0.read(buffer))
    }
}

impl Write for OnlyReads {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_work_at_once_and_a_ping_is_answered_whole() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let big = "ä".repeat(300_000);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut server = tungstenite::accept(theirs).unwrap();
                // Like Firefox, it speaks only when it is spoken to.
                let mut heard = vec![server.read().unwrap()];
                server.send(Message::Ping("are you there".into())).unwrap();
                server.send(Message::Text("welcome".into())).unwrap();
                while heard.len() < 41 {
                    heard.push(server.read().unwrap());
                }
                assert!(heard.contains(&Message::Pong("are you there".into())));
                assert_eq!(heard.iter().filter(|message| message.to_string() == big).count(), 40);
            });
            let (sender, mut receiver) = begin(ours, &Deadline::after(Duration::from_secs(10))).unwrap();
            std::thread::scope(|writers| {
                for _ in 0..4 {
                    writers.spawn(|| (0..10).for_each(|_| sender.send(big.clone()).unwrap()));
                }
                assert_eq!(receiver.next(&sender).unwrap(), "welcome");
            });
            assert_eq!(receiver.next(&sender), None, "the server has ended");
        });
    }
}
