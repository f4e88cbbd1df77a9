//! A place with files, and commands that run confined in it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

pub(crate) const BEFORE: &str = "as it was\n";

/// Who is nobody in particular.
const NOBODY: u32 = 65_534;

pub(crate) struct Place {
    pub(crate) dir: tempfile::TempDir,
    /// Who runs commands here, if not who runs the tests.
    pub(crate) user: Option<u32>,
    /// Where everybody may run it from.
    program: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        let place = Place { dir, user: None, program: tempfile::tempdir().expect("a directory") };
        for file in ["src/a.rs", "src/b.rs", "docs/deep/x.md"] {
            let file = place.at(file);
            fs::create_dir_all(file.parent().expect("a directory")).expect("made");
            fs::write(file, BEFORE).expect("written");
        }
        // Another process copies it: a file that this one has open for writing cannot be started.
        let copied =
            Command::new("cp").arg(env!("CARGO_BIN_EXE_comity-confine")).arg(place.program()).status();
        let opened = Command::new("chmod").arg("a+rx").arg(place.program.path()).status();
        assert!(copied.expect("cp runs").success() && opened.expect("chmod runs").success());
        place
    }

    /// One for who runs the tests and, if that is root, one for an ordinary user.
    pub(crate) fn of_all_users() -> Vec<Place> {
        let mut places = vec![Place::new()];
        if fs::metadata(places[0].at("")).expect("a directory").uid() == 0 {
            let mut theirs = Place::new();
            let chown = Command::new("chown").args(["-R", "nobody"]).arg(theirs.at("")).status();
            assert!(chown.expect("it starts").success());
            theirs.user = Some(NOBODY);
            places.push(theirs);
        }
        places
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.program.path().join("comity-confine")
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().expect("a path").join(path)
    }

    /// What a command is told that must not change these paths.
    pub(crate) fn held(&self, paths: &[&str]) -> Value {
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.at(path)).collect();
        json!({ "policy": "required", "sealed": false, "network": true, "own": paths, "held": [] })
    }

    /// What a command is told that must change nothing.
    pub(crate) fn sealed(&self) -> Value {
        json!({ "policy": "required", "sealed": true, "network": false, "own": [self.at("")], "held": [] })
    }

    pub(crate) fn command(&self, rules: &Value, line: &str) -> Command {
        self.nested(&[rules], line)
    }

    /// A command that is confined several times, one within the other.
    pub(crate) fn nested(&self, rules: &[&Value], line: &str) -> Command {
        let (input, mut told) = io::pipe().expect("a pipe");
        rules.iter().for_each(|rules| told.write_all(&described(rules)).expect("told"));
        let mut command = Command::new(self.program());
        command.args(["--told", "--"]);
        for _ in 1..rules.len() {
            command.arg(self.program()).args(["--told", "--"]);
        }
        command.args(["bash", "-c", line]).current_dir(self.at("")).stdin(input);
        self.user.map(|user| command.uid(user).gid(user));
        command
    }

    /// Starts a command whose input goes on.
    pub(crate) fn start(&self, rules: &Value, line: &str) -> Child {
        let mut command = self.command(rules, line);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.as_mut().expect("a pipe").write_all(&described(rules)).expect("told");
        child
    }

    /// A command for which something is done before it is confined, in its own process.
    pub(crate) fn prepared(
        &self,
        rules: &Value,
        line: &str,
        prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    ) -> Command {
        let mut command = self.command(rules, line);
        before(&mut command, prepare);
        command
    }

    pub(crate) fn run(&self, rules: &Value, line: &str) -> Output {
        self.command(rules, line).output().expect("it starts")
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("a file")
    }
}

/// What stands on the input of a command, before what it reads there itself.
pub(crate) fn described(rules: &Value) -> Vec<u8> {
    let rules = rules.to_string();
    format!("{}\n{rules}", rules.len()).into_bytes()
}

#[expect(unsafe_code, reason = "the one way to do something in a child before it becomes another program")]
fn before(command: &mut Command, prepare: impl FnMut() -> io::Result<()> + Send + Sync + 'static) {
    // SAFETY: the child has a single thread; what it allocates is its own.
    unsafe { command.pre_exec(prepare) };
}

pub(crate) fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{} {}{}", output.status, text(&output.stdout), text(&output.stderr))
}
