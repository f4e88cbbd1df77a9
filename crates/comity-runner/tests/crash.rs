//! The runner is killed with -9: nothing of its programs is left, but for those that are to survive.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

#[expect(dead_code, reason = "each test uses a part of it")]
mod support;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use comity_runner::{Exit, ProcessId, RunnerEvent, Survivor};
use support::*;

/// Where the process that is to be killed runs its programs.
const VICTIM_DIR: &str = "COMITY_VICTIM_DIR";
const VICTIM_PROGRAMS: &str = "COMITY_VICTIM_PROGRAMS";
const VICTIM_SURVIVES: &str = "COMITY_VICTIM_SURVIVES";
/// What its guardians are told, too.
const VICTIM_FLAGS: &str = "COMITY_VICTIM_FLAGS";
/// With a control group, where one can be made, and without.
const MEANS: [&str; 2] = ["", "--without-group"];
/// Random rounds without that variable, and how long they may take together.
const ROUNDS_MAX: u64 = 200;
const ROUNDS_FOR: Duration = Duration::from_secs(60);
/// More of them by this variable.
const ROUNDS: &str = "COMITY_CRASH_ROUNDS";
/// Each program: itself, a child, a grandchild, a daemon with a session of its own, a loop that ignores hangups.
const SCRIPT: &str = "setsid sh -c 'sleep 1000 & sleep 1001' & \
                      nohup sh -c 'while :; do sleep 1002; done' >/dev/null 2>&1 & \
                      (sh -c 'sleep 1003; :' & sleep 1004) & sh -c 'sleep 1005; :'";
const PROCESSES: usize = 8;

/// No test: the process that the tests kill. It runs its programs and waits.
#[test]
fn the_victim() {
    let Some(dir) = std::env::var_os(VICTIM_DIR) else { return };
    let count: usize = std::env::var(VICTIM_PROGRAMS).unwrap().parse().unwrap();
    let survives = std::env::var_os(VICTIM_SURVIVES).is_some();
    let dir = Path::new(&dir);
    let flags = std::env::var(VICTIM_FLAGS).unwrap_or_default();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let (runner, events) = runner_with(dir, Vec::new(), &flags);
    let launches = (0..count).map(|index| {
        let mut launch = launch(dir, &format!("a{index}"), SCRIPT);
        launch.program.survives = survives;
        launch
    });
    runner.launch(launches.collect()).unwrap();
    for _ in 0..count {
        let RunnerEvent::Started { key, program, .. } = events.recv_timeout(PATIENCE).unwrap() else {
            panic!()
        };
        eprintln!("started {key} {} {}", program.pid, program.start);
    }
    eprintln!("all");
    loop {
        std::thread::park();
    }
}

struct Victim {
    process: Child,
    programs: Vec<(String, ProcessId)>,
}

impl Victim {
    fn start(dir: &Path, programs: usize, survives: bool, flags: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["the_victim", "--exact", "--nocapture", "--test-threads=1"]);
        command.env(VICTIM_DIR, dir).env(VICTIM_PROGRAMS, programs.to_string()).env(VICTIM_FLAGS, flags);
        if survives {
            command.env(VICTIM_SURVIVES, "1");
        }
        let mut process = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut programs = Vec::new();
        for line in lines.take_while(|line| line != "all") {
            if let [_, key, pid, start] = line.split(' ').collect::<Vec<_>>()[..] {
                let program = ProcessId { pid: pid.parse().unwrap(), start: start.parse().unwrap() };
                programs.push((key.to_owned(), program));
            }
        }
        Self { process, programs }
    }

    fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn nothing_of_twenty_programs_is_left_within_two_seconds() {
    for flags in MEANS {
        let dir = tempfile::tempdir().unwrap();
        let victim = Victim::start(dir.path(), 20, false, flags);
        let all = mark_of_all(dir.path());
        wait_for_marked(&all, 20 * PROCESSES);
        victim.kill();
        assert_eq!(survivors(&all, Duration::from_secs(2)), BTreeSet::new(), "{flags}");
    }
}

/// Killed at any moment, also while programs start.
#[test]
fn nothing_is_left_whenever_the_runner_is_killed() {
    let wished: Option<u64> = std::env::var(ROUNDS).ok().map(|rounds| rounds.parse().unwrap());
    let start = Instant::now();
    for round in 0..wished.unwrap_or(ROUNDS_MAX) {
        // clock: no more rounds than fit into the time that tests have
        if wished.is_none() && start.elapsed() > ROUNDS_FOR {
            eprintln!("{round} rounds in {ROUNDS_FOR:?}; more with: cargo xtask torture --runs N");
            break;
        }
        let flags = MEANS[usize::from(round % 2 == 1)];
        let dir = tempfile::tempdir().unwrap();
        let all = mark_of_all(dir.path());
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["the_victim", "--exact", "--nocapture"]).stdout(Stdio::null()).stderr(Stdio::null());
        command.env(VICTIM_DIR, dir.path()).env(VICTIM_PROGRAMS, "3").env(VICTIM_FLAGS, flags);
        let mut process = command.spawn().unwrap();
        // So many processes are there when it dies: none yet, some, nearly all.
        let wanted = usize::try_from(round.wrapping_mul(2_654_435_761) % (3 * PROCESSES as u64)).unwrap();
        let victim = |pids: &BTreeSet<u32>| pids.len() >= wanted;
        until(|| Some(marked(&all)).filter(victim)).unwrap();
        process.kill().unwrap();
        process.wait().unwrap();
        assert_eq!(survivors(&all, Duration::from_secs(2)), BTreeSet::new(), "round {round} {flags}");
    }
}

#[test]
fn those_that_survive_are_taken_over_and_not_started_twice() {
    let dir = tempfile::tempdir().unwrap();
    let victim = Victim::start(dir.path(), 2, true, "");
    let [first, second] = victim.programs.clone().try_into().unwrap();
    let key = first.0.as_str();
    let mark = mark(dir.path(), key);
    let before = wait_for_marked(&mark, PROCESSES);
    victim.kill();

    // The second one is wanted no more, and one is missed that never was.
    let survivor = |key: &str, program| Survivor { key: key.to_owned(), program, place: None };
    let missed = survivor("a9", ProcessId { pid: 1, start: 0 });
    let (next, events) = runner(dir.path(), vec![survivor(key, first.1), missed]);
    let taken_over = RunnerEvent::TakenOver { key: key.into(), program: first.1 };
    assert_eq!(events.recv_timeout(PATIENCE).unwrap(), taken_over);
    until(|| (!second.1.is_alive()).then_some(())).expect("whom nobody wants ends");
    assert!(marked(&mark).is_superset(&before), "{before:?} {:?}", marked(&mark));
    assert!(first.1.is_alive());

    next.write(key, b"hello\n").unwrap();
    until(|| (!next.output(key, 0).unwrap().bytes.is_empty()).then_some(()))
        .expect("its terminal came along");
    assert_eq!(
        events.recv_timeout(PATIENCE).unwrap(),
        RunnerEvent::Ended { key: "a9".into(), exit: Exit::Unseen },
    );
    next.end(key, Duration::ZERO).unwrap();
    assert!(
        matches!(events.recv_timeout(PATIENCE).unwrap(), RunnerEvent::Ended { key: ended, .. } if ended == key)
    );
    assert_eq!(marked(&mark), BTreeSet::new());
}
