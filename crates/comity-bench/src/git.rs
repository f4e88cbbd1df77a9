//! A real repository for what is measured against git itself.

use std::fs;
use std::path::{Path, PathBuf};

use super::bench_env::BenchEnv;

/// Files in one directory.
const FILES_PER_DIR: usize = 50;

/// A repository with many files, of which all are committed.
pub(super) struct GitRepository {
    stage: std::rc::Rc<BenchEnv>,
    pub(super) root: PathBuf,
}

impl GitRepository {
    pub(super) fn make(
        stage: &std::rc::Rc<BenchEnv>,
        name: &str,
        files: usize,
    ) -> Result<GitRepository, String> {
        let root = stage.dir().join(name);
        let repository = GitRepository { stage: stage.clone(), root };
        for number in 0..files {
            let file = repository.file(number);
            if number % FILES_PER_DIR == 0
                && let Some(dir) = file.parent()
            {
                fs::create_dir_all(dir).map_err(|error| error.to_string())?;
            }
            fs::write(file, format!("file {number}\n")).map_err(|error| error.to_string())?;
        }
        repository.git(&["init", "--quiet", "--initial-branch=main"])?;
        repository.git(&["config", "user.name", "bench"])?;
        repository.git(&["config", "user.email", "bench"])?;
        repository.git(&["config", "gc.auto", "0"])?;
        repository.git(&["add", "--all"])?;
        repository.git(&["commit", "--quiet", "--message=all"])?;
        Ok(repository)
    }

    /// One of the files.
    pub(super) fn file(&self, number: usize) -> PathBuf {
        self.root.join(self.name(number))
    }

    /// Its path in the repository.
    pub(super) fn name(&self, number: usize) -> String {
        format!("src/d{}/f{number}.txt", number / FILES_PER_DIR)
    }

    pub(super) fn git(&self, arguments: &[&str]) -> Result<(), String> {
        self.git_in(&self.root, arguments)
    }

    pub(super) fn git_in(&self, dir: &Path, arguments: &[&str]) -> Result<(), String> {
        let mut command = self.stage.command(Path::new("git"), self.stage.dir());
        let ran = command.args(arguments).current_dir(dir).stderr(std::process::Stdio::piped()).output();
        let ran = ran.map_err(|error| format!("git: {error}"))?;
        match ran.status.success() {
            true => Ok(()),
            false => Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr).trim())),
        }
    }
}
