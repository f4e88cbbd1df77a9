//! `comity-fuzz [--lines N] [--seed S]`: runs generated lines that are called read-only, and looks for anything else.

use std::process::ExitCode;
use std::time::Instant;

use comity_fuzz::{SHELLS, fuzz, is_proven, problem};

const USAGE: &str = "usage: cargo xtask fuzz-shell [--lines N] [--seed S], both whole numbers";
/// Lines without `--lines`.
const LINES: u64 = 20_000;

/// How many lines, from which seed on; line by line the seed goes up by one.
#[derive(PartialEq, Eq, Debug)]
struct FuzzOptions {
    lines: u64,
    seed: u64,
}

fn main() -> ExitCode {
    let Some(options) = options(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if let Some(problem) = problem() {
        eprintln!("{problem}");
        return ExitCode::FAILURE;
    }
    for (shell, missing) in SHELLS.iter().filter_map(|shell| Some((shell.name, shell.missing()?))) {
        println!("without {shell}: {missing} is not installed");
    }
    let started = Instant::now();
    let mut shown = 0;
    let outcome = fuzz(options.seed, options.lines, is_proven, |outcome| {
        for (seed, escape) in &outcome.escapes[shown..] {
            println!(
                "escape: --seed {seed} --lines 1\n  {:?}\n  {}: {}",
                escape.line, escape.shell, escape.call
            );
        }
        shown = outcome.escapes.len();
        println!(
            "{} lines, {} proven, {} runs, {shown} escapes, {} s",
            outcome.lines,
            outcome.proven,
            outcome.runs,
            started.elapsed().as_secs()
        );
    });
    println!(
        "classifier: {} lines fuzzed, {} proven, {} runs in real shells, {} escapes",
        outcome.lines,
        outcome.proven,
        outcome.runs,
        outcome.escapes.len()
    );
    if outcome.escapes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(arguments: impl Iterator<Item = String>) -> Option<FuzzOptions> {
    let mut options = FuzzOptions { lines: LINES, seed: 1 };
    let words: Vec<String> = arguments
        .flat_map(|argument| match argument.split_once('=') {
            Some((name, value)) => vec![name.to_owned(), value.to_owned()],
            None => vec![argument],
        })
        .collect();
    let mut rest = words.into_iter();
    while let Some(name) = rest.next() {
        let number = rest.next()?.parse().ok()?;
        match name.as_str() {
            "--lines" if number > 0 => options.lines = number,
            "--seed" => options.seed = number,
            _ => return None,
        }
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_seed_are_whole_numbers() {
        let check = |line: &str, expected: Option<(u64, u64)>| {
            let read = options(line.split_whitespace().map(String::from)).map(|it| (it.lines, it.seed));
            assert_eq!(read, expected, "{line}");
        };
        check("", Some((LINES, 1)));
        check("--lines 1000000", Some((1_000_000, 1)));
        check("--seed=7 --lines=1", Some((1, 7)));
        check("--lines 0", None);
        check("--lines", None);
        check("--seed many", None);
        check("12", None);
    }
}
