//! Programs that Comity runs: their starts, in terminals and in panes of tmux, what many cost that write, and how soon nothing
//! of them is left when the server is killed.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use comity_runner::{
    Launch, LaunchPlace, PaneCommand, Program, Runner, RunnerOptions, Size, Tmux, TmuxPlace,
};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use serde_json::json;

use crate::Bench;
use crate::bench_env::BenchEnv;
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::machine;
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::{BenchServer, HUMAN, input};

const SPAWNS: usize = 150;
const PANES: usize = 10;
const BATCHES: usize = 20;
/// One pane every 200 ms, as others do it, and 25 times as fast.
const PANES_NS_MAX: f64 = PANES as f64 * 200e6 / 25.0;
/// Programs of a server that is killed, and how often that is done.
const AGENTS: usize = 20;
const KILLS: usize = 20;
/// Each with a child, a grandchild, a daemon with a session of its own and a loop that ignores hangups.
const FAMILY: &str = include_str!("../../../../benches/family.sh");
const FAMILY_SIZE: usize = 8;
/// Programs that write, and how much each writes in a second: 1 MB in all.
const WRITERS: usize = 50;
const WRITES: &str = "while :; do head -c 20000 /dev/zero | tr '\\0' x; echo; sleep 1; done";
const WATCHED_FOR: Duration = Duration::from_secs(10);
const MEGABYTE: f64 = 1024.0 * 1024.0;
/// The kernel's ticks in a second.
const TICKS: f64 = 100.0;
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(2);

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    plain(bench)?;
    panes(bench)?;
    killed(bench)?;
    writers(bench)
}

/// A runner in this process, whose guardians are the program that is measured.
fn runner(stage: &BenchEnv, name: &str) -> Result<Runner, String> {
    let guardian: Vec<OsString> = vec![stage.program().into(), "guardian".into()];
    let directory = stage.dir().join(name);
    let options = RunnerOptions { directory, guardian, survivors: Vec::new() };
    Runner::start(options, Box::new(|_| {})).map_err(|error| error.to_string())
}

fn program(script: &str) -> Program {
    let path = std::env::var("PATH").unwrap_or_default();
    Program {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(), // shell: so are commands of users run
        environment: vec![("PATH".into(), path)],
        directory: PathBuf::from("/"),
        terminal: Some(Size { columns: 120, rows: 40 }),
        survives: false,
    }
}

/// From the call to the first byte that the program writes.
fn plain(bench: &mut Bench) -> Result<(), String> {
    let runner = runner(&bench.stage, "runs-plain")?;
    let samples = bench.scaled(SPAWNS);
    let mut count = 0;
    let mut ours = || {
        count += 1;
        let key = format!("run{count}");
        let launch = Launch { key: key.clone(), program: program("printf x"), place: LaunchPlace::Process };
        // As it is wherever two programs do not start within some milliseconds.
        if count > 1 {
            until("a guardian waits", || runner.has_spare())?;
        }
        timed(|| {
            runner.launch(vec![launch]).map_err(|error| error.to_string())?;
            let output = runner.wait_for_output(&key, 0, PATIENCE).map_err(|error| error.to_string())?;
            if output.bytes.is_empty() { Err("it wrote nothing".to_owned()) } else { Ok(()) }
        })
    };
    let what = Comparison {
        name: "a program in a terminal, to bare fork, exec and pty",
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(1.5)),
    };
    bench.compare(what, || in_turns(samples, 1, || timed(bare), &mut ours))?;
    runner.stop();
    Ok(())
}

/// The same without us.
fn bare() -> Result<(), String> {
    let failed = |error: rustix::io::Errno| error.to_string();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).map_err(failed)?;
    grantpt(&master).and_then(|()| unlockpt(&master)).map_err(failed)?;
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let end =
        || -> Result<Stdio, String> { ioctl_tiocgptpeer(&master, flags).map(Stdio::from).map_err(failed) };
    let mut command = Command::new("sh"); // shell: ours has one, too
    command.args(["-c", "printf x"]).stdin(end()?).stdout(end()?).stderr(end()?);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut byte = [0];
    let read = std::fs::File::from(master).read_exact(&mut byte).map_err(|error| error.to_string());
    child.wait().map_err(|error| error.to_string())?;
    read
}

