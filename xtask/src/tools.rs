//! What the tests need besides Rust, and how to get it.

use crate::process::{self, Failure};

/// Merging without a working tree (`git merge-tree --write-tree`) came with this version.
const GIT_VERSION_MIN: (u32, u32) = (2, 38);

#[derive(Clone, Copy, PartialEq)]
enum ToolNeed {
    Required,
    /// Without it, the tests that use it report themselves as skipped.
    Optional,
}

struct Tool {
    program: &'static str,
    version: &'static [&'static str],
    need: ToolNeed,
    used_for: &'static str,
    install: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool {
        program: "cc",
        version: &["--version"],
        need: ToolNeed::Required,
        used_for: "compiles the bundled SQLite",
        install: "apt-get install gcc (Debian, Ubuntu), xcode-select --install (macOS)",
    },
    Tool {
        program: "git",
        version: &["--version"],
        need: ToolNeed::Required,
        used_for: "version 2.38 or later; worktrees and merges",
        install: "apt-get install git (Debian, Ubuntu), brew install git (macOS)",
    },
    Tool {
        program: "tmux",
        version: &["-V"],
        need: ToolNeed::Optional,
        used_for: "end-to-end tests of agents in terminals",
        install: "apt-get install tmux (Debian, Ubuntu), brew install tmux (macOS)",
    },
    Tool {
        program: "strace",
        version: &["--version"],
        need: ToolNeed::Optional,
        used_for: "tests of the system calls we make",
        install: "apt-get install strace (Debian, Ubuntu; Linux only)",
    },
    Tool {
        program: "firefox-esr",
        version: &["--version"],
        need: ToolNeed::Optional,
        used_for: "end-to-end tests of the shared browser (firefox will do, too)",
        install: "apt-get install firefox-esr (Debian), the package firefox elsewhere",
    },
    Tool {
        program: "node",
        version: &["--version"],
        need: ToolNeed::Optional,
        used_for: "tests against JavaScript clients",
        install: "apt-get install nodejs (Debian, Ubuntu), brew install node (macOS)",
    },
    Tool {
        program: "npm",
        version: &["--version"],
        need: ToolNeed::Optional,
        used_for: "tests against JavaScript clients",
        install: "apt-get install npm (Debian, Ubuntu), brew install node (macOS)",
    },
];

/// Reports every tool, and refuses to go on without the required ones.
pub(crate) fn report() -> Result<(), Failure> {
    println!("What the tests need besides Rust:");
    let mut missing = Vec::new();
    for tool in TOOLS {
        let answer = process::output(tool.program, tool.version);
        let found = answer.as_deref().filter(|answer| recent_enough(tool.program, answer));
        match (found, tool.need) {
            (Some(answer), _) => {
                let version = answer.lines().next().unwrap_or_default();
                println!("  found    {:<7} {version}", tool.program);
            }
            (None, need) => {
                let kind = if need == ToolNeed::Required { "required" } else { "optional" };
                let found = answer.map(|old| format!(" (found: {})", old.trim())).unwrap_or_default();
                println!("  missing  {:<7} {kind}: {}{found}", tool.program, tool.used_for);
                println!("           {:<7} install: {}", "", tool.install);
                if need == ToolNeed::Required {
                    missing.push(tool.program);
                }
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!("missing: {}; install as shown above, then run again", missing.join(", "))))
}

fn recent_enough(program: &str, answer: &str) -> bool {
    program != "git" || git_version(answer).is_some_and(|version| version >= GIT_VERSION_MIN)
}

fn git_version(answer: &str) -> Option<(u32, u32)> {
    let mut numbers = answer.split_whitespace().nth(2)?.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_is_judged_by_its_version() {
        let check = |answer: &str, expected: bool| {
            assert_eq!(recent_enough("git", answer), expected, "{answer}");
        };
        check("git version 2.38.0\n", true);
        check("git version 2.39.5 (Apple Git-154)\n", true);
        check("git version 3.0.1\n", true);
        check("git version 2.37.9\n", false);
        check("git version 2.4.11\n", false);
        check("no idea", false);
    }
}
