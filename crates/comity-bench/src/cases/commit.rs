//! A scoped commit against a plain one, and what the guard adds to a plain one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::Bench;
use crate::compare::{Comparison, Ratio, in_turns, timed};
use crate::git::GitRepository;
use crate::quantity::Unit;
use crate::report::Goal;
use crate::server::{BenchServer, input};

const FILES: usize = 5_000;
const MANY_FILES: usize = 50_000;
/// Commits of each kind in one round.
const COMMITS: usize = 10;
/// What the guard may add to a commit.
const GUARD_MAX_NS: f64 = 10e6;

pub(super) fn run(bench: &mut Bench) -> Result<(), String> {
    compared(bench, FILES, "scoped, to git commit, 5,000 files")?;
    compared(bench, MANY_FILES, "scoped, to git commit, 50,000 files")?;
    guard(bench)
}

fn compared(bench: &mut Bench, files: usize, name: &str) -> Result<(), String> {
    let stage = bench.stage.clone();
    let repository = GitRepository::make(&stage, &format!("commit-{files}"), bench.scaled(files))?;
    let server = BenchServer::start_in(&stage, &format!("commit-{files}"), &repository.root)?;
    let mut agent = server.join("writer")?;
    let (plain, scoped) = (repository.file(0), repository.file(1));
    agent.ask("lock", &input(&json!({ "paths": [repository.name(1)], "ttl": "24h" }))?)?;
    let message = input(&json!({ "message": "measured" }))?;
    let mut count = 0;
    let mut change = |file: &std::path::Path| {
        count += 1;
        fs::write(file, format!("change {count}\n")).map_err(|error| error.to_string())
    };
    let change = std::cell::RefCell::new(&mut change);
    let what = Comparison {
        name,
        unit: Unit::Nanoseconds,
        ratio: Ratio::SubjectToReference,
        goal: Some(Goal::AtMost(2.0)),
    };
    let commits = bench.scaled(COMMITS);
    bench.compare(what, || {
        in_turns(
            commits,
            1,
            || {
                (change.borrow_mut())(&plain)?;
                timed(|| {
                    repository.git(&["add", "--", &repository.name(0)])?;
                    repository.git(&["commit", "--quiet", "--message=measured"])
                })
            },
            || {
                (change.borrow_mut())(&scoped)?;
                timed(|| agent.ask("commit", &message).map(drop))
            },
        )
    })
}

/// `git commit` with the guard as its pre-commit hook, and without it.
fn guard(bench: &mut Bench) -> Result<(), String> {
    let stage = bench.stage.clone();
    let hook = stage.program().with_file_name("comity-hook");
    if !hook.is_file() {
        bench.report.skipped("what the guard adds", "comity-hook is not beside this program");
        return Ok(());
    }
    let repository = GitRepository::make(&stage, "guarded", bench.scaled(FILES))?;
    let server = BenchServer::start_in(&stage, "guarded", &repository.root)?;
    let script = repository.root.join(".git/hooks/pre-commit");
    let describe = |error: std::io::Error| error.to_string();
    fs::create_dir_all(script.with_file_name("")).map_err(describe)?;
    let home = server.home().path().display();
    let lines = format!("#!/bin/sh\nCOMITY_HOME='{home}' exec '{}' pre-commit\n", hook.display());
    fs::write(&script, lines).map_err(describe)?;
    let mode = |mode| fs::set_permissions(&script, fs::Permissions::from_mode(mode)).map_err(describe);
    let mut count = 0;
    let mut commit = |is_guarded: bool| {
        count += 1;
        mode(if is_guarded { 0o755 } else { 0o644 })?;
        fs::write(repository.file(0), format!("change {count}\n")).map_err(describe)?;
        timed(|| {
            repository.git(&[
                "-c",
                "advice.ignoredHook=false",
                "commit",
                "--quiet",
                "--all",
                "--message=measured",
            ])
        })
    };
    let commits = bench.scaled(COMMITS);
    let mut added = Vec::new();
    for _ in 0..bench.options.rounds {
        let commit = std::cell::RefCell::new(&mut commit);
        let round = in_turns(commits, 1, || (commit.borrow_mut())(false), || (commit.borrow_mut())(true))?;
        added.push((round.subject - round.reference).max(0.0));
    }
    let goal = Some(Goal::AtMost(GUARD_MAX_NS));
    bench.measured("what the guard adds to git commit", Unit::Nanoseconds, &added, goal);
    Ok(())
}
