//! Lock and unlock, against the registry behind HTTP that people have today, with 1,000 locks held in both.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Bench;
use crate::bench_env::{BenchEnv, FREE_PATH, locked_path};
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::process_reaper::OwnedProcess;
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::{BenchServer, input};

const PACKAGE: &str = include_str!("../../../../benches/baselines/registry/package.json");
const SCRIPT: &str = include_str!("../../../../benches/baselines/registry/server.mjs");
const NAME: &str = "lock and unlock, to a registry behind HTTP";
const HELD: usize = 1_000;
const SAMPLES: usize = 150;
const CHUNK: usize = 10;
const INSTALL_MAX: Duration = Duration::from_secs(240);
/// Longer than any answer of the registry.
const ANSWER_BYTES_MAX: usize = 16 * 1024;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    if !bench.options.with_node {
        bench.report.skipped(NAME, "it needs node and downloads packages; ask with --with node");
        return Ok(());
    }
    let mut registry = match Registry::start(&bench.stage) {
        Ok(registry) => registry,
        Err(why) => {
            bench.report.skipped(NAME, &why);
            return Ok(());
        }
    };
    for lock in 0..HELD {
        registry.ask("POST", &lock_of("holder", &locked_path(lock)), 201)?;
    }
    let server = BenchServer::start(&bench.stage, "registry-ours")?;
    server.fill(HELD)?;
    let mut agent = server.join("writer")?;
    let paths = input(&json!({ "paths": [FREE_PATH] }))?;
    let theirs = lock_of("writer", FREE_PATH);
    let samples = bench.scaled(SAMPLES);
    let what = Comparison {
        name: NAME,
        unit: Unit::Nanoseconds,
        ratio: Ratio::ReferenceToSubject,
        goal: Some(Goal::AtLeast(40.0)),
    };
    bench.compare(what, || {
        in_turns(
            samples,
            CHUNK,
            || {
                timed(|| {
                    registry.ask("POST", &theirs, 201).and_then(|()| registry.ask("DELETE", &theirs, 200))
                })
            },
            || timed(|| agent.pair(&paths)),
        )
    })?;
    Ok(())
}

fn lock_of(agent: &str, path: &str) -> String {
    let an_hour = 3_600_000;
    let lock: Value = json!({ "filePath": path, "agentId": agent, "reason": "measured", "ttlMs": an_hour });
    lock.to_string()
}

/// The baseline, in a process of its own, and a connection to it that stays open.
struct Registry {
    _process: OwnedProcess,
    stream: TcpStream,
}

impl Registry {
    fn start(stage: &BenchEnv) -> Result<Registry, String> {
        let dir = stage.dir().join("registry");
        let write = |name: &str, text: &str| std::fs::write(dir.join(name), text);
        std::fs::create_dir_all(&dir)
            .and_then(|()| write("package.json", PACKAGE))
            .and_then(|()| write("server.mjs", SCRIPT))
            .map_err(|error| error.to_string())?;
        install(stage, &dir)?;
        let mut node = Command::new("node");
        node.args(["server.mjs", "registry.db"]).current_dir(&dir);
        let mut process = stage.spawn(node.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let said = process.child().stdout.take().ok_or("node can't be heard")?;
        let mut line = String::new();
        BufReader::new(said).read_line(&mut line).map_err(|error| error.to_string())?;
        let port: u16 = line.trim().parse().map_err(|_| "node did not start the registry".to_owned())?;
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        Ok(Registry { _process: process, stream })
    }

    fn ask(&mut self, method: &str, body: &str, expected: u16) -> Result<(), String> {
        let length = body.len();
        let request = format!(
            "{method} /locks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        );
        self.stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
        let mut answer = vec![0; ANSWER_BYTES_MAX];
        let mut read = 0;
        while !is_whole(&answer[..read]) {
            match self.stream.read(&mut answer[read..]).map_err(|error| error.to_string())? {
                0 => return Err("the registry is gone".into()),
                count => read += count,
            }
        }
        match answer.starts_with(format!("HTTP/1.1 {expected} ").as_bytes()) {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&answer[..read]).into_owned()),
        }
    }
}

/// Whether an answer is there with all of its body.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    length.is_some_and(|length| body.len() >= length)
}

/// Installs the packages, with a cache that goes with the stage.
fn install(stage: &BenchEnv, dir: &Path) -> Result<(), String> {
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error", "--cache"])
        .arg(stage.dir().join("npm-cache"))
        .current_dir(dir)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut npm = stage.spawn(&mut npm).map_err(|problem| format!("npm can't be run ({problem})"))?;
    let start = Instant::now();
    loop {
        match npm.child().try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("npm install ended with {status}")),
            None if start.elapsed() > INSTALL_MAX => {
                // What npm started goes with it.
                let group = rustix::process::Pid::from_raw(npm.id() as i32);
                let _ = group
                    .map(|group| rustix::process::kill_process_group(group, rustix::process::Signal::KILL));
                return Err(format!("npm install took more than {} s", INSTALL_MAX.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
