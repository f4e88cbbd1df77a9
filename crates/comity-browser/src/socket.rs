//! The WebSocket to Firefox, split: one thread reads, whoever has something to say writes.

use std::io::{self, Read, Write};
use std::net::TcpStream;
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

/// Writes, one message at a time.
#[derive(Debug)]
pub(crate) struct Sender {
    socket: Mutex<WebSocket<Patient>>,
    stream: TcpStream,
}

/// Reads, on one thread.
#[derive(Debug)]
pub(crate) struct Receiver {
    socket: WebSocket<OnlyReads>,
}

/// Connects to an address like `ws://127.0.0.1:4711/session/1234`.
pub(crate) fn connect(url: &str, deadline: &Deadline) -> Result<(Sender, Receiver)> {
    let failed = |error: &dyn std::fmt::Display| {
        BrowserError::not_started(format!("its WebSocket {url} cannot be used: {error}"))
    };
    let authority = url.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let address = authority.parse().map_err(|error| failed(&error))?;
    let limit = deadline.left().max(Duration::from_millis(1));
    let stream = TcpStream::connect_timeout(&address, limit).map_err(|error| failed(&error))?;
    let begin = || -> io::Result<(TcpStream, TcpStream)> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(WRITE_MAX))?;
        Ok((stream.try_clone()?, stream.try_clone()?))
    };
    let (writes, reads) = begin().map_err(|error| failed(&error))?;
    let config = || {
        Some(
            WebSocketConfig::default()
                .max_message_size(Some(MESSAGE_BYTES_MAX))
                .max_frame_size(Some(MESSAGE_BYTES_MAX)),
        )
    };
    let (writer, _) = tungstenite::client::client_with_config(url, Patient(writes), config())
        .map_err(|error| failed(&error))?;
    // Firefox says nothing before it is asked, so the handshake has left no bytes behind.
    let reader = WebSocket::from_raw_socket(OnlyReads(reads), Role::Client, config());
    stream.set_read_timeout(None).map_err(|error| failed(&error))?;
    Ok((Sender { socket: Mutex::new(writer), stream }, Receiver { socket: reader }))
}

impl Sender {
    pub(crate) fn send(&self, text: String) -> Result<()> {
        self.write(Message::Text(text.into()))
    }

    /// Ends the connection; the reader sees it at once.
    pub(crate) fn hang_up(&self) {
        let _already_gone = self.stream.shutdown(std::net::Shutdown::Both);
    }

    fn write(&self, message: Message) -> Result<()> {
        let sent = self.locked().send(message);
        // Whoever has sent something is taken for somebody who will soon do so again, and acknowledge with that.
        acknowledge(&self.stream);
        sent.map_err(|_| {
            // Half a message may be on the wire: nothing can be said on it any more.
            self.hang_up();
            BrowserError::Died
        })
    }

    fn locked(&self) -> MutexGuard<'_, WebSocket<Patient>> {
        self.socket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    /// The next message; nothing once the connection has ended.
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

/// A stream whose calls go on after an interruption: a process that is stopped and continued has done nothing wrong.
#[derive(Debug)]
struct Patient(TcpStream);

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        patiently(|| self.0.read(buffer))
    }
}

impl Write for Patient {
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

/// The reading half of the stream. What the protocol wants to answer by itself is answered by the sender, so that
/// nothing gets between the parts of a message.
#[derive(Debug)]
struct OnlyReads(TcpStream);

impl Read for OnlyReads {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = patiently(|| self.0.read(buffer))?;
        acknowledge(&self.0);
        Ok(count)
    }
}

/// Tells the other end at once that its bytes have come. Firefox holds back the end of a long message until then, and the
/// system would put it off by 40 ms, which is longer than a picture takes.
fn acknowledge(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    // Only a hurry: without it nothing is lost.
    let _ = rustix::net::sockopt::set_tcp_quickack(stream, true);
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
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
    use std::net::TcpListener;

    #[test]
    fn both_halves_work_at_once_and_a_ping_is_answered_whole() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/session/x", listener.local_addr().unwrap());
        let big = "ä".repeat(300_000);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let mut server = tungstenite::accept(listener.accept().unwrap().0).unwrap();
                // Like Firefox, it speaks only when it is spoken to.
                let mut heard = vec![server.read().unwrap()];
                server.send(Message::Ping("are you there".into())).unwrap();
                server.send(Message::Text(big.clone().into())).unwrap();
                while heard.len() < 41 {
                    heard.push(server.read().unwrap());
                }
                assert!(heard.contains(&Message::Pong("are you there".into())));
                assert_eq!(heard.iter().filter(|message| message.to_string() == big).count(), 40);
            });
            let (sender, mut receiver) = connect(&url, &Deadline::after(Duration::from_secs(10))).unwrap();
            std::thread::scope(|writers| {
                for _ in 0..4 {
                    writers.spawn(|| (0..10).for_each(|_| sender.send(big.clone()).unwrap()));
                }
                assert_eq!(receiver.next(&sender).unwrap(), big);
            });
            assert_eq!(receiver.next(&sender), None, "the server has ended");
        });
    }
    #[test]
    #[cfg(target_os = "linux")]
    fn a_long_answer_does_not_wait_for_its_own_acknowledgement() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/session/x", listener.local_addr().unwrap());
        let answer = [&[0x81, 126, 7, 208][..], &[b'x'; 2_000]].concat();
        std::thread::scope(|threads| {
            threads.spawn(|| {
                // Like Firefox, it writes in pieces: the second waits until it is known that the first has come.
                let mut server = tungstenite::accept(listener.accept().unwrap().0).unwrap();
                while server.read().is_ok_and(|asked| asked.is_text()) {
                    answer.chunks(1_000).for_each(|piece| server.get_mut().write_all(piece).unwrap());
                }
            });
            let (sender, mut receiver) = connect(&url, &Deadline::after(Duration::from_secs(10))).unwrap();
            let mut ask = || {
                let begun = std::time::Instant::now();
                sender.send("a picture".into()).unwrap();
                assert_eq!(receiver.next(&sender).unwrap().len(), 2_000);
                begun.elapsed()
            };
            // At first the system is in no hurry to wait.
            let best = (0..60).map(|_| ask()).skip(40).min().unwrap();
            assert!(best < Duration::from_millis(20), "the best of twenty took {best:?}");
            sender.hang_up();
        });
    }
}
