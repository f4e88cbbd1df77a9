//! A repository with a watcher on it, and what the watcher has told.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use comity_git::{ChangedPath, Checkout};
use comity_watch::{Bounds, Observer, WatchState, Watcher};

/// How long anything may take before a test calls it broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What the watcher has told.
#[derive(Debug)]
pub(crate) enum Told {
    /// Paths have settled, and these of them differ from what git has.
    Settled { paths: Vec<String>, changed: Vec<ChangedPath> },
    /// What is watched.
    State(WatchState),
}

/// A repository, and a watcher on it.
pub(crate) struct Stand {
    pub(crate) root: PathBuf,
    wanted: Arc<Mutex<BTreeSet<PathBuf>>>,
    told: Receiver<Told>,
    gate: Arc<Mutex<()>>,
    watcher: Watcher,
    sentinels: usize,
    _dir: tempfile::TempDir,
}

struct Witness {
    wanted: Arc<Mutex<BTreeSet<PathBuf>>>,
    told: Sender<Told>,
    gate: Arc<Mutex<()>>,
}

impl Observer for Witness {
    fn wanted(&mut self) -> BTreeSet<PathBuf> {
        self.wanted.lock().expect("no panic").clone()
    }

    fn touched(&mut self, _: &Path, _: &Path) {
        drop(self.gate.lock());
    }

    fn settled(&mut self, checkout: &Checkout, paths: Vec<PathBuf>) {
        let changed = checkout.changed(&paths, PATIENCE).expect("git");
        let paths = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let _ended = self.told.send(Told::Settled { paths, changed });
    }

    fn changed(&mut self, state: &WatchState) {
        let _ended = self.told.send(Told::State(state.clone()));
    }
}

impl Stand {
    /// A repository made by `make` and committed, and a watcher that has begun.
    pub(crate) fn new(make: impl FnOnce(&Path)) -> Stand {
        Stand::with(Bounds::default(), make)
    }

    pub(crate) fn with(bounds: Bounds, make: impl FnOnce(&Path)) -> Stand {
        let dir = tempfile::tempdir().expect("a directory");
        let root = dir.path().canonicalize().expect("a path").join("repo");
        fs::create_dir(&root).expect("a directory");
        git(&root, &["init", "--quiet", "--initial-branch=main"]);
        write(&root, "src/a.rs", "fn a() {}\n");
        make(&root);
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "--message=first"]);
        let wanted = Arc::new(Mutex::new(BTreeSet::from([root.clone()])));
        let (sender, told) = channel();
        let gate = Arc::new(Mutex::new(()));
        let witness = Witness { wanted: wanted.clone(), told: sender, gate: gate.clone() };
        let watcher = Watcher::start(witness, bounds).expect("a watcher");
        Stand { root, wanted, told, gate, watcher, sentinels: 0, _dir: dir }
    }

    /// A stand whose watcher is at work.
    pub(crate) fn ready(self) -> Stand {
        self.until_state(|state| state.trees == 1);
        self
    }

    /// Watches other worktrees.
    pub(crate) fn want(&self, roots: &[&Path]) {
        *self.wanted.lock().expect("no panic") = roots.iter().map(|root| root.to_path_buf()).collect();
        self.watcher.wake();
    }

    /// Keeps the watcher from going on at its next touch, as long as this lives.
    pub(crate) fn hold(&self) -> MutexGuard<'_, ()> {
        self.gate.lock().expect("no panic")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.root, path, text);
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        git(&self.root, arguments);
    }

    /// The next state that is meant.
    pub(crate) fn until_state(&self, is_meant: impl Fn(&WatchState) -> bool) -> WatchState {
        loop {
            match self.told.recv_timeout(PATIENCE).expect("a state") {
                Told::State(state) if is_meant(&state) => return state,
                Told::State(_) | Told::Settled { .. } => {}
            }
        }
    }

    /// Waits until a path has settled.
    pub(crate) fn until_settled(&self, path: &str) {
        loop {
            match self.told.recv_timeout(PATIENCE).expect("a path") {
                Told::Settled { paths, .. } if paths.iter().any(|settled| settled == path) => return,
                Told::State(_) | Told::Settled { .. } => {}
            }
        }
    }

    /// Everything that settled up to now: the last thing that is written is seen last.
    pub(crate) fn seen(&mut self) -> Seen {
        self.sentinels += 1;
        let sentinel = format!("sentinel{}", self.sentinels);
        self.write(&sentinel, "");
        let mut seen = Seen::default();
        loop {
            match self.told.recv_timeout(PATIENCE).expect("the sentinel") {
                Told::State(state) => seen.state = Some(state),
                Told::Settled { paths, changed } => {
                    let is_last = paths.contains(&sentinel);
                    seen.paths.extend(paths.into_iter().filter(|path| !path.starts_with("sentinel")));
                    let changed = changed.into_iter().map(|one| one.path.to_string_lossy().into_owned());
                    seen.changed.extend(changed.filter(|path| !path.starts_with("sentinel")));
                    if is_last {
                        return seen;
                    }
                }
            }
        }
    }
}

/// What the watcher has told up to a moment.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Every path that settled, as often as it did.
    pub(crate) paths: Vec<String>,
    /// Those that differ from what git has, in order.
    pub(crate) changed: BTreeSet<String>,
    /// The last state that was told meanwhile.
    pub(crate) state: Option<WatchState>,
}

impl Seen {
    pub(crate) fn changed(&self) -> Vec<&str> {
        self.changed.iter().map(String::as_str).collect()
    }
}

pub(crate) fn write(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().expect("a directory")).expect("made");
    fs::write(file, text).expect("written");
}

pub(crate) fn git(root: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    for who in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
        command.env(who, "test");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").arg("-C").arg(root).args(arguments);
    let done = command.output().expect("git runs");
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}
