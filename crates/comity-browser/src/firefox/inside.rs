//! Loads our script into Firefox over its own debugger, whose socket is private and closed as soon as this is done.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::process::FirefoxProcess;
use super::{appearing, private_socket};
use crate::deadline::Deadline;
use crate::error::{BrowserError, Result};

/// The socket of Firefox's debugger.
pub(crate) const DEBUGGER: &str = "comity-debugger";
/// The socket over which Firefox is driven.
pub(crate) const DRIVER: &str = "comity-driver";
/// Where the script records that it cannot do its work.
const FAILED: &str = "comity-failed";
/// What runs inside Firefox.
const SCRIPT: &str = include_str!("inside.js");
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
const LENGTH_DIGITS_MAX: usize = 9;

/// Removes the sockets of a Firefox that is gone.
pub(crate) fn forget(profile: &Path) {
    [DEBUGGER, DRIVER, FAILED].iter().for_each(|name| private_socket::remove(profile, name));
}

/// Runs the script in a newly started Firefox, and waits until it can be driven.
pub(crate) fn begin(profile: &Path, process: &FirefoxProcess, deadline: &Deadline) -> Result<()> {
    appearing::wait(profile, &[DEBUGGER], process, deadline)?;
    let run = run(profile, deadline);
    private_socket::remove(profile, DEBUGGER);
    run.map_err(|error| BrowserError::not_started(format!("its debugger does not answer: {error}")))??;
    appearing::wait(profile, &[DRIVER, FAILED], process, deadline)?;
    match std::fs::read_to_string(profile.join(FAILED)) {
        Err(_) => Ok(()),
        Ok(why) => Err(unsuitable(&why)),
    }
}

fn unsuitable(why: &str) -> BrowserError {
    BrowserError::not_started(format!("this version offers no private way to drive it: {}", why.trim()))
}

fn run(profile: &Path, deadline: &Deadline) -> io::Result<Result<()>> {
    let limit = deadline.left().max(Duration::from_millis(1));
    let mut connection = private_socket::connect(profile, DEBUGGER, deadline)?;
    connection.set_read_timeout(Some(limit))?;
    connection.set_write_timeout(Some(limit))?;
    let _greeting = receive(&mut connection)?;
    let found = ask(&mut connection, &json!({ "to": "root", "type": "getProcess", "id": 0 }))?;
    let descriptor = &found["processDescriptor"]["actor"];
    let target = ask(&mut connection, &json!({ "to": descriptor, "type": "getTarget" }))?;
    let console = &target["process"]["consoleActor"];
    if !console.is_string() {
        return Ok(Err(unsuitable("its debugger has no console")));
    }
    let names = [("SOCKET", DRIVER), ("FAILED", FAILED)].map(|(name, file)| {
        format!("const {name} = {};", json!(private_socket::named_by_firefox(profile, file)))
    });
    // A sandbox of its own: the window that the debugger sees may be closed some day.
    let text = format!(
        "{{ const inside = new Cu.Sandbox(Services.scriptSecurityManager.getSystemPrincipal(), {{ \
         freshCompartment: true, sandboxName: 'comity', wantGlobalProperties: ['ChromeUtils', 'IOUtils'] }}); \
         inside.Services = Services; Cu.evalInSandbox({}, inside); }}",
        json!(names.concat() + SCRIPT)
    );
    ask(&mut connection, &json!({ "to": console, "type": "evaluateJSAsync", "text": text }))?;
    loop {
        let event = receive(&mut connection)?;
        if event["type"] == "evaluationResult" {
            let thrown = event["exceptionMessage"].as_str();
            return Ok(thrown.map_or(Ok(()), |thrown| Err(unsuitable(thrown))));
        }
    }
}

/// Asks an actor and waits for its answer, ignoring other messages.
fn ask(connection: &mut (impl Read + Write), message: &Value) -> io::Result<Value> {
    let text = message.to_string();
    connection.write_all(format!("{}:{text}", text.len()).as_bytes())?;
    loop {
        let answer = receive(connection)?;
        if answer["from"] == message["to"] && answer.get("type").is_none() {
            return Ok(answer);
        }
    }
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
            _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "this is not Firefox's debugger")),
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
    }
}
