//! The kernel's events about directories.

use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};
use rustix::io::Errno;

const BUFFER_BYTES: usize = 64 * 1024;

/// The kernel's id of a watched directory.
pub(crate) type WatchId = i32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KernelEvent<'a> {
    DirCame(&'a OsStr),
    /// A directory moved away, with everything in it.
    DirLeft(&'a OsStr),
    /// Something that is not a directory appeared.
    NewDirectory(&'a OsStr),
    Went(&'a OsStr),
    Written(&'a OsStr),
    /// The watched directory itself was renamed.
    Moved,
    /// The watch has ended.
    Ended,
    /// More happened than could be queued.
    Overrun,
}

pub(crate) struct Kernel {
    events: OwnedFd,
    buffer: Vec<MaybeUninit<u8>>,
}

impl Kernel {
    pub(crate) fn open() -> io::Result<Kernel> {
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Kernel { events, buffer: vec![MaybeUninit::uninit(); BUFFER_BYTES] })
    }

    /// Watches the entries of a directory. The same directory has the same watch.
    pub(crate) fn watch(&self, dir: &Path) -> Result<WatchId, Errno> {
        let flags = WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::ONLYDIR;
        add_watch(&self.events, dir, flags)
    }

    pub(crate) fn unwatch(&self, watch: WatchId) {
        // It may have ended by itself.
        let _ended = remove_watch(&self.events, watch);
    }

    /// Passes on everything that has happened.
    pub(crate) fn read(&mut self, mut each: impl FnMut(WatchId, KernelEvent<'_>)) -> io::Result<()> {
        let mut reader = Reader::new(&self.events, &mut self.buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            if let Some(what) = meaning(event.events(), name) {
                each(event.wd(), what);
            }
        }
    }
}

impl AsFd for Kernel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }
}

fn meaning(flags: ReadFlags, name: Option<&OsStr>) -> Option<KernelEvent<'_>> {
    if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
        return Some(KernelEvent::Overrun);
    }
    if flags.contains(ReadFlags::IGNORED) {
        return Some(KernelEvent::Ended);
    }
    if flags.contains(ReadFlags::MOVE_SELF) {
        return Some(KernelEvent::Moved);
    }
    // Events about the watched directory itself have no name.
    let name = name?;
    let came = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
    if flags.contains(ReadFlags::ISDIR) {
        return match (came, flags.contains(ReadFlags::MOVED_FROM)) {
            (true, _) => Some(KernelEvent::DirCame(name)),
            (_, true) => Some(KernelEvent::DirLeft(name)),
            (false, false) => None,
        };
    }
    if came {
        return Some(KernelEvent::NewDirectory(name));
    }
    if flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
        return Some(KernelEvent::Went(name));
    }
    flags
        .intersects(ReadFlags::MODIFY | ReadFlags::CLOSE_WRITE | ReadFlags::ATTRIB)
        .then_some(KernelEvent::Written(name))
}
