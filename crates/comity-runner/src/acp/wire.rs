//! JSON-RPC in lines, as agents speak it on their standard input and output.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One message, at most: a file that is written comes in one.
pub(super) const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// An agent's name for one of its requests, at most.
const ID_BYTES_MAX: usize = 256;

/// What has come and was not taken yet.
#[derive(Default, Debug)]
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    /// Up to here lines were taken.
    taken: usize,
    /// Up to here there is no further end of a line.
    searched: usize,
}

/// A message without an end.
#[derive(Debug)]
pub(super) struct EndlessLine;

impl LineBuffer {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if self.taken > 0 && self.taken == self.bytes.len() {
            (self.taken, self.searched) = (0, 0);
            self.bytes.clear();
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without its end.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, EndlessLine> {
        let rest = self.bytes.get(self.searched..).unwrap_or_default();
        let Some(end) = rest.iter().position(|byte| *byte == b'\n').map(|end| self.searched + end) else {
            self.bytes.drain(..self.taken);
            (self.taken, self.searched) = (0, self.bytes.len());
            return if self.bytes.len() > LINE_BYTES_MAX { Err(EndlessLine) } else { Ok(None) };
        };
        let line = self.bytes.get(self.taken..end).unwrap_or_default().to_vec();
        (self.taken, self.searched) = (end + 1, end + 1);
        Ok(Some(line))
    }
}

/// What an agent says.
#[derive(Debug)]
pub(super) enum AgentMessage {
    Request { id: Box<RawValue>, method: String, params: Box<RawValue> },
    Notification { method: String, params: Box<RawValue> },
    Response { id: u64, result: Result<Box<RawValue>, AcpError> },
}

/// Why something that was asked for did not happen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AcpError {
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Deserialize)]
struct RawMessage {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<AcpError>,
}

impl AgentMessage {
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let RawMessage { id, method, params, result, error } = serde_json::from_slice(line).ok()?;
        let id = id.filter(|id| id.get().len() <= ID_BYTES_MAX);
        let params = params.unwrap_or_else(|| RawValue::NULL.to_owned());
        match (method, id) {
            (Some(method), Some(id)) => Some(Self::Request { id, method, params }),
            (Some(method), None) => Some(Self::Notification { method, params }),
            (None, Some(id)) => {
                let result = match error {
                    Some(error) => Err(error),
                    None => Ok(result.unwrap_or_else(|| RawValue::NULL.to_owned())),
                };
                Some(Self::Response { id: id.get().parse().ok()?, result })
            }
            (None, None) => None,
        }
    }
}

#[derive(Serialize)]
struct OutgoingCall<'a, P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'a str,
    params: P,
}

#[derive(Serialize)]
struct OutgoingAnswer<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<AcpError>,
}

/// A request, or without a number a notification, as a line.
pub(super) fn call(into: &mut Vec<u8>, id: Option<u64>, method: &str, params: impl Serialize) {
    line(into, &OutgoingCall { jsonrpc: "2.0", id, method, params });
}

/// The answer to an agent's request, as a line.
pub(super) fn answer<R: Serialize>(into: &mut Vec<u8>, id: &RawValue, result: Result<R, AcpError>) {
    let (result, error) = match result {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    line(into, &OutgoingAnswer { jsonrpc: "2.0", id, result, error });
}

fn line(into: &mut Vec<u8>, message: &impl Serialize) {
    let length = into.len();
    match serde_json::to_writer(&mut *into, message) {
        Ok(()) => into.push(b'\n'),
        // Nothing that is said here can fail to be JSON; half a message would be worse than none.
        Err(_) => into.truncate(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&str]) -> Vec<String> {
        let mut lines = LineBuffer::default();
        let mut taken = Vec::new();
        for piece in pieces {
            lines.push(piece.as_bytes());
            while let Some(line) = lines.next().unwrap() {
                taken.push(String::from_utf8(line).unwrap());
            }
        }
        taken
    }

    #[test]
    fn lines_may_come_in_any_pieces() {
        assert_eq!(lines(&["one\ntwo\nth", "", "ree", "\n\nfour"]), ["one", "two", "three", ""]);
        assert_eq!(lines(&["o", "n", "e\n", "two\n"]), ["one", "two"]);
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let mut lines = LineBuffer::default();
        lines.push(&vec![b'x'; LINE_BYTES_MAX]);
        assert!(lines.next().unwrap().is_none());
        lines.push(b"xx");
        assert!(lines.next().is_err());
    }

    #[test]
    fn messages_are_told_apart() {
        let parse = |text: &str| AgentMessage::parse(text.as_bytes());
        let request = parse(r#"{"jsonrpc":"2.0","id":"a","method":"fs/read","params":{"x":1}}"#);
        assert!(matches!(request, Some(AgentMessage::Request { id, params, .. })
            if id.get() == "\"a\"" && params.get() == r#"{"x":1}"#));
        let notification = parse(r#"{"method":"session/update","id":null}"#);
        assert!(
            matches!(notification, Some(AgentMessage::Notification { params, .. }) if params.get() == "null")
        );
        assert!(matches!(
            parse(r#"{"id":3,"result":null}"#),
            Some(AgentMessage::Response { id: 3, result: Ok(_) })
        ));
        let error = parse(r#"{"id":3,"error":{"code":-32000,"message":"no","data":{}}}"#);
        assert!(matches!(
            error,
            Some(AgentMessage::Response { result: Err(AcpError { code: -32000, .. }), .. })
        ));
        let long = format!(r#"{{"id":"{}","method":"m"}}"#, "x".repeat(ID_BYTES_MAX));
        assert!(matches!(parse(&long), Some(AgentMessage::Notification { .. })));
        for other in ["", "[]", "17", "{", "{}", r#"{"id":null,"result":1}"#, r#"{"id":-1,"result":1}"#] {
            assert!(parse(other).is_none(), "{other}");
        }
        let deep = "[".repeat(100_000);
        assert!(parse(&format!(r#"{{"method":"m","params":{deep}"#)).is_none());
    }
}
