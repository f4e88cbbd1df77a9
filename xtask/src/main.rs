//! The developer commands of the repository: `cargo xtask <command>`.

mod additions;
mod bench;
mod build;
mod check;
mod docs;
mod fuzz_shell;
mod keep_log;
mod process;
mod sim;
mod soak;
mod stats;
mod test;
mod tidy;
mod tools;
mod torture;

use process::Failure;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <command> [arguments]

Commands:
  additions [--count]               How many files an operation and a feature touch; they are added to a copy
  build                             The release programs, the hook linked statically
  test [arguments]                  Run every test; arguments go to the test runner as they are
  check [STEP...]                   Everything CI runs: format, lints, tidy, docs, licences, tests; or these steps
  stats [--measure]                 How much there is to read, how large the programs are; --measure builds and times them
  tidy                              The rules of the house that no compiler checks
  bench [CASE...] [--quick]         Measure the figures on the release programs; --help has the rest
  sim [--seconds N] [--seed S]      The seeded simulator, in release mode
  sim --models                      Every order of what can wait for what, all kinds at once: minutes
  torture [--kills N] [--moves N] [--power-cuts N] [--sweep N] [--worktrees N] [--crash-loop N]
                                    Kill a real server again and again, and check what it kept
  soak [--minutes N] [--clients 30] [--kill-every 2s] [--seed S] [--json]
                                    Many clients on a real server that is killed again and again
  fuzz-shell [--lines N] [--seed S] Lines that are called read-only, in real shells; watched for anything else
  docs [--check]                    Write docs/reference; --check only tells whether it is current
  keep-log                          Keep a log of this release, which every later one has to read
  help                              This text";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {}", failure.says);
            ExitCode::from(failure.code)
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let Some((command, rest)) = arguments.split_first() else {
        return Err(Failure::usage(format!("which command?\n\n{USAGE}")));
    };
    match command.as_str() {
        "additions" => additions::run(rest),
        "build" => build::run(rest),
        "bench" => bench::run(rest),
        "test" => test::run(rest),
        "check" => check::run(rest),
        "tidy" => tidy::run(rest),
        "stats" => stats::run(rest),
        "sim" => sim::run(rest),
        "soak" => soak::run(rest),
        "torture" => torture::run(rest),
        "fuzz-shell" => fuzz_shell::run(rest),
        "docs" => docs::run(rest),
        "keep-log" => keep_log::run(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(())
        }
        other => Err(Failure::usage(format!("there is no command `{other}`\n\n{USAGE}"))),
    }
}
