//! A blocking client: one connection, one question at a time.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::frame::{FRAME_BYTES_MAX, Reply, Request};

/// A connection to the server.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
    line: Vec<u8>,
    out: Vec<u8>,
    next_id: u64,
}

/// The connection did not work; what was asked may or may not have happened.
#[derive(Debug)]
pub enum ClientError {
    /// The socket failed.
    Io(io::Error),
    /// The server closed the connection.
    Closed,
    /// What came is not of this protocol.
    Garbage(String),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientError::Io(error) => write!(f, "the connection to the server failed: {error}"),
            ClientError::Closed => f.write_str("the server closed the connection"),
            ClientError::Garbage(what) => write!(f, "the server's answer cannot be read: {what}"),
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
    /// Connects to the socket.
    pub fn connect(socket: &Path) -> io::Result<Client> {
        let stream = UnixStream::connect(socket)?;
        Ok(Client {
            stream: BufReader::with_capacity(8 * 1024, stream),
            line: Vec::new(),
            out: Vec::new(),
            next_id: 1,
        })
    }

    /// Bounds every single read and write; `None` waits for ever.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.stream.get_ref().set_read_timeout(timeout)?;
        self.stream.get_ref().set_write_timeout(timeout)
    }

    /// The socket, to be shut down from another thread.
    pub fn stream(&self) -> &UnixStream {
        self.stream.get_ref()
    }

    /// Sends a request as it is, with an id of this connection; gives the id.
    pub fn send(&mut self, mut request: Request<'_>) -> Result<u64, ClientError> {
        request.id = self.next_id;
        self.next_id += 1;
        self.out.clear();
        serde_json::to_writer(&mut self.out, &request)
            .map_err(|error| ClientError::Garbage(error.to_string()))?;
        self.out.push(b'\n');
        self.stream.get_mut().write_all(&self.out)?;
        Ok(request.id)
    }

    /// Waits for the next line from the server.
    pub fn receive(&mut self) -> Result<Reply<'_>, ClientError> {
        self.read_line()?;
        self.parse_line()
    }

    /// Asks one question and waits for its answer; lines for other questions are passed over.
    pub fn call(&mut self, request: Request<'_>) -> Result<Reply<'_>, ClientError> {
        let id = self.send(request)?;
        // The server writes the id first, so the line need not be parsed to know whose it is.
        let start = format!("{{\"id\":{id},");
        loop {
            self.read_line()?;
            if self.line.starts_with(start.as_bytes()) {
                return self.parse_line();
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
        self.line.clear();
        loop {
            let buffered = self.stream.fill_buf()?;
            if buffered.is_empty() {
                return Err(ClientError::Closed);
            }
            let end = buffered.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(buffered.len(), |at| at + 1);
            self.line.extend_from_slice(&buffered[..used]);
            self.stream.consume(used);
            if end.is_some() {
                return Ok(());
            }
            if self.line.len() > FRAME_BYTES_MAX {
                return Err(ClientError::Garbage("a line without an end".into()));
            }
        }
    }

    fn parse_line(&self) -> Result<Reply<'_>, ClientError> {
        serde_json::from_slice(&self.line).map_err(|error| ClientError::Garbage(error.to_string()))
    }
}

impl Request<'_> {
    /// A request with nothing in it, to be filled.
    pub fn empty() -> Request<'static> {
        Request { id: 0, op: Cow::Borrowed(""), input: None, cwd: None, token: None, key: None, text: false }
    }
}

impl Reply<'_> {
    /// The output's JSON, if there is one.
    pub fn output(&self) -> Option<&RawValue> {
        self.ok
    }
}
