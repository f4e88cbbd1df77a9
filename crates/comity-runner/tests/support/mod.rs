//! A runner in a directory of its own, and the processes that were started below it.

pub(crate) mod acp;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use comity_runner::{
    AcpStart, Launch, LaunchPlace, ProcessId, Program, Runner, RunnerEvent, RunnerOptions, Size, Survivor,
    TmuxPlace,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Place {
    pub(crate) runner: Option<Runner>,
    pub(crate) events: Receiver<RunnerEvent>,
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (runner, events) = runner(dir.path(), Vec::new());
        Self { runner: Some(runner), events, dir }
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn runner(&self) -> &Runner {
        self.runner.as_ref().unwrap()
    }

    pub(crate) fn next(&self) -> RunnerEvent {
        self.events.recv_timeout(PATIENCE).expect("an event")
    }

    /// Starts a shell script and waits until it runs.
    pub(crate) fn start(&self, key: &str, script: &str) -> ProcessId {
        self.runner().launch(vec![self.launch(key, script)]).unwrap();
        self.started(key)
    }

    pub(crate) fn started(&self, key: &str) -> ProcessId {
        match self.next() {
            RunnerEvent::Started { key: started, program, .. } if started == key => program,
            other => panic!("{key} has not started: {other:?}"),
        }
    }

    pub(crate) fn launch(&self, key: &str, script: &str) -> Launch {
        launch(self.dir(), key, script)
    }

    /// Waits until the program's terminal has these words.
    pub(crate) fn wait_for(&self, key: &str, words: &str) -> String {
        until(|| {
            let output = self.runner().output(key, 0).unwrap_or_else(|_| panic!("{:?}", self.next()));
            let text = String::from_utf8_lossy(&output.bytes).into_owned();
            text.contains(words).then_some(text)
        })
        .unwrap_or_else(|| panic!("{words:?} never came from {key}"))
    }
}

pub(crate) fn runner(dir: &Path, survivors: Vec<Survivor>) -> (Runner, Receiver<RunnerEvent>) {
    runner_with(dir, survivors, &[])
}

/// A runner whose guardians get more arguments.
pub(crate) fn runner_with(
    dir: &Path,
    survivors: Vec<Survivor>,
    flags: &[&str],
) -> (Runner, Receiver<RunnerEvent>) {
    let (sender, events) = channel();
    let options = RunnerOptions {
        directory: dir.join("runner"),
        guardian: [env!("CARGO_BIN_EXE_comity-guardian")].iter().chain(flags).map(Into::into).collect(),
        survivors,
    };
    let runner = Runner::start(options, Box::new(move |event| drop(sender.send(event)))).unwrap();
    (runner, events)
}

pub(crate) fn launch(dir: &Path, key: &str, script: &str) -> Launch {
    let path = std::env::var("PATH").unwrap();
    let program = Program {
        command: ["sh", "-c", script].map(str::to_owned).to_vec(),
        environment: vec![("PATH".into(), path), ("COMITY_TEST_MARK".into(), mark(dir, key))],
        directory: dir.to_owned(),
        terminal: Some(Size { columns: 100, rows: 30 }),
        survives: false,
    };
    Launch { key: key.to_owned(), program, place: LaunchPlace::Process }
}

/// Our own agent that speaks ACP and does what its prompts say.
pub(crate) fn acp_launch(dir: &Path, key: &str, flags: &[&str], start: AcpStart) -> Launch {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/acp_agent.py");
    let mut launch = launch(dir, key, "");
    launch.program.command = ["python3", script].iter().chain(flags).map(|word| (*word).to_owned()).collect();
    launch.program.environment.push(("ACP_AGENT_STATE".into(), dir.display().to_string()));
    launch.place = LaunchPlace::Acp(Box::new(start));
    launch
}

/// What the environment of a program and of all that it starts has.
pub(crate) fn mark(dir: &Path, key: &str) -> String {
    format!("{}#{key}#", dir.display())
}

/// Part of the mark of every program of a directory.
pub(crate) fn mark_of_all(dir: &Path) -> String {
    format!("{}#", dir.display())
}

/// All processes with this in their environment.
pub(crate) fn marked(mark: &str) -> BTreeSet<u32> {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|file| file.file_name().to_str()?.parse().ok());
    pids.filter(|pid| has_mark(*pid, mark)).collect()
}

fn has_mark(pid: u32, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    let is_dead = fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"));
    !is_dead && String::from_utf8_lossy(&environment).contains(mark)
}

/// Waits until so many processes have the mark.
pub(crate) fn wait_for_marked(mark: &str, count: usize) -> BTreeSet<u32> {
    until(|| Some(marked(mark)).filter(|found| found.len() >= count))
        .unwrap_or_else(|| panic!("{count} processes with {mark}, not {:?}", marked(mark)))
}

/// Waits until no process has the mark any more; gives those that still have it then.
pub(crate) fn survivors(mark: &str, within: Duration) -> BTreeSet<u32> {
    let end = Instant::now() + within;
    loop {
        let left = marked(mark);
        let pid = left.first().and_then(|pid| Pid::from_raw(*pid as i32));
        let remaining = end.saturating_duration_since(Instant::now());
        if pid.is_none() || remaining.is_zero() {
            return left;
        }
        if let Some(handle) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) {
            let _ =
                poll(&mut [PollFd::new(&handle, PollFlags::IN)], Timespec::try_from(remaining).ok().as_ref());
        }
    }
}

/// Asks again and again, giving way to others in between.
pub(crate) fn until<T>(mut condition: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + PATIENCE;
    loop {
        match condition() {
            Some(value) => return Some(value),
            None if Instant::now() > end => return None,
            None => std::thread::yield_now(),
        }
    }
}

/// A tmux server of the test's own, which ends with it.
pub(crate) struct TmuxServer {
    pub(crate) socket: String,
}

impl TmuxServer {
    pub(crate) fn new(name: &str) -> Self {
        Self { socket: format!("comity-test-{name}-{}", std::process::id()) }
    }

    pub(crate) fn place(&self) -> TmuxPlace {
        TmuxPlace::Own { socket: self.socket.clone(), session: "crew".into() }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> String {
        let mut tmux = std::process::Command::new("tmux");
        tmux.args(["-L", &self.socket, "-f", "/dev/null"]).args(arguments).env_remove("TMUX");
        let output = tmux.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for TmuxServer {
    fn drop(&mut self) {
        let mut tmux = std::process::Command::new("tmux");
        let _ = tmux.args(["-L", &self.socket, "kill-server"]).output();
    }
}
