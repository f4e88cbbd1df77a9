//! Plain requests to the HTTP door.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::{PATIENCE, Place};

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The person's token.
pub(crate) fn human_token(_: &Place) -> String {
    super::HUMAN.to_owned()
}

/// Opens the link of a login, as a browser does, and gives the token.
pub(crate) fn open_link(place: &Place, link: &str) -> Response {
    let code = link.split_once("#login=").expect("a link").1.trim();
    request(place, Some(code), "POST", "/api/session", None)
}

/// Sends one request with a token and reads all that comes back.
pub(crate) fn request(
    place: &Place,
    token: Option<&str>,
    method: &str,
    target: &str,
    body: Option<&Value>,
) -> Response {
    let url = place.json(&["status"])["url"].as_str().expect("an address").to_owned();
    let address = url.strip_prefix("http://").expect("an address");
    let mut stream = TcpStream::connect(address).expect("the HTTP door");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let mut head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Accept: application/json, text/event-stream\r\nComity-Cwd: {}\r\n",
        place.repo.display()
    );
    if let Some(token) = token {
        head += &format!("Authorization: Bearer {token}\r\n");
    }
    let body = body.map(Value::to_string).unwrap_or_default();
    if !body.is_empty() {
        head += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    parse(&String::from_utf8_lossy(&answer))
}

fn parse(answer: &str) -> Response {
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    Response { status, body: if is_chunked { join_chunks(body) } else { body.to_owned() } }
}

fn join_chunks(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let Ok(size @ 1..) = usize::from_str_radix(size.trim(), 16) else { break };
        whole.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    whole
}
