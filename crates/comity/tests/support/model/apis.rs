//! How models are asked, and how they answer: one function for each API.

use serde_json::{Value, json};

use super::Call;

/// What the model says when it has nothing to call.
const DONE: &str = "done";

#[derive(Clone, Copy)]
pub(super) enum Api {
    /// Anthropic's.
    Messages,
    /// OpenAI's newer one.
    Responses,
    /// OpenAI's older one, which most others speak, too.
    Chat,
    /// Google's.
    Gemini,
}

impl Api {
    /// The API that answers at a path.
    pub(super) fn at(path: &str) -> Option<Api> {
        let ends = [
            ("/messages", Api::Messages),
            ("/responses", Api::Responses),
            ("/chat/completions", Api::Chat),
            (":streamGenerateContent", Api::Gemini),
        ];
        ends.into_iter().find(|(end, _)| path.ends_with(end)).map(|(_, api)| api)
    }

    /// The answer to a question: a call, or the end.
    pub(super) fn say(self, body: &Value, call: Option<&Call>) -> String {
        match self {
            Api::Messages => messages(body, call),
            Api::Responses => responses(body, call),
            Api::Chat => chat(body, call),
            Api::Gemini => gemini(call),
        }
    }
}

/// Whether the user has said a word in a conversation; nothing is in all of them.
pub(super) fn has_said(body: &Value, word: &str) -> bool {
    let list = |name: &str| body[name].as_array().into_iter().flatten();
    let of_user = list("messages").chain(list("input")).chain(list("contents"));
    let of_user = of_user.filter(|message| message["role"] == "user");
    let is_said = |content: &Value| match content {
        Value::Array(parts) => {
            parts.iter().any(|part| part["text"].as_str().is_some_and(|text| text.contains(word)))
        }
        other => other.as_str().is_some_and(|text| text.contains(word)),
    };
    let says = |message: &Value| is_said(&message["content"]) || is_said(&message["parts"]);
    word.is_empty() || of_user.into_iter().any(says)
}

/// The results of tools in a question, whichever API it is for.
pub(super) fn results(body: &Value) -> Vec<&Value> {
    let list = |name: &str| body[name].as_array().into_iter().flatten();
    let contents = list("messages").filter_map(|message| message["content"].as_array()).flatten();
    let of_messages = contents.filter(|content| content["type"] == "tool_result");
    let is_output =
        |item: &&Value| item["type"] == "function_call_output" || item["type"] == "custom_tool_call_output";
    let of_responses = list("input").filter(is_output);
    let of_chat = list("messages").filter(|message| message["role"] == "tool");
    let parts = list("contents").filter_map(|content| content["parts"].as_array()).flatten();
    let of_gemini = parts.filter_map(|part| part.get("functionResponse"));
    of_messages.chain(of_responses).chain(of_chat).chain(of_gemini).collect()
}

fn events(events: &[Value]) -> String {
    let lines = events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()));
    lines.collect()
}

fn messages(body: &Value, call: Option<&Call>) -> String {
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    // No two conversations of a program have a call of the same name.
    let first = body["messages"][0]["content"].to_string();
    let mark = first.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let id = format!("toolu_{mark:x}_{}", results(body).len());
    let (start, delta, stop) = match call {
        Some(call) => (
            json!({ "type": "tool_use", "id": id, "name": call.tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": call.arguments.to_string() }),
            "tool_use",
        ),
        None => {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": DONE }), "end_turn")
        }
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

fn responses(body: &Value, call: Option<&Call>) -> String {
    let item = match call {
        Some(call) => responses_call(body, call),
        None => json!({
            "type": "message", "role": "assistant", "id": "msg_1",
            "content": [{ "type": "output_text", "text": DONE }],
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

fn responses_call(body: &Value, call: &Call) -> Value {
    let nth = results(body).len();
    let mut item = json!({ "id": format!("fc_{nth}"), "call_id": format!("call_{nth}"), "name": call.tool });
    match &call.arguments {
        Value::String(text) => {
            (item["type"], item["input"]) = ("custom_tool_call".into(), text.as_str().into())
        }
        arguments => {
            (item["type"], item["arguments"]) = ("function_call".into(), arguments.to_string().into());
        }
    }
    // Some versions put the tools of a server into a namespace.
    let server = call.tool.strip_prefix("mcp__").and_then(|name| name.split_once("__"));
    let is_its = |tool: &&Value| {
        let name = tool["name"].as_str().unwrap_or_default();
        tool["type"] == "namespace" && server.is_some_and(|(server, _)| name.contains(server))
    };
    let space = body["tools"].as_array().into_iter().flatten().find(is_its);
    if let (Some((_, own)), Some(space)) = (server, space) {
        (item["name"], item["namespace"]) = (own.into(), space["name"].clone());
    }
    item
}

fn chat(body: &Value, call: Option<&Call>) -> String {
    let id = format!("call_{}", results(body).len());
    let (delta, reason) = match call {
        Some(call) => {
            let function = json!({ "name": call.tool, "arguments": call.arguments.to_string() });
            let calls = json!([{ "index": 0, "id": id, "type": "function", "function": function }]);
            (json!({ "role": "assistant", "tool_calls": calls }), "tool_calls")
        }
        None => (json!({ "role": "assistant", "content": DONE }), "stop"),
    };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 });
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
        let chunk = json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"],
            "choices": [choice], "usage": usage,
        });
        format!("data: {chunk}\n\n")
    };
    [chunk(delta, Value::Null), chunk(json!({}), reason.into()), "data: [DONE]\n\n".into()].concat()
}

fn gemini(call: Option<&Call>) -> String {
    let part = match call {
        Some(call) => json!({ "functionCall": { "name": call.tool, "args": call.arguments } }),
        None => json!({ "text": DONE }),
    };
    let answer = json!({
        "candidates": [{ "index": 0, "content": { "role": "model", "parts": [part] }, "finishReason": "STOP" }],
        "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
        "modelVersion": "scripted",
    });
    format!("data: {answer}\n\n")
}
