//! `cargo xtask torture`: kills a real server again and again, and checks what it kept.

use crate::process::{self, Failure, cargo};

/// A test that runs for as long as it is told to.
struct Harness {
    flag: &'static str,
    package: &'static str,
    /// What tells the test how often.
    variable: &'static str,
    test: &'static str,
    /// The tests of that file; all, if it is empty.
    filter: &'static str,
    /// Faults are planted in debug builds only.
    release: bool,
}

const HARNESSES: [Harness; 7] = [
    Harness {
        flag: "kills",
        package: "comity",
        variable: "COMITY_TORTURE_KILLS",
        test: "torture",
        filter: "",
        release: true,
    },
    Harness {
        flag: "moves",
        package: "comity",
        variable: "COMITY_MOVE_KILLS",
        test: "moves",
        filter: "random::",
        release: false,
    },
    Harness {
        flag: "power-cuts",
        package: "comity",
        variable: "COMITY_POWER_CUTS",
        test: "power_cut",
        filter: "",
        release: true,
    },
    Harness {
        flag: "sweep",
        package: "comity",
        variable: "COMITY_SWEEP_POINTS",
        test: "strace_sweep",
        filter: "",
        release: true,
    },
    Harness {
        flag: "worktrees",
        package: "comity",
        variable: "COMITY_WORKTREE_KILLS",
        test: "worktrees_killed",
        filter: "",
        release: false,
    },
    Harness {
        flag: "runs",
        package: "comity-runner",
        variable: "COMITY_CRASH_ROUNDS",
        test: "crash",
        filter: "whenever_the_runner_is_killed",
        release: true,
    },
    Harness {
        flag: "crash-loop",
        package: "comity",
        variable: "COMITY_CRASH_LOOP",
        test: "crash_loop",
        filter: "",
        release: true,
    },
];

/// Runs what is asked for, as often; without flags, the torture test with its own number.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let wanted = wanted(arguments)?;
    if wanted.is_empty() {
        return process::run(&mut HARNESSES[0].test());
    }
    for (harness, times) in wanted {
        process::run(harness.test().env(harness.variable, times.to_string()))?;
    }
    Ok(())
}

impl Harness {
    fn test(&self) -> std::process::Command {
        let mut test = cargo(&["test", "-p", self.package, "--test", self.test]);
        if self.release {
            test.arg("--release");
        }
        test.args(["--", "--nocapture"]);
        if !self.filter.is_empty() {
            test.arg(self.filter);
        }
        test
    }
}

fn wanted(arguments: &[String]) -> Result<Vec<(&'static Harness, u32)>, Failure> {
    let flags = HARNESSES.map(|harness| format!("[--{} N]", harness.flag)).join(" ");
    let usage = || Failure::usage(format!("usage: cargo xtask torture {flags}, N a whole number from 1"));
    let mut words = arguments.iter().map(String::as_str);
    let mut wanted = Vec::new();
    while let Some(word) = words.next() {
        let word = word.strip_prefix("--").ok_or_else(usage)?;
        let (flag, number) = match word.split_once('=') {
            Some(parts) => parts,
            None => (word, words.next().ok_or_else(usage)?),
        };
        let harness = HARNESSES.iter().find(|harness| harness.flag == flag).ok_or_else(usage)?;
        let times = number.parse().ok().filter(|times| *times > 0).ok_or_else(usage)?;
        wanted.push((harness, times));
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_takes_a_whole_number_from_one() {
        let check = |line: &str, expected: Result<&[(&str, u32)], u8>| {
            let arguments: Vec<String> = line.split_whitespace().map(String::from).collect();
            let found = wanted(&arguments).map_err(|failure| failure.code);
            let found =
                found.map(|all| all.iter().map(|(one, times)| (one.flag, *times)).collect::<Vec<_>>());
            assert_eq!(found.as_deref().map_err(|code| *code), expected, "{line}");
        };
        check("", Ok(&[]));
        check("--kills 12", Ok(&[("kills", 12)]));
        check("--kills=12", Ok(&[("kills", 12)]));
        check("--runs 5000", Ok(&[("runs", 5000)]));
        check("--power-cuts 3 --moves=400", Ok(&[("power-cuts", 3), ("moves", 400)]));
        check("--kills 0", Err(2));
        check("--kills many", Err(2));
        check("--kills", Err(2));
        check("--earthquakes 3", Err(2));
        check("12", Err(2));
    }
}
