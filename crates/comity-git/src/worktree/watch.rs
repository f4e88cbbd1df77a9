//! Notices changes in a tree as they happen, so that nobody has to search it again.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Directories that are watched for one tree; a larger one is searched instead. Each costs the kernel about a
/// kilobyte, and others need watches, too.
const DIRS_MAX: usize = 16_384;

/// Watches every directory of a tree.
///
/// If the kernel cannot tell (it was overrun, or a limit is reached), that counts as a change: it only means that
/// somebody has to look. A change through another name of the same file, outside of the tree, is not noticed: what
/// was written is there under that name, too. One through a memory map is noticed when the file is closed.
#[derive(Debug)]
pub(crate) struct ChangeWatch {
    /// `None` once it has ended.
    events: Option<OwnedFd>,
}

impl ChangeWatch {
    /// Begins to watch some directories; `None` if that cannot be done here.
    ///
    /// The caller has to look once more at the tree afterwards: what changed before is not noticed.
    #[cfg(target_os = "linux")]
    pub(crate) fn begin<'a>(
        root: &Path,
        dirs: impl ExactSizeIterator<Item = &'a PathBuf>,
    ) -> Option<ChangeWatch> {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        if dirs.len() > DIRS_MAX {
            return None;
        }
        let changes = WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MODIFY
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        for dir in dirs {
            add_watch(&events, root.join(dir), changes).ok()?;
        }
        Some(ChangeWatch { events: Some(events) })
    }

    /// Other systems have nothing that would see every change.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn begin<'a>(_: &Path, _: impl ExactSizeIterator<Item = &'a PathBuf>) -> Option<ChangeWatch> {
        None
    }

    /// Whether nothing has changed since it began.
    pub(crate) fn is_silent(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let Some(events) = &self.events else { return false };
        let mut waiting = [PollFd::new(events, PollFlags::IN)];
        matches!(poll(&mut waiting, Some(&now)), Ok(0))
    }
}

impl Drop for ChangeWatch {
    fn drop(&mut self) {
        let events = self.events.take();
        // The kernel takes some ten milliseconds to forget many watches; nobody need wait for it.
        let _or_here = std::thread::Builder::new().name("watch-end".into()).spawn(move || drop(events));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn every_change_is_noticed_and_reading_is_none() {
        let dir = tempfile::tempdir().expect("a directory");
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("sub")).expect("made");
        fs::write(at("sub/file"), "1").expect("written");
        let dirs = [PathBuf::new(), PathBuf::from("sub")];
        let check = |is_change: bool, act: &dyn Fn()| {
            let Some(watch) = ChangeWatch::begin(dir.path(), dirs.iter()) else {
                comity_skip::skip(
                    "every_change_is_noticed_and_reading_is_none",
                    "directories can't be watched here",
                );
                return;
            };
            assert!(watch.is_silent());
            act();
            assert_eq!(watch.is_silent(), !is_change);
        };
        check(false, &|| drop(fs::read(at("sub/file"))));
        check(false, &|| assert_eq!(fs::read_dir(at("sub")).expect("read").count(), 1));
        check(true, &|| fs::write(at("sub/file"), "2").expect("written"));
        check(true, &|| fs::write(at("sub/new"), "").expect("written"));
        check(true, &|| fs::rename(at("sub/new"), at("moved")).expect("moved"));
        check(true, &|| fs::remove_file(at("moved")).expect("removed"));
        check(true, &|| fs::set_permissions(at("sub/file"), fs::Permissions::from_mode(0o755)).expect("set"));
        check(true, &|| fs::create_dir(at("deep")).expect("made"));
    }
}
