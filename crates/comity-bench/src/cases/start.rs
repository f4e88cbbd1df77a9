//! Start to ready, and what a server costs that has nothing to do.

use std::time::Duration;

use super::mcp::McpClient;
use crate::Bench;
use crate::machine;
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::BenchServer;

const STARTS: usize = 10;
const SETTLED_AFTER: Duration = Duration::from_secs(2);
const IDLE_FOR: Duration = Duration::from_secs(3);
/// The kernel's accounting may charge a tick that was somebody else's.
const IDLE_TICKS_MAX: f64 = 1.0;
const KILOBYTE: f64 = 1024.0;
const MEGABYTE: f64 = 1024.0 * 1024.0;
const MILLISECOND: f64 = 1e6;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let mut times = Vec::new();
    for start in 0..STARTS {
        let server = BenchServer::start(&bench.stage, &format!("start{start}"))?;
        times.push(server.ready_after.as_nanos() as f64);
    }
    let goal = Some(Goal::AtMost(50.0 * MILLISECOND));
    bench.measured("start to ready", Unit::Nanoseconds, &times, goal);

    let server = BenchServer::start(&bench.stage, "idle")?;
    std::thread::sleep(SETTLED_AFTER);
    let memory = machine::resident_bytes(server.pid())?;
    bench.measured("memory, idle", Unit::Bytes, &[memory], Some(Goal::AtMost(20.0 * MEGABYTE)));
    let before = machine::used_ticks(server.pid())?;
    std::thread::sleep(IDLE_FOR);
    let used = machine::used_ticks(server.pid())? - before;
    bench.measured("ticks used in 3 s, idle", Unit::Count, &[used], Some(Goal::AtMost(IDLE_TICKS_MAX)));

    let mut client = McpClient::start(&bench.stage, &server)?;
    let tools = client.tool_list_bytes()? as f64;
    bench.measured("MCP tool list", Unit::Bytes, &[tools], Some(Goal::AtMost(8.0 * KILOBYTE)));
    let program = std::fs::metadata(bench.stage.program()).map_err(|error| error.to_string())?;
    let goal = Some(Goal::AtMost(17.0 * MEGABYTE));
    bench.measured("size of the program", Unit::Bytes, &[program.len() as f64], goal);
    Ok(())
}
