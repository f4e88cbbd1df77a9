//! `cargo xtask check`: exactly what CI runs, in the same order.

use crate::process::{self, Failure, cargo, cargo_has};
use crate::{additions, docs, test, tidy};
use std::env;
use std::path::PathBuf;
use std::time::{Duration, Instant};

struct Step {
    name: &'static str,
    run: fn() -> Result<(), Failure>,
}

/// The quick ones first: who waits for the tests knows by then that the rest is right.
const STEPS: &[Step] = &[
    Step { name: "fmt", run: fmt },
    Step { name: "clippy", run: clippy },
    Step { name: "tidy", run: || tidy::run(&[]) },
    Step { name: "doc", run: doc },
    Step { name: "readme", run: readme },
    Step { name: "reference", run: || docs::run(&["--check".to_owned()]) },
    Step { name: "deny", run: deny },
    Step { name: "additions", run: || additions::run(&[]) },
    Step { name: "test", run: || test::run(&[]) },
];

/// Runs the steps one after another, all of them or those named, and tells at the end which failed.
pub(crate) fn run(named: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = named.iter().find(|name| !STEPS.iter().any(|step| step.name == **name)) {
        let all: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        return Err(Failure::usage(format!("there is no step `{unknown}`; the steps: {}", all.join(", "))));
    }
    let steps: Vec<&Step> =
        STEPS.iter().filter(|step| named.is_empty() || named.iter().any(|name| step.name == *name)).collect();
    let mut times = Vec::new();
    let mut failures: Vec<Failure> = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        println!("\n== {} ({} of {})", step.name, index + 1, steps.len());
        let started = Instant::now();
        let outcome = (step.run)();
        let took = seconds(started.elapsed());
        match outcome {
            Ok(()) => println!("== {} passed in {took}", step.name),
            Err(failure) => {
                println!("== {} FAILED after {took}: {}", step.name, failure.says);
                failures
                    .push(Failure { says: format!("{}: {}", step.name, failure.says), code: failure.code });
            }
        }
        times.push(format!("{} {took}", step.name));
    }
    println!("\ncheck {}: {}", if failures.is_empty() { "passed" } else { "FAILED" }, times.join(", "));
    let Some(code) = failures.first().map(|failure| failure.code) else { return Ok(()) };
    let says: Vec<String> = failures.into_iter().map(|failure| failure.says).collect();
    Err(Failure { says: says.join("; "), code })
}

fn fmt() -> Result<(), Failure> {
    process::run(&mut cargo(&["fmt", "--all", "--", "--check"]))
}

fn clippy() -> Result<(), Failure> {
    process::run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn doc() -> Result<(), Failure> {
    let mut command = cargo(&["doc", "--workspace", "--no-deps", "--document-private-items"]);
    process::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}

/// The README's first command, as far as it can go without a server: `cargo run` must know which program is meant.
fn readme() -> Result<(), Failure> {
    process::run(&mut cargo(&["run", "--quiet", "--", "--version"]))
}

fn deny() -> Result<(), Failure> {
    if !cargo_has("deny") {
        println!("skipped: cargo-deny is not installed (cargo install --locked cargo-deny)");
        return Ok(());
    }
    process::run(&mut cargo(&["deny", "check", "licenses", "bans", "sources"]))?;
    if !has_advisories() {
        println!("advisories skipped: no local database (fetch one with `cargo deny fetch`)");
        return Ok(());
    }
    process::run(&mut cargo(&["deny", "--offline", "check", "advisories"]))
}

/// Whether a database of advisories lies where cargo-deny keeps it.
fn has_advisories() -> bool {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")));
    let databases = home.and_then(|home| home.join("advisory-dbs").read_dir().ok());
    databases
        .is_some_and(|mut databases| databases.any(|entry| entry.is_ok_and(|entry| entry.path().is_dir())))
}

fn seconds(time: Duration) -> String {
    format!("{:.1}s", time.as_secs_f64())
}
