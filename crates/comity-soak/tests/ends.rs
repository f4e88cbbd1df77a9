//! However the soak ends, nothing that it has started is left.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const PATIENCE: Duration = Duration::from_secs(120);

/// The program beside the harness; `cargo xtask test` builds it first.
fn comity() -> PathBuf {
    let comity = Path::new(env!("CARGO_BIN_EXE_comity-soak")).with_file_name("comity");
    assert!(comity.is_file(), "build it first: cargo build -p comity");
    comity
}

/// Starts a soak that goes on for an hour, in a directory of the test's.
fn start(dir: &Path) -> Child {
    let mut soak = Command::new(env!("CARGO_BIN_EXE_comity-soak"));
    soak.arg("--comity").arg(comity()).args(["--minutes", "60", "--clients", "4"]);
    let soak = soak.env("TMPDIR", dir).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
    eventually("a server runs", || of(dir).iter().any(|pid| command(*pid).contains("serve")));
    soak
}

/// The processes that have the directory in their environment.
fn of(dir: &Path) -> Vec<u32> {
    let dir = dir.as_os_str().as_encoded_bytes();
    let has_it = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.windows(dir.len()).any(|part| part == dir)
    };
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has_it).collect()
}

fn command(pid: u32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ")
}

fn kill(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, signal).expect("sent");
}

fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(10)); // sleeps: processes tell nobody that they end
    }
}

/// Starts a soak, ends it so, and looks what is left of it. Gives its exit code and what it printed.
fn check(end: impl FnOnce(&Child, u32)) -> (Option<i32>, String) {
    let dir = tempfile::tempdir().expect("a directory");
    let soak = start(dir.path());
    let is_worker = |pid: &u32| *pid != soak.id() && command(*pid).contains("comity-soak");
    let worker = of(dir.path()).into_iter().find(is_worker).expect("who does the work");
    end(&soak, worker);
    let said = soak.wait_with_output().expect("an end");
    eventually("all have ended", || of(dir.path()).is_empty());
    eventually("its directory is gone", || {
        std::fs::read_dir(dir.path()).expect("a directory").next().is_none()
    });
    (said.status.code(), String::from_utf8(said.stdout).expect("text"))
}

#[test]
fn in_order_at_ctrl_c() {
    let (code, said) =
        check(|soak, worker| [soak.id(), worker].into_iter().for_each(|pid| kill(pid, Signal::INT)));
    assert!(said.contains("left behind"), "the figures so far: {said}");
    assert!(matches!(code, Some(0 | 1)), "whether all goals are met: {code:?}");
}

#[test]
fn who_does_the_work_is_killed() {
    check(|_, worker| kill(worker, Signal::KILL));
}

#[test]
fn who_watches_is_killed() {
    check(|soak, _| kill(soak.id(), Signal::KILL));
}
