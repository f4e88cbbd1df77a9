//! The shells that read every line, each in the ways in which agent programs and people start it.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::sandbox::{Sandbox, Tools, found};

/// How long one line may take; what reads has long ended then.
const LINE_DEADLINE: Duration = Duration::from_secs(2);
/// How long many lines may take.
const SCRIPT_DEADLINE: Duration = Duration::from_secs(60);

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
    pub(crate) fn missing(&self) -> Option<&'static str> {
        let awk = match self.tools {
            Tools::Gawk => "gawk",
            Tools::Mawk => "mawk",
            Tools::System | Tools::Busybox => self.words[0],
        };
        [self.words[0], awk].into_iter().find(|program| found(program).is_none())
    }

    /// Whether a system call starts this shell.
    pub(crate) fn is_started_by(&self, call: &str) -> bool {
        call.contains(&format!("/{}\", [\"{}\"", self.words[0], self.words[0]))
    }

    /// Runs a line to its end, or until its time is over.
    pub(crate) fn run(&self, sandbox: &Sandbox, line: &str) {
        let Some(mut command) = self.command(sandbox, self.words) else { return };
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
        wait(command, LINE_DEADLINE);
    }

    /// Runs many lines, each in a subshell that opens a mark first; says whether they came to an end.
    pub(crate) fn run_all(&self, sandbox: &Sandbox, lines: &[(String, &str)]) -> bool {
        let words = self.words.strip_suffix(&["-c"]).unwrap_or(self.words);
        let Some(mut command) = self.command(sandbox, words) else { return true };
        let script = sandbox.path().join("script");
        let run = |(mark, line): &(String, &str)| {
            let line = line.replace('\'', r"'\''");
            format!("( true <{mark} ; eval '{line}' ) </dev/null >/dev/null 2>&1\n")
        };
        fs::write(&script, lines.iter().map(run).collect::<String>()).expect("the script");
        command.arg(script);
        wait(command, SCRIPT_DEADLINE)
    }

    fn command(&self, sandbox: &Sandbox, words: &[&str]) -> Option<Command> {
        let mut command = Command::new(found(words[0])?);
        command.arg0(words[0]).args(&words[1..]).process_group(0);
        sandbox.environment(&mut command, self.tools);
        Some(command)
    }
}

/// Waits for the end of a program, and makes one if it takes too long; says whether it came by itself.
fn wait(mut command: Command, deadline: Duration) -> bool {
    // A line with a zero byte cannot be given to anybody.
    let Ok(mut child) = command.spawn() else { return true };
    let group = format!("-{}", child.id());
    let (done, ended) = mpsc::channel();
    let waiter = thread::spawn(move || done.send(child.wait()));
    let is_late = ended.recv_timeout(deadline).is_err();
    if is_late {
        Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status().expect("kill runs");
    }
    waiter.join().expect("it has waited").expect("its status is told");
    !is_late
}
