//! Whether the state directory is still this server's: it can be moved or removed, and another server started in its
//! place.

use std::io;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comity_app::log::{Durability, Log, LogError};
use comity_core::Record;
use comity_wire::Home;

use super::logging::note;
use super::state_dir::StateDirLock;

/// The files that identify the directory: the lock that makes a server its owner, and the log.
const KNOWN_BY: [&str; 2] = [super::state_dir::SERVER_LOCK, LOG];
const LOG: &str = "log.db";
const BACKLOG: &str = "log.db-wal";
/// How often to check the files if the system does not report moves.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A path, and the file that was there.
#[derive(Clone, Debug)]
pub(super) struct WatchedPath {
    path: PathBuf,
    file: (u64, u64),
}

impl WatchedPath {
    /// What is at a path now; its owner keeps it open, so that its inode is not reused.
    pub(super) fn of(path: PathBuf) -> Result<WatchedPath, String> {
        let found = path.symlink_metadata().map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(WatchedPath { path, file: (found.dev(), found.ino()) })
    }

    /// Whether the same file is still there.
    pub(super) fn is_same(&self) -> bool {
        self.path.symlink_metadata().is_ok_and(|found| (found.dev(), found.ino()) == self.file)
    }
}

/// The directory is this server's while this holds.
pub(super) struct StateDirOwnership {
    places: Vec<WatchedPath>,
    /// What is not in `log.db` yet: without it the next server would begin with less.
    backlog: Option<WatchedPath>,
    /// Has something to read when one of them may have moved.
    news: OwnedFd,
}

impl StateDirOwnership {
    /// Begins once the log is open.
    pub(super) fn begin(home: &Home, held: &StateDirLock) -> Result<StateDirOwnership, String> {
        // Watched first, so that a move in between is seen.
        let news = watch(home.path());
        let places = KNOWN_BY.iter().map(|name| WatchedPath::of(home.path().join(name)));
        let places = places.collect::<Result<Vec<_>, _>>()?;
        // What was opened since the directory was taken has to be in that directory.
        let is_own = held.identity().is_ok_and(|held| places.iter().any(|place| place.file == held));
        if !is_own {
            return Err(format!("{} was moved or removed while the server started", home.path().display()));
        }
        let backlog = WatchedPath::of(home.path().join(BACKLOG)).ok();
        let news = news.or_else(|_| look_often(places.iter().chain(&backlog).cloned().collect()));
        let news = news.map_err(|error| format!("{} can't be watched: {error}", home.path().display()))?;
        Ok(StateDirOwnership { places, backlog, news })
    }

    /// Has something to read when it is time to check.
    pub(super) fn news(&self) -> &OwnedFd {
        &self.news
    }

    /// Whether the directory or a part of the log is gone. Drains the events.
    pub(super) fn is_over(&self) -> bool {
        let mut buffer = [0; 4096];
        while matches!(rustix::io::read(&self.news, &mut buffer), Ok(1..)) {}
        self.is_moved() || self.backlog.as_ref().is_some_and(|backlog| !backlog.is_same())
    }

    /// Whether the directory is no longer this server's.
    pub(super) fn is_moved(&self) -> bool {
        !self.places.iter().all(WatchedPath::is_same)
    }
}

/// Watches for a move or removal of the directory, of one above it, and of what is in it.
#[cfg(target_os = "linux")]
fn watch(home: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};

    let news = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
    let itself = WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF | WatchFlags::ONLYDIR;
    let inside = WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO;
    let home = home.canonicalize()?;
    add_watch(&news, &home, itself | inside)?;
    for above in home.ancestors().skip(1) {
        // Without permission to read it there are no events either; the log is checked before each write.
        let _ = add_watch(&news, above, itself);
    }
    Ok(news)
}

#[cfg(not(target_os = "linux"))]
fn watch(_: &Path) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Checks again and again: if the system does not report moves, or has no watches left.
fn look_often(places: Vec<WatchedPath>) -> io::Result<OwnedFd> {
    let (news, mut tell) = io::pipe()?;
    rustix::io::ioctl_fionbio(&news, true)?;
    std::thread::Builder::new().name("ownership".into()).spawn(move || {
        while places.iter().all(WatchedPath::is_same) {
            comity_app::planted_panic::panic_at("ownership");
            std::thread::sleep(LOOK_EVERY);
        }
        let _ = tell.write(&[1]);
    })?;
    Ok(news.into())
}

/// A log that is written only while it is where the next server would look for it.
pub(super) struct OwnLog<L> {
    log: L,
    place: WatchedPath,
}

impl<L> OwnLog<L> {
    pub(super) fn new(log: L, home: &Home) -> Result<OwnLog<L>, String> {
        Ok(OwnLog { log, place: WatchedPath::of(home.path().join(LOG))? })
    }
}

impl<L: Log> Log for OwnLog<L> {
    fn append(&mut self, records: &[Record], durability: Durability) -> Result<(), LogError> {
        if !self.place.is_same() {
            return Err(LogError::Fenced);
        }
        self.log.append(records, durability).inspect_err(|error| {
            if let LogError::Cut(_) = error {
                note("error", "log_cut", &[("message", &error.to_string())]);
            }
        })
    }

    fn drop_sealed(&mut self, at_most: usize) -> usize {
        self.log.drop_sealed(at_most)
    }

    fn close(&mut self) {
        if self.place.is_same() {
            self.log.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn it_is_told_whichever_way_the_directory_goes() {
        type Way = fn(&Path, Vec<WatchedPath>) -> io::Result<OwnedFd>;
        let ways: [Way; 2] = [|home, _| watch(home), |_, places| look_often(places)];
        for news in ways {
            let dir = tempfile::tempdir().expect("a directory");
            let home = dir.path().join("above/state");
            std::fs::create_dir_all(&home).expect("made");
            KNOWN_BY.iter().for_each(|name| std::fs::write(home.join(name), "").expect("written"));
            let places: Vec<_> =
                KNOWN_BY.map(|name| WatchedPath::of(home.join(name)).expect("a file")).into();
            let news = news(&home, places.clone()).expect("watched");
            let ownership = StateDirOwnership { places, backlog: None, news };
            std::fs::write(home.join("other"), "").expect("written");
            assert!(!ownership.is_over());
            std::fs::rename(dir.path().join("above"), dir.path().join("elsewhere")).expect("moved");
            let patience = Timespec { tv_sec: 30, tv_nsec: 0 };
            let told = poll(&mut [PollFd::new(ownership.news(), PollFlags::IN)], Some(&patience));
            assert!(told == Ok(1) && ownership.is_over());
        }
    }
}
