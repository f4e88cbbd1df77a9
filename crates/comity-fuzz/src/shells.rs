//! The shells that read every line, each in the ways in which agent programs and people start it.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::sandbox::{Sandbox, Tools, found};
use crate::watch::{self, Escape, MARKS};

/// One way to run a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RealShell {
    pub name: &'static str,
    words: &'static [&'static str],
    tools: Tools,
    /// What an interactive shell gets to read before the line, so that it has a history.
    history: Option<&'static str>,
}

const fn shell(name: &'static str, words: &'static [&'static str]) -> RealShell {
    RealShell { name, words, tools: Tools::System, history: None }
}

pub const SHELLS: [RealShell; 9] = [
    shell("bash", &["bash", "-c"]),
    shell("bash --posix", &["bash", "--posix", "-c"]),
    RealShell {
        history: Some("history -s harm\n"),
        ..shell("bash -i", &["bash", "--norc", "--noprofile", "-i"])
    },
    shell("dash", &["dash", "-c"]),
    shell("zsh", &["zsh", "-f", "-c"]),
    RealShell { history: Some("print -s harm\n"), ..shell("zsh -i", &["zsh", "-f", "-i"]) },
    RealShell { tools: Tools::Busybox, ..shell("busybox sh", &["busybox", "sh", "-c"]) },
    RealShell { tools: Tools::Gawk, ..shell("bash with gawk", &["bash", "-c"]) },
    RealShell { tools: Tools::Mawk, ..shell("bash with mawk", &["bash", "-c"]) },
];

impl RealShell {
    /// Whether this way is of use for the line: another awk says nothing about lines without one, and at a terminal only
    /// history and comments are different.
    pub(crate) fn suits(&self, line: &str) -> bool {
        match (self.tools, self.history) {
            (Tools::System, Some(_)) => line.contains(['!', '^', '#']),
            (Tools::System | Tools::Busybox, _) => true,
            (Tools::Gawk | Tools::Mawk, _) => line.contains("awk"),
        }
    }

    /// Whether a line can be run together with others: it ends soon, and the shell reads it from no terminal.
    pub(crate) fn joins(&self, line: &str) -> bool {
        self.history.is_none()
            && !["tail", "sleep", "timeout", "while", "until", "ps", "\0"]
                .iter()
                .any(|slow| line.contains(slow))
    }

    /// The program that is missing here, if one is.
    pub fn missing(&self) -> Option<&'static str> {
        let awk = match self.tools {
            Tools::Gawk => "gawk",
            Tools::Mawk => "mawk",
            Tools::System | Tools::Busybox => self.words[0],
        };
        [self.words[0], awk].into_iter().find(|program| found(program).is_none())
    }

    /// Runs one line by itself, or many in one process, each in a subshell that opens a mark first.
    pub(crate) fn run(&'static self, sandbox: &Sandbox, run: &str, lines: &[&str]) -> Vec<Escape> {
        let file = sandbox.path().join(format!("input-{run}"));
        let words = self.words;
        let (words, input, last) = match (lines, self.history) {
            ([line], None) => (words, None, Some((*line).to_owned())),
            ([line], Some(history)) => (words, Some(format!("{history}{line}\n")), None),
            _ => {
                let words = words.strip_suffix(&["-c"]).unwrap_or(words);
                (words, Some(script(lines)), Some(file.display().to_string()))
            }
        };
        let Some(mut command) = self.command(sandbox, words) else { return Vec::new() };
        if let Some(text) = input {
            fs::write(&file, text).expect("the input");
            if last.is_none() {
                command.stdin(File::open(&file).expect("the input"));
            }
        }
        command.args(last);
        let escapes = watch::run(sandbox, self, run, command, lines, lines.len() > 1);
        let _none = fs::remove_file(file);
        escapes
    }

    fn command(&self, sandbox: &Sandbox, words: &[&str]) -> Option<Command> {
        let mut command = Command::new(found(words[0])?);
        command.arg0(words[0]).args(&words[1..]).process_group(0);
        sandbox.environment(&mut command, self.tools);
        Some(command)
    }
}

/// Many lines as one text.
fn script(lines: &[&str]) -> String {
    let run = |(number, line): (usize, &&str)| {
        let line = line.replace('\'', r"'\''");
        format!("( true >{MARKS}{number} ; eval '{line}' ) </dev/null >/dev/null 2>&1\n")
    };
    lines.iter().enumerate().map(run).collect()
}
