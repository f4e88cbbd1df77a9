//! A scripted model on loopback: it calls one tool of Comity, reads the answer, and stops.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The model. It speaks the Anthropic Messages and the OpenAI Responses API.
pub(crate) struct Model {
    pub(crate) url: String,
    /// Every question that has tools, as it came.
    pub(crate) asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    /// Listens on any port; its threads end with the process of the test.
    pub(crate) fn start(arguments: Value) -> Model {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, arguments) = (Arc::clone(&heard), arguments.clone());
                std::thread::spawn(move || answer(stream, &heard, &arguments));
            }
        });
        Model { url, asked }
    }

    /// What tools told the model, as text.
    pub(crate) fn tool_results(&self) -> String {
        let asked = self.asked.lock().expect("questions");
        let results = asked.iter().flat_map(|body| results(body).into_iter().map(ToString::to_string));
        results.collect::<Vec<_>>().join("\n")
    }
}

/// Answers one request; the connection is closed after it.
fn answer(stream: TcpStream, heard: &Mutex<Vec<Value>>, arguments: &Value) -> Option<()> {
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
    let (kind, text) = match path {
        _ if path.ends_with("/messages") => ("text/event-stream", messages(&body, arguments)),
        _ if path.ends_with("/responses") => ("text/event-stream", responses(&body, arguments)),
        _ if path.ends_with("/models") => ("application/json", r#"{"object":"list","data":[]}"#.into()),
        _ => ("application/json", r#"{"input_tokens":10}"#.into()),
    };
    if body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) {
        heard.lock().ok()?.push(body);
    }
    let length = text.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close");
    (&stream).write_all(format!("{head}\r\n\r\n{text}").as_bytes()).ok()
}

/// The results of tools in a question.
fn results(body: &Value) -> Vec<&Value> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let contents = messages.filter_map(|message| message["content"].as_array()).flatten();
    let from_messages = contents.filter(|content| content["type"] == "tool_result");
    let items = body["input"].as_array().into_iter().flatten();
    from_messages.chain(items.filter(|item| item["type"] == "function_call_output")).collect()
}

/// Whether it is time for the tool: there are tools, and none was called yet.
fn calls_now(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty()) && results(body).is_empty()
}

fn events(events: &[Value]) -> String {
    let lines = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()));
    lines.collect()
}

fn messages(body: &Value, arguments: &Value) -> String {
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let (start, delta, stop) = match calls_now(body) {
        true => (
            json!({ "type": "tool_use", "id": "toolu_1", "name": "mcp__comity__lock", "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() }),
            "tool_use",
        ),
        false => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": "done" }),
            "end_turn",
        ),
    };
    events(&[
        json!({ "type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage,
        }}),
        json!({ "type": "content_block_start", "index": 0, "content_block": start }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ])
}

fn responses(body: &Value, arguments: &Value) -> String {
    let item = match calls_now(body) {
        true => {
            let mut call = json!({
                "type": "function_call", "id": "fc_1", "call_id": "call_1", "arguments": arguments.to_string(),
            });
            // Some versions put the tools of a server into a namespace.
            let is_ours = |tool: &&Value| {
                tool["type"] == "namespace"
                    && tool["name"].as_str().is_some_and(|name| name.contains("comity"))
            };
            match body["tools"].as_array().into_iter().flatten().find(is_ours) {
                Some(space) => (call["name"], call["namespace"]) = ("lock".into(), space["name"].clone()),
                None => call["name"] = "mcp__comity__lock".into(),
            }
            call
        }
        false => json!({
            "type": "message", "role": "assistant", "id": "msg_1",
            "content": [{ "type": "output_text", "text": "done" }],
        }),
    };
    events(&[
        json!({ "type": "response.created", "response": { "id": "resp_1" } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": {
            "id": "resp_1", "status": "completed", "output": [item], "usage": {
                "input_tokens": 10, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 5,
                "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 15,
            },
        }}),
    ])
}
