//! Lines over a socket, as plain as it gets.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Begins every answer that is no refusal, to a request with the id 1.
pub(crate) const ANSWERED: &[u8] = b"{\"id\":1,\"ok\":";

/// How long a question and its answer are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameBytes {
    pub(crate) asked: usize,
    pub(crate) answered: usize,
}

/// A connection that carries one line in each direction at a time.
pub(crate) struct Wire {
    stream: UnixStream,
    answer: Vec<u8>,
}

impl Wire {
    pub(crate) fn connect(socket: &Path) -> Result<Wire, String> {
        let stream = UnixStream::connect(socket).map_err(|error| format!("{}: {error}", socket.display()))?;
        Ok(Wire { stream, answer: vec![0; 64 * 1024] })
    }

    /// Sends a line that has no answer.
    pub(crate) fn send(&mut self, line: &[u8]) -> Result<(), String> {
        self.stream.write_all(line).map_err(|error| error.to_string())
    }

    /// Sends a line and waits for the one that comes back.
    pub(crate) fn ask(&mut self, line: &[u8]) -> Result<&[u8], String> {
        self.send(line)?;
        let length = read_line(&mut self.stream, &mut self.answer)?;
        match length {
            0 => Err("the other end is gone".into()),
            length => Ok(&self.answer[..length]),
        }
    }
}

/// Reads up to the end of one line, with nothing behind it. Gives its length, 0 at the end of the stream.
pub(super) fn read_line(stream: &mut UnixStream, buffer: &mut [u8]) -> Result<usize, String> {
    let mut length = 0;
    loop {
        match stream.read(&mut buffer[length..]).map_err(|error| error.to_string())? {
            0 if length == buffer.len() => return Err("a line that is too long".into()),
            0 => return Ok(0),
            count => length += count,
        }
        if buffer[length - 1] == b'\n' {
            return Ok(length);
        }
    }
}

/// A line of so many bytes.
pub(crate) fn padded(bytes: usize) -> Vec<u8> {
    let mut line = ANSWERED.to_vec();
    line.push(b'"');
    line.resize(bytes.saturating_sub(3).max(line.len()), b'x');
    line.extend_from_slice(b"\"}\n");
    line
}
