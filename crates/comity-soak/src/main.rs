//! `comity-soak`: runs the soak, and sees to it that nothing of it is left however it ends.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use comity_soak::{Plant, Soak, end_all, run};
use rustix::process::Signal;
use signal_hook::consts::{SIGINT, SIGTERM};

const USAGE: &str =
    "usage: comity-soak --comity PROGRAM [--minutes N] [--clients 30] [--kill-every 2s] [--seed S] [--json]
  --minutes N       how long the load lasts (1); 0.5 is half a minute
  --clients N       how many clients work at once (30)
  --kill-every T    how long a server lives on average, such as 2s or 500ms
  --seed S          the choices of an earlier run
  --json            the figures as JSON
  --plant FAULT     a fault that has to be found: lost, twice, letter, commit, denied, rescue,
                    restore, merge, wrong, slow, memory, leak, backlog, process";

/// Names the directory of a run to the process that does it.
const DIR: &str = "COMITY_SOAK_DIR";

struct SoakOptions {
    soak: Soak,
    is_json: bool,
}

fn main() -> ExitCode {
    let Some(wishes) = wishes(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let done = match std::env::var_os(DIR) {
        Some(dir) => work(wishes, PathBuf::from(dir)),
        None => keep(),
    };
    done.unwrap_or_else(|problem| {
        eprintln!("comity-soak: {problem}");
        ExitCode::from(2)
    })
}

/// Lets another process do the work, and ends all that it has left, even if it was killed.
fn keep() -> Result<ExitCode, String> {
    let describe = |error: std::io::Error| error.to_string();
    let dir = tempfile::tempdir().map_err(describe)?;
    // By the time of the end it may be gone.
    let path = dir.path().canonicalize().map_err(describe)?;
    let is_ended = flag(SIGTERM)?;
    // Ctrl-C reaches both; the other one ends in order.
    flag(SIGINT)?;
    let program = std::env::current_exe().map_err(describe)?;
    let worker = Command::new(program).args(std::env::args_os().skip(1)).env(DIR, dir.path()).spawn();
    let mut worker = worker.map_err(describe)?;
    let end = loop {
        if let Some(end) = worker.try_wait().map_err(describe)? {
            break end;
        }
        if is_ended.swap(false, Ordering::Relaxed) {
            let pid = i32::try_from(worker.id()).ok().and_then(rustix::process::Pid::from_raw);
            pid.map(|pid| rustix::process::kill_process(pid, Signal::TERM));
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    end_all(&path);
    Ok(ExitCode::from(end.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
}

fn work(SoakOptions { soak, is_json }: SoakOptions, dir: PathBuf) -> Result<ExitCode, String> {
    let died = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
    died.map_err(|error| error.to_string())?;
    let is_stopped = flag(SIGINT)?;
    signal_hook::flag::register(SIGTERM, Arc::clone(&is_stopped)).map_err(|error| error.to_string())?;
    let soak = Soak { dir, ..soak };
    eprintln!("soak: {} clients for {} s, seed {}", soak.clients, soak.time.as_secs(), soak.seed);
    let report = run(&soak, &is_stopped, |line| eprintln!("{line}"));
    // Who would remove it may have been killed.
    let _ = std::fs::remove_dir_all(&soak.dir);
    let report = report?;
    match is_json {
        true => println!("{}", report.to_json()),
        false => println!("{report}"),
    }
    Ok(ExitCode::from(u8::from(report.missed().next().is_some())))
}

fn flag(signal: i32) -> Result<Arc<AtomicBool>, String> {
    let flag = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(|error| error.to_string())?;
    Ok(flag)
}

fn wishes(mut arguments: impl Iterator<Item = String>) -> Option<SoakOptions> {
    let soak = Soak {
        comity: PathBuf::new(),
        dir: PathBuf::new(),
        time: Duration::from_secs(60),
        clients: 30,
        kill_every: Duration::from_secs(2),
        seed: u64::from(std::process::id()),
        plants: Vec::new(),
    };
    let mut wishes = SoakOptions { soak, is_json: false };
    while let Some(name) = arguments.next() {
        if name == "--json" {
            wishes.is_json = true;
            continue;
        }
        let (soak, value) = (&mut wishes.soak, arguments.next()?);
        match name.as_str() {
            "--comity" => soak.comity = value.into(),
            "--minutes" => {
                let minutes: f64 = value.parse().ok().filter(|minutes| (0.0..1e5).contains(minutes))?;
                soak.time = Duration::from_secs_f64(minutes * 60.0);
            }
            "--clients" => soak.clients = value.parse().ok().filter(|clients| (4..=200).contains(clients))?,
            "--kill-every" => soak.kill_every = span(&value)?,
            "--seed" => soak.seed = value.parse().ok()?,
            "--plant" => soak.plants.push(Plant::named(&value)?),
            _ => return None,
        }
    }
    (!wishes.soak.comity.as_os_str().is_empty()).then_some(wishes)
}

fn span(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s')?, 1000),
    };
    Some(Duration::from_millis(number.parse::<u64>().ok()?.checked_mul(unit)?)).filter(|span| !span.is_zero())
}
