//! A temporary directory with repositories, made by the real git under settings of nobody.

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use comity_git::Repository;
use tempfile::TempDir;

/// A directory that goes away with the test; `main` in it is a repository with one commit.
pub(crate) struct Sandbox {
    _dir: TempDir,
    path: PathBuf,
}

impl Sandbox {
    /// Makes `main` with the given files, committed.
    pub(crate) fn with(files: &[&str]) -> Sandbox {
        let sandbox = Sandbox::empty();
        sandbox.init("main");
        sandbox.commit_files("main", files);
        sandbox
    }

    /// Has no repository yet.
    pub(crate) fn empty() -> Sandbox {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().canonicalize().expect("its path");
        Sandbox { _dir: dir, path }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.path.join(below)
    }

    pub(crate) fn main(&self) -> PathBuf {
        self.path("main")
    }

    pub(crate) fn init(&self, dir: &str) {
        fs::create_dir_all(self.path(dir)).expect("a directory");
        self.git(dir, &["init", "-q", "-b", "trunk"]);
    }

    pub(crate) fn commit_files(&self, dir: &str, files: &[&str]) {
        files.iter().for_each(|file| self.write(&format!("{dir}/{file}"), "first\n"));
        self.git(dir, &["add", "--all", "--force"]);
        self.git(dir, &["commit", "-q", "--allow-empty", "-m", "first"]);
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let file = self.path(file);
        fs::create_dir_all(file.parent().expect("a parent")).expect("its directory");
        fs::write(file, text).expect("the file");
    }

    pub(crate) fn make_dir(&self, dir: &str) {
        fs::create_dir_all(self.path(dir)).expect("a directory");
    }

    /// Makes a symlink; the target is text, as with `ln -s`.
    pub(crate) fn link(&self, target: impl AsRef<Path>, link: &str) {
        symlink(target, self.path(link)).expect("a symlink");
    }

    /// Runs git in a directory of the sandbox.
    pub(crate) fn git(&self, dir: &str, args: &[&str]) -> String {
        let output = self.try_git(dir, args);
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs git in a directory of the sandbox, with something to read.
    pub(crate) fn git_reads(&self, dir: &str, args: &[&str], input: &str) -> String {
        let file = self.path("input");
        fs::write(&file, input).expect("the input");
        let mut git = self.command(dir, args);
        let output = git.stdin(fs::File::open(file).expect("the input")).output().expect("git");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs git in a directory of the sandbox; it may fail.
    pub(crate) fn try_git(&self, dir: &str, args: &[&str]) -> Output {
        self.command(dir, args).output().expect("git")
    }

    fn command(&self, dir: &str, args: &[&str]) -> Command {
        let mut git = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                git.env_remove(name);
            }
        }
        git.env("HOME", self.path("nobody")).env("XDG_CONFIG_HOME", self.path("nobody"));
        git.env("GIT_CONFIG_NOSYSTEM", "1").current_dir(self.path(dir));
        git.args(["-c", "user.name=ann", "-c", "user.email=ann@example.org"]);
        git.args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"]).args(args);
        git
    }

    /// The repository that a directory of the sandbox is in.
    pub(crate) fn repository(&self, dir: &str) -> Repository {
        Repository::containing(&self.path(dir)).expect("a directory").expect("a repository")
    }
}

/// The canonical text, or the code and the sentence of the refusal.
pub(crate) fn canonical(repository: &Repository, cwd: &Path, text: &str) -> String {
    match repository.resolve(cwd, text) {
        Ok(pattern) => pattern.as_str().to_owned(),
        Err(no) => format!("{}: {no}", no.code()),
    }
}

/// Says that a test is left out, to whoever counts that.
pub(crate) fn skip(test: &str, why: &str) {
    let line = format!("SKIPPED {test}: {why}\n");
    eprint!("{line}");
    let file = std::env::var_os("COMITY_SKIPS").map(|file| fs::File::options().append(true).open(file));
    if let Some(Ok(mut file)) = file {
        let _full = file.write_all(line.as_bytes());
    }
}
