//! The mount namespaces that confined commands make for themselves.
//!
//! They begin as copies, with everything held that was held then. What is mounted later does not reach them, for who makes
//! one may cut it off. So the reconciler goes there, too. It may: they belong to user namespaces below its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::binds;
use crate::mounts::{DevicePath, Mounts};
use crate::sys::{self, Fork};

/// Namespaces that are entered at a time.
const SPACES_MAX: usize = 512;
/// How long holding in one of them may take: a file system there may never answer.
const SECONDS_MAX: u32 = 10;

/// The other processes in this mount namespace and in those below, up to a number.
pub(crate) fn processes(most: usize) -> Vec<OwnedFd> {
    let own = std::process::id();
    let others = pids().filter(|pid| *pid != own && space_of(*pid).is_some());
    others.filter_map(opened).take(most).collect()
}

fn opened(pid: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::empty()).ok()
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The mount namespace of a process, if it is this one or one below.
fn space_of(pid: u32) -> Option<File> {
    let space = File::open(format!("/proc/{pid}/ns/mnt")).ok()?;
    // The kernel tells the owner of a namespace only to who is in it or above it.
    sys::owner_of_namespace(space.as_fd()).is_ok().then_some(space)
}

/// The mount namespaces below this one in which something runs, each once.
fn spaces_below() -> Vec<File> {
    let id = |space: &File| space.metadata().map(|found| found.ino()).ok();
    let Some(own) = space_of(std::process::id()).as_ref().and_then(id) else { return Vec::new() };
    let mut found: BTreeMap<u64, File> = BTreeMap::new();
    for space in pids().filter_map(space_of) {
        match id(&space) {
            Some(id) if id != own && found.len() < SPACES_MAX => drop(found.insert(id, space)),
            Some(_) | None => {}
        }
    }
    found.into_values().collect()
}

/// Holds paths and hides others in all namespaces below, under whatever names they can be reached there, and pins the
/// directories above those that are held, except for those that are `fixed`.
///
/// Another process goes into each: it ends there, and one that cannot enter or is kept waiting is in nobody's way.
pub(crate) fn hold(held: &[PathBuf], hidden: &[PathBuf], fixed: &BTreeSet<PathBuf>) {
    let spaces = spaces_below();
    if spaces.is_empty() {
        return;
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(proc) = openat(CWD, "/proc", flags, Mode::empty()) else { return };
    let Ok(mounts) = listed(&proc) else { return };
    let places_of = |paths: &[PathBuf]| -> Vec<DevicePath> {
        paths.iter().filter_map(|path| mounts.place_of(path)).collect()
    };
    let (held, hidden) = (places_of(held), places_of(hidden));
    for space in spaces {
        if let Ok(Fork::Child) = sys::fork() {
            sys::end_after(SECONDS_MAX);
            let _ = hold_in(&space, &proc, [&held, &hidden], fixed);
            sys::exit(0);
        }
    }
}

fn hold_in(
    space: &File,
    proc: &OwnedFd,
    [held, hidden]: [&[DevicePath]; 2],
    fixed: &BTreeSet<PathBuf>,
) -> io::Result<()> {
    move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Mount))?;
    let mounts = listed(proc)?;
    let names = |places: &[DevicePath]| -> BTreeMap<PathBuf, PathBuf> {
        places.iter().flat_map(|place| mounts.names_of(place)).collect()
    };
    let is_there = |path: &&Path| path.symlink_metadata().is_ok();
    binds::hide_all(names(hidden).keys().map(PathBuf::as_path).filter(is_there));
    let names = names(held);
    let there: Vec<&Path> = names.keys().map(PathBuf::as_path).filter(is_there).collect();
    let is_below_a_mount_point = |dir: &PathBuf| names.values().any(|at| dir.starts_with(at));
    binds::hold_all(&there, |dir| !fixed.contains(dir) && is_below_a_mount_point(dir));
    Ok(())
}

/// The mounts of the namespace that this process is in. What is called `/proc` there may be anything.
fn listed(proc: &OwnedFd) -> io::Result<Mounts> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut text = Vec::new();
    File::from(openat(proc, "self/mountinfo", flags, Mode::empty())?).read_to_end(&mut text)?;
    Ok(Mounts::parse(&text))
}
