//! The process that makes the namespaces and their mounts, and that keeps what it holds afterwards.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rustix::net::{AddressFamily, SocketType};
use rustix::process::{DumpableBehavior, Pid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

use crate::binds::AncestorDirs;
use crate::ids::Ids;
use crate::mount_reconciler::MountReconciler;
use crate::spaces::Spaces;
use crate::sys::{self, Fork};
use crate::{ConfineError, Confinement, Extent, FailedStep, NetworkAccess, ProblemKind, binds, sealed};

/// Between the two processes: how far they are. After the last three comes why.
const MADE: u8 = 1;
const MAPPED: u8 = 2;
const MOUNTED: u8 = 3;
const FORBIDDEN: u8 = 4;
const EXHAUSTED: u8 = 5;
const FAILED: u8 = 6;

/// The other process, which stays at least until this value is dropped.
pub(crate) struct Builder {
    spaces: Spaces,
    _line: UnixStream,
}

impl Builder {
    pub(crate) fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    /// Starts it, and returns when everything is in place.
    pub(crate) fn start(confinement: &Confinement) -> Result<Builder, ConfineError> {
        let cannot =
            |error: io::Error| ConfineError::before(FailedStep::Other, "namespaces can't be made", &error);
        let ids = Ids::of_process().map_err(cannot)?;
        let confined = rustix::process::getpid();
        let (mut line, theirs) = UnixStream::pair().map_err(cannot)?;
        // A child of a child: whatever this process becomes never hears of it.
        match sys::fork().map_err(cannot)? {
            Fork::Child => match sys::fork() {
                Ok(Fork::Child) => {
                    drop(line);
                    run(confinement, &ids, confined, theirs);
                }
                Ok(Fork::Parent(_)) => sys::exit(0),
                Err(_) => sys::exit(1),
            },
            Fork::Parent(child) => sys::wait_for(child),
        }
        drop(theirs);
        expect(&mut line, MADE)?;
        let mut pid = [0; 4];
        line.read_exact(&mut pid).map_err(|_| ended())?;
        let pid = u32::from_ne_bytes(pid);
        // Now, for it closes itself to everybody when it goes on.
        let spaces = Spaces::of(pid, confinement.network).map_err(cannot)?;
        let who_is_who =
            |error: io::Error| ConfineError::before(FailedStep::Other, "who is who can't be set", &error);
        ids.write_from_outside(pid).map_err(who_is_who)?;
        line.write_all(&[MAPPED]).map_err(|_| ended())?;
        expect(&mut line, MOUNTED)?;
        Ok(Builder { spaces, _line: line })
    }
}

/// It could not be started, or was killed: by whoever wants to be free, perhaps.
fn ended() -> ConfineError {
    let what = "the process that makes the namespaces could not start, or ended".into();
    ConfineError { what, kind: ProblemKind::Exhausted }
}

fn expect(line: &mut UnixStream, wanted: u8) -> Result<(), ConfineError> {
    let mut step = [0];
    line.read_exact(&mut step).map_err(|_| ended())?;
    if step[0] == wanted {
        return Ok(());
    }
    let mut what = String::new();
    line.read_to_string(&mut what).map_err(|_| ended())?;
    let kind = match step[0] {
        FORBIDDEN => ProblemKind::Forbidden,
        EXHAUSTED => ProblemKind::Exhausted,
        _ => ProblemKind::Failed,
    };
    Err(ConfineError { what, kind })
}

/// What the other process does; it never returns.
fn run(confinement: &Confinement, ids: &Ids, confined: Pid, mut line: UnixStream) -> ! {
    let built = build(confinement, ids, confined, &mut line);
    let reconciler = match built {
        Ok(reconciler) => reconciler,
        Err(ConfineError { what, kind }) => {
            let step = match kind {
                ProblemKind::Forbidden => FORBIDDEN,
                ProblemKind::Exhausted => EXHAUSTED,
                ProblemKind::Failed | ProblemKind::HalfDone => FAILED,
            };
            let _ = line.write_all(&[step]).and_then(|()| line.write_all(what.as_bytes()));
            sys::exit(1);
        }
    };
    let told = line.write_all(&[MOUNTED]);
    // Until the other one is in, or gone.
    let _ = line.read(&mut [0]);
    if let (Some(reconciler), Ok(())) = (reconciler, told) {
        drop(line);
        reconciler.keep();
    }
    sys::exit(0);
}

fn build(
    confinement: &Confinement,
    ids: &Ids,
    confined: Pid,
    line: &mut UnixStream,
) -> Result<Option<MountReconciler>, ConfineError> {
    let mut spaces = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    if confinement.network == NetworkAccess::None {
        spaces |= UnshareFlags::NEWNET;
    }
    let cannot =
        |what: &'static str| move |error: io::Error| ConfineError::before(FailedStep::Other, what, &error);
    unshare(spaces).map_err(|error| {
        ConfineError::before(FailedStep::Unshare, "user namespaces are not allowed here", &error)
    })?;
    ids.write_from_inside().map_err(cannot("user namespaces are restricted here"))?;
    line.write_all(&[MADE]).map_err(|_| ended())?;
    line.write_all(&std::process::id().to_ne_bytes()).map_err(|_| ended())?;
    line.read_exact(&mut [0]).map_err(|_| ended())?;
    // It keeps the right to mount: who is root in here must not get at it by tracing it or by its memory.
    let closed = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    closed.map_err(io::Error::from).map_err(cannot("the keeper of the mounts can't be closed to others"))?;
    if confinement.network == NetworkAccess::None {
        socket().and_then(sys::start_loopback).map_err(cannot("the loopback can't be started"))?;
    }
    match &confinement.extent {
        Extent::Held(paths) => hold(paths, &confinement.hidden, confined).map(Some),
        Extent::Everything { shown } => {
            sealed::seal(shown).map_err(cannot("everything can't be made read-only"))?;
            match &confinement.hidden[..] {
                [] => Ok(None),
                hidden => hold(&[], hidden, confined).map(Some),
            }
        }
    }
}

/// Holds and hides what exists. The watch begins before, so that nothing that happens meanwhile is missed.
fn hold(paths: &[PathBuf], hidden: &[PathBuf], confined: Pid) -> Result<MountReconciler, ConfineError> {
    let held = binds::topmost(paths);
    // Also those above paths that are not there yet: a process that stands in one of them would not see what is mounted
    // on it later.
    let AncestorDirs { movable, fixed } = AncestorDirs::of(&held);
    let reconciler = MountReconciler::watch(&held, hidden, fixed, confined);
    let reconciler = reconciler
        .map_err(|error| ConfineError::before(FailedStep::Other, "the command can't be watched", &error))?;
    let cannot = |path: &Path, error: io::Error| {
        ConfineError::before(FailedStep::Other, &format!("{} can't be held", path.display()), &error)
    };
    for dir in movable {
        gone_or(binds::pin(&dir)).map_err(|error| cannot(&dir, error))?;
    }
    for path in held.into_iter().filter(|path| path.symlink_metadata().is_ok()) {
        gone_or(binds::hold(path)).map_err(|error| cannot(path, error))?;
    }
    for path in hidden {
        gone_or(binds::hide(path)).map_err(|error| cannot(path, error))?;
    }
    Ok(reconciler)
}

/// That something went meanwhile is no error.
fn gone_or(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn socket() -> io::Result<OwnedFd> {
    Ok(rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?)
}

#[expect(
    unsafe_code,
    reason = "rustix takes no promises about file descriptors, which are not unshared here"
)]
fn unshare(spaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: this process has a single thread, and keeps its table of file descriptors.
    Ok(unsafe { unshare_unsafe(spaces) }?)
}
