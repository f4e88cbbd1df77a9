//! A private server for one test: its own state directory and repository, and the end of every process.

pub(crate) mod clients;
pub(crate) mod files;
pub(crate) mod http;
pub(crate) mod mcp;
pub(crate) mod model;
pub(crate) mod program;
pub(crate) mod schema;
pub(crate) mod site;
pub(crate) mod wire;

pub(crate) use comity_skip::skip;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;

use wire::{Follower, Wire};

/// The program under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_comity");
/// One of the programs that are installed beside it.
pub(crate) fn beside(name: &str) -> PathBuf {
    Path::new(BINARY).with_file_name(name)
}

/// The token by which a test acts as the human: it has no terminal.
pub(crate) const HUMAN: &str = "cmty_human_of-the-tests";
/// How long anything may take before a test calls it broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A state directory and a git repository of their own, and the server that comes with them.
pub(crate) struct Place {
    pub(crate) home: PathBuf,
    pub(crate) repo: PathBuf,
    settings: Vec<(&'static str, String)>,
    dir: tempfile::TempDir,
}

/// An agent that has joined.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) id: String,
    pub(crate) token: String,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A process that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Place {
    /// A place with a repository that has one commit.
    pub(crate) fn new() -> Place {
        Place::with(&[])
    }

    /// A place whose server has these settings in its environment.
    pub(crate) fn with(settings: &[(&'static str, &str)]) -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path().join("state");
        Place::at(dir, home, settings)
    }

    /// A place whose state is elsewhere than usual.
    pub(crate) fn at(dir: tempfile::TempDir, home: PathBuf, settings: &[(&'static str, &str)]) -> Place {
        let place = Place::make(dir, home, settings);
        place.set_file("first-token", &comity_app::tokens::hash(HUMAN).to_string());
        place
    }

    /// A place that has no state directory yet. The tests' token is not known there.
    pub(crate) fn without_state() -> Place {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path().join("state");
        Place::make(dir, home, &[])
    }

    fn make(dir: tempfile::TempDir, home: PathBuf, settings: &[(&'static str, &str)]) -> Place {
        let repo = dir.path().join("repo");
        std::fs::create_dir_all(repo.join("src")).expect("a repository");
        let settings = settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let place = Place { home, repo, settings, dir };
        for file in ["a.rs", "b.rs", "c.rs"] {
            std::fs::write(place.repo.join("src").join(file), "fn main() {}\n").expect("written");
        }
        place.git(&["init", "--quiet", "--initial-branch=main"]);
        place.git(&["config", "user.name", "test"]);
        place.git(&["config", "user.email", "test"]);
        place.git(&["add", "."]);
        place.git(&["commit", "--quiet", "--message=first"]);
        place
    }

    /// Writes the settings of the state directory, for the next server.
    pub(crate) fn set(&self, settings: &str) {
        self.set_file("comity.toml", settings);
    }

    fn set_file(&self, name: &str, text: &str) {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.home).expect("a state directory");
        std::fs::write(self.home.join(name), text).expect("written");
    }

    /// The temporary directory that holds everything.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// A program with nothing in its environment but what belongs to this place.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(&self.repo).stdin(Stdio::null());
        let kept = std::env::vars_os()
            .filter(|(name, _)| name == "PATH" || name.as_encoded_bytes().starts_with(b"LLVM_"));
        command.envs(kept).envs(self.settings.iter().map(|(name, value)| (*name, value)));
        command.env("HOME", self.dir.path()).env("COMITY_HOME", &self.home);
        let who = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        command.envs(who.map(|name| (name, "test")));
        // The same commit has the same id in every place.
        command.envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2026-01-01T00:00:00Z")));
        command
    }

    /// `comity` with arguments, as the human.
    pub(crate) fn comity(&self, arguments: &[&str]) -> Command {
        let mut command = self.comity_as_whoever(arguments);
        command.env("COMITY_TOKEN", HUMAN);
        command
    }

    /// `comity` with arguments, as whoever its process is.
    pub(crate) fn comity_as_whoever(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(BINARY);
        command.args(arguments);
        command
    }

    /// `comity` with arguments, as an agent.
    pub(crate) fn comity_as(&self, agent: &Agent, arguments: &[&str]) -> Command {
        let mut command = self.comity(arguments);
        command.env("COMITY_TOKEN", &agent.token);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.comity(arguments).output().expect("comity runs"))
    }

    pub(crate) fn run_as(&self, agent: &Agent, arguments: &[&str]) -> Ran {
        Ran::of(self.comity_as(agent, arguments).output().expect("comity runs"))
    }

    /// Runs a command that has to work, and gives its JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[arguments, &["--json"]].concat()).json()
    }

    /// Runs a command that has to work as an agent, and gives its JSON.
    pub(crate) fn json_as(&self, agent: &Agent, arguments: &[&str]) -> Value {
        self.run_as(agent, &[arguments, &["--json"]].concat()).json()
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        let done = self.program("git").args(arguments).output().expect("git runs");
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Copies a program. Another process does it: a file that this one has open for writing cannot be started.
    pub(crate) fn copy_program(&self, from: &str, to: &Path) {
        let done = self.program("cp").arg(from).arg(to).output().expect("cp runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Lets an agent join, with more arguments.
    pub(crate) fn join(&self, arguments: &[&str]) -> Agent {
        Agent::of(&self.json(&[&["agent", "join"], arguments].concat()))
    }

    /// Starts a command and goes on.
    pub(crate) fn start(&self, command: &mut Command) -> Running {
        Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process"))
    }

    /// Everything that happened and happens, from the beginning.
    pub(crate) fn follow(&self) -> Follower {
        Follower::new(Wire::connect(self))
    }

    /// Follows the log from what is there now.
    pub(crate) fn follow_on(&self) -> Follower {
        let head = Wire::connect(self).ask("status", Value::Null).expect("a status")["head"].as_u64();
        Follower::after(Wire::connect(self), head.expect("a number"))
    }

    /// The whole log.
    pub(crate) fn log(&self) -> Vec<Value> {
        let (mut log, mut after) = (Vec::new(), 0);
        loop {
            let page = self.json(&["log", "--after", &after.to_string(), "--limit", "10000"]);
            log.extend(page["entries"].as_array().expect("entries").iter().cloned());
            after = page["cursor"].as_u64().expect("a cursor");
            if Some(after) >= page["head"].as_u64() {
                return log;
            }
        }
    }

    /// The entries of one kind.
    pub(crate) fn log_of(&self, action: &str) -> Vec<Value> {
        self.log().into_iter().filter(|entry| entry["action"] == action).collect()
    }

    pub(crate) fn socket(&self) -> PathBuf {
        comity_wire::Home::at(&self.home).socket()
    }

    /// The server's process, if one answers.
    pub(crate) fn server(&self) -> Option<u32> {
        let mut client = comity_wire::Client::connect(&comity_wire::Home::at(&self.home)).ok()?;
        client.set_timeout(Some(Duration::from_secs(5))).ok()?;
        let reply = client.ask("status", &serde_json::json!({})).ok()?;
        let status: Value = serde_json::from_str(reply.ok?.get()).ok()?;
        u32::try_from(status["pid"].as_u64()?).ok()
    }

    /// The processes that have a state directory of this place in their environment, where the system tells.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let homes =
            [self.home.as_path(), self.dir.path()].map(|home| format!("COMITY_HOME={}", home.display()));
        let is_ours = |pid: &u32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let is_ours = |variable: &[u8]| homes.iter().any(|home| variable.starts_with(home.as_bytes()));
            environment.split(|byte| *byte == 0).any(is_ours)
        };
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// Kills the server like a power cut would, and gives its process.
    pub(crate) fn kill_server(&self) -> u32 {
        let pid = self.server().expect("a server");
        kill(pid, Signal::KILL);
        assert!(has_ended(pid, PATIENCE), "the server {pid} did not die");
        // What it was just starting has its socket until it runs.
        eventually("nobody listens", || Wire::is_gone(self, pid));
        pid
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Not only the server that answers: a client that was killed may have started one that does not answer yet.
        let start = Instant::now();
        loop {
            let left: Vec<u32> = self.processes().into_iter().chain(self.server()).collect();
            if left.is_empty() || start.elapsed() > PATIENCE {
                return;
            }
            for pid in left {
                kill(pid, Signal::KILL);
                has_ended(pid, PATIENCE);
            }
        }
    }
}

impl Agent {
    /// The agent that `agent join --json` told of.
    pub(crate) fn of(joined: &Value) -> Agent {
        let text = |name: &str| joined[name].as_str().expect("a text").to_owned();
        Agent { id: text("agent"), token: text("token") }
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The output of a command that worked.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        self.document()
    }

    /// The error of a command that was refused.
    pub(crate) fn refusal(&self) -> Value {
        assert_eq!(self.code, 3, "{self:?}");
        self.document()["error"].clone()
    }

    /// The one JSON document that was printed.
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits for the end, and gives what was said.
    pub(crate) fn finish(mut self) -> Ran {
        assert!(has_ended(self.pid(), PATIENCE), "process {} does not end", self.pid());
        let code = self.0.wait().expect("an end").code().unwrap_or(-1);
        let (mut out, mut err) = (String::new(), String::new());
        if let Some(mut pipe) = self.0.stdout.take() {
            pipe.read_to_string(&mut out).expect("text");
        }
        if let Some(mut pipe) = self.0.stderr.take() {
            pipe.read_to_string(&mut err).expect("text");
        }
        Ran { code, out, err }
    }

    pub(crate) fn is_running(&self) -> bool {
        !has_ended(self.pid(), Duration::ZERO)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends a signal, if the process is still there.
pub(crate) fn kill(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Waits until a process has ended.
pub(crate) fn has_ended(pid: u32, patience: Duration) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return true };
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    is_readable(&process, patience)
}

/// Waits until there is something to read.
pub(crate) fn is_readable(from: &impl AsFd, patience: Duration) -> bool {
    let timeout = Timespec::try_from(patience).expect("a time");
    let mut fds = [PollFd::new(from, PollFlags::IN)];
    poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0)
}

/// Looks again until it is so; for what tells nobody when it happens.
pub(crate) fn eventually(what: &str, is_so: impl FnMut() -> bool) {
    eventually_within(PATIENCE, what, is_so);
}

/// The same for what may take longer.
pub(crate) fn eventually_within(patience: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < patience, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(5)); // sleeps: only used where nothing tells of the change
    }
}

/// Whether a program can be started here.
pub(crate) fn has_program(name: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(name).is_file()))
}

/// Whether a test has to be left out because there is no Firefox. Where the landing check runs there has to be one.
pub(crate) fn lacks_firefox(test: &str) -> bool {
    let is_there =
        ["firefox-esr", "firefox"].into_iter().any(has_program) || std::env::var_os("CI").is_some();
    if !is_there {
        skip(test, "there is no Firefox; on Debian: apt-get install firefox-esr");
    }
    !is_there
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
