//! A differential fuzz run: lines that the classifier calls read-only, in real shells, under strace.
//!
//! `cargo xtask fuzz-shell --lines 1000000` runs it for long; here a fixed number of seeds takes seconds.

mod grammar;
mod programs;
mod random;
mod sandbox;
mod shells;
mod watch;

use std::collections::HashSet;
use std::io::Write;
use std::time::Instant;

use comity_guard::{Classification, classify};
use sandbox::Sandbox;
use shells::SHELLS;

/// Lines of the run in CI.
const LINES: u64 = 600;
/// The first seed; line by line it goes up by one.
const SEED: u64 = 1;
/// Lines that are run under one strace.
const BATCH: usize = 150;

fn is_proven(line: &str) -> bool {
    matches!(classify(line), Classification::ReadOnly { .. })
}

/// What a run has come to.
#[derive(Default)]
struct Outcome {
    lines: u64,
    proven: usize,
    runs: usize,
    escapes: Vec<(u64, watch::Escape)>,
}

/// Makes lines from seeds, and runs those that are proven.
fn fuzz(first: u64, lines: u64, progress: bool, proves: impl Fn(&str) -> bool) -> Outcome {
    let sandbox = Sandbox::new();
    let started = Instant::now();
    let mut outcome = Outcome::default();
    let mut seen = HashSet::new();
    let mut batch: Vec<(u64, String)> = Vec::new();
    for seed in first..first + lines {
        let line = grammar::line(seed);
        outcome.lines += 1;
        if proves(&line) && seen.insert(line.clone()) {
            batch.push((seed, line));
        }
        if batch.len() == BATCH || (seed + 1 == first + lines && !batch.is_empty()) {
            outcome.proven += batch.len();
            let texts: Vec<&str> = batch.iter().map(|(_, line)| line.as_str()).collect();
            let (runs, escapes) = watch::run(&sandbox, &texts);
            outcome.runs += runs;
            for escape in escapes {
                let seed = batch.iter().find(|(_, line)| *line == escape.line).map_or(0, |(seed, _)| *seed);
                if progress {
                    println!(
                        "escape: --seed {seed} --lines 1\n  {:?}\n  {}: {}",
                        escape.line, escape.shell, escape.call
                    );
                }
                outcome.escapes.push((seed, escape));
            }
            batch.clear();
            if progress {
                let seconds = started.elapsed().as_secs();
                println!(
                    "{} lines, {} proven, {} runs, {} escapes, {seconds} s",
                    outcome.lines,
                    outcome.proven,
                    outcome.runs,
                    outcome.escapes.len()
                );
                std::io::stdout().flush().expect("it is printed");
            }
        }
    }
    outcome
}

/// Says what cannot be tried here.
fn can_run() -> bool {
    for shell in SHELLS {
        if let Some(missing) = shell.missing() {
            skip(shell.name, &format!("{missing} is not installed"));
        }
    }
    let can_watch = watch::can_watch();
    if !can_watch {
        skip("the fuzz of proofs", "strace cannot watch a process here");
    }
    can_watch
}

/// Says that a test cannot run here, also in the file in which a run collects these lines.
fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    let file = std::env::var_os("COMITY_SKIPS").map(|file| std::fs::File::options().append(true).open(file));
    if let Some(Ok(mut file)) = file {
        let _full = std::io::Write::write_all(&mut file, line.as_bytes());
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn what_is_proven_only_reads() {
    if !can_run() {
        return;
    }
    let lines = number("COMITY_FUZZ_LINES");
    let outcome =
        fuzz(number("COMITY_FUZZ_SEED").unwrap_or(SEED), lines.unwrap_or(LINES), lines.is_some(), is_proven);
    println!(
        "classifier: {} lines fuzzed, {} proven, {} runs in real shells, {} escapes",
        outcome.lines,
        outcome.proven,
        outcome.runs,
        outcome.escapes.len()
    );
    assert!(outcome.escapes.is_empty(), "{:#?}", outcome.escapes);
}

/// What the table of commands calls read-only, in every shell.
#[test]
fn the_table_only_reads() {
    if !can_run() {
        return;
    }
    let lines: Vec<&str> = grammar::proven_commands().iter().map(String::as_str).collect();
    let (_, escapes) = watch::run(&Sandbox::new(), &lines);
    assert!(escapes.is_empty(), "{escapes:#?}");
}

/// The run sees what it is for: each of these does more than read, in the shells that are named.
#[test]
fn planted_faults_are_found() {
    if !can_run() {
        return;
    }
    const FAULTS: [(&str, &str); 16] = [
        ("sort -o out a.txt", "bash dash zsh busybox"),
        ("echo a > out", "bash dash zsh busybox"),
        ("rm x", "bash"),
        ("harm", "bash dash zsh busybox"),
        ("sh -c true", "bash dash zsh busybox"),
        ("ls &>/dev/null harm", "dash"),
        ("ls # ; harm", "zsh-i"),
        ("!h", "bash-i zsh-i"),
        ("ls *(e:harm:)", "zsh"),
        ("awk '{ print > \"out\" }' a.txt", "bash dash zsh busybox mawk gawk"),
        ("awk 'BEGIN { system(\"harm\") }'", "bash mawk gawk busybox"),
        ("sed -n 'w out' a.txt", "bash busybox"),
        ("cat < /dev/tcp/127.0.0.1/9", "bash"),
        ("git -C evil status", "bash"),
        ("git log --output=out", "bash"),
        ("git branch new", "bash"),
    ];
    let lines = FAULTS.map(|(line, _)| line);
    let (_, escapes) = watch::run(&Sandbox::new(), &lines);
    for (line, shells) in FAULTS {
        let seen = |wanted: &str| {
            escapes.iter().any(|escape| escape.line == line && is_called(escape.shell, wanted))
        };
        let missed: Vec<&str> = shells.split(' ').filter(|wanted| !seen(wanted)).collect();
        let is_missing = |wanted: &&str| {
            SHELLS.iter().any(|shell| is_called(shell.name, wanted) && shell.missing().is_some())
        };
        let missed: Vec<&str> = missed.into_iter().filter(|wanted| !is_missing(wanted)).collect();
        assert!(missed.is_empty(), "{line}: not seen in {missed:?}, but {escapes:#?}");
    }
}

/// Whether a shell is meant by a short name.
fn is_called(shell: &str, name: &str) -> bool {
    match name {
        "bash-i" => shell == "bash -i",
        "zsh-i" => shell == "zsh -i",
        "busybox" => shell == "busybox sh",
        "gawk" | "mawk" => shell.ends_with(name),
        name => shell == name,
    }
}

/// A classifier that forgot one option is caught by generated lines, too.
#[test]
fn a_forgotten_option_is_caught() {
    if !can_run() {
        return;
    }
    let forgetful = |line: &str| {
        let is_one = !line.contains(|letter: char| ";|&<>`()\n#!".contains(letter));
        is_one && line.starts_with("sort ") && (line.contains(" -o") || line.contains(" --outp"))
    };
    let outcome = fuzz(SEED, 40_000, false, |line| forgetful(line));
    assert!(!outcome.escapes.is_empty(), "{} lines were run", outcome.proven);
}

/// Runs the jobs of a batch; started under strace by the tests above.
#[test]
#[ignore = "a part of the other tests"]
fn driver() {
    let Some(root) = std::env::var_os(watch::JOBS) else { return };
    watch::drive(&Sandbox::at(root.into()));
}
