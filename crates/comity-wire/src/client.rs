//! A blocking client: one connection, one question at a time.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::frame::{FRAME_BYTES_MAX, PROTOCOL, Reply, Request};
use crate::home::Home;
use crate::spin_wait::{SpinBudget, Wait, spin_wait};
use crate::trust;
use crate::version::version;

const READ_BYTES: usize = 8 * 1024;

/// A connection to the server.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
    timeout: Option<Timespec>,
    spinning: SpinBudget,
    /// What was received: a whole line at the front once one was read, perhaps more after it.
    came: Vec<u8>,
    /// The length of the line at the front; it is removed when the next one is read.
    line: usize,
    out: Vec<u8>,
    next_id: u64,
}

/// The connection failed; what was asked may or may not have happened.
#[derive(Debug)]
pub enum ClientError {
    Io(io::Error),
    /// The server closed the connection.
    Closed,
    /// What was received is not this protocol.
    Garbage(String),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Io(error) => write!(f, "the connection to the server failed: {error}"),
            ClientError::Closed => f.write_str("the server closed the connection"),
            ClientError::Garbage(what) => write!(f, "the server's answer can't be read: {what}"),
        }
    }
}

impl ClientError {
    /// Whether the server went away in the middle of it, as it does when it is restarted.
    pub fn is_gone(&self) -> bool {
        use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected, UnexpectedEof};
        match self {
            ClientError::Closed => true,
            ClientError::Io(error) => matches!(
                error.kind(),
                BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected | UnexpectedEof
            ),
            ClientError::Garbage(_) => false,
        }
    }
}

impl std::error::Error for ClientError {}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        ClientError::Io(error)
    }
}

impl Client {
    /// Connects to the server of a state directory; refused if another user could be listening there.
    pub fn connect(home: &Home) -> io::Result<Client> {
        let stream = trust::connect(home)?;
        let spinning = SpinBudget::default();
        Ok(Client { stream, timeout: None, spinning, came: Vec::new(), line: 0, out: Vec::new(), next_id: 1 })
    }

    /// Limits every single read and write; `None` waits for ever.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.timeout = timeout.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        self.stream.set_write_timeout(timeout)
    }

    /// The server's process, if the system tells.
    pub fn server(&self) -> Option<i32> {
        trust::listener_of(&self.stream)
    }

    /// The socket, to be shut down from another thread.
    pub fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Sends a request with an id of this connection; returns the id.
    pub fn send(&mut self, mut request: Request<'_>) -> Result<u64, ClientError> {
        request.id = self.next_id;
        if self.next_id == 1 {
            request.protocol = Some(PROTOCOL);
            request.version = Some(Cow::Borrowed(version()));
        }
        self.next_id += 1;
        self.out.clear();
        serde_json::to_writer(&mut self.out, &request)
            .map_err(|error| ClientError::Garbage(error.to_string()))?;
        self.out.push(b'\n');
        self.stream.write_all(&self.out)?;
        Ok(request.id)
    }

    /// Waits for the next line from the server.
    pub fn receive(&mut self) -> Result<Reply<'_>, ClientError> {
        self.read_line()?;
        self.parse_line()
    }

    /// Asks one question and waits for its answer; skips lines for other questions.
    pub fn call(&mut self, request: Request<'_>) -> Result<Reply<'_>, ClientError> {
        let id = self.send(request)?;
        self.answer(id)
    }

    /// Waits for the answer to what was sent; skips lines for other questions.
    pub fn answer(&mut self, id: u64) -> Result<Reply<'_>, ClientError> {
        self.wait_for(id)?;
        self.arrived()
    }

    /// The answer that was waited for.
    pub fn arrived(&self) -> Result<Reply<'_>, ClientError> {
        self.parse_line()
    }

    /// Waits until the answer to what was sent has arrived; skips lines for other questions.
    pub fn wait_for(&mut self, id: u64) -> Result<(), ClientError> {
        // The server writes the id first, so the line need not be parsed to know whose it is.
        let start = format!("{{\"id\":{id},");
        loop {
            self.read_line()?;
            if self.came.starts_with(start.as_bytes()) {
                return Ok(());
            }
        }
    }

    /// Asks an operation with an input, and nothing else.
    pub fn ask(&mut self, op: &str, input: &impl Serialize) -> Result<Reply<'_>, ClientError> {
        let input = serde_json::value::to_raw_value(input)
            .map_err(|error| ClientError::Garbage(error.to_string()))?;
        self.call(Request { op: Cow::Borrowed(op), input: Some(&input), ..Request::empty() })
    }

    fn read_line(&mut self) -> Result<(), ClientError> {
        self.came.drain(..self.line);
        self.line = 0;
        let mut looked_at = 0;
        loop {
            if let Some(at) = self.came[looked_at..].iter().position(|byte| *byte == b'\n') {
                self.line = looked_at + at + 1;
                return Ok(());
            }
            looked_at = self.came.len();
            if looked_at > FRAME_BYTES_MAX {
                return Err(ClientError::Garbage("a line without an end".into()));
            }
            if self.read_more()? == 0 {
                return Err(ClientError::Closed);
            }
        }
    }

    fn read_more(&mut self) -> io::Result<usize> {
        let start = self.came.len();
        self.came.resize(start + READ_BYTES, 0);
        let (stream, free) = (&mut self.stream, &mut self.came[start..]);
        let begun = Instant::now();
        let look = || match recv(&*stream, &mut *free, RecvFlags::DONTWAIT) {
            Ok((count, _)) => Some(Ok(count)),
            Err(Errno::WOULDBLOCK | Errno::INTR) => None,
            Err(error) => Some(Err(error.into())),
        };
        let how = self.spinning.wait();
        let seen = match how {
            Wait::Spinning => spin_wait(look),
            Wait::Sleeping => None,
        };
        let read = seen.unwrap_or_else(|| sleep_and_read(stream, self.timeout, free));
        self.spinning.came(how, begun.elapsed());
        self.came.truncate(start + *read.as_ref().unwrap_or(&0));
        read
    }

    fn parse_line(&self) -> Result<Reply<'_>, ClientError> {
        serde_json::from_slice(&self.came[..self.line])
            .map_err(|error| ClientError::Garbage(error.to_string()))
    }
}

/// Waits for something to read, and reads it.
///
/// A client that sleeps in the read itself would also be woken when the server takes out the question: twice for each
/// answer.
fn sleep_and_read(stream: &mut UnixStream, timeout: Option<Timespec>, to: &mut [u8]) -> io::Result<usize> {
    loop {
        match poll(&mut [PollFd::new(&*stream, PollFlags::IN)], timeout.as_ref()) {
            Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        match stream.read(&mut *to) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

impl Request<'_> {
    /// An empty request, to be filled.
    pub fn empty() -> Request<'static> {
        Request {
            id: 0,
            op: Cow::Borrowed(""),
            input: None,
            cwd: None,
            zone: None,
            token: None,
            key: None,
            text: false,
            protocol: None,
            version: None,
            call: None,
            again: false,
            inbox: false,
        }
    }
}

impl Reply<'_> {
    /// The output's JSON, if there is one.
    pub fn output(&self) -> Option<&RawValue> {
        self.ok
    }
}
