//! The shells that read every line, each in the ways in which agent programs and people start it.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use super::sandbox::{Sandbox, Tools, found};

/// One way to run a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shell {
    pub(crate) name: &'static str,
    words: &'static [&'static str],
    tools: Tools,
    /// What an interactive shell gets to read before the line, so that it has a history.
    history: Option<&'static str>,
}

const fn shell(name: &'static str, words: &'static [&'static str]) -> Shell {
    Shell { name, words, tools: Tools::System, history: None }
}

pub(crate) const SHELLS: [Shell; 9] = [
    shell("bash", &["bash", "-c"]),
    shell("bash --posix", &["bash", "--posix", "-c"]),
    Shell {
        history: Some("history -s harm\n"),
        ..shell("bash -i", &["bash", "--norc", "--noprofile", "-i"])
    },
    shell("dash", &["dash", "-c"]),
    shell("zsh", &["zsh", "-f", "-c"]),
    Shell { history: Some("print -s harm\n"), ..shell("zsh -i", &["zsh", "-f", "-i"]) },
    Shell { tools: Tools::Busybox, ..shell("busybox sh", &["busybox", "sh", "-c"]) },
    Shell { tools: Tools::Gawk, ..shell("bash with gawk", &["bash", "-c"]) },
    Shell { tools: Tools::Mawk, ..shell("bash with mawk", &["bash", "-c"]) },
];

impl Shell {
    /// Whether this way is of use for the line; another awk says nothing about lines without one.
    pub(crate) fn suits(&self, line: &str) -> bool {
        match self.tools {
            Tools::System | Tools::Busybox => true,
            Tools::Gawk | Tools::Mawk => line.contains("awk"),
        }
    }

    /// The program that is missing here, if one is.
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let awk = match self.tools {
            Tools::Gawk => "gawk",
            Tools::Mawk => "mawk",
            Tools::System | Tools::Busybox => self.words[0],
        };
        [self.words[0], awk].into_iter().find(|program| found(program).is_none())
    }

    /// Runs a line to its end, or for two seconds.
    pub(crate) fn run(&self, sandbox: &Sandbox, line: &str) {
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-s", "KILL", "2"]).args(self.words);
        sandbox.environment(&mut command, self.tools);
        match self.history {
            None => {
                command.arg(line);
            }
            Some(history) => {
                let input = sandbox.path().join("input");
                fs::write(&input, format!("{history}{line}\n")).expect("the input");
                command.stdin(Stdio::from(File::open(&input).expect("the input")));
            }
        }
        // A line with a zero byte cannot be given to anybody.
        let Ok(mut child) = command.spawn() else { return };
        child.wait().expect("its status");
    }
}
