//! A place whose server ends where a test says: by a panic, or by a git that stands in the way of the real one.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{Agent, PATIENCE, Place, Ran, has_ended};

/// Kills who calls it when it is to move a branch, if a file says when; or fills the disk.
const GIT: &str = r#"#!/bin/sh
for arg in "$@"; do
    case "$arg" in
        cat-file | rev-parse) if [ -e DIR/dies ]; then touch DIR/died; kill -9 $$; fi ;;
    esac
    if [ "$arg" = update-ref ] && [ -e DIR/plan ]; then
        moment=$(cat DIR/plan); rm DIR/plan
        case "$moment" in
            before) kill -9 $PPID; exit 1 ;;
            after) 'REAL' "$@"; kill -9 $PPID; exit 1 ;;
            late) kill -9 $PPID; exec 9> DIR/fifo ;;
            full) 'REAL' "$@"; code=$?; cat /dev/zero > "$(cat DIR/filler)" 2> /dev/null; exit $code ;;
        esac
    fi
done
exec 'REAL' "$@"
"#;

pub(crate) struct Stage {
    pub(crate) place: Place,
    pub(crate) ann: Agent,
    dir: PathBuf,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage::with_state(None)
    }

    /// The same with its state elsewhere.
    pub(crate) fn with_state(home: Option<PathBuf>) -> Stage {
        let dir = tempfile::tempdir().expect("a directory");
        let own = dir.path().join("git");
        fs::create_dir(&own).expect("a directory");
        let path = std::env::var_os("PATH").expect("a path");
        let real = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
        let script = GIT
            .replace("REAL", real.expect("git").to_str().expect("text"))
            .replace("DIR", own.to_str().expect("text"));
        fs::write(own.join("git"), script).expect("written");
        fs::set_permissions(own.join("git"), fs::Permissions::from_mode(0o755)).expect("executable");
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, own.join("fifo"), kind, rustix::fs::Mode::RWXU, 0)
            .expect("a pipe");
        let git = own.join("git");
        let home = home.unwrap_or_else(|| dir.path().join("state"));
        let settings = [
            ("COMITY_GIT_PROGRAM", git.to_str().expect("text")),
            ("COMITY_PANIC", &format!("{}/panic", own.display())),
            ("MAX_AGENTS", "20"),
            ("COMITY_WORKTREE_READY", "0"),
        ];
        let place = Place::at(dir, home, &settings);
        let ann = place.join(&["ann"]);
        Stage { place, ann, dir: own }
    }

    /// Says where the server ends: before, after or, outlived by git, at the move of a branch; or at a planted panic.
    pub(crate) fn plant(&self, at: &str) {
        let file = if ["before", "after", "late", "full"].contains(&at) { "plan" } else { "panic" };
        fs::write(self.dir.join(file), at).expect("planted");
    }

    /// Every git that is asked for a commit dies, until one did.
    pub(crate) fn git_dies(&self, meanwhile: impl FnOnce()) {
        fs::write(self.dir.join("dies"), "").expect("planted");
        meanwhile();
        crate::support::eventually("git dies", || self.dir.join("died").exists());
        fs::remove_file(self.dir.join("dies")).expect("removed");
    }

    /// Names the file that takes all the room.
    pub(crate) fn fill_with(&self, filler: &Path) {
        fs::write(self.dir.join("filler"), filler.to_str().expect("text")).expect("written");
    }

    /// Lets the git go on that has outlived its server, and waits for its end. Until then it holds a lock, so that the next
    /// server does not look too early.
    pub(crate) fn let_git_end(&self, server: u32, lock: &str) {
        assert!(has_ended(server, PATIENCE), "the server goes on");
        let locks = fs::read_dir(self.place.repo.join(".git/comity")).expect("a directory");
        let mut locks = locks.map(|entry| entry.expect("an entry").path());
        let is_meant =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(lock));
        let file = fs::File::open(locks.find(is_meant).expect("a lock")).expect("a lock");
        let taken = rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive);
        assert_eq!(taken, Err(rustix::io::Errno::WOULDBLOCK), "{lock}");
        let mut pipe = fs::File::open(self.dir.join("fifo")).expect("a pipe");
        pipe.read_to_end(&mut Vec::new()).expect("its end");
    }

    pub(crate) fn change(&self, path: &str, text: &str) {
        fs::write(self.place.repo.join(path), text).expect("written");
    }

    pub(crate) fn lock_and_change(&self, paths: &[&str]) {
        self.place.json_as(&self.ann, &[&["lock"], paths].concat());
        paths.iter().for_each(|path| self.change(path, "changed\n"));
    }

    /// What git says in the repository.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let ran = Ran::of(self.place.program("git").args(arguments).output().expect("git runs"));
        assert_eq!(ran.code, 0, "git {arguments:?}: {ran:?}");
        ran.out
    }
}