/// Ten panes, against one bare sequence of commands for the same.
fn panes(bench: &mut Bench) -> Result<(), String> {
    let name = "10 panes of tmux, to one bare sequence of commands";
    let found = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|dir| dir.join("tmux")).find(|file| file.is_file())
    });
    let Some(tmux) = found else {
        bench.report.skipped(name, "tmux is not installed");
        return Ok(());
    };
    let socket = format!("comity-bench-{}", std::process::id());
    let ours = || {
        let place = TmuxPlace::Own { socket: socket.clone(), session: "bench".into() };
        let command = ["sleep", "1000"].map(Into::into).to_vec();
        let commands = vec![PaneCommand { command, directory: "/".into() }; PANES];
        let taken = timed(|| Tmux::new(&tmux, place).open(&commands).map_err(|error| error.to_string()));
        end_tmux(&tmux, &socket);
        taken
    };
    let bare = || {
        let mut command = Command::new(&tmux);
        command.args(["-L", &socket, "-f", "/dev/null"]);
        command.args(["new-session", "-d", "-s", "bench", "-x", "220", "-y", "60", "sleep", "1000"]);
        for _ in 1..PANES {
            command.args([";", "split-window", "-d", "-t", "=bench:", "sleep", "1000"]);
            command.args([";", "select-layout", "-t", "=bench:", "tiled"]);
        }
        let taken = timed(|| match command.stderr(Stdio::null()).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("tmux ended with {status}")),
            Err(error) => Err(error.to_string()),
        });
        end_tmux(&tmux, &socket);
        taken
    };
    let samples = bench.scaled(BATCHES);
    let what = Comparison {
        name,
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(1.5)),
    };
    bench.compare(what, || in_turns(samples, 1, bare, ours))?;
    let one = ours()? as f64;
    bench.measured("10 panes of tmux", Unit::Nanoseconds, &[one], Some(Goal::AtMost(PANES_NS_MAX)));
    Ok(())
}

fn end_tmux(tmux: &Path, socket: &str) {
    // It may be gone by itself.
    let _ = Command::new(tmux).args(["-L", socket, "kill-server"]).stderr(Stdio::null()).status();
}

/// From kill -9 of the server to the end of the last process of its programs.
fn killed(bench: &mut Bench) -> Result<(), String> {
    let mut times = Vec::new();
    for round in 0..bench.scaled(KILLS) {
        let stage = bench.stage.clone();
        let server = BenchServer::start(&stage, &format!("killed{round}"))?;
        let mark = server.home().path().display().to_string();
        let mut client = server.join("starter")?;
        client.ask_with(Some(HUMAN), "agent_limit", &input(&json!({ "max": AGENTS }))?)?;
        client.ask_with(Some(HUMAN), "agent_bye", &input(&json!({ "agent": "starter" }))?)?;
        for number in 0..AGENTS {
            let spawn = json!({ "agent": FAMILY, "name": format!("a{number}") });
            client.ask_with(Some(HUMAN), "spawn", &input(&spawn)?)?;
        }
        until("its programs run", || marked(&mark, server.pid()).len() >= AGENTS * FAMILY_SIZE)?;
        let pid = i32::try_from(server.pid()).ok().and_then(Pid::from_raw).ok_or("it has no process")?;
        let start = Instant::now();
        kill_process(pid, Signal::KILL).map_err(|error| error.to_string())?;
        until("nothing is left", || marked(&mark, server.pid()).is_empty())?;
        times.push(start.elapsed().as_nanos() as f64);
    }
    times.sort_by(f64::total_cmp);
    let slowest =
        times.get(times.len() * 99 / 100).or(times.last()).copied().ok_or("nothing was measured")?;
    let name = "from kill -9 of the server with 20 programs to nothing left, p99";
    bench.measured(name, Unit::Nanoseconds, &[slowest], Some(Goal::AtMost(2e9)));
    Ok(())
}

/// All living processes but one with this in their environment.
fn marked(mark: &str, but: u32) -> BTreeSet<u32> {
    let pids = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|file| file.file_name().to_str()?.parse().ok());
    let has_mark = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        *pid != but && environment.windows(mark.len()).any(|bytes| bytes == mark.as_bytes())
    };
    pids.filter(has_mark).collect()
}

fn until(what: &str, is_so: impl Fn() -> bool) -> Result<(), String> {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        if Instant::now() > until {
            return Err(format!("it never came about that {what}"));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// What it costs to hear fifty programs that write 1 MB in a second.
fn writers(bench: &mut Bench) -> Result<(), String> {
    let own = std::process::id();
    let memory = machine::resident_bytes(own)?;
    let runner = runner(&bench.stage, "runs-writers")?;
    let launch = |number| Launch {
        key: format!("writer{number}"),
        program: program(WRITES),
        place: LaunchPlace::Process,
    };
    runner.launch((0..WRITERS).map(launch).collect()).map_err(|error| error.to_string())?;
    let last = format!("writer{}", WRITERS - 1);
    runner.wait_for_output(&last, 0, PATIENCE).map_err(|error| error.to_string())?;
    // Until what they wrote fills what is kept of it.
    std::thread::sleep(WATCHED_FOR + WATCHED_FOR / 2);
    let before = machine::used_ticks(own)?;
    std::thread::sleep(WATCHED_FOR);
    let used = (machine::used_ticks(own)? - before) / TICKS / WATCHED_FOR.as_secs_f64() * 100.0;
    let memory = machine::resident_bytes(own)? - memory;
    runner.stop();
    let name = "50 programs that write 1 MB/s: percent of a core";
    bench.measured(name, Unit::Count, &[used], Some(Goal::AtMost(10.0)));
    let name = "50 programs that write 1 MB/s: memory";
    bench.measured(name, Unit::Bytes, &[memory], Some(Goal::AtMost(60.0 * MEGABYTE)));
    Ok(())
}
