//! The watcher's thread, and its observer.

use std::collections::BTreeSet;
use std::io::{self, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use comity_git::Checkout;

use crate::state::WatchState;

/// How much is watched, and how long a burst of writes is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Directories of all trees together; each costs the kernel about a kilobyte.
    pub directories_max: usize,
    /// Paths of one tree that wait to settle.
    pub paths_max: usize,
    /// How long a path must be left alone before it is reported.
    pub settle: Duration,
    /// How long a path that is never left alone waits at most.
    pub burst_max: Duration,
    /// How long writes are taken for git's own while the index is locked: a forgotten lock hides nothing for longer.
    pub git_max: Duration,
    /// When branches whose commits could not be read are looked at again: at first, and after many times.
    pub again_min: Duration,
    pub again_max: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            directories_max: 32_768,
            paths_max: 10_000,
            settle: Duration::from_millis(150),
            burst_max: Duration::from_secs(2),
            git_max: Duration::from_secs(30),
            again_min: Duration::from_millis(500),
            again_max: Duration::from_secs(60),
        }
    }
}

/// The result of looking at branches that moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefsRead {
    Done,
    /// It is too early: look again in a moment.
    Again,
    /// Not all of it could be read: look again later, and later each time.
    Later,
}

/// Says what to watch, and is told what was seen; always on the watcher's thread.
pub trait Observer: Send + 'static {
    /// The roots of the worktrees to watch from now on, symlinks resolved.
    fn wanted(&mut self) -> BTreeSet<PathBuf>;

    /// Something was written or removed: called at once, perhaps often, so it must be quick.
    fn touched(&mut self, root: &Path, path: &Path);

    /// These paths were touched and have settled; a directory stands for everything below it.
    fn settled(&mut self, checkout: &Checkout, paths: Vec<PathBuf>);

    /// The branches of this checkout's project are watched from here on.
    fn refs_watched(&mut self, _checkout: &Checkout) {}

    /// A branch or a HEAD of this project moves: called at once, perhaps often, so it must be quick.
    fn refs_touched(&mut self, _common_dir: &Path) {}

    /// The branches and heads have settled.
    fn refs_settled(&mut self, _checkout: &Checkout) -> RefsRead {
        RefsRead::Done
    }

    /// What is watched has changed, or something went wrong.
    fn changed(&mut self, state: &WatchState);
}

/// A running watcher; it ends when this is dropped.
#[derive(Debug)]
pub struct Watcher {
    wake: Option<PipeWriter>,
    is_woken: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Starts the watcher's thread. Only Linux has it.
    #[cfg(target_os = "linux")]
    pub fn start(observer: impl Observer, bounds: Bounds) -> io::Result<Watcher> {
        let (wakes, wake) = io::pipe()?;
        let is_woken = Arc::new(AtomicBool::new(false));
        let watching = crate::run::Watching::begin(observer, bounds, wakes, is_woken.clone())?;
        let thread = std::thread::Builder::new().name("watcher".into()).spawn(move || watching.run())?;
        Ok(Watcher { wake: Some(wake), is_woken, thread: Some(thread) })
    }

    /// Starts the watcher's thread. Only Linux has it.
    #[cfg(not(target_os = "linux"))]
    pub fn start(_observer: impl Observer, _bounds: Bounds) -> io::Result<Watcher> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "files are watched on Linux only"))
    }

    /// Lets the watcher ask again what to watch. Never waits.
    pub fn wake(&self) {
        // One byte is enough however often it is woken, so the pipe is never full.
        if let Some(wake) = &self.wake
            && !self.is_woken.swap(true, Ordering::AcqRel)
        {
            let _ended = { wake }.write(&[1]);
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // The thread sees that nobody can wake it any more, and ends.
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}
