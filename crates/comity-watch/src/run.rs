//! The watcher's loop: it sleeps until the kernel has an event, a burst settles, or something else should be watched.

use std::ffi::OsStr;
use std::io::{self, PipeReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::burst::TouchOutcome;
use crate::kernel::{KernelEvent, WatchId};
use crate::state::{WatchState, WatchTrouble};
use crate::tree::{INDEX_LOCK, NewDirectory};
use crate::trees::{WatchTarget, WatchedTrees};
use crate::watcher::{Bounds, Observer, RefsRead};

/// The watcher, as its thread has it.
pub(crate) struct Watching<O> {
    observer: O,
    trees: WatchedTrees,
    wakes: PipeReader,
    is_woken: Arc<AtomicBool>,
    told: WatchState,
}

/// One event, kept until all are read.
enum QueuedEvent {
    Name(WatchId, NameEvent, PathBuf),
    Moved(WatchId),
    Ended(WatchId),
    Overrun,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NameEvent {
    DirCame,
    DirLeft,
    NewDirectory,
    Went,
    Written,
}

impl<O: Observer> Watching<O> {
    pub(crate) fn begin(
        observer: O,
        bounds: Bounds,
        wakes: PipeReader,
        is_woken: Arc<AtomicBool>,
    ) -> io::Result<Watching<O>> {
        Ok(Watching {
            observer,
            trees: WatchedTrees::new(bounds)?,
            wakes,
            is_woken,
            told: WatchState::default(),
        })
    }

    /// Runs until nobody can wake it any more.
    pub(crate) fn run(mut self) {
        self.refresh();
        while self.turn() {}
    }

    /// One turn; returns whether there is another.
    fn turn(&mut self) -> bool {
        let bounds = &self.trees.bounds;
        let refs = self.trees.refs.values().filter_map(|refs| refs.next(bounds));
        let next = self.trees.trees.values().filter_map(|tree| tree.burst.next(bounds)).chain(refs).min();
        let timeout = next.map(|next| next.saturating_duration_since(Instant::now()));
        let timeout = timeout.and_then(|left| Timespec::try_from(left).ok());
        let mut fds =
            [PollFd::new(&self.trees.kernel, PollFlags::IN), PollFd::new(&self.wakes, PollFlags::IN)];
        // Interrupted: the next turn looks again.
        let _interrupted = poll(&mut fds, timeout.as_ref());
        let woken = !fds[1].revents().is_empty();
        if woken {
            match self.wakes.read(&mut [0; 8]) {
                Ok(0) => return false,
                _ => self.is_woken.store(false, Ordering::Release),
            }
        }
        self.listen();
        if woken {
            self.refresh();
        }
        self.settle();
        self.tell();
        true
    }

    /// Asks what to watch, and watches it.
    fn refresh(&mut self) {
        let wanted = self.observer.wanted();
        self.trees.set(&wanted, Instant::now());
        for checkout in self.trees.set_refs() {
            self.observer.refs_watched(&checkout);
        }
        self.tell();
    }

    /// Processes everything that happened.
    fn listen(&mut self) {
        let mut seen = Vec::new();
        let read = self.trees.kernel.read(|watch, what| {
            seen.push(match what {
                KernelEvent::DirCame(name) => QueuedEvent::Name(watch, NameEvent::DirCame, name.into()),
                KernelEvent::DirLeft(name) => QueuedEvent::Name(watch, NameEvent::DirLeft, name.into()),
                KernelEvent::NewDirectory(name) => {
                    QueuedEvent::Name(watch, NameEvent::NewDirectory, name.into())
                }
                KernelEvent::Went(name) => QueuedEvent::Name(watch, NameEvent::Went, name.into()),
                KernelEvent::Written(name) => QueuedEvent::Name(watch, NameEvent::Written, name.into()),
                KernelEvent::Moved => QueuedEvent::Moved(watch),
                KernelEvent::Ended => QueuedEvent::Ended(watch),
                KernelEvent::Overrun => QueuedEvent::Overrun,
            });
        });
        if read.is_err() {
            self.overrun();
        }
        for one in seen {
            match one {
                QueuedEvent::Name(watch, kind, name) => self.named(watch, kind, &name),
                QueuedEvent::Moved(watch) => self.moved(watch),
                QueuedEvent::Ended(watch) => self.trees.ended(watch),
                QueuedEvent::Overrun => self.overrun(),
            }
        }
        self.take_in();
    }

    fn named(&mut self, watch: WatchId, kind: NameEvent, name: &Path) {
        let now = Instant::now();
        match self.trees.spot(watch).cloned() {
            None => {}
            Some(WatchTarget::Git { root }) => {
                let Some(tree) = self.trees.trees.get_mut(&root) else { return };
                match kind {
                    NameEvent::NewDirectory if name == INDEX_LOCK => tree.git_began(now),
                    NameEvent::Went if name == INDEX_LOCK => tree.git_ended(),
                    // A branch may also be a symbolic ref to one of those next to HEAD.
                    NameEvent::NewDirectory | NameEvent::Written if is_top_ref(name) => {
                        let common_dir = tree.checkout.common_dir().to_owned();
                        self.touch_refs(&common_dir, now);
                    }
                    NameEvent::DirCame
                    | NameEvent::DirLeft
                    | NameEvent::NewDirectory
                    | NameEvent::Went
                    | NameEvent::Written => {}
                }
            }
            Some(WatchTarget::Refs { common_dir, .. }) => {
                if matches!(kind, NameEvent::DirCame) {
                    self.trees.watch_refs(&common_dir);
                }
                // A lock is not the ref yet; the ref replaces it.
                if name.extension() != Some(OsStr::new("lock")) {
                    self.touch_refs(&common_dir, now);
                }
            }
            Some(WatchTarget::Dir { root, dir }) => {
                let path = dir.join(name);
                if name == OsStr::new(".git") {
                    // From here on it is a repository of its own.
                    if !dir.as_os_str().is_empty() {
                        self.trees.drop_below(&root, &dir);
                    }
                    return;
                }
                match kind {
                    NameEvent::DirCame => {
                        let Some(tree) = self.trees.trees.get_mut(&root) else { return };
                        let by_git = tree.is_gits(now, &self.trees.bounds);
                        tree.came.insert(NewDirectory { dir: path, by_git });
                    }
                    NameEvent::DirLeft => {
                        self.trees.drop_below(&root, &path);
                        self.touch(&root, &path, now);
                    }
                    NameEvent::NewDirectory | NameEvent::Went | NameEvent::Written => {
                        self.touch(&root, &path, now)
                    }
                }
            }
        }
    }

    /// A file of a worktree was written or removed.
    fn touch(&mut self, root: &Path, path: &Path, now: Instant) {
        let bounds = self.trees.bounds;
        let Some(tree) = self.trees.trees.get_mut(root) else { return };
        tree.is_stale |= path.file_name() == Some(OsStr::new(".gitignore"));
        if tree.is_gits(now, &bounds) {
            return;
        }
        match tree.burst.touch(path, now, &bounds) {
            TouchOutcome::Waits => self.observer.touched(root, path),
            TouchOutcome::NoRoom => {
                let (root, paths_max) = (root.to_owned(), bounds.paths_max);
                self.trees.note(WatchTrouble::TooManyPaths { root, paths_max });
            }
        }
    }

    /// A branch or a HEAD moves.
    fn touch_refs(&mut self, common_dir: &Path, now: Instant) {
        let Some(refs) = self.trees.refs.get_mut(common_dir) else { return };
        refs.touch(now);
        self.observer.refs_touched(common_dir);
    }

    /// A watched directory was renamed: the directories around it tell what became of it, except for the top.
    fn moved(&mut self, watch: WatchId) {
        if let Some(WatchTarget::Dir { root, dir }) = self.trees.spot(watch).cloned()
            && dir.as_os_str().is_empty()
        {
            self.trees.end(&root);
        }
    }

    fn overrun(&mut self) {
        self.trees.note(WatchTrouble::Overrun { times: 1 });
        // Directories may have come and gone unnoticed.
        self.trees.trees.values_mut().for_each(|tree| tree.is_stale = true);
        let common_dirs: Vec<PathBuf> = self.trees.refs.keys().cloned().collect();
        for common_dir in common_dirs {
            self.trees.watch_refs(&common_dir);
            self.touch_refs(&common_dir, Instant::now());
        }
    }

    /// Watches new directories, until nothing new is found.
    fn take_in(&mut self) {
        let roots: Vec<PathBuf> = self.trees.trees.keys().cloned().collect();
        for root in roots {
            let Some(tree) = self.trees.trees.get(&root) else { continue };
            if tree.is_stale {
                self.trees.walk_again(&root, Instant::now());
            }
            if self.trees.trees.get(&root).is_some_and(|tree| !tree.came.is_empty()) {
                for path in self.trees.take_in(&root) {
                    self.touch(&root, &path, Instant::now());
                }
            }
        }
    }

    fn settle(&mut self) {
        let (now, bounds) = (Instant::now(), self.trees.bounds);
        for tree in self.trees.trees.values_mut() {
            let paths = tree.burst.settled(now, &bounds);
            if !paths.is_empty() {
                self.observer.settled(&tree.checkout, paths);
            }
        }
        let settled: Vec<PathBuf> = self
            .trees
            .refs
            .iter_mut()
            .filter_map(|(common_dir, refs)| refs.has_settled(now, &bounds).then(|| common_dir.clone()))
            .collect();
        for common_dir in settled {
            let Some(checkout) = self.trees.checkout_of(&common_dir) else { continue };
            let looked = self.observer.refs_settled(checkout);
            let Some(refs) = self.trees.refs.get_mut(&common_dir) else { continue };
            match looked {
                RefsRead::Done => refs.is_read(),
                RefsRead::Again => refs.touch(Instant::now()),
                RefsRead::Later => refs.look_later(Instant::now(), &bounds),
            }
        }
    }

    /// Reports the state, if it has changed.
    fn tell(&mut self) {
        let state = self.trees.state();
        if state != self.told {
            self.observer.changed(&state);
            self.told = state;
        }
    }
}

/// Whether a file is a ref next to HEAD: `HEAD` itself, `ORIG_HEAD` and similar names. What a fetch leaves there is
/// none.
fn is_top_ref(name: &Path) -> bool {
    let name = name.as_os_str().as_encoded_bytes();
    name != b"FETCH_HEAD"
        && !name.starts_with(b"COMMIT_EDITMSG")
        && name.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'_' | b'-'))
}
