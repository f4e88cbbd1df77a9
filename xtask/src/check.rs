//! `cargo xtask check`: exactly what CI runs, in the same order.

use crate::process::{self, Failure, cargo, cargo_has, no_arguments};
use crate::{additions, docs, test, tidy};
use std::env;
use std::path::PathBuf;
use std::time::{Duration, Instant};

struct Step {
    name: &'static str,
    run: fn() -> Result<(), Failure>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", run: fmt },
    Step { name: "clippy", run: clippy },
    Step { name: "tidy", run: || tidy::run(&[]) },
    Step { name: "test", run: || test::run(&[]) },
    Step { name: "doc", run: doc },
    Step { name: "readme", run: readme },
    Step { name: "reference", run: || docs::run(&["--check".to_owned()]) },
    Step { name: "additions", run: || additions::run(&[]) },
    Step { name: "deny", run: deny },
];

/// Runs the steps one after another, and stops at the first that fails.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    no_arguments("check", arguments)?;
    let mut times = Vec::new();
    for (index, step) in STEPS.iter().enumerate() {
        println!("\n== {} ({} of {})", step.name, index + 1, STEPS.len());
        let started = Instant::now();
        let outcome = (step.run)();
        let took = seconds(started.elapsed());
        if let Err(failure) = outcome {
            let says = format!("check stopped at `{}` after {took}: {}", step.name, failure.says);
            return Err(Failure { says, code: failure.code });
        }
        println!("== {} passed in {took}", step.name);
        times.push(format!("{} {took}", step.name));
    }
    println!("\ncheck passed: {}", times.join(", "));
    Ok(())
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
