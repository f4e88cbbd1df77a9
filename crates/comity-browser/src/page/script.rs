//! Calls to our script library, which lives in a sandbox of each document.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::connection::CallScope;
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};
use crate::shared::SharedBrowser;
use crate::tab::ElementTarget;

const SANDBOX: &str = "comity";
/// The library: one function, and its state for the document.
const LIBRARY: &str = concat!(
    include_str!("js/begin.js"),
    include_str!("js/describe.js"),
    include_str!("js/outline.js"),
    include_str!("js/element.js"),
    include_str!("js/wait.js"),
    include_str!("js/picture.js"),
    include_str!("js/end.js"),
);
/// Calls the library, or says that it is not there yet.
const CALL: &str =
    r#"(name, args) => Object.hasOwn(globalThis, "comity") ? globalThis.comity(name, args) : "absent""#;
const ABSENT: &str = "absent";

/// The library's answer: a value, and things that only the protocol can carry.
#[derive(Debug)]
pub(crate) struct ScriptAnswer {
    pub(crate) value: Value,
    pub(crate) extras: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ran {
    #[serde(default)]
    result: Value,
    exception_details: Option<ScriptException>,
}

#[derive(Deserialize)]
struct ScriptException {
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum ScriptReply {
    Ok(Value),
    Refused { kind: String, detail: String },
}

/// Calls a command of the library in a document.
pub(crate) fn call(
    shared: &SharedBrowser,
    context: &str,
    name: &str,
    args: &Value,
    about: &CallScope,
    deadline: &Deadline,
) -> Result<ScriptAnswer> {
    let target = json!({ "context": context, "sandbox": SANDBOX });
    let params = json!({
        "functionDeclaration": CALL,
        "arguments": [{ "type": "string", "value": name }, { "type": "string", "value": args.to_string() }],
        "target": target,
        "awaitPromise": true,
    });
    let mut answer = run(shared, "script.callFunction", params.clone(), about, deadline)?;
    if answer["value"] == ABSENT {
        let install = json!({ "expression": LIBRARY, "target": target, "awaitPromise": false });
        let _installed = run(shared, "script.evaluate", install, about, deadline)?;
        answer = run(shared, "script.callFunction", params, about, deadline)?;
        if answer["value"] == ABSENT {
            // It was brought to a document that has been replaced since.
            return Err(BrowserError::PageGone);
        }
    }
    let (text, extras) = match answer["value"].take() {
        Value::Array(mut parts) if !parts.is_empty() => {
            let first = parts.remove(0);
            (first["value"].as_str().unwrap_or_default().to_owned(), parts)
        }
        Value::String(text) => (text, Vec::new()),
        other => return Err(unexpected(name, &other.to_string())),
    };
    match serde_json::from_str(&text) {
        Ok(ScriptReply::Ok(value)) => Ok(ScriptAnswer { value, extras }),
        Ok(ScriptReply::Refused { kind, detail }) => Err(refusal(&kind, detail, &args["target"], name)),
        Err(error) => Err(unexpected(name, &error.to_string())),
    }
}

/// Runs a script; what it throws is an error.
pub(crate) fn run(
    shared: &SharedBrowser,
    method: &str,
    params: Value,
    about: &CallScope,
    deadline: &Deadline,
) -> Result<Value> {
    let ran: Ran = shared.connection.call(method, params, about.clone(), deadline).map_err(page_gone)?;
    match ran.exception_details {
        None => Ok(ran.result),
        Some(thrown) => Err(BrowserError::Script { message: thrown.text }),
    }
}

/// How the library is told which element is meant.
pub(crate) fn target_json(target: &ElementTarget, number: Option<u64>) -> Value {
    match (target, number) {
        (ElementTarget::Ref(reference), Some(number)) => json!({ "ref": number, "said": reference }),
        (ElementTarget::Ref(reference), None) => json!({ "ref": -1, "said": reference }),
        (ElementTarget::Css(css), _) => json!({ "css": css }),
    }
}

/// Recognizes Firefox's errors about a document that goes away while a script is on its way to it.
pub(crate) fn page_gone(error: BrowserError) -> BrowserError {
    match error {
        BrowserError::Refused { code, message, .. }
            if code == "no such frame"
                || message.contains("AbortError")
                || message.contains("destroyed")
                // This stands in for a page whose process has crashed, until an empty one has come.
                || message.contains("parent process browsing context") =>
        {
            BrowserError::PageGone
        }
        other => other,
    }
}

fn refusal(kind: &str, detail: String, target: &Value, name: &str) -> BrowserError {
    let text = |field: &str| target[field].as_str().unwrap_or_default().to_owned();
    match kind {
        "stale" => BrowserError::StaleRef { reference: text("said") },
        "not found" => BrowserError::NotFound { selector: text("css") },
        "not clickable" => BrowserError::NotClickable { why: detail },
        "invalid" => BrowserError::invalid(detail),
        _ => unexpected(name, kind),
    }
}

fn unexpected(name: &str, message: &str) -> BrowserError {
    BrowserError::Refused {
        command: name.to_owned(),
        code: "unexpected answer".into(),
        message: message.to_owned(),
    }
}
