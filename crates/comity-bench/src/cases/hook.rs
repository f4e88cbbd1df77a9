//! The hook that agents run before every tool call: payload in, verdict out, against a program that does nothing and
//! against the hooks that people write today.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::Bench;
use crate::bench_env::FREE_PATH;
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::BenchServer;

/// In all rounds together.
const SPAWNS: usize = 250;
const AT_ONCE: usize = 10;
/// Of the slow ones in one round.
const SLOW_SPAWNS: usize = 20;

/// What a hook in node does: it reads the call, asks over the socket, prints the answer.
const NODE: &str = "let body='';process.stdin.on('data',d=>body+=d).on('end',()=>{\
const s=require('net').connect(process.argv[1]);let got='';\
s.on('data',d=>{got+=d;if(got.endsWith('\\n')){process.stdout.write(got);process.exit(0)}});\
s.write(JSON.stringify({id:1,op:'guard',input:{client:'claude',payload:JSON.parse(body)},cwd:process.cwd()})+'\\n')})";

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    let (Some(empty), Some(hook)) = (beside(bench, "comity-empty"), beside(bench, "comity-hook")) else {
        let why = "comity-hook and comity-empty are not beside this program: cargo xtask bench";
        bench.report.skipped("payload in, verdict out, to an empty program", why);
        return Ok(());
    };
    let stage = bench.stage.clone();
    let server = BenchServer::start(&stage, "hook")?;
    let agent = server.join("editor")?;
    let payload = write_payload(bench)?;
    let command = |program: &Path| {
        let mut command = stage.command(program, server.home().path());
        command.env("COMITY_TOKEN", &agent.token);
        command
    };
    let mut empty = HookProcess { command: command(&empty), stdin: payload.clone() };
    let mut hook = HookProcess { command: command(&hook), stdin: payload.clone() };
    hook.command.arg("claude");

    let spawns = bench.scaled(SPAWNS).div_ceil(bench.options.rounds);
    let what = |name, goal| Comparison {
        name,
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(goal)),
    };
    bench.compare(what("payload in, verdict out, to an empty program", 1.5), || {
        in_turns(spawns, 1, || timed(|| empty.once()), || timed(|| hook.once()))
    })?;
    let times = spawns.div_ceil(AT_ONCE).max(3);
    bench.compare(what("10 at once, to 10 empty programs", 1.5), || {
        in_turns(times, 1, || timed(|| empty.many()), || timed(|| hook.many()))
    })?;

    let slow = bench.scaled(SLOW_SPAWNS);
    let than = |name, goal| Comparison {
        name,
        unit: Unit::Nanoseconds,
        ratio: Ratio::ReferenceToSubject,
        goal: Some(Goal::AtLeast(goal)),
    };
    let url = server.url()?;
    let mut curl = HookProcess { command: command(Path::new("bash")), stdin: payload.clone() }; // shell: it is what is measured
    let line = format!("curl --silent --output /dev/null --data-binary @- {url}/api/guard");
    curl.command.args(["-c", &line]); // shell: it is what is measured
    match curl.once() {
        Err(why) => bench.report.skipped("than curl in a line of bash", &why),
        Ok(()) => bench.compare(than("than curl in a line of bash", 15.0), || {
            in_turns(slow, 1, || timed(|| curl.once()), || timed(|| hook.once()))
        })?,
    }
    if !bench.options.with_node {
        bench.report.skipped("than a hook in node", "ask with --with node");
        return Ok(());
    }
    let mut node = HookProcess { command: command(Path::new("node")), stdin: payload };
    node.command.args(["-e", NODE]).arg(server.home().socket());
    bench.compare(than("than a hook in node", 150.0), || {
        in_turns(slow, 1, || timed(|| node.once()), || timed(|| hook.once()))
    })
}

/// What Claude Code sends before it writes a file.
fn write_payload(bench: &Bench) -> Result<PathBuf, String> {
    let repository = bench.stage.repository();
    let payload = json!({
        "session_id": "b5a0c2f4-6d1e-4c8a-9f53-1f2f3a4b5c6d",
        "transcript_path": "/srv/ann/.claude/projects/project/b5a0c2f4.jsonl",
        "cwd": repository, "permission_mode": "acceptEdits", "hook_event_name": "PreToolUse", "tool_name": "Edit",
        "tool_input": {
            "file_path": repository.join(FREE_PATH),
            "old_string": "fn main() {}\n".repeat(10), "new_string": "fn main() { run() }\n".repeat(10),
        },
        "tool_use_id": "toolu_01ABCDEFGHIJKLMNOPQRSTUV",
    });
    let file = bench.stage.dir().join("payload.json");
    std::fs::write(&file, payload.to_string()).map_err(|error| error.to_string())?;
    Ok(file)
}

pub(super) fn beside(bench: &Bench, name: &str) -> Option<PathBuf> {
    Some(bench.stage.program().with_file_name(name)).filter(|path| path.is_file())
}

/// A program that is started with a file as its input.
struct HookProcess {
    command: Command,
    stdin: PathBuf,
}

impl HookProcess {
    fn start(&mut self) -> Result<std::process::Child, String> {
        let stdin = File::open(&self.stdin).map_err(|error| error.to_string())?;
        self.command.stdin(Stdio::from(stdin)).spawn().map_err(|error| error.to_string())
    }

    fn once(&mut self) -> Result<(), String> {
        succeeded(self.start()?.wait())
    }

    fn many(&mut self) -> Result<(), String> {
        let mut spawned = (0..AT_ONCE).map(|_| self.start()).collect::<Result<Vec<_>, String>>()?;
        spawned.iter_mut().try_for_each(|child| succeeded(child.wait()))
    }
}

pub(super) fn succeeded(status: std::io::Result<std::process::ExitStatus>) -> Result<(), String> {
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("it ended with {status}")),
        Err(error) => Err(error.to_string()),
    }
}
