//! An MCP client on the standard streams of `comity mcp`.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::{PATIENCE, Running, has_ended, is_readable};

/// One `comity mcp` process, after the greeting.
pub(crate) struct Mcp {
    process: Running,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

/// What a tool answered.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl Mcp {
    /// Starts the command, which has to be `comity mcp` in some form, and greets it.
    pub(crate) fn start(command: &mut Command) -> Mcp {
        let mut mcp = Mcp::start_later(command);
        mcp.greet();
        mcp
    }

    /// Starts the command, which is to be greeted later.
    pub(crate) fn start_later(command: &mut Command) -> Mcp {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut process = Running(child.spawn().expect("comity mcp"));
        let input = process.0.stdin.take();
        let output = BufReader::new(process.0.stdout.take().expect("a pipe"));
        Mcp { process, input, output, next_id: 1 }
    }

    /// Begins the conversation.
    pub(crate) fn greet(&mut self) {
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        });
        self.ask("initialize", &hello);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("an open pipe");
        writeln!(input, "{message}").and_then(|()| input.flush()).expect("sent");
    }

    /// Asks one thing and waits for the result.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.result(id)
    }

    /// Waits for the result of what was begun.
    pub(crate) fn result(&mut self, id: u64) -> Value {
        loop {
            let has_line = !self.output.buffer().is_empty() || is_readable(self.output.get_ref(), PATIENCE);
            assert!(has_line, "no answer to {id}");
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("a line") > 0, "comity mcp ended");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message["id"] == id {
                assert!(message["error"].is_null(), "{message}");
                return message["result"].clone();
            }
        }
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Told {
        let result = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        Told {
            text: result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
            is_error: result["isError"] == true,
        }
    }

    /// Calls a tool, and goes on without its answer; gives the call's id.
    pub(crate) fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let params = json!({ "name": tool, "arguments": arguments });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        id
    }

    /// Waits until there is something to read, and leaves it there.
    pub(crate) fn is_writing(&self) -> bool {
        is_readable(self.output.get_ref(), PATIENCE)
    }

    /// The names of the tools.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let list = self.ask("tools/list", &json!({}));
        let tools = list["tools"].as_array().expect("tools").iter();
        tools.map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Ends standard input and waits for the end; gives the exit code.
    pub(crate) fn close(mut self) -> i32 {
        drop(self.input.take());
        assert!(has_ended(self.process.pid(), PATIENCE), "comity mcp does not end with its input");
        self.process.0.wait().expect("an end").code().unwrap_or(-1)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }
}
