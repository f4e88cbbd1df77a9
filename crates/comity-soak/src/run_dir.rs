//! A state directory and a git repository for one run, and the end of everything that was started in them.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use comity_wire::{Client, Home};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde_json::Value;

/// The token by which the harness acts as the human: it has no terminal.
pub(crate) const HUMAN: &str = "cmty_human_of-the-soak";
/// How long anything may take before it is called broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The branch that worktrees are merged into: nobody has it checked out.
pub(crate) const MERGED_INTO: &str = "merged";
/// Files that agents share.
pub(crate) const FILES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// Leases of each pool.
pub(crate) const POOLS: [(&str, usize); 2] = [("build", 1), ("gpu", 2)];

/// Where one run takes place.
#[derive(Debug)]
pub(crate) struct RunDir {
    dir: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) repo: PathBuf,
    comity: PathBuf,
    starting: Mutex<()>,
}

impl RunDir {
    /// Makes the state directory and a repository with one commit in an empty directory.
    pub(crate) fn new(dir: &Path, comity: &Path) -> Result<RunDir, String> {
        let describe = |error: std::io::Error| format!("{}: {error}", dir.display());
        // Links in the way would give files another name than git's.
        let dir = &dir.canonicalize().map_err(describe)?;
        let comity = comity.canonicalize().map_err(|error| format!("{}: {error}", comity.display()))?;
        let (home, repo) = (dir.join("state"), dir.join("repo"));
        let place = RunDir { dir: dir.clone(), home, repo, comity, starting: Mutex::default() };
        std::fs::DirBuilder::new().mode(0o700).create(&place.home).map_err(describe)?;
        let write = |path: PathBuf, text: &str| std::fs::write(path, text).map_err(describe);
        write(place.home.join("first-token"), blake3::hash(HUMAN.as_bytes()).to_hex().as_str())?;
        let pools = POOLS.map(|(name, capacity)| format!("[pools.{name}]\ncapacity = {capacity}\n"));
        write(place.home.join("comity.toml"), &format!("{}[agent]\nmax = 20\n", pools.concat()))?;
        std::fs::create_dir_all(place.repo.join("src")).map_err(describe)?;
        for file in FILES {
            write(place.repo.join(format!("src/{file}.rs")), "fn main() {}\n")?;
        }
        place.git(&["init", "--quiet", "--initial-branch=main"])?;
        place.git(&["config", "user.name", "soak"])?;
        place.git(&["config", "user.email", "soak"])?;
        // A repack in the background would be one more process to wait for.
        place.git(&["config", "gc.auto", "0"])?;
        place.git(&["add", "."])?;
        place.git(&["commit", "--quiet", "--message=first"])?;
        place.git(&["branch", MERGED_INTO])?;
        Ok(place)
    }

    /// A program with nothing in its environment but what belongs to this place.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(&self.repo).stdin(Stdio::null());
        command.envs(std::env::vars_os().filter(|(name, _)| name == "PATH"));
        command.env("HOME", &self.dir).env("COMITY_HOME", &self.home);
        command
    }

    /// `comity` with arguments, as whose token is given.
    pub(crate) fn comity(&self, token: &str, arguments: &[&str]) -> Command {
        let mut command = self.program(&self.comity);
        command.args(arguments).env("COMITY_TOKEN", token);
        command
    }

    /// Runs `comity` as the human, and gives its JSON.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Value, String> {
        let done = self.comity(HUMAN, arguments).arg("--json").output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&done.stdout);
        match done.status.success() {
            true => {
                serde_json::from_str(&said).map_err(|error| format!("comity {arguments:?}: {error}: {said}"))
            }
            false => Err(format!("comity {arguments:?}: {said}{}", String::from_utf8_lossy(&done.stderr))),
        }
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Result<String, String> {
        self.git_in(&self.repo, arguments)
    }

    pub(crate) fn git_in(&self, dir: &Path, arguments: &[&str]) -> Result<String, String> {
        let mut git = self.program("git");
        let done = git.args(arguments).current_dir(dir).output().map_err(|error| format!("git: {error}"))?;
        match done.status.success() {
            true => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
            false => Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr))),
        }
    }

    /// Connects; a server is started if there is none, as any command does it.
    pub(crate) fn connect(&self) -> Result<Client, String> {
        let home = Home::at(&self.home);
        let begun = Instant::now();
        loop {
            let problem = match Client::connect(&home) {
                Ok(mut client) => {
                    client.set_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
                    return Ok(client);
                }
                Err(error) => error.to_string(),
            };
            if begun.elapsed() > PATIENCE {
                return Err(format!("no server comes up: {problem}"));
            }
            // One command is enough to start it; all others here wait for that one.
            let _starting = self.starting.lock().map_err(|error| error.to_string())?;
            if Client::connect(&home).is_err() {
                let _killed_again = self.run(&["up"]);
            }
        }
    }

    /// Processes that were started here, by their environment or directory.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes_of(&self.dir)
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        end_all(&self.dir);
    }
}

/// Kills whatever was started in a directory.
pub fn end_all(dir: &Path) {
    let begun = Instant::now();
    loop {
        let left = processes_of(dir);
        if left.is_empty() || begun.elapsed() > PATIENCE {
            return;
        }
        for pid in left {
            kill(pid);
            has_ended(pid, PATIENCE);
        }
    }
}

fn processes_of(dir: &Path) -> Vec<u32> {
    let home = format!("COMITY_HOME={}", dir.display());
    let is_ours = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let is_named =
            environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(home.as_bytes()));
        let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
        *pid != std::process::id() && (is_named || cwd.is_ok_and(|cwd| cwd.starts_with(dir)))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}

/// Kills a process, if it is still there.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Waits until a process has ended.
pub(crate) fn has_ended(pid: u32, patience: Duration) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return true };
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let timeout = Timespec::try_from(patience).ok();
    poll(&mut [PollFd::new(&process, PollFlags::IN)], timeout.as_ref()).is_ok_and(|ready| ready > 0)
}
