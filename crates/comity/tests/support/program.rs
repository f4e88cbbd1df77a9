//! Programs of agents: processes that join from inside themselves.

use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use super::{Agent, BINARY, HUMAN, Place, Running, eventually};

/// Starts a program that joins with whose token is given, and then waits.
pub(crate) fn join(place: &Place, token: &str, name: &str) -> (Agent, Running) {
    let said = place.dir().join(format!("joined-{name}"));
    let script = format!(
        "{BINARY} agent join {name} --pid $$ --json >{0}.part && mv {0}.part {0}; exec sleep 1000",
        said.display()
    );
    let mut shell = place.program("sh");
    shell.args(["-c", &script]).env("COMITY_TOKEN", token);
    let running = Running(shell.spawn().expect("a shell"));
    eventually("it joined", || said.exists());
    let joined = std::fs::read_to_string(&said).expect("what join said");
    std::fs::remove_file(said).expect("removed");
    (Agent::of(&serde_json::from_str(&joined).expect("JSON")), running)
}

/// An agent's program: a shell that has joined by its process, and goes on with what it is told.
pub(crate) struct Program {
    shell: Running,
    dir: PathBuf,
    asked: usize,
}

impl Program {
    /// Starts it and waits until it has joined.
    pub(crate) fn start(place: &Place, name: &str) -> Program {
        let dir = place.dir().join(format!("program-{name}"));
        std::fs::create_dir(&dir).expect("a directory");
        let joins = format!("COMITY_TOKEN={HUMAN} {BINARY} agent join {name} --pid $$ >joined 2>&1; exec sh");
        let mut shell = place.program("sh");
        shell.args(["-c", &joins]).current_dir(&dir);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut program = Program { shell: Running(shell.spawn().expect("a shell")), dir, asked: 0 };
        program.run(&format!("cd {}", place.repo.display()));
        let said = std::fs::read_to_string(program.dir.join("joined")).expect("what join said");
        assert!(said.contains("is here as"), "{said}");
        program
    }

    /// Tells it the last line that it runs, and does not wait.
    pub(crate) fn last(&mut self, line: &str) {
        self.shell
            .0
            .stdin
            .as_mut()
            .expect("a pipe")
            .write_all(format!("{line}\n").as_bytes())
            .expect("written");
    }

    /// Runs a line in it and gives what it printed.
    pub(crate) fn run(&mut self, line: &str) -> String {
        self.asked += 1;
        let file = |name: &str| self.dir.join(format!("{name}{}", self.asked));
        let (out, done) = (file("out"), file("done"));
        let text = format!("{{ {line}\n}} >{} 2>&1\n: >{}\n", out.display(), done.display());
        self.shell.0.stdin.as_mut().expect("a pipe").write_all(text.as_bytes()).expect("written");
        eventually("the line ran", || done.exists());
        std::fs::read_to_string(out).expect("what was printed")
    }
}
