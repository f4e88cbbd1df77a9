//! A scripted model on loopback: it calls one tool after the other, reads each answer, and stops.

mod apis;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use apis::Api;

/// A call that the model makes.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    /// An object, or the text for a tool that takes text.
    pub(crate) arguments: Value,
}

/// The model. It speaks the APIs of Anthropic and Google, and both of OpenAI's.
pub(crate) struct Model {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Call {
    pub(crate) fn new(tool: &'static str, arguments: impl Into<Value>) -> Call {
        Call { tool, arguments: arguments.into() }
    }
}

impl Model {
    /// A model that makes these calls, in whatever conversation.
    pub(crate) fn start(calls: Vec<Call>) -> Model {
        Model::of_several(vec![("", calls)])
    }

    /// A model for several conversations: the calls are those of the first word that its user has said.
    ///
    /// Listens on any port; its threads end with the process of the test.
    pub(crate) fn of_several(calls: Vec<(&'static str, Vec<Call>)>) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (heard, calls) = (Arc::clone(&asked), Arc::new(calls));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, calls) = (Arc::clone(&heard), Arc::clone(&calls));
                std::thread::spawn(move || answer(stream, &heard, &calls));
            }
        });
        Model { url, asked }
    }

    /// What each call gave back, as the model was told.
    pub(crate) fn told(&self) -> Vec<String> {
        let asked = self.asked.lock().expect("questions");
        let results = asked.iter().map(apis::results).max_by_key(Vec::len).unwrap_or_default();
        results.into_iter().map(Value::to_string).collect()
    }
}

impl Model {
    /// Whether any result of a call, in any of a program's conversations, has this in it.
    pub(crate) fn was_told(&self, text: &str) -> bool {
        let asked = self.asked.lock().expect("questions");
        asked.iter().flat_map(apis::results).any(|result| result.to_string().contains(text))
    }

    /// All that it was asked in the conversations in which its user has said this.
    pub(crate) fn asked_with(&self, word: &str) -> Vec<Value> {
        let asked = self.asked.lock().expect("questions");
        asked.iter().filter(|body| apis::has_said(body, word)).cloned().collect()
    }

    /// All that it was asked last, its own calls included, as it came.
    pub(crate) fn history(&self) -> String {
        let asked = self.asked.lock().expect("questions");
        asked.iter().max_by_key(|body| apis::results(body).len()).map(Value::to_string).unwrap_or_default()
    }
}

/// Answers one request; the connection is closed after it.
fn answer(stream: TcpStream, heard: &Mutex<Vec<Value>>, calls: &[(&'static str, Vec<Call>)]) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut target, mut length) = (String::new(), 0);
    reader.read_line(&mut target).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = target.split(' ').nth(1)?.split('?').next()?;
    let (kind, text) = match Api::at(path) {
        Some(api) => ("text/event-stream", api.say(&body, next(&body, calls))),
        None if path.ends_with("/models") => ("application/json", r#"{"object":"list","data":[]}"#.into()),
        None => ("application/json", r#"{"input_tokens":10,"totalTokens":10}"#.into()),
    };
    if has_tools(&body) {
        heard.lock().ok()?.push(body);
    }
    let length = text.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close");
    (&stream).write_all(format!("{head}\r\n\r\n{text}").as_bytes()).ok()
}

fn has_tools(body: &Value) -> bool {
    // Some models of OpenAI's are given their tools among the messages.
    let messages = body["input"].as_array().into_iter().flatten();
    let lists = messages.chain([body]).filter_map(|item| item["tools"].as_array());
    lists.into_iter().any(|tools| !tools.is_empty())
}

/// The call that it is time for. A question without tools is about something else, such as a title.
fn next<'a>(body: &Value, calls: &'a [(&'static str, Vec<Call>)]) -> Option<&'a Call> {
    if !has_tools(body) {
        return None;
    }
    let (_, calls) = calls.iter().find(|(word, _)| apis::has_said(body, word))?;
    calls.get(apis::results(body).len())
}
