//! Lock and unlock through `comity mcp`, as agents' programs call it, against the same over the socket.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::Bench;
use crate::bench_env::{BenchEnv, FREE_PATH};
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::machine;
use crate::process_reaper::OwnedProcess;
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::{BenchServer, input};

const SAMPLES: usize = 1_500;
const CHUNK: usize = 50;
const MEGABYTE: f64 = 1024.0 * 1024.0;
const VERSION: &str = "2025-06-18";

/// An agent's program that speaks MCP.
pub(super) struct McpClient {
    process: OwnedProcess,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
}

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let server = BenchServer::start(&bench.stage, "mcp")?;
    // First: what a program starts that has used the token of an agent does not join by itself.
    let mut client = McpClient::start(&bench.stage, &server)?;
    let mut agent = server.join("direct")?;
    let paths = input(&json!({ "paths": [FREE_PATH] }))?;
    let lock = call("lock", json!({ "paths": ["src/d1/through-mcp.rs"] }));
    let unlock = call("unlock", json!({ "paths": ["src/d1/through-mcp.rs"] }));
    let samples = bench.scaled(SAMPLES);
    let what = Comparison {
        name: "lock and unlock, to the same directly",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(3.0)),
    };
    bench.compare(what, || {
        in_turns(
            samples,
            CHUNK,
            || timed(|| agent.pair(&paths)),
            || timed(|| client.call(&lock).and_then(|()| client.call(&unlock))),
        )
    })?;
    let memory = machine::resident_bytes(client.process.id())?;
    bench.measured("memory of comity mcp", Unit::Bytes, &[memory], Some(Goal::AtMost(8.0 * MEGABYTE)));
    Ok(())
}

impl McpClient {
    pub(super) fn start(stage: &BenchEnv, server: &BenchServer) -> Result<McpClient, String> {
        let mut command = stage.command(stage.program(), server.home().path());
        command.args(["mcp", "--name", "measured"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = stage.spawn(&mut command)?;
        let pipes = process.child().stdin.take().zip(process.child().stdout.take());
        let (stdin, stdout) = pipes.ok_or("comity mcp can't be talked to")?;
        let mut client = McpClient { process, stdin, stdout: BufReader::new(stdout), line: String::new() };
        let about = json!({ "name": "bench", "version": "1" });
        let params = json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": about });
        client.ask(&message("initialize", params))?;
        client.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(client)
    }

    /// Bytes of the answer that lists the tools.
    pub(super) fn tool_list_bytes(&mut self) -> Result<usize, String> {
        self.ask(&message("tools/list", json!({}))).map(str::len)
    }

    fn call(&mut self, message: &str) -> Result<(), String> {
        let answer = self.ask(message)?;
        match answer.contains("\"isError\":true") || answer.contains("\"error\":{") {
            true => Err(answer.to_owned()),
            false => Ok(()),
        }
    }

    fn ask(&mut self, message: &str) -> Result<&str, String> {
        self.send(message)?;
        self.line.clear();
        match self.stdout.read_line(&mut self.line) {
            Ok(0) => Err("comity mcp ended".into()),
            Ok(_) => Ok(&self.line),
            Err(error) => Err(error.to_string()),
        }
    }

    fn send(&mut self, message: &str) -> Result<(), String> {
        self.stdin.write_all(message.as_bytes()).map_err(|error| error.to_string())
    }
}

fn call(tool: &str, arguments: Value) -> String {
    message("tools/call", json!({ "name": tool, "arguments": arguments }))
}

fn message(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string() + "\n"
}
