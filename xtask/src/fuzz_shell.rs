//! `cargo xtask fuzz-shell`: generated command lines that are called read-only, in real shells, under strace.

use crate::process::{self, Failure, cargo};

const USAGE: &str = "usage: cargo xtask fuzz-shell [--lines N] [--seed S], both whole numbers";
/// Lines without `--lines`.
const LINES: u64 = 20_000;

/// How many lines, from which seed on; line by line the seed goes up by one.
#[derive(PartialEq, Eq, Debug)]
struct Plan {
    lines: u64,
    seed: u64,
}

/// Runs the fuzz test; it prints how far it is, and each escape with the seed that repeats it.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let plan = plan(arguments).ok_or_else(|| Failure::usage(USAGE))?;
    let mut test = cargo(&["test", "-p", "comity-guard", "--release", "--test", "fuzz", "--", "--nocapture"]);
    test.arg("what_is_proven_only_reads");
    test.env("COMITY_FUZZ_LINES", plan.lines.to_string()).env("COMITY_FUZZ_SEED", plan.seed.to_string());
    process::run(&mut test)
}

fn plan(arguments: &[String]) -> Option<Plan> {
    let mut plan = Plan { lines: LINES, seed: 1 };
    let mut rest = arguments.iter().flat_map(|argument| match argument.split_once('=') {
        Some((name, value)) => vec![name, value],
        None => vec![argument.as_str()],
    });
    while let Some(name) = rest.next() {
        let number = rest.next()?.parse().ok()?;
        match name {
            "--lines" if number > 0 => plan.lines = number,
            "--seed" => plan.seed = number,
            _ => return None,
        }
    }
    Some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_seed_are_whole_numbers() {
        let check = |line: &str, expected: Option<(u64, u64)>| {
            let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
            let read = plan(&arguments).map(|plan| (plan.lines, plan.seed));
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
