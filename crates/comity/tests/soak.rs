//! A short soak: many clients do a bit of everything on a real server that is killed again and again.
//!
//! `cargo xtask soak` does the same for as long as it is told to.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use comity_soak::{Plant, Soak, SoakReport, run, try_faults};

/// How quick and how large a server is says nothing on a busy machine, or after a few seconds.
const NOT_JUDGED: [&str; 4] =
    ["restart p50, p99, max", "memory after the start", "memory of the longest life", "write-ahead log, max"];
/// Longer than any run.
const NEVER: Duration = Duration::from_secs(3600);

fn soak(dir: &tempfile::TempDir, seconds: u64, clients: usize) -> Soak {
    Soak {
        comity: PathBuf::from(env!("CARGO_BIN_EXE_comity")),
        dir: dir.path().to_owned(),
        time: Duration::from_secs(seconds),
        clients,
        kill_every: Duration::from_millis(1500),
        seed: u64::from(std::process::id()),
        plants: Vec::new(),
    }
}

fn missed(report: &SoakReport) -> Vec<&'static str> {
    let judged = report.missed().filter(|figure| !NOT_JUDGED.contains(&figure.name));
    judged.map(|figure| figure.name).collect()
}

#[test]
fn nothing_that_clients_were_told_is_lost() {
    let dir = tempfile::tempdir().expect("a directory");
    let report = run(&soak(&dir, 20, 8), &AtomicBool::new(false), |_| {}).expect("a run");
    println!("{report}");
    let count =
        |name: &str| report.figures.iter().find(|figure| figure.name == name).map(|one| one.value.clone());
    let is_over = |name: &str, least: u64| {
        count(name).is_some_and(|count| count.parse::<u64>().is_ok_and(|count| count > least))
    };
    assert!(is_over("acknowledged operations", 100), "{report}");
    for name in ["kills", "adopted", "rescued", "worktrees restored", "merges finished"] {
        assert!(is_over(name, 0), "{name}: {report}");
    }
    assert_eq!(missed(&report), [""; 0], "{report}");
}

#[test]
fn every_planted_fault_is_found() {
    let dir = tempfile::tempdir().expect("a directory");
    let faults = Plant::ALL.map(|(fault, ..)| fault);
    // Two of them are real from the beginning; the rest is planted into what was seen, one at a time.
    let plants = vec![Plant::Commit, Plant::Process];
    let soak = Soak { plants, kill_every: NEVER, ..soak(&dir, 5, 6) };
    let seen = try_faults(&soak, &faults).expect("a run");
    for ((fault, _, figure), missed) in Plant::ALL.iter().zip(&seen[1..]) {
        assert!(missed.contains(figure), "{fault:?} was not found: {missed:?}");
        let is_real = matches!(fault, Plant::Commit | Plant::Process);
        assert!(
            is_real || !seen[0].contains(figure),
            "{figure} is missed without {fault:?}, too: {:?}",
            seen[0]
        );
    }
}

#[test]
fn it_stops_when_it_is_told_to() {
    let dir = tempfile::tempdir().expect("a directory");
    let report =
        run(&soak(&dir, NEVER.as_secs(), 4), &AtomicBool::new(true), |_| {}).expect("figures so far");
    assert!(report.figures.iter().any(|figure| figure.name == "left behind"));
}
