//! The lease: a Marionette connection whose end frees the browser for the next client, whatever becomes of this one.
//!
//! A session that is begun on the BiDi socket outlives that socket, so a client that crashes would lock everybody out.
//! One that is begun here ends with this connection; tabs and containers stay.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};

/// Bytes of one message.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// Digits of a message's length.
const LENGTH_DIGITS_MAX: usize = 9;
/// How long is waited until Firefox has noticed that an earlier client is gone.
const TAKEN: Duration = Duration::from_secs(5);
/// How long to wait between two tries: Firefox does not tell when it is free.
const RETRY: Duration = Duration::from_millis(20);

/// A session of the browser, held as long as this lives.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The connection that holds it.
    _connection: TcpStream,
    /// The address of the session's BiDi socket.
    pub(crate) socket_url: String,
    /// Firefox's version.
    pub(crate) version: String,
}

enum Failure {
    /// Another client has the browser, or had it until a moment ago.
    Taken,
    /// It does not answer.
    Silent(io::Error),
    /// It says no.
    Refused(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
                Failure::Taken
            }
            _ => Failure::Silent(error),
        }
    }
}

impl Lease {
    /// Takes the lease; waits a little for an earlier client to be forgotten.
    pub(crate) fn take(port: u16, deadline: &Deadline) -> Result<Lease> {
        let taken = deadline.at_most(TAKEN);
        loop {
            match Lease::try_take(port, deadline) {
                Ok(lease) => return Ok(lease),
                Err(Failure::Taken) if !taken.left().is_zero() => std::thread::sleep(RETRY),
                Err(Failure::Taken) => {
                    return Err(BrowserError::not_started("another program drives it already"));
                }
                Err(Failure::Refused(why)) => return Err(BrowserError::not_started(why)),
                Err(Failure::Silent(error)) => {
                    return Err(BrowserError::not_started(format!("it does not answer: {error}")));
                }
            }
        }
    }

    fn try_take(port: u16, deadline: &Deadline) -> std::result::Result<Lease, Failure> {
        let limit = deadline.left().max(Duration::from_millis(1));
        let mut connection =
            TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), limit)?;
        connection.set_read_timeout(Some(limit))?;
        connection.set_write_timeout(Some(limit))?;
        connection.set_nodelay(true)?;
        let _greeting = receive(&mut connection)?;
        // A dialog waits for its answer, and blocks nothing meanwhile.
        let wanted = json!({ "webSocketUrl": true, "unhandledPromptBehavior": "ignore" });
        send(&mut connection, &json!([0, 1, "WebDriver:NewSession", wanted]))?;
        let answer = receive(&mut connection)?;
        if let Some(message) = answer.pointer("/2/message").and_then(Value::as_str) {
            let is_taken = message.contains("active session") || message.contains("already started");
            return Err(if is_taken { Failure::Taken } else { Failure::Refused(message.to_owned()) });
        }
        let capability =
            |name: &str| answer.pointer(&format!("/3/capabilities/{name}")).and_then(Value::as_str);
        let socket_url = capability("webSocketUrl")
            .ok_or_else(|| Failure::Refused("it offers no WebDriver BiDi; it may be too old".into()))?;
        Ok(Lease {
            socket_url: socket_url.to_owned(),
            version: capability("browserVersion").unwrap_or("unknown").to_owned(),
            _connection: connection,
        })
    }
}

fn send(connection: &mut impl Write, message: &Value) -> io::Result<()> {
    let text = message.to_string();
    connection.write_all(format!("{}:{text}", text.len()).as_bytes())
}

/// Reads one message: its length in bytes, a colon, JSON.
fn receive(connection: &mut impl Read) -> io::Result<Value> {
    let mut length = String::new();
    loop {
        let mut byte = [0];
        connection.read_exact(&mut byte)?;
        match byte[0] {
            b':' => break,
            digit @ b'0'..=b'9' if length.len() < LENGTH_DIGITS_MAX => length.push(char::from(digit)),
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "this is not Marionette")),
        }
    }
    let bytes: usize = length.parse().map_err(io::Error::other)?;
    if bytes > MESSAGE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the message is too long"));
    }
    let mut text = vec![0; bytes];
    connection.read_exact(&mut text)?;
    serde_json::from_slice(&text).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(bytes: &str, expected: Expect) {
        let read = receive(&mut bytes.as_bytes()).map_err(|error| error.kind());
        expected.assert_eq(&match read {
            Ok(message) => message.to_string(),
            Err(kind) => format!("{kind:?}"),
        });
    }

    #[test]
    fn messages_have_their_length_before_them() {
        check("7:[1,\"a\"]x", expect![[r#"[1,"a"]"#]]);
        check("2:[1,2]", expect!["Other"]);
        check("9:[1]", expect!["UnexpectedEof"]);
        check("", expect!["UnexpectedEof"]);
        check("HTTP/1.1", expect!["InvalidData"]);
        check("9999999:{}", expect!["InvalidData"]);
        check("1234567890:{}", expect!["InvalidData"]);
        let mut written = Vec::new();
        send(&mut written, &json!(["ä"])).unwrap();
        check(std::str::from_utf8(&written).unwrap(), expect![[r#"["ä"]"#]]);
    }
}
