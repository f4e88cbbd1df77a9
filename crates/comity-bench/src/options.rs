//! What was asked for on the command line.

use std::path::PathBuf;

use super::cases::{ALL, Case};

const ROUNDS: usize = 5;
const ROUNDS_QUICK: usize = 3;
const ROUNDS_MAX: usize = 100;

/// What to do.
pub(super) enum BenchCommand {
    /// Say how it is used.
    Help,
    List,
    Measure(BenchOptions),
    /// Be the echo server that servers are compared with.
    Echo(PathBuf),
    /// Be the relay that mail is compared with.
    Relay(PathBuf),
    /// Be one of many clients.
    Worker,
    /// Clean up after a benchmark that did not end by itself.
    Reaper(PathBuf),
}

/// How to measure.
pub(super) struct BenchOptions {
    pub(super) cases: Vec<&'static Case>,
    pub(super) rounds: usize,
    /// Fewer samples: to see that it works, not to judge.
    pub(super) quick: bool,
    pub(super) json: Option<PathBuf>,
    /// Whether baselines that need node and a download may run.
    pub(super) with_node: bool,
}

pub(super) fn parse(args: &[String]) -> Result<BenchCommand, String> {
    let mut options = BenchOptions { cases: vec![], rounds: 0, quick: false, json: None, with_node: false };
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg {
            "--help" | "-h" => return Ok(BenchCommand::Help),
            "--list" => return Ok(BenchCommand::List),
            "--raw-echo" => return Ok(BenchCommand::Echo(value()?.into())),
            "--raw-relay" => return Ok(BenchCommand::Relay(value()?.into())),
            "--raw-worker" => return Ok(BenchCommand::Worker),
            "--reaper" => return Ok(BenchCommand::Reaper(value()?.into())),
            "--quick" => options.quick = true,
            "--json" => options.json = Some(value()?.into()),
            "--rounds" => options.rounds = rounds(value()?)?,
            "--with" => match value()? {
                "node" => options.with_node = true,
                other => return Err(format!("there is no baseline {other:?}; there is: node")),
            },
            "all" => options.cases.extend(ALL),
            name => match ALL.iter().find(|case| case.name == name) {
                Some(case) => options.cases.push(case),
                None => return Err(format!("there is no case {name:?}; see them with --list")),
            },
        }
    }
    if options.cases.is_empty() {
        options.cases.extend(ALL);
    }
    if options.rounds == 0 {
        options.rounds = if options.quick { ROUNDS_QUICK } else { ROUNDS };
    }
    Ok(BenchCommand::Measure(options))
}

fn rounds(text: &str) -> Result<usize, String> {
    let rounds = text.parse().ok().filter(|rounds| (1..=ROUNDS_MAX).contains(rounds));
    rounds.ok_or_else(|| format!("{text:?} isn't a number of rounds from 1 to {ROUNDS_MAX}"))
}

pub(super) fn help() -> String {
    let cases: String = ALL.iter().map(|case| format!("  {:<11} {}\n", case.name, case.about)).collect();
    format!(
        "\
Measures the figures that we promise, each against a reference in the same run

Usage: comity bench [all|CASE...] [--rounds {ROUNDS}] [--quick] [--json FILE] [--with node] [--list]

Cases:
{cases}
Options:
  --rounds N   Rounds per figure; the verdict is on the median of their ratios
  --quick      Fewer samples and rounds: to see that it works, not to judge
  --json FILE  Write everything there
  --with node  Run the baseline that needs node and npm, and downloads its packages
  --list       Name the cases

It runs in a temporary directory with servers of its own, and cleans up.
Exit codes: 0 all goals met, 1 a goal missed, 2 inconclusive: the machine was too busy to tell.
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let said = match parse(&args) {
            Err(problem) => problem,
            Ok(BenchCommand::Measure(options)) => {
                let names: Vec<&str> = options.cases.iter().map(|case| case.name).collect();
                format!("{} x{} quick={}", names.join(","), options.rounds, options.quick)
            }
            Ok(_) => "something else".into(),
        };
        assert_eq!(said, expected, "{line}");
    }

    #[test]
    fn words_are_understood() {
        check("check lock", "check,lock x5 quick=false");
        check("sim --quick", "sim x3 quick=true");
        check("sim --rounds 9 --quick", "sim x9 quick=true");
        check("--rounds 0", "\"0\" isn't a number of rounds from 1 to 100");
        check("--rounds", "--rounds needs a value");
        check("speed", "there is no case \"speed\"; see them with --list");
        check("--with redis", "there is no baseline \"redis\"; there is: node");
        check("all --list", "something else");
    }
}
