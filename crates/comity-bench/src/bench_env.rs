//! Where a benchmark runs: a temporary directory with a small repository, and nothing of the user's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use super::process_reaper::{OwnedProcess, ProcessReaper};

/// The path that is asked for: it exists, and nobody locks it but who measures.
pub(super) const FREE_PATH: &str = "src/d0/free.rs";

/// Where Linux keeps files in memory.
const MEMORY: &str = "/dev/shm";
/// Room that there has to be: for some dozen worktrees of 50,000 small files.
const MEMORY_BYTES_MIN: u64 = 6 << 30;
const MEMORY_FILES_MIN: u64 = 1_200_000;

/// Locks in one directory of [`locked_path`], of which the last three are globs.
const LOCKS_PER_DIR: usize = 10;
const GLOBS_PER_DIR: usize = 3;

pub(super) struct BenchEnv {
    own: PathBuf,
    program: PathBuf,
    // Before the directory: the reaper is the last to use it.
    reaper: Rc<ProcessReaper>,
    dir: tempfile::TempDir,
}

impl BenchEnv {
    pub(super) fn new() -> Result<BenchEnv, String> {
        BenchEnv::below(&std::env::temp_dir())
    }

    /// A stage in memory where the system has such a place, for what would measure nothing but the disk elsewhere.
    pub(super) fn in_memory() -> Result<BenchEnv, String> {
        let memory = Path::new(MEMORY);
        let room = rustix::fs::statvfs(memory).map(|it| (it.f_bavail * it.f_frsize, it.f_favail));
        match room.is_ok_and(|(bytes, files)| bytes >= MEMORY_BYTES_MIN && files >= MEMORY_FILES_MIN) {
            true => BenchEnv::below(memory),
            false => BenchEnv::new(),
        }
    }

    fn below(parent: &Path) -> Result<BenchEnv, String> {
        let describe = |error: std::io::Error| format!("the stage can't be set: {error}");
        let own = std::env::current_exe().map_err(describe)?;
        let program = own.with_file_name("comity");
        if !program.is_file() {
            return Err(format!("there is no {}: build it with cargo xtask build", program.display()));
        }
        let dir = tempfile::Builder::new().prefix("comity-bench-").tempdir_in(parent).map_err(describe)?;
        let reaper = ProcessReaper::start(&own, dir.path())?;
        let stage = BenchEnv { own, program, reaper, dir };
        stage.make_repository().map_err(describe)?;
        Ok(stage)
    }

    fn make_repository(&self) -> std::io::Result<()> {
        let repository = self.repository();
        fs::create_dir_all(repository.join(".git/objects"))?;
        fs::create_dir_all(repository.join(".git/refs/heads"))?;
        fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        for dir in ["src/d0", "src/d1", "docs"] {
            fs::create_dir_all(repository.join(dir))?;
        }
        fs::write(repository.join(FREE_PATH), "fn main() {}\n")
    }

    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Where its files are, in words.
    pub(super) fn medium(&self) -> &'static str {
        if self.dir().starts_with(MEMORY) { "in memory" } else { "on the disk" }
    }

    /// The working directory of all agents.
    pub(super) fn repository(&self) -> PathBuf {
        self.dir().join("project")
    }

    /// This program, which is also what servers are compared with.
    pub(super) fn own(&self) -> &Path {
        &self.own
    }

    /// The program that is measured, beside this one.
    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// A command with nothing of the user's environment but the search path; it works on the server of `home`.
    pub(super) fn command(&self, program: &Path, home: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", self.dir())
            .env("COMITY_HOME", home)
            // Nobody is to die of old age while others are measured.
            .env("COMITY_AGENT_TIMEOUT", "24h")
            .current_dir(self.repository())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Starts a process that ends with the value.
    pub(super) fn spawn(&self, command: &mut Command) -> Result<OwnedProcess, String> {
        self.reaper.spawn(command)
    }
}

/// The n-th lock of a crowd: 70 % files, 30 % globs, a few in each directory, none of them [`FREE_PATH`].
pub(super) fn locked_path(n: usize) -> String {
    let (dir, place) = (n / LOCKS_PER_DIR, n % LOCKS_PER_DIR);
    match place < LOCKS_PER_DIR - GLOBS_PER_DIR {
        true => format!("src/d{dir}/file{place}.rs"),
        false => format!("src/d{dir}/made{place}_*.rs"),
    }
}
