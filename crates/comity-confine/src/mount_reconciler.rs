//! Holds paths again when somebody outside replaces them.
//!
//! A mount sits on the file that was there. When the holder saves by renaming a new file over it, which it may, the kernel
//! takes the mount away, and the name would lead to a file that nothing holds. So the process that made the mounts stays
//! as long as anything runs in them, sleeps until the kernel tells of such a change, and makes the mount again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::{binds, nested, sys};

/// Processes that are waited for at a time.
const PROCESSES_MAX: usize = 512;
/// How often is looked where the kernel tells nothing.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// Bytes of events that are read at a time.
const EVENT_BYTES: usize = 4_096;

pub(crate) struct MountReconciler {
    held: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    /// Directories above that are left as they are: who stands in one of them would not see what is mounted on it.
    fixed: BTreeSet<PathBuf>,
    /// What tells of changes. Without it, for what is watched is counted by the system, the reconciler looks by itself.
    kernel: Option<OwnedFd>,
    /// The names that matter in each directory that is watched.
    names: BTreeMap<i32, BTreeSet<OsString>>,
    /// The process that is confined.
    first: OwnedFd,
}

impl MountReconciler {
    /// Begins to watch these paths; nothing is lost from now on.
    pub(crate) fn watch(
        held: &[&Path],
        hidden: &[PathBuf],
        fixed: BTreeSet<PathBuf>,
        confined: Pid,
    ) -> io::Result<MountReconciler> {
        let first = pidfd_open(confined, PidfdFlags::empty())?;
        let kernel = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        let held = held.iter().map(|path| path.to_path_buf()).collect();
        let (hidden, names) = (hidden.to_vec(), BTreeMap::new());
        let mut reconciler = MountReconciler { held, hidden, fixed, kernel, names, first };
        reconciler.watch_all();
        Ok(reconciler)
    }

    /// Watches all that matters; what could not be is looked at from time to time.
    fn watch_all(&mut self) {
        let paths = || self.held.iter().chain(&self.hidden);
        let watched = self.kernel.as_ref().map(|kernel| watch(paths(), kernel.as_fd()));
        match watched {
            Some(Ok(names)) => self.names = names,
            Some(Err(_)) | None => self.kernel = None,
        }
    }

    /// Keeps the paths held until nothing runs here any more, and ends this process.
    pub(crate) fn keep(mut self) -> ! {
        let _ = leave_the_caller();
        sys::forget_children();
        let mut kept: Vec<BorrowedFd<'_>> = self.kernel.iter().map(AsFd::as_fd).collect();
        kept.push(self.first.as_fd());
        kept.sort_by_key(std::os::fd::AsRawFd::as_raw_fd);
        sys::close_all_but(&kept);
        let Ok(first) = self.first.try_clone() else { sys::exit(1) };
        let mut processes = vec![first];
        while !processes.is_empty() {
            let ends = processes.iter().map(|process| PollFd::new(process, PollFlags::IN));
            let events = self.kernel.iter().map(|kernel| PollFd::new(kernel, PollFlags::IN));
            let mut watched: Vec<PollFd<'_>> = ends.chain(events).collect();
            let pause = self.kernel.is_none().then_some(&LOOK_EVERY);
            match poll(&mut watched, pause) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => sys::exit(1),
            }
            let happened: Vec<bool> = watched.iter().map(|fd| !fd.revents().is_empty()).collect();
            let mut has_ended = happened.iter();
            processes.retain(|_| !has_ended.next().copied().unwrap_or_default());
            let has_events = has_ended.next().copied().unwrap_or_default();
            if self.kernel.is_none() || (has_events && self.is_concerned()) {
                self.hold_again();
            }
            if processes.is_empty() {
                processes = nested::processes(PROCESSES_MAX);
            }
        }
        sys::exit(0);
    }

    /// Reads all that has happened; whether it is about a name that matters.
    fn is_concerned(&self) -> bool {
        let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
        let Some(kernel) = &self.kernel else { return true };
        let mut reader = inotify::Reader::new(kernel, &mut buffer);
        let mut is_concerned = false;
        while let Ok(event) = reader.next() {
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            let is_known =
                |name: &OsStr| self.names.get(&event.wd()).is_some_and(|names| names.contains(name));
            // Some were lost, or a directory went: all is looked at.
            is_concerned |= name.is_none_or(is_known) || event.events().contains(ReadFlags::QUEUE_OVERFLOW);
        }
        is_concerned
    }

    /// Watches and holds what is there now: in this order, so that what comes meanwhile is noticed.
    fn hold_again(&mut self) {
        self.watch_all();
        let there: Vec<&Path> =
            self.held.iter().map(PathBuf::as_path).filter(|path| path.symlink_metadata().is_ok()).collect();
        binds::hold_all(&there, |dir| !self.fixed.contains(dir));
        binds::hide_all(
            self.hidden.iter().map(PathBuf::as_path).filter(|path| path.symlink_metadata().is_ok()),
        );
        nested::hold(&self.held, &self.hidden, &self.fixed);
    }
}

/// Watches the directories that the paths are in, and those above that could be replaced by others; says which names
/// matter in each.
fn watch<'a>(
    paths: impl Iterator<Item = &'a PathBuf>,
    kernel: BorrowedFd<'_>,
) -> io::Result<BTreeMap<i32, BTreeSet<OsString>>> {
    let mut names: BTreeMap<i32, BTreeSet<OsString>> = BTreeMap::new();
    let mut watched: BTreeMap<&Path, i32> = BTreeMap::new();
    for path in paths {
        for below in path.ancestors() {
            let (Some(dir), Some(name)) = (below.parent(), below.file_name()) else { break };
            let watch = match watched.get(dir) {
                Some(watch) => *watch,
                None => match inotify::add_watch(kernel, dir, kinds()) {
                    Ok(watch) => *watched.entry(dir).or_insert(watch),
                    // It is not there, or nobody's business: what is above it is watched.
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => continue,
                    Err(error) => return Err(error.into()),
                },
            };
            let is_known = !names.entry(watch).or_default().insert(name.to_owned());
            if is_known {
                break;
            }
        }
    }
    Ok(names)
}

fn kinds() -> WatchFlags {
    WatchFlags::CREATE
        | WatchFlags::MOVED_TO
        | WatchFlags::MOVED_FROM
        | WatchFlags::DELETE
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR
        | WatchFlags::EXCL_UNLINK
}

/// Lets go of the terminal, the pipes and the directory of who called: nobody waits for this process.
fn leave_the_caller() -> io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::chdir("/")?;
    // By this name others know that it is in no directory, though it lets nobody look.
    rustix::thread::set_name(c"comity-confine")?;
    let nothing = fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    Ok(())
}
